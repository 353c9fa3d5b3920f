// SPDX-License-Identifier: MIT
#include <specdec_engine/transformer/forward.hpp>

#include <cmath>
#include <vector>

#include <catch2/catch.hpp>

#include "support/count_allocations.hpp"
#include "support/toy_checkpoint.hpp"
#include <specdec_engine/load.hpp>

using namespace specdec::engine;
using specdec::testing::allocations;

TEST_CASE("a pass allocates nothing, neither for rows nor for a long prompt") {
    const toy::temporary_folder folder;
    const auto path = folder.write("m.gguf", toy::checkpoint().gguf());
    for (const precision p : {precision::f32, precision::bf16, precision::q8})
        for (const std::size_t threads : {1U, 2U}) {
            transformer t = load_transformer(
                path, {.number_format = p, .context = {.threads = threads, .rows = 8}});
            const std::vector<std::int32_t> ids(50, 3);
            const long before = allocations;
            t.append(ids);
            t.score({ids.data(), 8});
            t.truncate(51);
            t.score({ids.data(), 1});
            CHECK(allocations == before);
        }
}

TEST_CASE("a chunk is whole tiles, and a longer prompt is cut into chunks") {
    STATIC_REQUIRE(forward_pass<float>::chunk % tile_columns == 0);
    const toy::temporary_folder folder;
    const auto path = folder.write("m.gguf", toy::checkpoint().gguf());
    transformer t = load_transformer(path);
    std::vector<std::int32_t> ids(60);
    for (std::size_t i = 0; i < ids.size(); ++i)
        ids[i] = static_cast<std::int32_t>(i);
    t.append({ids.data(), 59});
    t.score({ids.data() + 59, 1});
    const std::vector<float> last(&t.logits()(0, 0), &t.logits()(0, 0) + 77);
    t.truncate(0);
    t.score(ids);
    CHECK(std::equal(last.begin(), last.end(), &t.logits()(59, 0)));
}

TEST_CASE("numbers that are not finite stay in the rows of the tokens that see theirs") {
    // The first dimension overflows in the first block, and token 5 is the only one that has it.
    // No width is one of whole lines, so products leave numbers behind those that count.
    toy::checkpoint model;
    for (std::size_t token = 0; token < model.vocabulary; ++token)
        model.tensors["model.embed_tokens.weight"].values[token * 36] = token == 5 ? 1.0F : 0.0F;
    model.tensors["model.layers.0.self_attn.o_proj.weight"].values.assign(36 * 36, 0.0F);
    model.tensors["model.layers.0.post_attention_layernorm.weight"].values[0] = 3e38F;
    const toy::temporary_folder folder;
    const auto path = folder.write("m.gguf", model.gguf());
    const auto rows = [](transformer& t, const std::vector<std::int32_t>& ids) {
        t.score(ids);
        std::vector<std::vector<float>> out;
        for (std::size_t i = 0; i < ids.size(); ++i)
            out.emplace_back(&t.logits()(i, 0), &t.logits()(i, 0) + 77);
        return out;
    };
    for (const precision p : {precision::f32, precision::bf16, precision::q8})
        for (const cache_type cache : {cache_type::own, cache_type::q8})
            for (const isa set : {isa::portable, isa::avx2, best_isa()}) {
                if (set > best_isa())
                    continue;
                CAPTURE(name(p), name(cache), name(set));
                const load_options options{
                    p, {.threads = 1, .instructions = set, .cache = cache}, {}};
                transformer fresh = load_transformer(path, options);
                const std::vector<std::int32_t> text{1, 2, 3, 7, 9};
                const auto expected = rows(fresh, text);
                for (const auto& row : expected)
                    for (const float x : row)
                        REQUIRE(std::isfinite(x));

                transformer t = load_transformer(path, options);
                CHECK_FALSE(std::isfinite(rows(t, {5, 5, 5})[2][0]));
                t.truncate(0); // nothing is left of them
                CHECK(rows(t, text) == expected);
                t.truncate(0); // a token behind others is none of theirs
                const auto found = rows(t, {1, 2, 5, 7, 9});
                CHECK(found[0] == expected[0]);
                CHECK(found[1] == expected[1]);
                for (std::size_t i = 2; i < 5; ++i) // they see it
                    for (const float x : found[i])
                        CHECK_FALSE(std::isfinite(x));
                t.truncate(2);
                CHECK(rows(t, {3, 7, 9})[2] == expected[4]);
                t.truncate(2);
                const std::vector<std::int32_t> nodes{3, 5, 3, 7, 9};
                const std::vector<std::size_t> parents{specdec::tree_root, 0, specdec::tree_root, 2,
                                                       3};
                const sequence_part part{0, nodes, parents};
                t.score({&part, 1});
                for (const auto& [row, of] : {std::pair{0U, 2U}, {2U, 2U}, {3U, 3U}, {4U, 4U}})
                    CHECK(
                        std::equal(expected[of].begin(), expected[of].end(), &t.logits()(row, 0)));
            }
}
