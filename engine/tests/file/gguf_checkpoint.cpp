// SPDX-License-Identifier: MIT
#include <specdec_engine/file/gguf_checkpoint.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

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
    CHECK(c.trained_context == 0);
    constexpr const char* trained = "specdec.trained_context";
    CHECK(open(toy::checkpoint().gguf({{trained, 64}})).config.trained_context == 64);
    for (const unsigned wrong : {0U, 1U, 65U})
        CHECK_THROWS_WITH(open(toy::checkpoint().gguf({{trained, wrong}})),
                          "m.gguf: specdec.trained_context: expected 2 to the longest context, 64, "
                          "found " +
                              std::to_string(wrong));
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
        CHECK(open(toy::checkpoint().gguf()).config.rotary.linear == 1);
        CHECK(open(toy::checkpoint().gguf({{scale, 4}})).config.rotary.linear == 4);
    }
    const std::string factor = "llama.rope.scaling.attn_factor";
    CHECK_NOTHROW(open(toy::checkpoint().gguf({{factor, 1}})));
    CHECK_THROWS_WITH(open(toy::checkpoint().gguf({{factor, 63}})), Contains("m.gguf: " + factor));
    const model_config windowed =
        open(toy::checkpoint().gguf({{"llama.attention.sliding_window", 9}})).config;
    CHECK(windowed.window == 9);
    CHECK(windowed.kinds == std::vector{layer_kind::window, layer_kind::window});
    CHECK(
        open(toy::checkpoint().gguf({{"llama.attention.sliding_window", 0}})).config.kinds.empty());
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

namespace {

/// A file as shard `number` (from 0 on) of so many; `promised` tensors in all, 0: not said.
std::string shard(const std::string& file, std::uint32_t number, std::uint32_t of,
                  std::uint32_t promised = 0) {
    const auto packed = [](std::uint32_t n) {
        std::string out;
        toy::put(out, n);
        return out;
    };
    std::string out = toy::with_pair(file, "split.no", 4, packed(number));
    if (promised > 0)
        out = toy::with_pair(out, "split.tensors.count", 4, packed(promised));
    return toy::with_pair(out, "split.count", 4, packed(of));
}

} // namespace

TEST_CASE("the shards of a GGUF model are found by the name of any, and what is wrong is named") {
    const toy::temporary_folder folder;
    const toy::checkpoint whole;
    // The second and third have nothing but tensors, as llama-gguf-split writes them.
    toy::checkpoint parts[3];
    std::size_t i = 0;
    for (toy::checkpoint& part : parts)
        part.tensors.clear();
    for (const auto& [name, w] : whole.tensors)
        parts[i++ % 3].tensors[name] = w;
    const auto promised = static_cast<std::uint32_t>(whole.tensors.size());
    const std::string names[] = {"m-00001-of-00003.gguf", "m-00002-of-00003.gguf",
                                 "m-00003-of-00003.gguf"};
    const auto write = [&] {
        folder.write(names[0], shard(parts[0].gguf(), 0, 3, promised));
        for (std::uint32_t n = 1; n < 3; ++n)
            folder.write(names[n], shard(parts[n].gguf_tensors(), n, 3));
    };
    write();
    const std::string plain = whole.gguf();
    const checkpoint expected = open(plain);
    for (const std::string& name : names) {
        CAPTURE(name);
        const checkpoint found = open_gguf(gguf_file(folder.path() / name));
        CHECK(found.source.ends_with(names[0]));
        CHECK(found.files.size() == 3);
        REQUIRE(found.tensors.size() == expected.tensors.size());
        for (const auto& [tensor_name, t] : expected.tensors)
            CHECK(std::ranges::equal(found.tensors.at(tensor_name).bytes, t.bytes));
    }
    const auto fails = [&](const std::string& name, const std::string& expected_text) {
        CHECK_THROWS_WITH(open_gguf(gguf_file(folder.path() / name)), Contains(expected_text));
        write();
    };
    std::filesystem::remove(folder.path() / names[1]);
    fails(names[2], names[1] + ": file: expected a readable file");
    folder.write(names[1], shard(parts[1].gguf_tensors(), 2, 3));
    fails(names[0], names[1] + ": split.no: expected shard 2 of 3, as its name says");
    folder.write(names[1], shard(parts[1].gguf_tensors(), 1, 2));
    fails(names[0], names[1] + ": split.no: expected shard 2 of 3, as its name says");
    folder.write(names[1], shard(parts[0].gguf_tensors(), 1, 3));
    fails(names[0], "expected each tensor once");
    folder.write(names[0], shard(parts[0].gguf(), 0, 3, promised + 1));
    fails(names[2], names[0] + ": split.tensors.count: expected the " + std::to_string(promised) +
                        " tensors of all shards, found " + std::to_string(promised + 1));
    folder.write("other.gguf", shard(parts[0].gguf(), 0, 3));
    fails("other.gguf", "other.gguf: file name: expected a name with -00001-of-00003.gguf");
    folder.write(names[0], shard(parts[0].gguf(), 7, 3));
    fails(names[0], names[0] + ": file name: expected split.no below split.count");
    folder.write(names[0], shard(parts[0].gguf(), 0, 1U << 20));
    fails(names[0], names[0] + ": split.count: expected a number from 0 to 99999");
}

TEST_CASE("a shard of a GGUF model that was given as bytes says that it is one") {
    const std::string plain = toy::checkpoint().gguf();
    const std::string why = "m.gguf: split.count: expected 1, this is one of 3 shards: read it by "
                            "its path, with the others in the same folder";
    CHECK_NOTHROW(open(shard(plain, 0, 1)));
    CHECK_THROWS_WITH(open(shard(plain, 0, 3)), why);
    const std::string second = shard(toy::checkpoint().gguf_tensors(), 1, 3);
    CHECK_THROWS_WITH(open(second), why);
    const gguf_file words{toy::bytes(second), "m.gguf"};
    CHECK_THROWS_WITH(words.at("tokenizer.ggml.model"), why);
}

TEST_CASE("numbers of heads by layer are one number, or refused") {
    const auto with = [](const std::string& key, const std::vector<std::int32_t>& of_layers) {
        std::string payload;
        toy::put<std::uint32_t>(payload, 5);
        toy::put<std::uint64_t>(payload, of_layers.size());
        for (const std::int32_t n : of_layers)
            toy::put(payload, n);
        std::string file = toy::checkpoint().gguf(), old;
        toy::put_u32(old, key, key.ends_with("_kv") ? 3 : key.ends_with("count") ? 6 : 50);
        file.replace(file.find(old) + 8, 1, 1, 'x'); // another key of the same length
        return toy::with_pair(file, key, 9, payload);
    };
    const std::string kv = "llama.attention.head_count_kv", ffn = "llama.feed_forward_length";
    CHECK(open(with(kv, {3, 3})).config.kv_heads == 3);
    CHECK(open(with("llama.attention.head_count", {6, 6})).config.heads == 6);
    CHECK(open(with(ffn, {50, 50})).config.hidden_dimension == 50);
    const std::string why = "expected the same number for all layers, found 3 and ";
    CHECK_THROWS_WITH(open(with(kv, {3, 6})), "m.gguf: " + kv + ": " + why + "6");
    CHECK_THROWS_WITH(open(with(kv, {3, -3})), "m.gguf: " + kv + ": " + why + "-3");
    CHECK_THROWS_WITH(open(with(ffn, {})), "m.gguf: " + ffn + ": expected a number for each layer");
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
