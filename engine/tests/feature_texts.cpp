// SPDX-License-Identifier: MIT
// Texts of a target and a drafter that reads its features, through the front door.
#include <specdec/head/features/feature_model.hpp>

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "support/tiny_tokenizer.hpp"
#include "support/toy_checkpoint.hpp"
#include <specdec/head/features/feature_recorder.hpp>
#include <specdec/head/full_head.hpp>
#include <specdec/head/headed_model.hpp>
#include <specdec/speculation/speculation.hpp>
#include <specdec/testing/contract/feature_contract.hpp>
#include <specdec_engine/batch_model.hpp>
#include <specdec_engine/drafter/feature_body.hpp>
#include <specdec_engine/drafter/lm_head.hpp>
#include <specdec_engine/load.hpp>
#include <specdec_engine/model.hpp>

namespace feature_texts_tests {

using namespace specdec;
using namespace specdec::engine;
using Catch::Contains;
using testing::tiny_tokenizer;

/// A body for the toy checkpoint, EAGLE's form, and the target itself.
struct folders {
    toy::temporary_folder target, drafter;

    /// trained: the drafter's trained_context; 0: none.
    explicit folders(std::size_t trained = 0) {
        const toy::checkpoint model;
        target.write("config.json", model.config().dump());
        target.write("model.safetensors", model.safetensors());
        toy::checkpoint body;
        for (auto it = body.tensors.begin(); it != body.tensors.end();)
            it = it->first.starts_with("model.layers.0.") &&
                         !it->first.ends_with("input_layernorm.weight")
                     ? std::next(it)
                     : body.tensors.erase(it);
        toy::checkpoint named = body;
        named.tensors.clear();
        for (const auto& [name, w] : body.tensors)
            named.tensors[name.substr(6)] = w;
        // Features as they are: what the head reads now it reads once more.
        toy::weights fc{{36, 72}, std::vector<float>(36 * 72)};
        for (std::size_t r = 0; r < 36; ++r)
            fc.values[r * 72 + 36 + r] = 1;
        named.tensors["fc.weight"] = fc;
        named.layers = 1;
        nlohmann::json config = named.config();
        if (trained > 0)
            config["trained_context"] = trained;
        drafter.write("config.json", config.dump());
        drafter.write("model.safetensors", named.safetensors());
    }
};

std::vector<std::string> pieces() {
    std::vector<std::string> out{"<end>"};
    for (char c = ' '; out.size() < 77; ++c)
        out.emplace_back(1, c);
    return out;
}

TEST_CASE("drafters that read features: texts side by side are the target's") {
    const folders files;
    const load_options options{
        precision::bf16,
        {.threads = 1, .capacity = 60, .sequences = 2, .features = feature_kind::head_input},
        {}};
    batch_model<target_id> model(load_transformer(files.target.path(), options));
    feature_records records(2, model.capacity(), model.feature_width());
    feature_recorder target(model, records);
    feature_body body = load_feature_body(files.drafter.path(), model.engine(), {.sequences = 2});
    feature_model read(body, records);
    engine::lm_head<draft_id> products(model.engine());
    full_head<draft_id, engine::lm_head<draft_id>> head(products);
    headed_model draft(read, head);

    const tiny_tokenizer<target_id> words(pieces());
    const tiny_tokenizer<draft_id> same(pieces());
    speculation pair({.models = target, .tokenizer = words}, {.models = draft, .tokenizer = same});
    std::vector<target_id> one, two;
    words.encode("HELLO", encode_mode::start, one);
    words.encode("A", encode_mode::start, two);
    const std::vector<text_request> texts{{.prompt = one, .sequence = 1},
                                          {.prompt = two, .sequence = 2}};
    const auto run = [&](rule how, length_kind kind, float temperature) {
        return pair.run(texts, {.rule = how,
                                .sampling = {.temperature = temperature},
                                .lengths = {.kind = kind, .length = 3},
                                .limits = {.max_tokens = 100}}); // as many as fit
    };
    const auto alone = run(rule::autoregressive, length_kind::fixed, 0);
    for (const length_kind kind : {length_kind::fixed, length_kind::automatic}) {
        const auto drafted = run(rule::identity, kind, 0);
        for (std::size_t i = 0; i < texts.size(); ++i) {
            CHECK(drafted.texts[i].tokens == alone.texts[i].tokens);
            if (kind == length_kind::fixed)
                CHECK(drafted.texts[i].counts.proposed > 20);
        }
    }
    const auto sampled = run(rule::identity, length_kind::fixed, 1);
    CHECK(sampled.texts[0].counts.accepted > 0);
    // Trees: without branches the chain's texts, which depend on every bit of the features that are
    // recorded of kept paths; with branches the target's own.
    const auto trees = [&](const tree_drafts& tree, float temperature) {
        return pair.run(texts, {.rule = rule::identity,
                                .sampling = {.temperature = temperature},
                                .tree = tree,
                                .limits = {.max_tokens = 100}});
    };
    const auto same_chain = trees({.widths = {1, 1, 1}}, 1);
    for (std::size_t i = 0; i < texts.size(); ++i) {
        CHECK(same_chain.texts[i].tokens == sampled.texts[i].tokens);
        CHECK(same_chain.texts[i].counts.accepted == sampled.texts[i].counts.accepted);
        for (const tree_drafts& tree :
             {tree_drafts{.widths = {3, 2, 1}}, tree_drafts{.nodes = 9, .costs = cost_table{}}}) {
            const auto greedy = trees(tree, 0);
            CHECK(greedy.texts[i].tokens == alone.texts[i].tokens);
            CHECK(greedy.texts[i].counts.accepted > 0);
        }
    }
    // A rule that writes the drafter's context anew comes to tokens that the target does not have.
    CHECK_THROWS_WITH(run(rule::tli, length_kind::fixed, 0),
                      "rule: tli: expected `identity`: the drafter reads features");
    CHECK(pair.applies(rule::identity));
    CHECK(pair.applies(rule::identity_block));
    CHECK_FALSE(pair.applies(rule::slem));
}

TEST_CASE("texts longer than a drafter that reads features was trained on are windowed") {
    const folders files(12);
    struct counted_texts {
        std::vector<std::vector<target_id>> tokens;
        std::size_t proposed = 0, accepted = 0;
        bool operator==(const counted_texts&) const = default;
    };
    for (const cache_type cache : {cache_type::f32, cache_type::bf16, cache_type::q8}) {
        const load_options options{precision::bf16,
                                   {.threads = 1,
                                    .capacity = 60,
                                    .sequences = 2,
                                    .cache = cache,
                                    .features = feature_kind::head_input},
                                   {}};
        batch_model<target_id> model(load_transformer(files.target.path(), options));
        feature_records records(2, model.capacity(), model.feature_width());
        feature_recorder target(model, records);
        feature_body body =
            load_feature_body(files.drafter.path(), model.engine(), {.sequences = 2});
        CHECK(body.window().length == 12);
        feature_model read(body, records);
        engine::lm_head<draft_id> products(model.engine());
        full_head<draft_id, engine::lm_head<draft_id>> head(products);
        headed_model draft(read, head);
        const tiny_tokenizer<target_id> words(pieces());
        const tiny_tokenizer<draft_id> same(pieces());
        speculation pair({.models = target, .tokenizer = words},
                         {.models = draft, .tokenizer = same});
        CHECK_THAT(pair.explain({.lengths = {.kind = length_kind::fixed, .length = 3}}),
                   Contains("Of a context of more than 12 tokens the drafter reads a window"));
        std::vector<target_id> one, two;
        words.encode("HELLO, THIS IS NOT SHORT", encode_mode::start, one);
        words.encode("A", encode_mode::start, two);
        const std::vector<text_request> texts{{.prompt = one, .sequence = 1},
                                              {.prompt = two, .sequence = 2}};
        const auto run = [&](float temperature, const std::optional<tree_drafts>& tree,
                             rule how = rule::identity, bool together = true) {
            counted_texts out;
            const auto add = [&](std::span<const text_request> some) {
                const auto found =
                    pair.run(some, {.rule = how,
                                    .sampling = {.temperature = temperature},
                                    .lengths = {.kind = length_kind::fixed, .length = 3},
                                    .tree = tree,
                                    .limits = {.max_tokens = 100}});
                for (const auto& text : found.texts) {
                    out.tokens.push_back(text.tokens);
                    out.proposed += text.counts.proposed;
                    out.accepted += text.counts.accepted;
                }
            };
            if (together)
                add(texts);
            else
                for (const text_request& text : texts)
                    add({&text, 1});
            return out;
        };
        const counted_texts plain = run(0, {}, rule::autoregressive), greedy = run(0, {});
        CHECK(greedy.tokens == plain.tokens);
        CHECK(greedy.proposed > 40);
        CHECK(body.size(0) <= 12);
        for (const float temperature : {0.0F, 1.0F}) {
            const counted_texts chain = run(temperature, {});
            CHECK(chain.accepted > 0);
            CHECK(run(temperature, {}, rule::identity, false) == chain);
            CHECK(run(temperature, tree_drafts{.widths = {1, 1, 1}}) == chain);
        }
        CHECK(run(0, tree_drafts{.widths = {3, 2, 1}}).tokens == plain.tokens);
    }
}

TEST_CASE("the CPU engine keeps the contract of features") {
    const folders files;
    for (const feature_kind kind : {feature_kind::head_input, feature_kind::low_mid_high}) {
        const auto make = [&] {
            return model<target_id>(load_transformer(
                files.target.path(),
                {precision::bf16, {.threads = 1, .capacity = 40, .features = kind}, {}}));
        };
        CHECK(check_features<target_id>(make).text() == "");
    }
    const transformer target = load_transformer(files.target.path());
    const auto make_body = [&] {
        return load_feature_body(files.drafter.path(), target, {.sequences = 2, .capacity = 20});
    };
    CHECK(check_feature_body(make_body).text() == "");
}

} // namespace feature_texts_tests
