// SPDX-License-Identifier: MIT
// Question: what does a part of a draft head cost, in parts of the whole: the last quarter, eighth
// and sixteenth of the rows kept (every fourth, ... token), copied or gathered, and 2 of 16 routed
// groups? One hidden state, the head of SmolLM2 [49152, 576], made of random numbers. Then drafts
// of four tokens, for which a part that the caches hold is read from memory once.
//     bench_engine_part_of_head [--threads N]
#include <cstddef>
#include <deque>
#include <iterator>
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

constexpr std::size_t parts[] = {2, 4, 8, 16};

ref::transformer make_engine(std::size_t threads) {
    ref::context_options options;
    options.threads = threads;
    ref::model_config shape = bench::smollm2_shape();
    shape.layers = 1;
    return {bench::random_weights<ref::bf16_bits>(shape), options};
}

/// All heads of one model, and one hidden state.
struct scene {
    explicit scene(std::size_t threads) : engine(make_engine(threads)) {
        for (const std::size_t n : parts) {
            const token_list<draft_id> list = every(n, tokens);
            copied.emplace_back(panels, list, head_rows::copied);
            gathered.emplace_back(rows, list);
        }
    }
    scene(const scene&) = delete;
    scene& operator=(const scene&) = delete;

    ref::transformer engine;
    std::size_t tokens = engine.vocabulary_size(), width = engine.config().dimension;
    ref::lm_head<draft_id> panels{engine};
    ref::row_head<draft_id> rows{engine};
    std::vector<float> state = std::vector<float>(width, 0.25F);
    std::vector<float> w1 = std::vector<float>(width * width, 0.001F);
    std::vector<float> w2 = std::vector<float>(16 * width, 0.1F);
    std::vector<float> logits = std::vector<float>(tokens);
    residual_router router{w1, w2, width};
    full_head<draft_id, ref::lm_head<draft_id>> whole{panels};
    full_head<draft_id, ref::row_head<draft_id>> whole_rows{rows};
    std::deque<trimmed_head<draft_id, ref::lm_head<draft_id>>> copied;
    std::deque<trimmed_head<draft_id, ref::row_head<draft_id>>> gathered;
    decltype(routed_head(panels, router, token_groups<draft_id>::equal_parts(1, 1), 2)) routed{
        panels, router, token_groups<draft_id>::equal_parts(tokens, 16), 2};
};

/// What a head computes of the state, `times` times one after the other.
template <class Head>
auto logits_of(const Head& head, int times = 1) {
    return [head, times](scene& s) {
        const hidden_states x(s.state.data(), 1, s.width, s.width);
        for (int i = 0; i < times; ++i)
            head(s).rows(x, scores_out{s.logits.data(), s.tokens});
    };
}

const bench::registration here([] {
    const std::size_t threads = bench::command_line().number("--threads", 2);
    const auto whole = [](scene& s) -> auto& { return s.whole; };
    const auto copied = [](std::size_t i) {
        return [i](scene& s) -> auto& { return s.copied[i]; };
    };
    const auto gathered = [](std::size_t i) {
        return [i](scene& s) -> auto& { return s.gathered[i]; };
    };
    bench::question<scene> one("part_of_head/one_row",
                               {.repetitions = 41, .unit = benchmark::kMillisecond}, threads);
    one.add("whole", logits_of(whole));
    one.add("whole_in_rows", logits_of([](scene& s) -> auto& { return s.whole_rows; }));
    for (std::size_t i = 0; i < std::size(parts); ++i) {
        const std::string part = "1/" + std::to_string(parts[i]) + "/";
        one.add(part + "copied", logits_of(copied(i)));
        one.add(part + "gathered", logits_of(gathered(i)));
    }
    one.add("2_of_16_groups", logits_of([](scene& s) -> auto& { return s.routed; }));

    bench::question<scene> four("part_of_head/four_rows",
                                {.repetitions = 41, .unit = benchmark::kMillisecond}, threads);
    four.add("whole", logits_of(whole, 4));
    four.add("1/4/copied", logits_of(copied(1), 4));
    four.add("1/4/gathered", logits_of(gathered(1), 4));
});

} // namespace
