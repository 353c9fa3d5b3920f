// SPDX-License-Identifier: MIT
#include <specdec_engine/file/hf_config.hpp>

#include <catch2/catch.hpp>

#include "support/toy_checkpoint.hpp"

using namespace specdec::engine;
using Catch::Contains;
using nlohmann::json;

namespace {

template <class Edit>
model_config edited(const Edit& edit) {
    json config = toy::checkpoint().config();
    edit(config);
    return read_hf_config(config.dump(), "config.json");
}

} // namespace

TEST_CASE("what config.json leaves out has the architecture's defaults") {
    const model_config c = edited([](json& j) {
        for (const char* key : {"head_dim", "num_key_value_heads", "tie_word_embeddings",
                                "rope_theta", "rms_norm_eps", "eos_token_id"})
            j.erase(key);
    });
    CHECK(c.head_dimension == 6);
    CHECK(c.kv_heads == 6);
    CHECK_FALSE(c.tied);
    CHECK(c.rotary.theta == 10000.0);
    CHECK(c.rms_epsilon == 1e-6F);
    CHECK(c.eos.empty());
    CHECK(c.bos == 1);
}

TEST_CASE("the length of the texts that a model was trained on") {
    const auto trained = [](const json& value) {
        return edited([&](json& j) { j["trained_context"] = value; }).trained_context;
    };
    CHECK(edited([](json&) {}).trained_context == 0);
    CHECK(trained(nullptr) == 0);
    CHECK(trained(2) == 2);
    const std::size_t most = edited([](json&) {}).context;
    CHECK(trained(most) == most);
    for (const json& wrong : {json(0), json(1), json(most + 1)})
        CHECK_THROWS_WITH(trained(wrong),
                          Contains("config.json: trained_context: expected 2 to the longest "
                                   "context, ") &&
                              Contains("found " + wrong.dump()));
    for (const json& wrong : {json(-8), json(8.5), json("8"), json::array({8})})
        CHECK_THROWS_WITH(trained(wrong), Contains("config.json: trained_context: expected"));
}

TEST_CASE("rotary settings in both places Transformers has put them") {
    const json llama3 = {{"rope_type", "llama3"},
                         {"factor", 8.0},
                         {"low_freq_factor", 1.0},
                         {"high_freq_factor", 4.0},
                         {"original_max_position_embeddings", 8192}};
    const model_config old = edited([&](json& j) {
        j["rope_theta"] = 500000.0;
        j["rope_scaling"] = llama3;
    });
    const model_config recent = edited([&](json& j) {
        j.erase("rope_theta");
        j["rope_parameters"] = llama3;
        j["rope_parameters"]["rope_theta"] = 500000.0;
    });
    for (const model_config& c : {old, recent}) {
        CHECK(c.rotary.theta == 500000.0);
        CHECK(c.rotary.scaled);
        CHECK(c.rotary.llama3.factor == 8.0);
    }
    CHECK_FALSE(edited([](json& j) {
                    j["rope_scaling"] = json::object();
                    j["rope_parameters"] = {{"rope_type", "default"}};
                }).rotary.scaled);
    const model_config both = edited([&](json& j) { // as Transformers 5 reads them
        j["rope_scaling"] = llama3;
        j["rope_parameters"] = {{"rope_type", "default"}, {"rope_theta", 500000.0}};
    });
    CHECK(both.rotary.scaled);
    CHECK(both.rotary.theta == 10000.0);
    CHECK_THROWS_WITH(edited([](json& j) {
                          j["rope_scaling"] = {{"type", "yarn"}};
                      }),
                      Contains("config.json: rope_scaling rope_type: ") && Contains("yarn"));
    CHECK(edited([](json& j) {
              j["rope_scaling"] = {{"type", "linear"}, {"factor", 8.0}};
          }).rotary.linear == 8.0);
    CHECK_THROWS_WITH(edited([](json& j) {
                          j["rope_scaling"] = {{"type", "linear"}, {"factor", 0.0}};
                      }),
                      Contains("config.json: rope_scaling factor: expected a positive number"));
    CHECK_THROWS_WITH(edited([&](json& j) {
                          j["rope_scaling"] = llama3;
                          j["rope_scaling"].erase("factor");
                      }),
                      Contains("config.json: rope_scaling factor"));
}

TEST_CASE("rotary settings by layer type: those of all layers, and of layers with a window") {
    const auto nested = [](const json& settings, const json& types = nullptr) {
        return edited([&](json& j) {
                   j.erase("rope_theta");
                   j["rope_parameters"] = settings;
                   j["layer_types"] = types;
                   j["sliding_window"] = 64;
               })
            .rotary;
    };
    const json plain = {{"rope_theta", 1e6}, {"rope_type", "default"}};
    const json yarn = {{"rope_theta", 1e6}, {"rope_type", "yarn"}, {"factor", 4.0}};
    const json llama3 = {{"rope_type", "llama3"},   {"rope_theta", 5e5},
                         {"factor", 8.0},           {"low_freq_factor", 1.0},
                         {"high_freq_factor", 4.0}, {"original_max_position_embeddings", 8192}};
    const json both = {"full_attention", "sliding_attention"};
    CHECK(nested({{"full_attention", plain}}).theta == 1e6);
    CHECK(nested({{"full_attention", plain}, {"sliding_attention", nullptr}}).theta == 1e6);
    CHECK(nested({{"full_attention", plain}, {"sliding_attention", plain}}, both).theta == 1e6);
    const rotary_config scaled =
        nested({{"full_attention", llama3}, {"sliding_attention", llama3}}, both);
    CHECK((scaled.scaled && scaled.llama3.factor == 8.0 && scaled.theta == 5e5));
    const model_config two = edited([&](json& j) {
        j["rope_parameters"] = {{"full_attention", llama3}, {"sliding_attention", plain}};
    });
    CHECK(two.rotary.theta == 5e5);
    REQUIRE(two.local_rotary);
    CHECK(two.local_rotary->theta == 1e6);
    CHECK_FALSE(two.local_rotary->scaled);
    const auto refused = [&](const json& settings, const std::string& field,
                             const std::string& expected, const json& types = nullptr) {
        CHECK_THROWS_WITH(nested(settings, types), Contains("config.json: rope_parameters " +
                                                            field + ": expected " + expected));
    };
    refused({{"full_attention", plain}, {"sliding_attention", yarn}}, "sliding_attention rope_type",
            "default, linear or llama3, found yarn");
    refused({{"full_attention", plain}, {"chunked_attention", plain}}, "chunked_attention",
            "full_attention or sliding_attention");
    refused({{"full_attention", plain}}, "sliding_attention", "this layer type, it is missing",
            both);
    refused({{"full_attention", plain}, {"rope_theta", 1e6}}, "rope_theta",
            "settings by layer type alone");
    refused({{"full_attention", 1}}, "full_attention", "an object");
    refused({{"other", plain}}, "other", "a number or a name");
    refused({{"mrope_section", {1, 2}}}, "mrope_section", "a number or a name");
    refused({{"partial_rotary_factor", 0.5}}, "partial_rotary_factor", "1");
    refused({{"full_attention", {{"partial_rotary_factor", 0.5}}}},
            "full_attention partial_rotary_factor", "1");
    refused({{"factor", 4.0}}, "rope_type", "that of the factor");
    CHECK(nested({{"partial_rotary_factor", 1.0}, {"factor", 1.0}}).theta == 10000.0);
}

TEST_CASE("layers with windows need the length of windows") {
    const auto with = [](const json& types, const json& window = nullptr) {
        return edited([&](json& j) { j["layer_types"] = types, j["sliding_window"] = window; });
    };
    const json both = {"full_attention", "sliding_attention"};
    CHECK_NOTHROW(with({"full_attention", "full_attention"}));
    CHECK_NOTHROW(with({"full_attention", "full_attention", "sliding_attention"})); // of 2 layers
    CHECK(with(both, 8).window == 8);
    CHECK(with(both, 8).kinds == std::vector{layer_kind::full, layer_kind::window});
    CHECK(with(both, 8).seen_by(0) == ~std::size_t{0});
    CHECK(with(both, 8).seen_by(1) == 8);
    CHECK_THROWS_WITH(with(both, 0), Contains("config.json: sliding_window: expected at least 1"));
    const auto refused = Contains("config.json: layer_types: expected ");
    CHECK_THROWS_WITH(with(both), refused && Contains("no length (sliding_window)"));
    CHECK_THROWS_WITH(with({"full_attention", "chunked_attention"}),
                      refused && Contains("found \"chunked_attention\""));
    CHECK_THROWS_WITH(with({"full_attention", 1}), refused);
    CHECK_THROWS_WITH(with({"full_attention"}), refused && Contains("one for each layer"));
    CHECK_THROWS_WITH(with("full_attention"), refused);
    CHECK(edited([&](json& j) { // has no windows, whatever its layers are called
              j["architectures"] = {"Qwen2ForCausalLM"}, j["layer_types"] = both;
          })
              .kinds.empty());
}

TEST_CASE("other arithmetic than Llama's is refused by field, what changes nothing is not") {
    const auto with = [](const std::string& field, const json& value) {
        return edited([&](json& j) { j[field] = value; });
    };
    const auto refused = [&](const std::string& field, const json& value) {
        CHECK_THROWS_WITH(with(field, value), Contains("config.json: " + field + ": expected ") &&
                                                  Contains(": it is not supported"));
        CHECK_NOTHROW(with(field, nullptr));
    };
    for (const std::string field : {"attn_logit_softcapping", "final_logit_softcapping"}) {
        refused(field, 30.0);
        CHECK_NOTHROW(with(field, 0));
    }
    for (const std::string field : {"logit_scale", "logits_scaling", "embedding_multiplier",
                                    "residual_multiplier", "partial_rotary_factor", "rotary_pct"}) {
        refused(field, 0.5);
        CHECK_NOTHROW(with(field, 1.0));
    }
    for (const std::string field :
         {"attn_temperature_tuning", "use_qk_norm", "qk_layernorm", "rope_interleave", "alibi",
          "use_parallel_residual", "use_bidirectional_attention"}) {
        refused(field, true);
        CHECK_NOTHROW(with(field, false));
    }
    refused("is_causal", false);
    refused("attention_multiplier", 0.1);
    refused("attention_chunk_size", 8192);
    refused("clip_qkv", 8.0);
    refused("no_rope_layers", json{1, 0});
    refused("num_experts", 8);
    refused("num_local_experts", 8);
}

TEST_CASE("which layers have windows, and how long they are, is the architecture's to say") {
    using enum layer_kind;
    const auto of = [](const char* architecture, const json& more, std::size_t layers = 2) {
        return edited([&](json& j) {
            j["architectures"] = {architecture};
            j["num_hidden_layers"] = layers;
            j.update(more);
        });
    };
    const std::vector all{window, window};
    CHECK(of("LlamaForCausalLM", json::object()).kinds.empty());
    CHECK(of("MistralForCausalLM", {{"sliding_window", nullptr}}).kinds.empty());
    CHECK(of("MistralForCausalLM", {{"sliding_window", 8}}).kinds == all);
    CHECK(of("MistralForCausalLM", {{"sliding_window", 8}}).window == 8);
    CHECK(of("MistralForCausalLM", json::object()).window == 4096); // where nothing is said
    for (const char* const qwen : {"Qwen2ForCausalLM", "Qwen3ForCausalLM"}) {
        CHECK(of(qwen, {{"sliding_window", 8}}).kinds.empty());
        const json asked = {{"sliding_window", 8}, {"use_sliding_window", true}};
        CHECK(of(qwen, asked).kinds == std::vector{full, full}); // from layer 28 on
        json later = asked;
        later["max_window_layers"] = 1;
        CHECK(of(qwen, later).kinds == std::vector{full, window});
        CHECK(of(qwen, {{"use_sliding_window", true}, {"max_window_layers", 0}}).window == 4096);
    }
    const json gemma = {{"sliding_window", 8}};
    CHECK(of("Gemma3ForCausalLM", gemma, 7).kinds ==
          std::vector{window, window, window, window, window, full, window});
    for (const char* const key : {"sliding_window_pattern", "_sliding_window_pattern"}) {
        json three = gemma;
        three[key] = 3;
        CHECK(of("Gemma3ForCausalLM", three, 4).kinds == std::vector{window, window, full, window});
    }
    CHECK(of("SmolLM3ForCausalLM", json::object(), 5).kinds ==
          std::vector{full, full, full, unrotated, full});
    CHECK(of("SmolLM3ForCausalLM", {{"no_rope_layer_interval", 2}}, 5).kinds ==
          std::vector{full, unrotated, full, unrotated, full});
    CHECK(of("SmolLM3ForCausalLM", {{"no_rope_layers", {0, 1}}}).kinds ==
          std::vector{unrotated, full});
    for (const json& bad : {json{1}, json{1, 2}, json{1, 0, 1}, json(3)})
        CHECK_THROWS_WITH(of("SmolLM3ForCausalLM", {{"no_rope_layers", bad}}),
                          "config.json: no_rope_layers: expected a 0 or 1 for each layer");
    CHECK_THROWS_WITH(of("SmolLM3ForCausalLM", {{"use_sliding_window", true}}),
                      Contains("config.json: use_sliding_window: expected false"));
}

TEST_CASE("norms, functions and scales are the architecture's") {
    const auto of = [](const char* architecture, const json& more = json::object()) {
        return edited([&](json& j) {
            for (const char* const key : {"tie_word_embeddings", "rope_theta", "head_dim"})
                j.erase(key);
            j["architectures"] = {architecture};
            j.update(more);
        });
    };
    const model_config qwen2 = of("Qwen2ForCausalLM"), qwen3 = of("Qwen3ForCausalLM");
    CHECK((qwen2.qkv_bias && !qwen2.qk_norm && !qwen2.tied));
    CHECK((!qwen3.qkv_bias && qwen3.qk_norm && !qwen3.tied && qwen3.head_dimension == 128));
    const model_config gemma = of("Gemma3ForCausalLM");
    CHECK((gemma.qk_norm && gemma.post_norms && gemma.norms_less_one && gemma.gelu && gemma.tied));
    CHECK(gemma.head_dimension == 256);
    CHECK(gemma.embedding_scale == 6.0F);
    CHECK(gemma.query_scale == 1 / 16.0F);
    CHECK(gemma.rotary.theta == 1e6);
    CHECK(gemma.local_rotary->theta == 1e4);
    CHECK(of("Gemma3ForCausalLM", {{"query_pre_attn_scalar", 64}}).query_scale == 1 / 8.0F);
    CHECK(of("Gemma3ForCausalLM", {{"rope_local_base_freq", 5e3}}).local_rotary->theta == 5e3);
    CHECK(of("SmolLM3ForCausalLM").tied);
    CHECK_THROWS_WITH(of("Gemma3ForCausalLM", {{"hidden_activation", "silu"}}),
                      "config.json: hidden_activation: expected gelu_pytorch_tanh, found silu");
    for (const char* const name : {"final_logit_softcapping", "attn_logit_softcapping"})
        CHECK_THROWS_WITH(of("Gemma3ForCausalLM", {{name, 30.0}}), Contains(name));
    const model_config unrotated = of("SmolLM3ForCausalLM", {{"no_rope_layer_interval", 2}});
    for (const model_config& c : {qwen3, gemma, unrotated})
        CHECK_THROWS_WITH(require_trainable(c, "training"),
                          Contains("models that have it are not trained here"));
    CHECK_NOTHROW(require_trainable(qwen2, "training"));
}

TEST_CASE("end-of-text ids: one, several, and those of generation_config.json") {
    CHECK(edited([](json&) {}).eos == std::vector<std::int32_t>{2});
    CHECK(edited([](json& j) {
              j["eos_token_id"] = {2, 5};
          }).eos == std::vector<std::int32_t>{2, 5});
    CHECK(read_generation_eos(R"({"eos_token_id": [7, 8]})", "g") ==
          std::vector<std::int32_t>{7, 8});
    CHECK(read_generation_eos("{}", "g").empty());
}

TEST_CASE("what is missing, wrong or not supported is named") {
    const auto fails = [](const char* field, const json& value) {
        CHECK_THROWS_WITH(edited([&](json& j) { j[field] = value; }),
                          Contains("config.json: " + std::string(field)));
    };
    fails("architectures", {"GPT2LMHeadModel"});
    fails("architectures", json::array());
    fails("hidden_act", "gelu");
    fails("attention_bias", true);
    fails("mlp_bias", true);
    fails("quantization_config", {{"bits", 4}});
    fails("hidden_size", "36");
    fails("hidden_size", -36);
    fails("num_attention_heads", 0);
    fails("vocab_size", 1.5);
    fails("eos_token_id", {1LL << 40});
    fails("tie_word_embeddings", 1);
    CHECK_THROWS_WITH(edited([](json& j) { j["num_key_value_heads"] = 4; }),
                      Contains("key/value heads"));
    CHECK_THROWS_WITH(edited([](json& j) { j["head_dim"] = 7; }), Contains("head dimension"));
    CHECK_THROWS_WITH(edited([](json& j) { j["hidden_size"] = 1LL << 40; }),
                      Contains("hidden size"));
    CHECK_THROWS_WITH(edited([](json& j) { j.erase("vocab_size"); }), Contains("vocab_size"));
    for (const double epsilon : {0.0, -1e-5, 1.0, 1048576.0})
        CHECK_THROWS_WITH(edited([&](json& j) { j["rms_norm_eps"] = epsilon; }),
                          Contains("RMS norm epsilon: expected a number between 0 and 1"));
    CHECK_THROWS_WITH(read_hf_config("[]", "config.json"), Contains("config.json"));
    CHECK_THROWS_WITH(read_hf_config("{", "config.json"), Contains("config.json: file"));
}
