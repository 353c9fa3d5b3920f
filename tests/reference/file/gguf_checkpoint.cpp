// SPDX-License-Identifier: MIT
#include <specdec/reference/file/gguf_checkpoint.hpp>

#include <catch2/catch.hpp>

#include "support/toy_checkpoint.hpp"

using namespace specdec::reference;
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
