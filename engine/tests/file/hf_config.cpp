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
                          j["rope_scaling"] = {{"type", "linear"}};
                      }),
                      Contains("config.json: rope_scaling rope_type: ") && Contains("linear"));
    CHECK_THROWS_WITH(edited([&](json& j) {
                          j["rope_scaling"] = llama3;
                          j["rope_scaling"].erase("factor");
                      }),
                      Contains("config.json: rope_scaling factor"));
}

TEST_CASE("rotary settings by layer type are those of all layers, or refused") {
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
    const auto refused = [&](const json& settings, const std::string& field,
                             const std::string& expected, const json& types = nullptr) {
        CHECK_THROWS_WITH(nested(settings, types), Contains("config.json: rope_parameters " +
                                                            field + ": expected " + expected));
    };
    refused({{"full_attention", plain}, {"sliding_attention", yarn}}, "sliding_attention rope_type",
            "default or llama3, found yarn");
    refused({{"full_attention", plain}, {"sliding_attention", llama3}}, "sliding_attention",
            "the same settings for all layer types");
    refused({{"full_attention", plain}, {"sliding_attention", {{"rope_theta", 1e4}}}},
            "sliding_attention", "the same settings for all layer types");
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

TEST_CASE("layers with windows need windows that never close") {
    const auto with = [](const json& types, const json& window = nullptr) {
        return edited([&](json& j) { j["layer_types"] = types, j["sliding_window"] = window; });
    };
    const json both = {"full_attention", "sliding_attention"};
    CHECK_NOTHROW(with({"full_attention", "full_attention"}));
    CHECK_NOTHROW(with({"full_attention", "full_attention", "sliding_attention"})); // of 2 layers
    CHECK(with(both, 64).window == 64);
    CHECK_THROWS_WITH(with(both, 63), Contains("config.json: sliding_window: expected none below"));
    const auto refused = Contains("config.json: layer_types: expected ");
    CHECK_THROWS_WITH(with(both), refused && Contains("no length (sliding_window)"));
    CHECK_THROWS_WITH(with({"full_attention", "chunked_attention"}),
                      refused && Contains("found \"chunked_attention\""));
    CHECK_THROWS_WITH(with({"full_attention", 1}), refused);
    CHECK_THROWS_WITH(with({"full_attention"}), refused && Contains("one for each layer"));
    CHECK_THROWS_WITH(with("full_attention"), refused);
    CHECK_NOTHROW(edited([&](json& j) { // has no windows, whatever its layers are called
        j["architectures"] = {"Qwen2ForCausalLM"}, j["layer_types"] = both;
    }));
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

TEST_CASE("windows that never close are allowed, others are not") {
    const auto mistral = [](json& j) { j["architectures"] = {"MistralForCausalLM"}; };
    CHECK_NOTHROW(edited([&](json& j) { mistral(j), j["sliding_window"] = nullptr; }));
    CHECK(edited([&](json& j) { mistral(j), j["sliding_window"] = 64; }).window == 64);
    CHECK_THROWS_WITH(edited([&](json& j) { mistral(j), j["sliding_window"] = 63; }),
                      Contains("config.json: sliding_window"));
    // Where nothing is said it is 4096.
    CHECK_NOTHROW(edited([&](json& j) { mistral(j), j["max_position_embeddings"] = 4096; }));
    CHECK_THROWS_WITH(edited([&](json& j) { mistral(j), j["max_position_embeddings"] = 8192; }),
                      Contains("config.json: sliding_window"));
    const auto qwen = [](json& j) { j["architectures"] = {"Qwen2ForCausalLM"}; };
    CHECK_NOTHROW(edited([&](json& j) { qwen(j), j["max_position_embeddings"] = 8192; }));
    CHECK_THROWS_WITH(edited([&](json& j) {
                          qwen(j), j["max_position_embeddings"] = 8192;
                          j["use_sliding_window"] = true;
                      }),
                      Contains("config.json: sliding_window"));
    CHECK(edited([&](json& j) { qwen(j), j["sliding_window"] = 8; }).qkv_bias);
    CHECK_THROWS_WITH(
        edited([&](json& j) { qwen(j), j["sliding_window"] = 8, j["use_sliding_window"] = true; }),
        Contains("config.json: sliding_window"));
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
