// SPDX-License-Identifier: MIT
#include <specdec_engine/drafter/lm_head.hpp>

#include <vector>

#include <catch2/catch.hpp>

#include "support/toy_checkpoint.hpp"
#include <specdec/head/trimmed_head.hpp>
#include <specdec/testing/contract/head_contract.hpp>
#include <specdec_engine/batch_model.hpp>
#include <specdec_engine/load.hpp>
#include <specdec_engine/model.hpp>

namespace lm_head_tests {

using namespace specdec;
using namespace specdec::engine;

static_assert(HiddenModelOf<engine::model<draft_id>, draft_id>);
static_assert(HiddenBatchModelOf<engine::batch_model<draft_id>, draft_id>);
static_assert(SelectableHeadOf<engine::lm_head<draft_id>, draft_id>);

/// 70 tokens of a head of 77 rows.
load_options options_of(precision p, std::size_t threads = 1) {
    return {.number_format = p, .context = {.threads = threads, .vocabulary_size = 70}};
}

struct toy_file {
    toy::temporary_folder folder;
    std::filesystem::path path = folder.write("m.gguf", toy::checkpoint().gguf());
};

const std::vector<draft_id> some_ids{draft_id{4}, draft_id{9}, draft_id{60}};

TEST_CASE("the LM head apart: the contract, bit for bit, in both precisions") {
    const toy_file file;
    for (const precision p : {precision::f32, precision::bf16, precision::q8})
        for (const std::size_t threads : {1U, 3U}) {
            const load_options options = options_of(p, threads);
            const transformer engine = load_transformer(file.path, options);
            lm_head<draft_id> head(engine);
            const auto make = [&] {
                return engine::model<draft_id>(engine.another_context(options.context));
            };
            const contract_report report = check_head<draft_id>(make, head);
            CHECK(report.text() == "");
            CHECK(report.unchecked.empty());
            CHECK(report.keeps("head.score"));
        }
}

TEST_CASE("what an LM head reads: whole panels, of the whole model's and of a selection") {
    const toy_file file;
    const transformer whole = load_transformer(file.path, options_of(precision::f32));
    const transformer half = load_transformer(file.path, options_of(precision::bf16));
    lm_head<draft_id> head(whole), half_head(half);
    CHECK(head.bytes() == 2 * half_head.bytes());
    CHECK(head.bytes() < whole.forward_bytes());
    CHECK(head.bytes() == head.bytes_of(77)); // three panels of 32
    CHECK(head.bytes() == 3 * head.bytes_of(some_ids.size()));
    CHECK(head.select(some_ids).bytes() == head.bytes_of(some_ids.size()));
}

TEST_CASE("hidden states of several sequences are those of each alone") {
    const toy_file file;
    load_options options = options_of(precision::bf16);
    options.context.sequences = 2;
    options.context.rows = 1;
    engine::batch_model<draft_id> batch(load_transformer(file.path, options));
    const std::span<const draft_id> ids = some_ids;
    const std::vector<sequence_tokens<draft_id>> parts{{1, ids}, {0, ids.first(1)}};
    const hidden_states x = batch.hidden(parts);
    REQUIRE(x.size() == 4);
    REQUIRE(x.width() == 36);
    CHECK(batch.size(1) == 3);
    engine::model<draft_id> alone(load_transformer(file.path, options_of(precision::bf16)));
    const hidden_states wanted = alone.hidden(ids);
    for (std::size_t i = 0; i < 4; ++i)
        for (std::size_t k = 0; k < 36; ++k)
            CHECK(x[i].values[k] == wanted[i % 3].values[k]);
}

TEST_CASE("a trimmed head of the CPU engine: the model's own logits of what is kept") {
    const toy_file file;
    engine::model<draft_id> scored(load_transformer(file.path, options_of(precision::bf16)));
    const std::vector<float> wanted = [&] {
        const logits_rows<draft_id> rows = scored.score(some_ids);
        return std::vector<float>(rows[2].values.begin(), rows[2].values.end());
    }();
    lm_head<draft_id> head(scored.engine());
    const token_list<draft_id> list({draft_id{1}, draft_id{33}, draft_id{69}}, 70);
    scored.truncate(0);
    const hidden_states x = scored.hidden(some_ids);
    for (const head_rows from : {head_rows::gathered, head_rows::copied}) {
        trimmed_head part(head, list, from);
        std::vector<float> rows(3 * 70);
        part.rows(x, {rows.data(), 70});
        for (std::size_t v = 0; v < 70; ++v)
            CHECK(rows[2 * 70 + v] ==
                  (list.contains(id_at<draft_id>(v)) ? wanted[v] : -__builtin_inff()));
    }
}

} // namespace lm_head_tests
