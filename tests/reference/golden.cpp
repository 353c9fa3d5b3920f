// SPDX-License-Identifier: MIT
// The reference transformer against values that other programs computed: plain Python, and
// Transformers (tests/golden).
#include <specdec/reference/transformer_forward.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <specdec/reference/load_weights.hpp>
#include <specdec/reference/transformer_model.hpp>

namespace golden_tests {

using namespace specdec;
using reference::matrix;
using reference::transformer_model;
using reference::transformer_weights;

template <class Scalar>
matrix<Scalar> matrix_of(const nlohmann::json& rows) {
    const bool one = rows[0].is_number();
    const auto n = one ? 1 : rows.size(), m = one ? rows.size() : rows[0].size();
    matrix<Scalar> out(n, m);
    for (std::size_t i = 0; i < n * m; ++i)
        out.data()[i] = (one ? rows[i] : rows[i / m][i % m]).template get<Scalar>();
    return out;
}

template <class Scalar>
std::shared_ptr<const transformer_weights<Scalar>> weights_of(const nlohmann::json& model) {
    const nlohmann::json &c = model["config"], &w = model["weights"];
    auto weights = std::make_shared<transformer_weights<Scalar>>();
    weights->config = {.width = c["width"],
                       .layers = c["layers"],
                       .heads = c["heads"],
                       .kv_heads = c["kv_heads"],
                       .head_dimension = c["head_dimension"],
                       .inner_width = c["inner"],
                       .vocabulary_size = c["vocabulary"],
                       .context = 16,
                       .rms_epsilon = c["epsilon"],
                       .tied = c["tied"],
                       .qkv_bias = c["bias"],
                       .rotary = {.theta = c["theta"]}};
    if (const nlohmann::json& s = c["scaling"]; !s.is_null()) {
        reference::rotary_settings& r = weights->config.rotary;
        r.factor = s["factor"];
        r.scaling = s["type"] == "linear" ? reference::rotary_scaling::linear
                                          : reference::rotary_scaling::llama3;
        r.low_frequency_factor = s.value("low", r.low_frequency_factor);
        r.high_frequency_factor = s.value("high", r.high_frequency_factor);
        r.original_context = s.value("original", r.original_context);
    }
    weights->embedding = matrix_of<Scalar>(w["embedding"]);
    weights->final_norm = matrix_of<Scalar>(w["final_norm"]);
    if (!weights->config.tied)
        weights->head = matrix_of<Scalar>(w["head"]);
    for (const nlohmann::json& l : w["layers"]) {
        auto& layer = weights->layers.emplace_back();
        layer.attention_norm = matrix_of<Scalar>(l["attention_norm"]);
        layer.query = matrix_of<Scalar>(l["query"]);
        layer.key = matrix_of<Scalar>(l["key"]);
        layer.value = matrix_of<Scalar>(l["value"]);
        if (weights->config.qkv_bias) {
            layer.query_bias = matrix_of<Scalar>(l["query_bias"]);
            layer.key_bias = matrix_of<Scalar>(l["key_bias"]);
            layer.value_bias = matrix_of<Scalar>(l["value_bias"]);
        }
        layer.output = matrix_of<Scalar>(l["output"]);
        layer.mlp_norm = matrix_of<Scalar>(l["mlp_norm"]);
        layer.gate = matrix_of<Scalar>(l["gate"]);
        layer.up = matrix_of<Scalar>(l["up"]);
        layer.down = matrix_of<Scalar>(l["down"]);
    }
    return weights;
}

std::vector<target_id> ids_of(const nlohmann::json& ids) {
    std::vector<target_id> out;
    for (const nlohmann::json& id : ids)
        out.push_back(target_id{id.get<std::int32_t>()});
    return out;
}

nlohmann::json read_json(const std::string& path) {
    std::ifstream file(path);
    REQUIRE(file);
    return nlohmann::json::parse(file);
}

matrix<double> rows_of(const hidden_states& states) {
    return Eigen::Map<const matrix<float>>(states[0].values.data(), reference::index(states.size()),
                                           reference::index(states.width()))
        .cast<double>();
}

/// The greatest distance of two matrices' numbers.
template <class A, class B>
double apart(const A& a, const B& b) {
    REQUIRE(a.rows() == b.rows());
    REQUIRE(a.cols() == b.cols());
    return (a.template cast<double>() - b.template cast<double>()).cwiseAbs().maxCoeff();
}

TEMPLATE_TEST_CASE("tiny models have the logits that plain Python computes", "", double, float) {
    const double bound = std::is_same_v<TestType, double> ? 1e-13 : 1e-5;
    const nlohmann::json golden =
        read_json(SPECDEC_SOURCE_DIR "/tests/reference/golden/logits.json");
    for (const auto& [name, model] : golden.items()) {
        CAPTURE(name);
        const std::size_t layers = model["config"]["layers"];
        transformer_model<target_id, TestType> m(weights_of<TestType>(model),
                                                 {.features = {layers - 1, layers}});
        const std::vector<target_id> ids = ids_of(model["ids"]);
        const logits_rows<target_id> rows = m.score(ids);
        const matrix<double> wanted = matrix_of<double>(model["logits"]);
        const double off = apart(m.logits(), wanted);
        INFO(off);
        CHECK(off < bound);
        CHECK(rows.size() == ids.size());
        for (std::size_t i = 0; i < rows.size(); ++i)
            for (std::size_t v = 0; v < rows.vocabulary(); ++v)
                CHECK(rows[i].values[v] ==
                      static_cast<float>(m.logits()(reference::index(i), reference::index(v))));
        matrix<double> features(wanted.rows(), 2 * m.config().width);
        features << matrix_of<double>(model["before_last_layer"]),
            matrix_of<double>(model["hidden"]);
        CHECK(apart(rows_of(m.features()), features) < 1e-5); // they are floats
        m.truncate(0);
        CHECK(apart(rows_of(m.hidden(ids)), matrix_of<double>(model["hidden"])) < 1e-5);
    }
}

TEMPLATE_TEST_CASE("small checkpoints have the logits that Transformers computes", "", double,
                   float) {
    const std::string golden = SPECDEC_SOURCE_DIR "/tests/golden/";
    for (const std::string name : {"llama", "llama-bf16", "llama3", "mistral", "qwen2"}) {
        CAPTURE(name);
        transformer_model<target_id, TestType> m(reference::load_weights<TestType>(golden + name));
        const std::vector<target_id> ids = ids_of(read_json(golden + name + "/ids.json"));
        const logits_rows<target_id> rows = m.score(ids);
        matrix<float> wanted(rows.size(), rows.vocabulary());
        std::ifstream file(golden + name + "/logits.f32", std::ios::binary);
        file.read(reinterpret_cast<char*>(wanted.data()),
                  static_cast<std::streamsize>(sizeof(float)) * wanted.size());
        REQUIRE(file);
        const double off = apart(m.logits(), wanted);
        INFO(off);
        CHECK(off < 2e-5); // Transformers computed in float
    }
}

} // namespace golden_tests
