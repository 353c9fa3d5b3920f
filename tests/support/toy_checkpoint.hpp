// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "temporary_folder.hpp"

/// Small random checkpoints in the formats the engine reads, made by the tests themselves.
namespace toy {

struct weights {
    std::vector<std::size_t> shape;
    std::vector<float> values;
    std::uint32_t type = 0; ///< in GGUF
    std::string bytes{};    ///< what a GGUF file has instead of the values, if anything
};

template <class T>
void put(std::string& out, T value) {
    out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

/// A Llama of odd sizes (no width is a multiple of 16), under Hugging Face's names.
struct checkpoint {
    std::size_t dimension = 36, layers = 2, heads = 6, kv_heads = 3, head_dimension = 6;
    std::size_t hidden = 50, vocabulary = 77, context = 64;
    bool tied = false;
    std::map<std::string, weights> tensors;

    explicit checkpoint(unsigned seed = 1, bool tied_head = false, std::size_t depth = 2,
                        std::size_t width = 36, std::size_t inner = 50)
        : dimension(width), layers(depth), hidden(inner), tied(tied_head) {
        std::minstd_rand bits(seed);
        const auto add = [&](const std::string& name, std::vector<std::size_t> shape) {
            std::size_t n = 1;
            for (const std::size_t length : shape)
                n *= length;
            weights w{shape, std::vector<float>(n)};
            for (float& v : w.values) {
                v = (static_cast<float>(bits() % 2001) - 1000.0F) * 3e-4F;
                if (shape.size() == 1)
                    v += 1.0F;
            }
            tensors[name] = w;
        };
        const std::size_t q = heads * head_dimension;
        const std::size_t kv = kv_heads * head_dimension;
        add("model.embed_tokens.weight", {vocabulary, dimension});
        if (!tied)
            add("lm_head.weight", {vocabulary, dimension});
        add("model.norm.weight", {dimension});
        for (std::size_t i = 0; i < layers; ++i) {
            const std::string p = "model.layers." + std::to_string(i) + ".";
            add(p + "input_layernorm.weight", {dimension});
            add(p + "post_attention_layernorm.weight", {dimension});
            add(p + "self_attn.q_proj.weight", {q, dimension});
            add(p + "self_attn.k_proj.weight", {kv, dimension});
            add(p + "self_attn.v_proj.weight", {kv, dimension});
            add(p + "self_attn.o_proj.weight", {dimension, q});
            add(p + "mlp.gate_proj.weight", {hidden, dimension});
            add(p + "mlp.up_proj.weight", {hidden, dimension});
            add(p + "mlp.down_proj.weight", {dimension, hidden});
        }
    }

    [[nodiscard]] nlohmann::json config() const {
        return {{"architectures", {"LlamaForCausalLM"}},
                {"hidden_size", dimension},
                {"num_hidden_layers", layers},
                {"num_attention_heads", heads},
                {"num_key_value_heads", kv_heads},
                {"head_dim", head_dimension},
                {"intermediate_size", hidden},
                {"vocab_size", vocabulary},
                {"max_position_embeddings", context},
                {"rms_norm_eps", 1e-5},
                {"rope_theta", 10000.0},
                {"tie_word_embeddings", tied},
                {"bos_token_id", 1},
                {"eos_token_id", 2}};
    }

    /// `edit` may change the JSON header before it is written.
    template <class Edit>
    [[nodiscard]] std::string safetensors(const Edit& edit) const {
        nlohmann::json header = nlohmann::json::object();
        std::string data;
        for (const auto& [name, w] : tensors) {
            const std::size_t begin = data.size();
            for (const float v : w.values)
                put(data, v);
            header[name] = {
                {"dtype", "F32"}, {"shape", w.shape}, {"data_offsets", {begin, data.size()}}};
        }
        edit(header);
        const std::string text = header.dump();
        std::string out;
        put<std::uint64_t>(out, text.size());
        return out + text + data;
    }
    [[nodiscard]] std::string safetensors() const {
        return safetensors([](nlohmann::json&) {});
    }

    /// GGUF F32, with q and k rows interleaved as its llama architecture has them.
    [[nodiscard]] std::string
    gguf(const std::vector<std::pair<std::string, std::uint32_t>>& more = {}) const;
    /// Its tensors without metadata, as shards behind the first have them.
    [[nodiscard]] std::string gguf_tensors() const;
    /// llama2.c's first format; needs a head dimension of dimension / heads.
    [[nodiscard]] std::string llama2c() const;

    /// Metadata with the tensors behind it.
    [[nodiscard]] std::string with_tensors(std::string out) const;

    /// Half-split rows to interleaved ones.
    [[nodiscard]] std::vector<float> interleaved(const weights& w) const {
        std::vector<float> out(w.values.size());
        const std::size_t columns = w.shape.size() > 1 ? w.shape[1] : 1;
        const std::size_t h = head_dimension;
        for (std::size_t r = 0; r < w.shape[0]; ++r) {
            const std::size_t in_head = r % h;
            const std::size_t to =
                r / h * h + (in_head < h / 2 ? 2 * in_head : 2 * (in_head - h / 2) + 1);
            std::memcpy(&out[to * columns], &w.values[r * columns], columns * sizeof(float));
        }
        return out;
    }
};

inline void put_string(std::string& out, const std::string& text) {
    put<std::uint64_t>(out, text.size());
    out += text;
}
inline void put_u32(std::string& out, const std::string& key, std::size_t value) {
    put_string(out, key);
    put<std::uint32_t>(out, 4);
    put(out, static_cast<std::uint32_t>(value));
}
inline void put_f32(std::string& out, const std::string& key, float value) {
    put_string(out, key);
    put<std::uint32_t>(out, 6);
    put(out, value);
}

/// A GGUF file with one more pair of metadata.
inline std::string with_pair(std::string gguf, const std::string& key, std::uint32_t type,
                             const std::string& payload) {
    std::string pairs;
    put_string(pairs, key);
    put(pairs, type);
    pairs += payload;
    put_string(pairs, "filler of " + key); // the data stays aligned
    put<std::uint32_t>(pairs, 8);
    put_string(pairs, std::string(31 - (pairs.size() + 7) % 32, ' '));
    std::uint64_t count = 0;
    std::memcpy(&count, &gguf[16], sizeof count);
    count += 2;
    std::memcpy(&gguf[16], &count, sizeof count);
    return gguf.insert(24, pairs);
}
inline std::string with_bool(const std::string& gguf, const std::string& key, bool value) {
    return with_pair(gguf, key, 7, std::string(1, value ? '\1' : '\0'));
}
inline std::string with_f32(const std::string& gguf, const std::string& key, float value) {
    std::string payload;
    put(payload, value);
    return with_pair(gguf, key, 6, payload);
}

inline std::string gguf_name(std::string name) {
    static const std::pair<const char*, const char*> parts[] = {
        {"model.embed_tokens.", "token_embd."},
        {"model.norm.", "output_norm."},
        {"lm_head.", "output."},
        {"model.layers.", "blk."},
        {"input_layernorm", "attn_norm"},
        {"post_attention_layernorm", "ffn_norm"},
        {"self_attn.q_proj", "attn_q"},
        {"self_attn.k_proj", "attn_k"},
        {"self_attn.v_proj", "attn_v"},
        {"self_attn.o_proj", "attn_output"},
        {"mlp.gate_proj", "ffn_gate"},
        {"mlp.up_proj", "ffn_up"},
        {"mlp.down_proj", "ffn_down"}};
    for (const auto& [from, to] : parts)
        if (const auto at = name.find(from); at != std::string::npos)
            name.replace(at, std::strlen(from), to);
    return name;
}

inline std::string
checkpoint::gguf(const std::vector<std::pair<std::string, std::uint32_t>>& more) const {
    std::string out = "GGUF";
    put<std::uint32_t>(out, 3);
    put<std::uint64_t>(out, tensors.size());
    put<std::uint64_t>(out, 10 + more.size());
    put_string(out, "general.architecture");
    put<std::uint32_t>(out, 8);
    put_string(out, "llama");
    put_u32(out, "llama.embedding_length", dimension);
    put_u32(out, "llama.block_count", layers);
    put_u32(out, "llama.attention.head_count", heads);
    put_u32(out, "llama.attention.head_count_kv", kv_heads);
    put_u32(out, "llama.attention.key_length", head_dimension);
    put_u32(out, "llama.attention.value_length", head_dimension);
    put_u32(out, "llama.feed_forward_length", hidden);
    put_u32(out, "llama.context_length", context);
    put_f32(out, "llama.attention.layer_norm_rms_epsilon", 1e-5F);
    for (const auto& [key, value] : more)
        put_u32(out, key.c_str(), value);
    return with_tensors(std::move(out));
}

inline std::string checkpoint::gguf_tensors() const {
    std::string out = "GGUF";
    put<std::uint32_t>(out, 3);
    put<std::uint64_t>(out, tensors.size());
    put<std::uint64_t>(out, 0);
    return with_tensors(std::move(out));
}

inline std::string checkpoint::with_tensors(std::string out) const {
    std::string data;
    for (const auto& [name, w] : tensors) {
        put_string(out, gguf_name(name));
        put(out, static_cast<std::uint32_t>(w.shape.size()));
        for (std::size_t a = w.shape.size(); a-- > 0;)
            put<std::uint64_t>(out, w.shape[a]);
        put<std::uint32_t>(out, w.type);
        data.resize((data.size() + 31) / 32 * 32);
        put<std::uint64_t>(out, data.size());
        data += w.bytes;
        if (!w.bytes.empty())
            continue;
        const bool turned = name.find("q_proj") != name.npos || name.find("k_proj") != name.npos;
        for (const float v : turned ? interleaved(w) : w.values)
            put(data, v);
    }
    out.resize((out.size() + 31) / 32 * 32);
    return out + data;
}

inline std::string checkpoint::llama2c() const {
    std::string out;
    for (const std::size_t n : {dimension, hidden, layers, heads, kv_heads})
        put(out, static_cast<std::int32_t>(n));
    put(out, static_cast<std::int32_t>(vocabulary) * (tied ? 1 : -1));
    put(out, static_cast<std::int32_t>(context));
    const auto add = [&](const std::string& name, bool turned = false) {
        const weights& w = tensors.at(name);
        for (const float v : turned ? interleaved(w) : w.values)
            put(out, v);
    };
    const auto stack = [&](const std::string& name, bool turned = false) {
        for (std::size_t i = 0; i < layers; ++i)
            add("model.layers." + std::to_string(i) + "." + name + ".weight", turned);
    };
    add("model.embed_tokens.weight");
    stack("input_layernorm");
    stack("self_attn.q_proj", true);
    stack("self_attn.k_proj", true);
    stack("self_attn.v_proj");
    stack("self_attn.o_proj");
    stack("post_attention_layernorm");
    stack("mlp.gate_proj");
    stack("mlp.down_proj");
    stack("mlp.up_proj");
    add("model.norm.weight");
    out.append(context * head_dimension * 4, '\0');
    if (!tied)
        add("lm_head.weight");
    return out;
}

using specdec::testing::temporary_folder;

inline std::span<const std::byte> bytes(const std::string& text) {
    return std::as_bytes(std::span(text));
}

} // namespace toy
