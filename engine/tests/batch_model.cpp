// SPDX-License-Identifier: MIT
#include <specdec_engine/batch_model.hpp>

#include <cstring>
#include <vector>

#include <catch2/catch.hpp>

#include "support/toy_checkpoint.hpp"
#include <specdec/testing/contract/tree_contract.hpp>
#include <specdec_engine/load.hpp>
#include <specdec_engine/model.hpp>

using specdec::logits_rows;
using specdec::sequence_tokens;
using specdec::target_id;
using namespace specdec::engine;

static_assert(specdec::BatchModelOf<batch_model<target_id>, target_id>);
static_assert(specdec::BatchTreeModelOf<batch_model<target_id>, target_id>);
static_assert(!specdec::BatchModelOf<batch_model<specdec::draft_id>, target_id>);

namespace {

std::vector<target_id> some_ids(std::size_t n, std::size_t salt) {
    std::vector<target_id> ids;
    for (std::size_t i = 0; i < n; ++i)
        ids.push_back(specdec::id_at<target_id>((i * i + (7 + salt) * i + salt) % 70));
    return ids;
}

void check_same_bits(const logits_rows<target_id>& a, std::size_t first,
                     const logits_rows<target_id>& b) {
    for (std::size_t i = 0; i < b.size(); ++i)
        CHECK(std::memcmp(a[first + i].values.data(), b[i].values.data(),
                          b.vocabulary() * sizeof(float)) == 0);
}

} // namespace

TEST_CASE("several sequences keep the engine contract, bit for bit") {
    const toy::temporary_folder folder;
    const transformer engine =
        load_transformer(folder.write("m.gguf", toy::checkpoint().gguf()), load_options{});
    const specdec::contract_report report = specdec::check_batch_model<target_id>([&] {
        return batch_model<target_id>(
            engine.another_context({.threads = 1, .capacity = 48, .sequences = 5}));
    });
    CHECK(report.text() == "");
    CHECK(report.unchecked.empty());
    CHECK(report.greatest_difference == 0);
}

TEST_CASE("a copied prefix has the bits of one that was fed, in any numbers of the cache") {
    const toy::temporary_folder folder;
    const auto path = folder.write("m.gguf", toy::checkpoint().gguf());
    for (const precision format : {precision::f32, precision::bf16, precision::q8})
        for (const cache_type cache : {cache_type::f32, cache_type::bf16, cache_type::q8})
            for (const std::size_t n : {1U, 31U, 32U, 45U}) {
                CAPTURE(name(format), name(cache), n);
                const load_options options{
                    .number_format = format,
                    .context = {.threads = 1, .capacity = 64, .sequences = 2, .cache = cache}};
                batch_model<target_id> copied(load_transformer(path, options)),
                    fed(load_transformer(path, options));
                const auto text = some_ids(46, 0), other = some_ids(40, 3), rest = some_ids(5, 5);
                copied.append(0, text);
                copied.append(1, other); // is forgotten
                REQUIRE(copied.copy_prefix(1, 0, n));
                CHECK(copied.size(0) == 46);
                CHECK(copied.size(1) == n);
                fed.append(0, text);
                fed.append(1, std::span(text).first(n));
                const std::vector<sequence_tokens<target_id>> parts{{1, rest}, {0, rest}};
                const logits_rows<target_id> expected = fed.score(parts);
                check_same_bits(copied.score(parts), 0, expected);
            }
}

TEST_CASE("a sequence's rows are bit for bit those it gets alone") {
    const toy::temporary_folder folder;
    const auto path = folder.write("m.gguf", toy::checkpoint().gguf());
    for (const precision format : {precision::f32, precision::bf16, precision::q8})
        for (const std::size_t threads : {1U, 2U}) {
            load_options options{
                .number_format = format,
                .context = {.threads = threads, .sequences = 3, .vocabulary_size = 70}};
            batch_model<target_id> several(load_transformer(path, options));
            REQUIRE(several.sequences() == 3);
            options.context.sequences = 1;
            std::vector<model<target_id>> alone;
            for (std::size_t s = 0; s < 3; ++s)
                alone.emplace_back(load_transformer(path, options));

            // Prompts of different lengths, then passes in which lengths and members change; 60
            // tokens in one pass are more than a chunk.
            const std::vector<std::vector<std::size_t>> passes = {
                {5, 1, 9}, {3, 0, 1}, {0, 4, 0}, {1, 1, 1}, {20, 20, 20}};
            for (std::size_t s = 0; s < 3; ++s) {
                several.append(s, some_ids(2 + 5 * s, s));
                alone[s].append(some_ids(2 + 5 * s, s));
            }
            for (std::size_t k = 0; k < passes.size(); ++k) {
                CAPTURE(threads, k);
                std::vector<std::vector<target_id>> ids;
                std::vector<sequence_tokens<target_id>> parts;
                for (std::size_t s = 0; s < 3; ++s)
                    ids.push_back(some_ids(passes[k][s], k + s));
                for (const std::size_t s : {2U, 0U, 1U}) // in any order
                    if (!ids[s].empty())
                        parts.push_back({s, ids[s]});
                const logits_rows<target_id> rows = several.score(parts);
                std::size_t first = 0;
                for (const auto& [s, part] : parts) {
                    check_same_bits(rows, first, alone[s].score(part));
                    first += part.size();
                }
                CHECK(rows.size() == first);
                CHECK(rows.vocabulary() == 70);
                for (std::size_t s = 0; s < 3; ++s) {
                    CHECK(several.size(s) == alone[s].size());
                    const std::size_t keep = several.size(s) - several.size(s) % 3;
                    several.truncate(s, keep);
                    alone[s].truncate(keep);
                }
            }
        }
}

TEST_CASE("trees of several sequences and tokens of others share a pass, each as alone") {
    const toy::temporary_folder folder;
    load_options options{.context = {.sequences = 3, .vocabulary_size = 70}};
    const auto path = folder.write("m.gguf", toy::checkpoint().gguf());
    batch_model<target_id> several(load_transformer(path, options));
    options.context.sequences = 1;
    std::vector<model<target_id>> alone;
    const std::vector<target_id> ids = some_ids(9, 3);
    constexpr std::size_t root = specdec::tree_root;
    const std::vector<std::size_t> bush = {root, 0, 0, 1, root, 4, 2, 2, 6}, chain = {root, 0, 1};
    for (std::size_t s = 0; s < 3; ++s) {
        alone.emplace_back(load_transformer(path, options));
        const auto prompt = some_ids(4 + 11 * s, s);
        several.append(s, prompt);
        alone[s].append(prompt);
    }
    const std::span<const target_id> all = ids;
    const std::vector<specdec::sequence_nodes<target_id>> parts = {
        {2, all, bush}, {0, all.first(5), {}}, {1, all.first(3), chain}};
    const logits_rows<target_id> rows = several.score_tree(parts);
    REQUIRE(rows.size() == 17);
    check_same_bits(rows, 0, alone[2].score_tree(all, bush));
    check_same_bits(rows, 9, alone[0].score(all.first(5)));
    check_same_bits(rows, 14, alone[1].score(all.first(3)));

    const std::vector<std::size_t> kept = {0, 2, 6, 8};
    several.keep_path(2, kept);
    alone[2].keep_path(kept);
    CHECK(several.size(2) == alone[2].size());
    several.keep_path(1, std::vector<std::size_t>{0});
    alone[1].truncate(several.size(1));
    const std::vector<specdec::sequence_tokens<target_id>> next = {{1, all.last(2)},
                                                                   {2, all.last(4)}};
    const logits_rows<target_id> later = several.score(next);
    check_same_bits(later, 0, alone[1].score(all.last(2)));
    check_same_bits(later, 2, alone[2].score(all.last(4)));
}
