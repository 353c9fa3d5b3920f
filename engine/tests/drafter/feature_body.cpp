// SPDX-License-Identifier: MIT
#include <specdec_engine/drafter/feature_body.hpp>

#include <cmath>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "drafter_forms.hpp"
#include <specdec/head/reduced_vocabulary_head.hpp>
#include <specdec/testing/contract/feature_contract.hpp>
#include <specdec_engine/drafter/lm_head.hpp>
#include <specdec_engine/load.hpp>
#include <specdec_engine/model.hpp>

namespace feature_body_tests {

using namespace specdec;
using namespace specdec::engine;
using Catch::Contains;
using namespace drafter_forms;

namespace {

/// How far a pass in a format may be from the one in double.
double margin_of(precision format) {
    return format == precision::f32 ? 2e-5 : format == precision::bf16 ? 0.05 : 0.15;
}

} // namespace

TEST_CASE("bodies that read features: the papers' forward pass, in any groups") {
    const toy::checkpoint target_files;
    constexpr auto one = feature_kind::head_input, three = feature_kind::low_mid_high;
    for (const auto& [kind, bias, embeds] :
         {std::tuple{one, false, false}, std::tuple{one, true, false},
          std::tuple{three, false, false}, std::tuple{one, false, true},
          std::tuple{three, false, true}})
        for (const precision format : {precision::f32, precision::bf16, precision::q8}) {
            CAPTURE(static_cast<int>(kind), bias, embeds, name(format));
            drafter_files files(kind, bias);
            if (embeds)
                files.add_embedding();
            const toy::temporary_folder folder;
            files.write(folder);
            model<target_id> target(make_target(kind, format));
            const std::vector<target_id> text{target_id{3}, target_id{70}, target_id{12},
                                              target_id{12}, target_id{40}};
            target.append(text);
            REQUIRE(target.features().size() == 5);
            REQUIRE(target.features().width() == (kind == feature_kind::head_input ? 36 : 108));

            feature_body body = load_feature_body(folder.path(), target.engine());
            feature_body again = load_feature_body(folder.path(), target.engine());
            CHECK(body.own_embedding() == embeds);
            const std::vector<draft_id> ids{draft_id{70}, draft_id{12}, draft_id{12}, draft_id{40}};
            std::vector<place> places;
            for (std::size_t i = 0; i < 4; ++i)
                places.push_back({ids[i].value, numbers(target.features()[i]), false});
            const body_output rows = body.read(0, ids, {target.features().middle(0, 4), false});
            const auto [state, own] = oracle(files, target_files, places);
            check_near(numbers(rows.states[3]), state, margin_of(format));
            check_near(numbers(rows.own[3]), own, margin_of(format));

            // Place by place: the same to the bit.
            doubles one_by_one;
            for (std::size_t i = 0; i < 4; ++i) {
                const body_output one =
                    again.read(0, {&ids[i], 1}, {target.features().middle(i, 1), false});
                CHECK(numbers(one.states[0]) == numbers(rows.states[i]));
                one_by_one = numbers(one.own[0]);
            }

            // Its own feature goes in behind them, and is forgotten again.
            const std::vector<float> fed(one_by_one.begin(), one_by_one.end());
            const draft_id next{55};
            places.push_back({55, one_by_one, true});
            const auto [later, unused] = oracle(files, target_files, places);
            for (int turn = 0; turn < 2; ++turn) {
                const body_output drafted =
                    again.read(0, {&next, 1}, {{fed.data(), 1, 36, 36}, true});
                check_near(numbers(drafted.states[0]), later, margin_of(format));
                again.truncate(0, 4);
            }
        }
}

TEST_CASE("EAGLE 3.1's norms: the forward pass of chains, trees and several sequences") {
    const toy::checkpoint target_files;
    constexpr auto three = feature_kind::low_mid_high;
    const std::vector<draft_id> ids{draft_id{70}, draft_id{12}, draft_id{40}};
    for (const fuse_norm before_fc : {fuse_norm::none, fuse_norm::whole, fuse_norm::each})
        for (const auto& [before_residual, output] :
             {std::pair{false, true}, std::pair{true, false}, std::pair{true, true}})
            for (const precision format : {precision::f32, precision::bf16, precision::q8}) {
                CAPTURE(static_cast<int>(before_fc), before_residual, output, name(format));
                drafter_files files(three);
                files.set({before_fc, before_residual, output});
                const toy::temporary_folder folder;
                files.write(folder);
                model<target_id> target(make_target(three, format));
                target.append(
                    std::vector{target_id{3}, target_id{70}, target_id{12}, target_id{40}});
                feature_body body = load_feature_body(folder.path(), target.engine());
                std::vector<place> places;
                for (std::size_t i = 0; i < 3; ++i)
                    places.push_back({ids[i].value, numbers(target.features()[i]), false});
                const body_output rows = body.read(0, ids, {target.features().middle(0, 3), false});
                const auto [state, own] = oracle(files, target_files, places);
                check_near(numbers(rows.states[2]), state, margin_of(format));
                check_near(numbers(rows.own[2]), own, margin_of(format));
                CHECK((numbers(rows.own[2]) == numbers(rows.states[2])) == output);

                // Its own feature goes in, at a place and at a node.
                const doubles fed_back = numbers(rows.own[2]);
                const std::vector<float> fed(fed_back.begin(), fed_back.end());
                const hidden_states last(fed.data(), 1, 36, 36);
                places.push_back({55, fed_back, true});
                const draft_id next{55};
                const std::size_t root = tree_root;
                const doubles of_node =
                    numbers(body.read_tree(0, {&next, 1}, {&root, 1}, {last, true}).states[0]);
                check_near(of_node, oracle(files, target_files, places).first, margin_of(format));
                CHECK(numbers(body.read(0, {&next, 1}, {last, true}).states[0]) == of_node);

                CHECK(check_feature_body([&] {
                          return load_feature_body(folder.path(), target.engine(),
                                                   {.sequences = 2, .capacity = 32});
                      }).text() == "");
            }
}

TEST_CASE("norms and layers of EAGLE-3's form are read where NVIDIA's files have them") {
    constexpr auto three = feature_kind::low_mid_high;
    drafter_files files(three);
    files.set({.before_fc = fuse_norm::whole});
    for (const char* const flag :
         {"norm_before_fc", "fc_norm", "norm_before_residual", "norm_output"})
        files.config.erase(flag);
    files.config["eagle_config"] = {{"norm_before_fc", true},
                                    {"eagle_aux_hidden_state_layer_ids", {0, 1, 0}}};
    const transformer target = make_target(three, precision::f32);
    const toy::temporary_folder folder;
    files.write(folder);
    CHECK(open_feature_folder(folder.path()).norms.before_fc == fuse_norm::whole);
    CHECK_NOTHROW(load_feature_body(folder.path(), target));
    files.config["eagle_config"]["eagle_aux_hidden_state_layer_ids"] = {0, 1, 1};
    files.write(folder);
    CHECK_THROWS_WITH(load_feature_body(folder.path(), target),
                      Contains("layers whose input is read") && Contains("found [0, 1, 1]"));
}

TEST_CASE("a copy of the target's embedding is not kept twice") {
    for (const feature_kind kind : {feature_kind::head_input, feature_kind::low_mid_high})
        for (const precision format : {precision::f32, precision::bf16, precision::q8}) {
            const transformer target = make_target(kind, format);
            const toy::temporary_folder folder;
            const auto load = [&](const drafter_files& files) {
                files.write(folder);
                return load_feature_body(folder.path(), target);
            };
            drafter_files files(kind);
            const std::size_t without = load(files).parameters();
            files.add_embedding(true);
            const feature_body copied = load(files);
            CHECK_FALSE(copied.own_embedding());
            CHECK(copied.parameters() == without);
            files.add_embedding();
            const feature_body own = load(files);
            CHECK(own.own_embedding());
            CHECK(own.parameters() == without + 77 * 36);
        }
}

TEST_CASE("a target's features are its head's input, or residuals of three blocks") {
    const auto tokens = [](std::size_t n) {
        std::vector<std::int32_t> ids;
        for (std::size_t i = 0; i < n; ++i)
            ids.push_back(static_cast<std::int32_t>(i * 7 % 77));
        return ids;
    };
    for (const feature_kind kind : {feature_kind::head_input, feature_kind::low_mid_high}) {
        transformer one = make_target(kind, precision::f32),
                    two = make_target(kind, precision::f32);
        const auto ids = tokens(60); // several chunks
        one.append(ids);
        two.score(ids);
        REQUIRE(one.features().shape(0) == 60);
        CHECK(one.features() == two.features()); // fed or scored
        transformer states = make_target(feature_kind::none, precision::f32);
        CHECK(states.feature_width() == 0);
        const sequence_part part{0, ids};
        states.hidden({&part, 1});
        if (kind == feature_kind::head_input)
            CHECK(one.features() == states.states());
    }
    CHECK(low_mid_high(30) == std::array<std::size_t, 3>{2, 15, 27});
    CHECK(low_mid_high(2) == std::array<std::size_t, 3>{0, 1, 0});
}

TEST_CASE("a head of the body's own gives rows of the tokens it lists") {
    const drafter_files files(feature_kind::low_mid_high);
    const toy::temporary_folder folder;
    files.write(folder);
    const transformer target = make_target(feature_kind::low_mid_high, precision::f32);
    feature_body body = load_feature_body(folder.path(), target);
    REQUIRE(body.kept() != nullptr);
    engine::lm_head<draft_id> products(body);
    reduced_vocabulary_head head(products, *body.kept());
    CHECK(head.vocabulary_size() == 77);
    std::vector<float> x(36), row(77);
    for (std::size_t k = 0; k < 36; ++k)
        x[k] = static_cast<float>(k % 5) - 2.0F;
    head.rows({x.data(), 1, 36, 36}, {row.data(), 77});
    const doubles expected = files.times("lm_head.weight", doubles(x.begin(), x.end()));
    std::size_t k = 0;
    for (std::size_t v = 0; v < 77; ++v)
        if (v == 0 || v == 7 || v == 8 || v == 30 || v == 76)
            CHECK(row[v] == Approx(expected[k++]).margin(1e-5));
        else
            CHECK(row[v] == -INFINITY);
    CHECK(load_feature_body(folder.path(), target).forward_bytes() > 0);
}

TEST_CASE("folders of bodies are checked against themselves and the target") {
    const transformer target = make_target(feature_kind::head_input, precision::f32);
    const auto refused = [&](feature_kind kind, const auto& edit, const std::string& message) {
        drafter_files files(kind);
        edit(files);
        const toy::temporary_folder folder;
        files.write(folder);
        CHECK_THROWS_WITH(load_feature_body(folder.path(), target), Contains(message));
    };
    constexpr auto one = feature_kind::head_input, three = feature_kind::low_mid_high;
    refused(
        one, [](auto& f) { f.of.tensors.erase("fc.weight"); }, "tensor fc.weight");
    refused(
        one,
        [](auto& f) {
            f.of.tensors["fc.bias"] = {{3}, {1, 2, 3}};
        },
        "fc.bias");
    refused(
        one, [](auto& f) { f.config["num_hidden_layers"] = 2; }, "num_hidden_layers");
    refused(
        one, [](auto& f) { f.config["vocab_size"] = 78; }, "vocabulary size");
    refused(
        one, [](auto& f) { f.config["hidden_size"] = 40; }, "hidden size");
    for (const char* const flag :
         {"norm_before_fc", "fc_norm", "norm_before_residual", "norm_output"})
        refused(
            one, [flag](auto& f) { f.config[flag] = true; },
            "config.json: " + std::string(flag) + ": expected false in EAGLE-1's form");
    refused(
        one,
        [](auto& f) {
            f.of.tensors["layers.0.input_layernorm.weight"] = {{1}, {1}};
        },
        "expected none");
    const auto with = [](const char* name) {
        return [name](auto& f) { f.of.tensors[name] = {{36}, std::vector<float>(36, 1)}; };
    };
    for (const feature_kind kind : {one, three})
        refused(kind, with("embed_tokens.weight"),
                "tensor embed_tokens.weight: expected shape [77, 36]");
    for (const char* name :
         {"layers.1.mlp.up_proj.weight", "layers.0.self_attn.o_proj.bias", "norm.weight", "d2t"})
        refused(one, with(name), "tensor " + std::string(name) + ": expected no tensor beyond");
    for (const char* name : {"midlayer.self_attn.q_norm.weight", "layers.0.mlp.up_proj.weight",
                             "layers.1.mlp.up_proj.weight", "lm_head.bias"})
        refused(three, with(name), "tensor " + std::string(name) + ": expected no tensor beyond");
    refused(
        three, [](auto& f) { f.config["draft_vocab_size"] = 6; }, "d2t");
    refused(
        three, [](auto& f) { f.of.tensors.erase("midlayer.hidden_norm.weight"); }, "hidden_norm");
    refused(
        three, [](auto& f) { f.of.tensors.erase("norm.weight"); }, "norm.weight");

    drafter_files files(one);
    for (const char* name : {"lm_head.weight", // the target's
                             "layers.0.self_attn.rotary_emb.inv_freq"})
        with(name)(files);
    const toy::temporary_folder folder;
    files.write(folder, false);
    feature_body body = load_feature_body(folder.path(), target, {.capacity = 3});
    const std::vector<draft_id> ids(4, draft_id{1});
    const std::vector<float> features(4 * 36);
    const hidden_states four(features.data(), 4, 36, 36);
    CHECK_THROWS_WITH(body.read(0, ids, {four, false}), Contains("at most 3"));
    CHECK_THROWS_WITH(body.read(0, std::vector{draft_id{77}}, {four.middle(0, 1), false}),
                      Contains("0 to 77 - 1"));
    CHECK_THROWS_WITH(body.read(0, std::vector{draft_id{7}}, {four, false}), Contains("features"));
    CHECK_THROWS_WITH(body.read(1, ids, {four, false}), Contains("sequence 1"));
    CHECK(body.size(0) == 0);

    files.config.update({{"model_type", "mistral"}, {"sliding_window", 64}});
    files.write(folder, false);
    CHECK(load_feature_body(folder.path(), target).capacity() == 64); // and not 64 more
    CHECK_THROWS_WITH(load_feature_body(folder.path(), target, {.capacity = 65}),
                      Contains("capacity: expected at most the 64 tokens"));
}

TEST_CASE("weights of a body that ask for other arithmetic are refused by what differs") {
    constexpr auto one = feature_kind::head_input, three = feature_kind::low_mid_high;
    const auto open = [](const drafter_files& files, const auto& edit) {
        const toy::temporary_folder folder;
        files.write(folder);
        feature_checkpoint c = open_feature_folder(folder.path());
        edit(c);
        return any_feature_weights(pack_features<float>(c, 1));
    };
    const auto as_is = [](feature_checkpoint&) {};
    for (const feature_kind kind : {one, three}) {
        const transformer target = make_target(kind, precision::f32);
        const drafter_files files(kind);
        const toy::temporary_folder folder;
        files.write(folder);
        feature_body body = load_feature_body(folder.path(), target);
        CHECK_NOTHROW(body.use(open(files, as_is)));
        const auto refused = [&](const auto& edit, const std::string& field) {
            CHECK_THROWS_WITH(body.use(open(files, edit)),
                              Contains("feature weights: " + field + ": "));
        };
        refused([](auto& c) { c.files.config.rms_epsilon = 1e-6F; }, "RMS norm epsilon");
        refused([](auto& c) { c.files.config.rotary.theta = 500000; }, "rotary settings");
        refused([](auto& c) { c.files.config.rotary.scaled = true; }, "rotary settings");
        refused([](auto& c) { c.files.config.rotary.factors = {1, 2, 4}; }, "rotary settings");
        refused(
            [](auto& c) { // the same tensors, cut into more heads
                c.files.config.heads = 18;
                c.files.config.kv_heads = 9;
                c.files.config.head_dimension = 2;
            },
            "shapes");
        if (kind == three) {
            refused([](auto& c) { c.norms.before_residual = true; }, "norms");
            refused([](auto& c) { c.norms.output = true; }, "norms");
            refused(
                [](auto& c) {
                    c.kept.emplace(std::vector{draft_id{0}, draft_id{7}, draft_id{8}, draft_id{30},
                                               draft_id{75}},
                                   77);
                },
                "tokens of its head");
        }
        CHECK_THROWS_WITH(body.use(open(drafter_files(kind == one ? three : one), as_is)),
                          Contains("feature weights: shapes: "));
    }
    const transformer target = make_target(one, precision::f32);
    const toy::temporary_folder folder;
    drafter_files(one).write(folder);
    feature_body body = load_feature_body(folder.path(), target);
    CHECK_THROWS_WITH(body.use(open(drafter_files(one, true), as_is)),
                      Contains("feature weights: shapes: "));
    CHECK_THROWS_WITH(body.use(any_feature_weights()), Contains("feature weights: shapes: "));
}

} // namespace feature_body_tests
