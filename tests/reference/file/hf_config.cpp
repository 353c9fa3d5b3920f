// SPDX-License-Identifier: MIT
#include <specdec/reference/file/hf_config.hpp>

#include <catch2/catch.hpp>

#include "support/toy_checkpoint.hpp"

using namespace specdec::reference;
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
    CHECK_THROWS_WITH(edited([](json& j) { j["rms_norm_eps"] = 0; }), Contains("epsilon"));
    CHECK_THROWS_WITH(read_hf_config("[]", "config.json"), Contains("config.json"));
    CHECK_THROWS_WITH(read_hf_config("{", "config.json"), Contains("config.json: file"));
}
