// SPDX-License-Identifier: MIT
#include <specdec_engine/learn/pack_adapters.hpp>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <random>
#include <vector>

#include <catch2/catch.hpp>

#include "support/scores.hpp"
#include "toys.hpp"
#include <specdec/core/model/tree_scoring.hpp>
#include <specdec_engine/batch_model.hpp>
#include <specdec_engine/load.hpp>
#include <specdec_engine/model.hpp>

namespace pack_adapters_tests {

using namespace specdec;
using namespace learning_toys;
using Catch::Contains;

static_assert(TakesKeys<batch_model<draft_id>> && TakesKey<engine::model<draft_id>>);

const std::string golden = SPECDEC_SOURCE_DIR "/tests/golden/";
const std::vector<projection> every(all_projections.begin(), all_projections.end());

lora<float> drawn(const model_config& c, std::vector<projection> targets, unsigned seed = 9,
                  std::size_t rank = 3) {
    lora<float> adapters(c, {.rank = rank, .alpha = 7, .targets = std::move(targets)});
    std::minstd_rand bits(seed);
    for (float& v : adapters.values())
        v = (static_cast<float>(bits() % 2001) - 1000.0F) * 2e-4F;
    return adapters;
}

/// A checkpoint whose weights are W + alpha / r B A, computed here. Rows of B are half-split.
struct merged_checkpoint {
    checkpoint file;
    std::vector<std::vector<float>> memory;

    merged_checkpoint(const checkpoint& c, const lora<float>& adapters) : file(c) {
        const packed_rows rows(c.config);
        for (std::size_t layer = 0; layer < c.config.layers; ++layer)
            for (const projection p : adapters.settings().targets) {
                const std::string name = module_name(layer, p) + ".weight";
                const bool turned = engine::detail::is_turned(name);
                tensor& t = file.tensors.at(name);
                const std::size_t columns = t.columns();
                std::vector<float>& w = memory.emplace_back(t.rows() * columns);
                const auto a = adapters.a(layer, p), b = adapters.b(layer, p);
                const auto number = [](const auto& m, std::size_t i, std::size_t j) {
                    return m(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j));
                };
                for (std::size_t r = 0; r < t.rows(); ++r) {
                    const std::span<float> row(&w[r * columns], columns);
                    read_weights(t, r, row);
                    for (std::size_t j = 0; j < columns; ++j)
                        for (std::size_t k = 0; k < adapters.rank(); ++k)
                            row[j] += adapters.scale() * number(b, k, turned ? rows.turned(r) : r) *
                                      number(a, j, k);
                }
                t.type = dtype::f32;
                t.bytes = std::as_bytes(std::span(w));
            }
    }
};

float distance(const std::vector<float>& a, const std::vector<float>& b) {
    REQUIRE(a.size() == b.size());
    float worst = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
        worst = std::max(worst, std::abs(a[i] - b[i]));
    return worst;
}

const load_options full{precision::f32, {.threads = 1}, {}};
const std::vector<std::int32_t> ids = {1, 5, 9, 33, 76, 0, 12};

TEST_CASE("adapters beside the weights compute what merged ones do, in every architecture") {
    const toy::temporary_folder folder;
    std::vector<checkpoint> files;
    for (const std::string name : {"llama3", "qwen2", "qwen3", "gemma3", "smollm3"})
        files.push_back(open_checkpoint(golden + name));
    files.push_back(open_checkpoint(folder.write("m.gguf", toy::checkpoint().gguf())));
    for (const checkpoint& c : files) {
        std::vector<std::vector<projection>> sets = {every, {projection::q, projection::v}};
        for (const projection p : all_projections)
            sets.push_back({p});
        transformer plain = make_transformer(c, full);
        const std::vector<float> before = scores(plain, ids);
        for (const std::vector<projection>& targets : sets) {
            CAPTURE(c.source, targets.size(), name(targets[0]));
            const lora<float> adapters = drawn(c.config, targets);
            const merged_checkpoint together(c, adapters);
            transformer merged = make_transformer(together.file, full);
            const std::vector<float> expected = scores(merged, ids);
            CHECK(distance(before, expected) > 1e-3F);
            plain.set_key(0);
            plain.set_adapters(7, pack_adapters(adapters, c.config));
            plain.set_key(7);
            CHECK(distance(scores(plain, ids), expected) < 1e-4F);
        }
    }
}

TEST_CASE("sequences of several adapters in one pass have the bits that each has alone") {
    const toy::temporary_folder folder;
    const auto path = folder.write("m.gguf", toy::checkpoint().gguf());
    const model_config c = open_checkpoint(path).config;
    const auto first = pack_adapters(drawn(c, every, 1), c);
    const auto second = pack_adapters(drawn(c, {projection::v, projection::down}, 2, 11), c);
    const std::vector<std::vector<draft_id>> texts = {{draft_id{3}, draft_id{9}, draft_id{4}},
                                                      {draft_id{3}, draft_id{9}},
                                                      {draft_id{3}, draft_id{9}, draft_id{4}},
                                                      {draft_id{70}}};
    const std::vector<context_key> keys = {7, 0, 9, 9};
    for (const precision format : {precision::f32, precision::bf16, precision::q8})
        for (const std::size_t threads : {1U, 2U}) {
            CAPTURE(name(format), threads);
            batch_model<draft_id> several(load_transformer(
                path, {.number_format = format, .context = {.threads = threads, .sequences = 4}}));
            several.set_adapters(7, first);
            several.set_adapters(9, second);
            std::vector<sequence_tokens<draft_id>> parts;
            for (std::size_t s = 0; s < 4; ++s) {
                several.set_key(s, keys[s]);
                CHECK(several.key(s) == keys[s]);
                parts.push_back({s, texts[s]});
            }
            const logits_rows<draft_id> together = several.score(parts);
            std::size_t row = 0;
            for (std::size_t s = 0; s < 4; ++s) {
                engine::model<draft_id> alone(
                    load_transformer(path, {.number_format = format, .context = {.threads = 1}}));
                alone.engine().set_adapters(7, first);
                alone.engine().set_adapters(9, second);
                alone.set_key(keys[s]);
                const logits_rows<draft_id> rows = alone.score(texts[s]);
                for (std::size_t i = 0; i < rows.size(); ++i, ++row)
                    CHECK(std::memcmp(rows[i].values.data(), together[row].values.data(),
                                      rows.vocabulary() * sizeof(float)) == 0);
                // A chain as a tree.
                alone.truncate(1);
                if (texts[s].size() == 3) {
                    const std::vector<std::size_t> parents = {tree_root, 0};
                    const logits_rows<draft_id> nodes =
                        alone.score_tree(std::span(texts[s]).subspan(1), parents);
                    CHECK(std::memcmp(nodes[1].values.data(), together[row - 1].values.data(),
                                      nodes.vocabulary() * sizeof(float)) == 0);
                }
            }
        }
}

TEST_CASE("a sequence of another key is empty, and that is a change of its answers alone") {
    const open_toy toy(form::untied);
    const checkpoint file = toy.open();
    const model_config& c = file.config;
    transformer t = make_transformer(file, {precision::f32, {.threads = 1, .sequences = 2}, {}});
    t.append(ids);
    const std::vector<float> plain = (t.truncate(0), scores(t, ids));
    t.append(ids, 1);
    const law_version before = t.version(0), other = t.version(1);
    t.set_adapters(7, pack_adapters(drawn(c, every), c));
    CHECK(t.size(0) == ids.size()); // nobody has the key
    t.set_key(7);
    CHECK(t.key() == 7);
    CHECK(t.size(0) == 0);
    CHECK(t.size(1) == ids.size());
    CHECK(t.version(0) != before);
    CHECK(t.version(1) == other);
    const std::vector<float> adapted = scores(t, ids);
    CHECK(adapted != plain);
    t.set_key(7);
    CHECK(t.size(0) == ids.size());
    t.set_key(0);
    CHECK(scores(t, ids) == plain);
    t.set_key(7);
    CHECK(scores(t, ids) == adapted);
    const law_version mark = t.version(0);
    t.set_adapters(7, pack_adapters(drawn(c, every, 12), c)); // learnt more
    CHECK(t.size(0) == 0);
    CHECK(t.version(0) != mark);
    CHECK(scores(t, ids) != adapted);
}

TEST_CASE("adapters and keys that do not fit are refused, and nothing changes") {
    const open_toy toy(form::untied);
    const checkpoint file = toy.open();
    transformer t = make_transformer(file, full);
    t.set_key(5); // says nothing: there are no adapters
    CHECK(t.key() == 5);
    const auto good = pack_adapters(drawn(file.config, every), file.config);
    CHECK_THROWS_WITH(t.set_adapters(0, good), Contains("adapters: key: expected another"));
    CHECK_THROWS_WITH(t.set_adapters(3, nullptr), Contains("adapters: key 3: expected adapters"));
    model_config longer = file.config;
    ++longer.layers;
    CHECK_THROWS_WITH(t.set_adapters(3, pack_adapters(drawn(longer, every), longer)),
                      Contains("adapters: shapes: expected"));
    t.set_adapters(3, good);
    t.append(ids);
    CHECK_THROWS_WITH(t.set_key(4), Contains("adapters: key 4: expected 0 or a key"));
    CHECK(t.key() == 5);
    CHECK(t.size() == ids.size());
    CHECK(good->bytes() > 0);
    engine::model<draft_id> wrapped(std::move(t));
    wrapped.truncate(0);
    wrapped.append(std::vector{draft_id{1}, draft_id{5}});
    CHECK_THROWS_WITH(wrapped.set_key(4), Contains("adapters: key 4: expected 0 or a key"));
    CHECK(wrapped.held().size() == 2);
    wrapped.set_key(3);
    CHECK(wrapped.held().size() == 0);
    CHECK(wrapped.size() == 0);
}

} // namespace pack_adapters_tests
