// SPDX-License-Identifier: MIT
#include <specdec/reference/drafter/feature_body.hpp>

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "support/toy_checkpoint.hpp"
#include <specdec/head/reduced_vocabulary_head.hpp>
#include <specdec/reference/drafter/lm_head.hpp>
#include <specdec/reference/load.hpp>
#include <specdec/reference/model.hpp>

namespace feature_body_tests {

using namespace specdec;
using namespace specdec::reference;
using Catch::Contains;
using column = std::vector<double>;

/// A drafter for the toy checkpoint, in either form.
struct drafter_files {
    toy::checkpoint of;
    nlohmann::json config;

    explicit drafter_files(feature_kind kind, bool bias = false) {
        const toy::checkpoint model;
        const std::size_t d = of.dimension;
        const bool three = kind == feature_kind::low_mid_high;
        of.tensors.clear();
        of.layers = 1;
        config = of.config();
        std::minstd_rand bits(5);
        const auto add = [&](const std::string& name, std::vector<std::size_t> shape) {
            toy::weights w{shape, {}};
            w.values.resize(shape.size() == 2 ? shape[0] * shape[1] : shape[0]);
            for (float& v : w.values)
                v = (static_cast<float>(bits() % 2001) - 1000.0F) * 3e-4F +
                    (shape.size() == 1 ? 1.0F : 0.0F);
            of.tensors[name] = w;
        };
        const std::string p = three ? "midlayer." : "layers.0.";
        const std::size_t read = three ? 2 * d : d;
        add("fc.weight", {d, three ? 3 * d : 2 * d});
        if (bias)
            add("fc.bias", {d});
        add(p + "self_attn.q_proj.weight", {36, read});
        add(p + "self_attn.k_proj.weight", {18, read});
        add(p + "self_attn.v_proj.weight", {18, read});
        add(p + "self_attn.o_proj.weight", {d, 36});
        add(p + "mlp.gate_proj.weight", {of.hidden, d});
        add(p + "mlp.up_proj.weight", {of.hidden, d});
        add(p + "mlp.down_proj.weight", {d, of.hidden});
        add(p + "post_attention_layernorm.weight", {d});
        if (!three)
            return;
        add(p + "input_layernorm.weight", {d});
        add(p + "hidden_norm.weight", {d});
        add("norm.weight", {d});
        add("lm_head.weight", {5, d});
        config["architectures"] = {"LlamaForCausalLMEagle3"};
        config["draft_vocab_size"] = 5;
    }

    /// With d2t of the tokens 0, 7, 8, 30, 76 where the form has it.
    void write(const toy::temporary_folder& folder) const {
        folder.write("config.json", config.dump());
        std::string file = of.safetensors();
        if (of.tensors.count("lm_head.weight") != 0) {
            std::string offsets;
            for (const std::int64_t o : {0, 6, 6, 27, 72})
                toy::put(offsets, o);
            std::uint64_t length = 0;
            std::memcpy(&length, file.data(), 8);
            const std::size_t data = file.size() - 8 - length;
            file = of.safetensors([&](nlohmann::json& header) {
                header["d2t"] = {
                    {"dtype", "I64"}, {"shape", {5}}, {"data_offsets", {data, data + 40}}};
            });
            file += offsets;
        }
        folder.write("model.safetensors", file);
    }

    [[nodiscard]] column times(const std::string& name, const column& x) const {
        const toy::weights& w = of.tensors.at(name);
        column y(w.shape[0]);
        for (std::size_t r = 0; r < y.size(); ++r)
            for (std::size_t k = 0; k < x.size(); ++k)
                y[r] += static_cast<double>(w.values[r * x.size() + k]) * x[k];
        return y;
    }
    [[nodiscard]] column norm(const std::string& name, column x) const {
        double squares = 0;
        for (const double v : x)
            squares += v * v;
        for (std::size_t k = 0; k < x.size(); ++k)
            x[k] *= static_cast<double>(of.tensors.at(name).values[k]) /
                    std::sqrt(squares / static_cast<double>(x.size()) + 1e-5);
        return x;
    }
};

struct place {
    int token;
    column feature;
    bool own;
};

column joined(column a, const column& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}
column sum(column a, const column& b) {
    for (std::size_t k = 0; k < a.size(); ++k)
        a[k] += b[k];
    return a;
}
/// A head of six numbers, turned by its position: first half and second half.
void turn(double* head, std::size_t position) {
    for (std::size_t k = 0; k < 3; ++k) {
        const double angle =
            static_cast<double>(position) * std::pow(10000.0, -2.0 * static_cast<double>(k) / 6);
        const double a = head[k], b = head[k + 3];
        head[k] = a * std::cos(angle) - b * std::sin(angle);
        head[k + 3] = a * std::sin(angle) + b * std::cos(angle);
    }
}

/// The paper's forward pass in double precision: {hidden state, own feature} of the last place.
std::pair<column, column> oracle(const drafter_files& files, const toy::checkpoint& target,
                                 const std::vector<place>& places) {
    const bool three = files.of.tensors.count("norm.weight") != 0;
    const std::string p = three ? "midlayer." : "layers.0.";
    std::vector<column> keys, values;
    column q, r;
    for (std::size_t i = 0; i < places.size(); ++i) {
        const float* e = &target.tensors.at("model.embed_tokens.weight")
                              .values[static_cast<std::size_t>(places[i].token) * 36];
        const column token(e, e + 36);
        column read;
        if (three) {
            r = places[i].own ? places[i].feature : files.times("fc.weight", places[i].feature);
            read = joined(files.norm(p + "input_layernorm.weight", token),
                          files.norm(p + "hidden_norm.weight", r));
        } else {
            r = files.times("fc.weight", joined(token, places[i].feature));
            if (files.of.tensors.count("fc.bias") != 0) {
                const auto& bias = files.of.tensors.at("fc.bias").values;
                r = sum(r, column(bias.begin(), bias.end()));
            }
            read = r;
        }
        q = files.times(p + "self_attn.q_proj.weight", read);
        keys.push_back(files.times(p + "self_attn.k_proj.weight", read));
        values.push_back(files.times(p + "self_attn.v_proj.weight", read));
        for (std::size_t h = 0; h < 6; ++h)
            turn(&q[h * 6], i);
        for (std::size_t h = 0; h < 3; ++h)
            turn(&keys.back()[h * 6], i);
    }
    column attended(36);
    for (std::size_t h = 0; h < 6; ++h) {
        column weight;
        double total = 0;
        for (const column& key : keys) {
            double score = 0;
            for (std::size_t k = 0; k < 6; ++k)
                score += q[h * 6 + k] * key[h / 2 * 6 + k];
            weight.push_back(std::exp(score / std::sqrt(6.0)));
            total += weight.back();
        }
        for (std::size_t j = 0; j < values.size(); ++j)
            for (std::size_t k = 0; k < 6; ++k)
                attended[h * 6 + k] += weight[j] / total * values[j][h / 2 * 6 + k];
    }
    r = sum(r, files.times(p + "self_attn.o_proj.weight", attended));
    const column x = files.norm(p + "post_attention_layernorm.weight", r);
    column gate = files.times(p + "mlp.gate_proj.weight", x);
    const column up = files.times(p + "mlp.up_proj.weight", x);
    for (std::size_t k = 0; k < gate.size(); ++k)
        gate[k] = gate[k] / (1 + std::exp(-gate[k])) * up[k];
    r = sum(r, files.times(p + "mlp.down_proj.weight", gate));
    return {three ? files.norm("norm.weight", r) : r, r};
}

transformer make_target(feature_kind features, precision number_format) {
    static const toy::temporary_folder folder;
    static const toy::checkpoint model;
    folder.write("config.json", model.config().dump());
    folder.write("model.safetensors", model.safetensors());
    return load_transformer(folder.path(),
                            {number_format, {.threads = 2, .features = features}, {}});
}

column numbers(hidden_state x) {
    return {x.values.begin(), x.values.end()};
}
void check_near(const column& found, const column& expected, double margin) {
    REQUIRE(found.size() == expected.size());
    for (std::size_t k = 0; k < found.size(); ++k)
        CHECK(found[k] == Approx(expected[k]).margin(margin));
}

TEST_CASE("bodies that read features: the papers' forward pass, in any groups") {
    const toy::checkpoint target_files;
    for (const auto& [kind, bias] :
         {std::pair{feature_kind::head_input, false}, std::pair{feature_kind::head_input, true},
          std::pair{feature_kind::low_mid_high, false}})
        for (const precision format : {precision::f32, precision::bf16, precision::q8}) {
            CAPTURE(static_cast<int>(kind), bias, name(format));
            const drafter_files files(kind, bias);
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
            const std::vector<draft_id> ids{draft_id{70}, draft_id{12}, draft_id{12}, draft_id{40}};
            std::vector<place> places;
            for (std::size_t i = 0; i < 4; ++i)
                places.push_back({ids[i].value, numbers(target.features()[i]), false});
            const double margin = format == precision::f32    ? 2e-5
                                  : format == precision::bf16 ? 0.05
                                                              : 0.15;
            const body_output rows = body.read(0, ids, {target.features().middle(0, 4), false});
            const auto [state, own] = oracle(files, target_files, places);
            check_near(numbers(rows.states[3]), state, margin);
            check_near(numbers(rows.own[3]), own, margin);

            // Place by place: the same to the bit.
            column one_by_one;
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
                check_near(numbers(drafted.states[0]), later, margin);
                again.truncate(0, 4);
            }
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
    reference::lm_head<draft_id> products(body);
    reduced_vocabulary_head head(products, *body.kept());
    CHECK(head.vocabulary_size() == 77);
    std::vector<float> x(36), row(77);
    for (std::size_t k = 0; k < 36; ++k)
        x[k] = static_cast<float>(k % 5) - 2.0F;
    head.rows({x.data(), 1, 36, 36}, {row.data(), 77});
    const column expected = files.times("lm_head.weight", column(x.begin(), x.end()));
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
    refused(
        one,
        [](auto& f) {
            f.of.tensors["layers.0.input_layernorm.weight"] = {{1}, {1}};
        },
        "expected none");
    refused(
        three, [](auto& f) { f.config["draft_vocab_size"] = 6; }, "d2t");
    refused(
        three, [](auto& f) { f.of.tensors.erase("midlayer.hidden_norm.weight"); }, "hidden_norm");
    refused(
        three, [](auto& f) { f.of.tensors.erase("norm.weight"); }, "norm.weight");

    const drafter_files files(one);
    const toy::temporary_folder folder;
    files.write(folder);
    feature_body body = load_feature_body(folder.path(), target, {.capacity = 3});
    const std::vector<draft_id> ids(4, draft_id{1});
    const std::vector<float> features(4 * 36);
    const hidden_states four(features.data(), 4, 36, 36);
    CHECK_THROWS_WITH(body.read(0, ids, {four, false}), Contains("at most 3"));
    CHECK_THROWS_WITH(body.read(0, std::vector{draft_id{77}}, {four.middle(0, 1), false}),
                      Contains("below 77"));
    CHECK_THROWS_WITH(body.read(0, std::vector{draft_id{7}}, {four, false}), Contains("features"));
    CHECK(body.size(0) == 0);
}

} // namespace feature_body_tests
