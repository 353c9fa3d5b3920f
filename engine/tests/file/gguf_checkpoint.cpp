// SPDX-License-Identifier: MIT
#include <specdec_engine/file/gguf_checkpoint.hpp>

#include <cmath>
#include <cstdint>
#include <string>

#include <catch2/catch.hpp>

#include "support/toy_checkpoint.hpp"
#include <specdec_engine/transformer/pack.hpp>

using namespace specdec::engine;
using Catch::Contains;

namespace {

/// The toy's file with one text of it replaced by another of the same length.
std::string replaced(const std::string& from, const std::string& to) {
    std::string text = toy::checkpoint().gguf();
    text.replace(text.find(from), from.size(), to);
    return text;
}

checkpoint open(const std::string& text) {
    return open_gguf({toy::bytes(text), "m.gguf"});
}

} // namespace

TEST_CASE("a GGUF file says its configuration") {
    const std::string text = toy::checkpoint().gguf();
    const model_config c = open(text).config;
    CHECK(c.dimension == 36);
    CHECK(c.layers == 2);
    CHECK(c.heads == 6);
    CHECK(c.kv_heads == 3);
    CHECK(c.head_dimension == 6);
    CHECK(c.hidden_dimension == 50);
    CHECK(c.vocabulary_size == 77);
    CHECK(c.context == 64);
    CHECK_FALSE(c.tied);
    CHECK(c.rotary.interleaved);
    const std::string tied = toy::checkpoint(1, true).gguf();
    CHECK(open(tied).config.tied);
}

TEST_CASE("other architectures, missing keys and strange tensors are named") {
    CHECK_THROWS_WITH(open(replaced("llama", "gemma")), Contains("m.gguf: general.architecture"));
    CHECK_THROWS_WITH(open(replaced("llama.block_count", "llama.block_coun_")),
                      Contains("m.gguf: llama.block_count"));
    CHECK_THROWS_WITH(open(replaced("token_embd.weight", "token_embx.weight")),
                      Contains("m.gguf: tensor token_embx.weight"));
    CHECK_THROWS_WITH(open(replaced("blk.1.attn_q.weight", "blk.0.attn_q.weight")),
                      Contains("expected each tensor once"));
    for (const char* scale : {"llama.rope.scaling.factor", "llama.rope.scale_linear"}) {
        CHECK_NOTHROW(open(toy::checkpoint().gguf({{scale, 1}})));
        CHECK_THROWS_WITH(open(toy::checkpoint().gguf({{scale, 4}})), Contains(scale));
    }
    for (const char* key : {"llama.rope.scaling.attn_factor", "llama.attention.sliding_window"}) {
        CHECK_THROWS_WITH(open(toy::checkpoint().gguf({{key, 63}})),
                          Contains("m.gguf: " + std::string(key)));
        const auto window =
            open(toy::checkpoint().gguf({{key, key[6] == 'r' ? 1U : 64U}})).config.window;
        CHECK((window == 64) == (key[6] == 'a'));
    }
    CHECK(open(toy::checkpoint().gguf({{"tokenizer.ggml.eos_token_id", 7}})).config.eos ==
          std::vector<std::int32_t>{7});
    CHECK(open(toy::checkpoint().gguf({{"tokenizer.ggml.eos_token_id", 0xFFFFFFFF}}))
              .config.eos.empty());
    CHECK_THROWS_WITH(open(toy::checkpoint().gguf({{"tokenizer.ggml.eos_token_id", 0x80000000}})),
                      Contains("m.gguf: tokenizer.ggml.eos_token_id"));
    for (const float bad : {0.0F, -1.0F, __builtin_inff(), __builtin_nanf("")}) {
        toy::checkpoint scaled;
        scaled.tensors["rope_freqs.weight"] = {{3}, {1, 2, 4}};
        CHECK(open(scaled.gguf()).config.rotary.factors.size() == 3);
        scaled.tensors["rope_freqs.weight"].values[1] = bad;
        CHECK_THROWS_WITH(open(scaled.gguf()),
                          Contains("m.gguf: rope_freqs: expected positive, finite"));
    }
}

TEST_CASE("a GGUF file that asks for other arithmetic is refused by key") {
    const std::string plain = toy::checkpoint().gguf();
    const auto refused = [](const std::string& file, const std::string& key,
                            const std::string& expected) {
        CHECK_THROWS_WITH(open(file), Contains("m.gguf: " + key + ": expected " + expected));
    };
    const std::string causal = "llama.attention.causal";
    CHECK_NOTHROW(open(toy::with_bool(plain, causal, true)));
    refused(toy::with_bool(plain, causal, false), causal, "true");
    refused(toy::with_f32(plain, causal, 1), causal, "a boolean");
    CHECK_NOTHROW(open(toy::with_bool(plain, "llama.use_parallel_residual", false)));
    refused(toy::with_bool(plain, "llama.use_parallel_residual", true),
            "llama.use_parallel_residual", "false");
    for (const std::string name :
         {"attn_logit_softcapping", "final_logit_softcapping", "attention.clamp_kqv",
          "attention.max_alibi_bias", "attention.temperature_scale"}) {
        CHECK_NOTHROW(open(toy::with_f32(plain, "llama." + name, 0)));
        for (const float value : {1.0F, 30.0F, __builtin_nanf("")})
            refused(toy::with_f32(plain, "llama." + name, value), "llama." + name, "0");
    }
    for (const std::string name : {"logit_scale", "embedding_scale", "residual_scale"}) {
        CHECK_NOTHROW(open(toy::with_f32(plain, "llama." + name, 1)));
        refused(toy::with_f32(plain, "llama." + name, 12), "llama." + name, "1");
    }
    CHECK_NOTHROW(open(toy::with_f32(plain, "llama.attention.scale", 1 / std::sqrt(6.0F))));
    refused(toy::with_f32(plain, "llama.attention.scale", 0.25F), "llama.attention.scale", "0.408");
    for (const float epsilon : {0.0F, 1.0F, 1048576.0F, -1e-5F}) {
        std::string file = plain, known, wrong;
        toy::put_f32(known, "llama.attention.layer_norm_rms_epsilon", 1e-5F);
        toy::put_f32(wrong, "llama.attention.layer_norm_rms_epsilon", epsilon);
        CHECK_THROWS_WITH(open(file.replace(file.find(known), known.size(), wrong)),
                          Contains("m.gguf: RMS norm epsilon: expected a number between 0 and 1"));
    }
}

TEST_CASE("a shard of a GGUF model says that it is one, whatever it lacks") {
    const auto shard = [](const std::string& file, std::uint32_t number, std::uint32_t of) {
        std::string no, count;
        toy::put(no, number);
        toy::put(count, of);
        return toy::with_pair(toy::with_pair(file, "split.no", 4, no), "split.count", 4, count);
    };
    const std::string plain = toy::checkpoint().gguf();
    const std::string why = ": join them (llama-gguf-split --merge)";
    CHECK_NOTHROW(open(shard(plain, 0, 1)));
    CHECK_THROWS_WITH(open(shard(plain, 0, 3)),
                      "m.gguf: split.count: expected 1, this is shard 1 of 3" + why);
    std::string second = "GGUF";
    toy::put<std::uint32_t>(second, 3);
    toy::put<std::uint64_t>(second, 0);
    toy::put<std::uint64_t>(second, 0);
    second = shard(second, 1, 3);
    CHECK_THROWS_WITH(open(second), "m.gguf: split.count: expected 1, this is shard 2 of 3" + why);
    const gguf_file words{toy::bytes(second), "m.gguf"};
    CHECK_THROWS_WITH(words.at("tokenizer.ggml.model"),
                      "m.gguf: split.count: expected 1, this is shard 2 of 3" + why);
}

TEST_CASE("a tensor that a GGUF file lacks is named as GGUF names it") {
    for (const auto& [name, w] : toy::checkpoint().tensors) {
        const std::string own = toy::gguf_name(name);
        CHECK(detail::hf_name(own) == name);
        CHECK(detail::gguf_name(name) == own);
        if (name == "lm_head.weight") // tied, then
            continue;
        toy::checkpoint lacking;
        lacking.tensors.erase(name);
        const std::string file = lacking.gguf();
        const auto load = [&] {
            const checkpoint c = open(file);
            (void)pack<float>(c, 1);
        };
        CHECK_THROWS_WITH(load(),
                          "m.gguf: tensor " + own + ": expected this tensor, it is missing");
    }
}

TEST_CASE("a NUL in a file does not end the message about it") {
    std::string file = "GGUF";
    toy::put<std::uint32_t>(file, 3);
    toy::put<std::uint64_t>(file, 0);
    toy::put<std::uint64_t>(file, 1);
    toy::put_string(file, std::string("\0abc", 4));
    toy::put<std::uint32_t>(file, 99);
    CHECK_THROWS_WITH(open(file), "m.gguf: \\x00abc: expected a value type from 0 to 12, found 99");
}
