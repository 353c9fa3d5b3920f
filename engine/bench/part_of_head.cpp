// SPDX-License-Identifier: MIT
// Question: what does a part of a draft head cost, in parts of the whole: the last quarter, eighth
// and sixteenth of the rows kept (every fourth, ... token), copied or gathered, and 2 of 16 routed
// groups? One hidden state, the head of SmolLM2 [49152, 576], made of random numbers. Then drafts
// of four tokens, for which a part that the caches hold is read from memory once.
//     bench_engine_part_of_head [--threads N]
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include <specdec/head/full_head.hpp>
#include <specdec/head/residual_router.hpp>
#include <specdec/head/routed_head.hpp>
#include <specdec/head/trimmed_head.hpp>
#include <specdec_engine/drafter/lm_head.hpp>

#include "row_head.hpp"
#include "support.hpp"

using namespace specdec;
namespace ref = specdec::engine;

namespace {

/// Every n-th token.
token_list<draft_id> every(std::size_t n, std::size_t vocabulary) {
    std::vector<draft_id> ids;
    for (std::size_t v = 0; v < vocabulary; v += n)
        ids.push_back(id_at<draft_id>(v));
    return {ids, vocabulary};
}

} // namespace

int main(int argc, char** argv) {
    ref::context_options options;
    options.threads = 2;
    for (int i = 1; i + 1 < argc; i += 2)
        if (std::string(argv[i]) == "--threads")
            options.threads = std::strtoul(argv[i + 1], nullptr, 10);
    ref::model_config shape = bench::smollm2_shape();
    shape.layers = 1;
    const ref::transformer engine(bench::random_weights<ref::bf16_bits>(shape), options);
    const std::size_t tokens = engine.vocabulary_size(), width = shape.dimension;

    ref::lm_head<draft_id> panels(engine);
    ref::row_head<draft_id> rows(engine);
    const std::vector<float> state(width, 0.25F), w1(width * width, 0.001F), w2(16 * width, 0.1F);
    const hidden_states x(state.data(), 1, width, width);
    std::vector<float> logits(tokens);
    const scores_out out{logits.data(), tokens};
    residual_router router(w1, w2, width);

    std::vector<bench::timed_case> cases;
    full_head<draft_id, ref::lm_head<draft_id>> whole(panels);
    full_head<draft_id, ref::row_head<draft_id>> whole_rows(rows);
    cases.push_back({"whole head", [&] { whole.rows(x, out); }});
    cases.push_back({"whole head, in rows", [&] { whole_rows.rows(x, out); }});
    std::deque<trimmed_head<draft_id, ref::lm_head<draft_id>>> copied;
    std::deque<trimmed_head<draft_id, ref::row_head<draft_id>>> gathered;
    for (const std::size_t n : {2U, 4U, 8U, 16U}) {
        const token_list<draft_id> list = every(n, tokens);
        copied.emplace_back(panels, list, head_rows::copied);
        gathered.emplace_back(rows, list);
        const std::string part = "1/" + std::to_string(n) + " of the rows, ";
        cases.push_back({part + "copied", [&x, out, &head = copied.back()] { head.rows(x, out); }});
        cases.push_back(
            {part + "gathered", [&x, out, &head = gathered.back()] { head.rows(x, out); }});
    }
    routed_head routed(panels, router, token_groups<draft_id>::equal_parts(tokens, 16), 2);
    cases.push_back({"2 of 16 groups", [&] { routed.rows(x, out); }});
    const std::size_t drafts = cases.size();
    const auto four_times = [&](const std::string& name, auto& head) {
        cases.push_back({name, [&x, out, &head] {
                             for (int i = 0; i < 4; ++i)
                                 head.rows(x, out);
                         }});
    };
    four_times("whole head", whole);
    four_times("1/4 of the rows, copied", copied[1]);
    four_times("1/4 of the rows, gathered", gathered[1]);
    bench::take_turns(cases, 41);

    std::printf("head [%zu, %zu], %zu threads, %s; a row of logits, in parts of the whole head's\n",
                tokens, width, options.threads, ref::name(ref::best_isa()).data());
    for (std::size_t i = 0; i < cases.size(); ++i) {
        const bench::timed_case& c = cases[i];
        if (i == drafts)
            std::printf("four rows, one behind the other, in parts of the whole head's\n");
        std::printf("%-26s %9.3f ms %9.3f\n", c.name.c_str(), 1e3 * c.seconds,
                    c.seconds / cases[i < drafts ? 0 : drafts].seconds);
    }
}
