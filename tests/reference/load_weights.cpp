// SPDX-License-Identifier: MIT
#include <specdec/reference/load_weights.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "reference/toy_weights.hpp"
#include "support/temporary_folder.hpp"
#include <specdec/reference/transformer_model.hpp>

namespace load_weights_tests {

using namespace specdec;
using namespace specdec::testing;
using Catch::Contains;
using nlohmann::json;
using reference::load_weights;
using reference::read_transformer_config;
using reference::safetensors_file;
using reference::transformer_config;

/// A safetensors file of a header and data.
std::string safetensors(const std::string& header, const std::string& data) {
    const std::uint64_t length = header.size();
    return std::string(reinterpret_cast<const char*>(&length), sizeof length) + header + data;
}

/// A folder's two files, to be changed before they are written.
struct toy_folder {
    json config{}, header{};
    std::string data{};

    /// Number: float, Eigen::half or Eigen::bfloat16.
    template <class Number>
    static toy_folder of(const reference::transformer_weights<float>& weights, const char* type) {
        toy_folder out;
        const transformer_config& c = weights.config;
        out.config = {{"architectures", {c.qkv_bias ? "Qwen2ForCausalLM" : "LlamaForCausalLM"}},
                      {"hidden_size", c.width},
                      {"num_hidden_layers", c.layers},
                      {"num_attention_heads", c.heads},
                      {"num_key_value_heads", c.kv_heads},
                      {"head_dim", c.head_dimension},
                      {"intermediate_size", c.inner_width},
                      {"vocab_size", c.vocabulary_size},
                      {"max_position_embeddings", c.context},
                      {"rms_norm_eps", c.rms_epsilon},
                      {"rope_theta", c.rotary.theta},
                      {"tie_word_embeddings", c.tied}};
        reference::visit_tensors(weights, [&](const std::string& name, const auto& tensor,
                                              std::size_t rows, std::size_t columns) {
            if (columns == 0)
                return;
            const std::size_t begin = out.data.size();
            for (const float w : tensor.template reshaped<Eigen::RowMajor>()) {
                const Number number(w);
                out.data.append(reinterpret_cast<const char*>(&number), sizeof number);
            }
            out.header[name] = {{"dtype", type},
                                {"shape", name.ends_with("proj.weight") ||
                                                  name.ends_with("s.weight") ||
                                                  name == "lm_head.weight"
                                              ? json{rows, columns}
                                              : json{columns}},
                                {"data_offsets", {begin, out.data.size()}}};
        });
        return out;
    }
    static toy_folder of_floats(const transformer_config& config = toy_config()) {
        return of<float>(*toy_weights<float>(config), "F32");
    }

    template <class Scalar = double>
    [[nodiscard]] auto load() const {
        const temporary_folder folder;
        folder.write("config.json", config.dump());
        folder.write("model.safetensors", safetensors(header.dump(), data));
        return load_weights<Scalar>(folder.path());
    }
};

template <class Number>
void check_round_trip(const char* type, transformer_config config) {
    CAPTURE(type);
    const auto weights = toy_weights<float>(config, 7);
    reference::visit_tensors(
        *weights, [](const std::string&, auto& tensor, std::size_t, std::size_t) {
            tensor = tensor.template cast<Number>().template cast<float>().eval();
        });
    const auto loaded = toy_folder::of<Number>(*weights, type).load();
    std::map<std::string, reference::matrix<double>> wanted;
    reference::visit_tensors(*weights,
                             [&](const std::string& name, const auto& tensor, std::size_t,
                                 std::size_t) { wanted[name] = tensor.template cast<double>(); });
    reference::visit_tensors(*loaded, [&](const std::string& name, const auto& tensor, std::size_t,
                                          std::size_t) { CHECK(tensor == wanted[name]); });
    CHECK(loaded->config.width == config.width);
    CHECK(loaded->config.tied == config.tied);
    CHECK(loaded->config.qkv_bias == config.qkv_bias);
    CHECK(loaded->config.rotary.theta == config.rotary.theta);
}

TEST_CASE("weights come back from a folder in F32, F16 and BF16") {
    transformer_config config = toy_config();
    check_round_trip<float>("F32", config);
    check_round_trip<Eigen::half>("F16", config);
    config.tied = false;
    config.qkv_bias = true;
    check_round_trip<Eigen::bfloat16>("BF16", config);
}

TEST_CASE("half-precision numbers of all kinds are widened as they are") {
    const std::vector<std::pair<std::uint16_t, double>> f16{{0x3C00, 1},       {0xC000, -2},
                                                            {0x0001, 0x1p-24}, {0x03FF, 0x3FFp-24},
                                                            {0x7BFF, 65504},   {0x8000, 0}};
    const std::vector<std::pair<std::uint16_t, double>> bf16{
        {0x3F80, 1}, {0xC000, -2}, {0x0001, 0x1p-133}, {0x7F7F, 0xFFp120}, {0x8000, 0}};
    for (const auto& [type, pairs] : {std::pair{"F16", f16}, {"BF16", bf16}}) {
        std::string data;
        for (const auto& [bits, value] : pairs)
            data.append(reinterpret_cast<const char*>(&bits), sizeof bits);
        const json header{
            {"x",
             {{"dtype", type}, {"shape", {pairs.size()}}, {"data_offsets", {0, data.size()}}}}};
        reference::row_vector<double> x;
        safetensors_file(safetensors(header.dump(), data), "f").read("x", x, 1, pairs.size());
        for (std::size_t i = 0; i < pairs.size(); ++i)
            CHECK(x(reference::index(i)) == pairs[i].second);
    }
}

TEST_CASE("a safetensors file that is none is refused by file and field") {
    const auto refused = [](const std::string& content, const std::string& why) {
        CAPTURE(why);
        CHECK_THROWS_WITH(safetensors_file(content, "m.safetensors"),
                          Contains("m.safetensors: " + why));
    };
    refused("", "header length: expected 8 bytes");
    refused("1234567", "header length: expected 8 bytes");
    refused(std::string(8, '\xFF'), "header length: expected at most the 0 bytes after it");
    refused(std::string("\x10\0\0\0\0\0\0\0{}", 10), "header length: expected at most the 2 bytes");
    refused(safetensors("{", ""), "header: expected JSON");
    refused(safetensors(std::string(100000, '['), ""), "header: expected JSON");
    refused(safetensors("[]", ""), "header: expected a JSON object");
    refused(safetensors("{\"a\": 3}", ""), "tensor a: expected a JSON object");
    const auto with = [&](const json& entry, const std::string& why) {
        refused(safetensors(json{{"a", entry}}.dump(), "12345678"), "tensor a " + why);
    };
    with({{"shape", {2}}, {"data_offsets", {0, 8}}}, "dtype: expected this field");
    with({{"dtype", 3}, {"shape", {2}}, {"data_offsets", {0, 8}}}, "dtype: expected a string");
    with({{"dtype", "F32"}, {"shape", 2}, {"data_offsets", {0, 8}}},
         "shape: expected whole numbers");
    with({{"dtype", "F32"}, {"shape", {-2}}, {"data_offsets", {0, 8}}}, "shape: expected whole");
    with({{"dtype", "F32"}, {"shape", {2.5}}, {"data_offsets", {0, 8}}}, "shape: expected whole");
    for (const json& offsets : {json{0}, json{0, 9}, json{8, 4}, json{0, 8, 8},
                                json{std::uint64_t(-1) - 7, 8}, json{0, std::uint64_t(-1)}})
        with({{"dtype", "F32"}, {"shape", {2}}, {"data_offsets", offsets}},
             "data_offsets: expected [begin, end] within the 8 bytes");
    with({{"dtype", "F32"}, {"shape", {std::uint64_t(1) << 62, 4}}, {"data_offsets", {0, 8}}},
         "shape: expected a shape that fits into the file, found [4611686018427387904,4]");
    with({{"dtype", "F32"}, {"shape", {0, std::uint64_t(-1)}}, {"data_offsets", {0, 8}}},
         "data_offsets: expected 0 bytes");
    with({{"dtype", "F16"}, {"shape", {2}}, {"data_offsets", {0, 8}}},
         "data_offsets: expected 4 bytes");
    const auto data = [&](const std::vector<std::pair<int, int>>& offsets, int byte) {
        json header{{"__metadata__", {{"format", "pt"}}}};
        for (const auto& [begin, end] : offsets)
            header["t" + std::to_string(header.size())] = {
                {"dtype", "F16"}, {"shape", {(end - begin) / 2}}, {"data_offsets", {begin, end}}};
        refused(safetensors(header.dump(), "12345678"),
                "data: expected each byte to belong to one tensor, unlike byte " +
                    std::to_string(byte));
    };
    data({}, 0);
    data({{0, 4}}, 4);
    data({{2, 8}}, 0);
    data({{0, 4}, {6, 8}}, 4);
    data({{0, 6}, {4, 8}}, 4);
    data({{0, 8}, {0, 8}}, 0);
}

TEST_CASE("tensors that the configuration does not ask for, or not so, are refused by name") {
    const toy_folder good = toy_folder::of_floats();
    CHECK(good.load() != nullptr);
    const auto refused = [](const toy_folder& bad, const std::string& why) {
        CAPTURE(why);
        CHECK_THROWS_WITH(bad.load(), Contains("model.safetensors: tensor " + why));
    };
    const auto renamed = [&](const std::string& from, const std::string& to) {
        toy_folder bad = good;
        bad.header[to] = bad.header[from];
        bad.header.erase(from);
        return bad;
    };
    const std::string up = "model.layers.2.mlp.up_proj.weight";
    refused(renamed(up, "x"), up + ": expected this tensor, it is missing");
    toy_folder bad = good;
    bad.config["num_hidden_layers"] = 2;
    refused(bad, "model.layers.2.input_layernorm.weight: expected no tensor that config.json does");
    bad = good;
    bad.config["vocab_size"] = 1 << 24; // refused before memory is taken
    refused(bad, "model.embed_tokens.weight: expected shape [16777216,20] from the configuration, "
                 "found [37,20]");
    bad = good;
    bad.header[up]["dtype"] = "I32";
    refused(bad, up + ": expected F32, F16 or BF16, found I32");
    bad = good;
    bad.config["architectures"] = {"Qwen2ForCausalLM"};
    refused(bad, "model.layers.0.self_attn.q_proj.bias: expected this tensor");
    bad = good;
    const float nan = std::numeric_limits<float>::quiet_NaN();
    bad.data.replace(bad.data.size() - 4, 4, reinterpret_cast<const char*>(&nan), 4);
    CHECK_THROWS_WITH(bad.load(), Contains(": expected finite numbers"));

    transformer_config untied = toy_config();
    untied.tied = false;
    bad = toy_folder::of_floats(untied);
    CHECK(bad.load()->head.rows() == 37);
    bad.config["tie_word_embeddings"] = true;
    refused(bad, "lm_head.weight: expected the embedding, as config.json ties them");
    const auto offsets = [&](const char* name) {
        return bad.header[name]["data_offsets"][0].get<std::size_t>();
    };
    bad.data.replace(offsets("lm_head.weight"), 37 * 20 * 4,
                     bad.data.substr(offsets("model.embed_tokens.weight"), 37 * 20 * 4));
    CHECK(bad.load()->lm_head().rows() == 37); // the same twice
}

TEST_CASE("a configuration that is wrong or not supported is refused by field") {
    const json good = toy_folder::of_floats().config;
    const auto refused = [&](const json& changes, const std::string& why) {
        json config = good;
        config.update(changes);
        CAPTURE(why);
        CHECK_THROWS_WITH(read_transformer_config(config.dump(), "config.json"),
                          Contains("config.json: " + why));
    };
    CHECK(read_transformer_config(good.dump(), "config.json").layers == 3);
    CHECK_THROWS_WITH(read_transformer_config("{", "config.json"),
                      "config.json: file: expected JSON");
    CHECK_THROWS_WITH(read_transformer_config("[]", "config.json"),
                      "config.json: file: expected a JSON object");
    refused({{"architectures", nullptr}}, "architectures: expected this field, it is missing");
    refused({{"architectures", {"A", "B"}}}, "architectures: expected one name");
    refused({{"architectures", {"GemmaForCausalLM"}}}, "architectures: expected LlamaForCausalLM");
    refused({{"hidden_act", "gelu"}}, "hidden_act: expected silu, found gelu");
    refused({{"attention_bias", true}}, "attention_bias: expected false");
    refused({{"mlp_bias", true}}, "mlp_bias: expected false");
    refused({{"quantization_config", json::object()}}, "quantization_config: expected none");
    refused({{"residual_multiplier", 0.5}}, "residual_multiplier: expected 1");
    refused({{"sliding_window", 32}}, "sliding_window: expected none below the context of 64");
    refused({{"hidden_size", nullptr}}, "hidden_size: expected this field");
    refused({{"hidden_size", "20"}}, "hidden_size: expected a whole number");
    refused({{"hidden_size", -20}}, "hidden_size: expected a whole number");
    refused({{"hidden_size", 0}}, "hidden_size: expected 1 to");
    refused({{"num_hidden_layers", std::uint64_t(-1)}}, "num_hidden_layers: expected 1 to 4096");
    refused({{"num_attention_heads", 0}}, "num_attention_heads: expected 1 to");
    refused({{"num_key_value_heads", 4}}, "num_key_value_heads: expected a divisor");
    refused({{"num_key_value_heads", 7}}, "num_key_value_heads: expected 1 to 6");
    refused({{"head_dim", 5}}, "head_dim: expected an even number");
    refused({{"vocab_size", 1 << 30}}, "vocab_size: expected 1 to");
    refused({{"rms_norm_eps", 0}}, "rms_norm_eps: expected a number between 0 and 1");
    refused({{"rms_norm_eps", "1e-5"}}, "rms_norm_eps: expected a number");
    refused({{"rope_theta", -1}}, "rope_theta: expected a positive number");
    refused({{"tie_word_embeddings", 1}}, "tie_word_embeddings: expected true or false");
    const auto scaling = [&](const json& settings, const std::string& why) {
        refused({{"rope_scaling", settings}}, "rope_scaling " + why);
    };
    scaling({{"rope_type", "yarn"}, {"factor", 2}},
            "rope_type: expected default, linear or llama3, found yarn");
    scaling({{"type", "dynamic"}, {"factor", 2}}, "rope_type: expected default");
    scaling({{"rope_type", "linear"}}, "factor: expected this field");
    scaling({{"rope_type", "linear"}, {"factor", 0}}, "factor: expected a positive number");
    scaling({{"rope_type", "llama3"}, {"factor", 2}, {"low_freq_factor", 1}},
            "high_freq_factor: expected");
    scaling({{"partial_rotary_factor", 0.5}}, "partial_rotary_factor: expected 1");
    refused({{"rope_scaling",
              {{"rope_type", "llama3"},
               {"factor", 8},
               {"low_freq_factor", 4},
               {"high_freq_factor", 1},
               {"original_max_position_embeddings", 64}}}},
            "rope_scaling: expected 0 < low_freq_factor < high_freq_factor");
    json newer = good; // Transformers 5
    newer.erase("rope_theta");
    newer["rope_parameters"] = {{"rope_type", "linear"}, {"rope_theta", 77}, {"factor", 4}};
    const transformer_config c = read_transformer_config(newer.dump(), "config.json");
    CHECK(c.rotary.theta == 77);
    CHECK(c.rotary.factor == 4);
}

TEST_CASE("a folder without its files is refused by their names") {
    const temporary_folder folder;
    CHECK_THROWS_WITH(load_weights(folder.path()),
                      Contains("config.json: file: expected a readable"));
    folder.write("config.json", toy_folder::of_floats().config.dump());
    CHECK_THROWS_WITH(load_weights(folder.path()),
                      Contains("model.safetensors: file: expected a readable"));
    folder.write("model.safetensors", "version https://git-lfs.github.com/spec/v1\n");
    CHECK_THROWS_WITH(load_weights(folder.path()), Contains("git-lfs pointer"));
}

TEST_CASE("a flipped bit of a header gives an error or a model, never a crash") {
    const toy_folder good = toy_folder::of_floats();
    const std::string file = safetensors(good.header.dump(), good.data);
    const temporary_folder folder;
    folder.write("config.json", good.config.dump());
    std::size_t refused = 0;
    for (std::size_t i = 0; i < 500; ++i) {
        std::string flipped = file;
        flipped[i * 7 % (8 + good.header.dump().size())] ^= static_cast<char>(1 << (i % 8));
        folder.write("model.safetensors", flipped);
        try {
            (void)load_weights(folder.path());
        } catch (const error&) {
            ++refused;
        }
    }
    CHECK(refused > 400);
}

TEST_CASE("weights that are given as matrices are checked by name") {
    using settings = reference::transformer_settings;
    using model = reference::transformer_model<target_id, double>;
    const auto refused = [](const auto& change, const std::string& why) {
        auto weights = toy_weights();
        change(*weights);
        CHECK_THROWS_WITH(model(weights), Contains("transformer weights: " + why));
    };
    refused([](auto& w) { w.layers.pop_back(); }, "layers: expected 3, found 2");
    refused([](auto& w) { w.layers[1].down.resize(20, 27); },
            "tensor model.layers.1.mlp.down_proj.weight: expected 20 x 28 numbers, found 20 x 27");
    refused([](auto& w) { w.layers[0].key_bias.setZero(8); },
            "tensor model.layers.0.self_attn.k_proj.bias: expected 1 x 0 numbers, found 1 x 8");
    refused([](auto& w) { w.head = w.embedding; }, "tensor lm_head.weight: expected 0 x 0");
    refused([](auto& w) { w.final_norm(3) = std::nan(""); },
            "tensor model.norm.weight: expected finite numbers");
    refused([](auto& w) { w.config.heads = 5; }, "num_key_value_heads: expected a divisor");
    CHECK_THROWS_WITH(model(nullptr), Contains("weights: expected weights"));
    CHECK_THROWS_WITH(model(toy_weights(), settings{.sequences = 0}),
                      Contains("sequences: expected at least 1"));
    CHECK_THROWS_WITH(model(toy_weights(), settings{.sequences = 2}),
                      Contains("sequences: expected 1; transformer_batch"));
    CHECK_THROWS_WITH(model(toy_weights(), settings{.vocabulary_size = 38}),
                      Contains("vocabulary_size: expected at most the 37"));
    CHECK_THROWS_WITH(model(toy_weights(), settings{.features = {4}}),
                      Contains("features: expected layers up to 3, found 4"));
}

} // namespace load_weights_tests
