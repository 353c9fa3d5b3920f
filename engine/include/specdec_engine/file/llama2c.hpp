// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

#include <specdec_engine/file/byte_reader.hpp>
#include <specdec_engine/file/checkpoint.hpp>

namespace specdec::engine {

namespace detail {

/// Cuts one stack of `layers` tensors off the file; layers == 0: one tensor without a layer.
/// `name` has a '#' where the layer's number goes.
inline void cut_llama2c(checkpoint& c, byte_reader& in, const std::string& name, std::size_t layers,
                        std::initializer_list<std::size_t> shape) {
    std::size_t values = 1; // below 2^60: the configuration is checked
    for (const std::size_t length : shape)
        values *= length;
    for (std::size_t layer = 0; layer < (layers == 0 ? 1 : layers); ++layer) {
        tensor t;
        t.source = c.source;
        t.name = name;
        if (const std::size_t mark = name.find('#'); mark != std::string::npos)
            t.name.replace(mark, 1, std::to_string(layer));
        t.type = dtype::f32;
        t.type_name = "F32";
        t.shape = shape;
        const std::string_view bytes = in.take(4 * std::uint64_t{values}, "tensor " + t.name);
        t.bytes = std::as_bytes(std::span(bytes));
        c.add(std::move(t));
    }
}

} // namespace detail

/// A llama2.c checkpoint of the first version: seven 32-bit integers and F32 weights in a fixed
/// order; rotary pairs interleaved, base 10000, epsilon 1e-5. BOS is 1 and also ends a text,
/// with 2. The tensors view `bytes`. Errors: specdec::error naming file and field or tensor.
[[nodiscard]] inline checkpoint open_llama2c(std::span<const std::byte> bytes,
                                             const std::string& source) {
    checkpoint result;
    result.source = source;
    byte_reader in(bytes, source);
    const auto positive = [&](const char* field) {
        const auto value = in.read<std::int32_t>(field);
        if (value <= 0)
            throw error(source, field,
                        "expected a positive number, found " + std::to_string(value));
        return static_cast<std::size_t>(value);
    };
    model_config& c = result.config;
    c.dimension = positive("dim");
    c.hidden_dimension = positive("hidden_dim");
    c.layers = positive("n_layers");
    c.heads = positive("n_heads");
    c.kv_heads = positive("n_kv_heads");
    const std::int64_t vocabulary = in.read<std::int32_t>("vocab_size");
    c.tied = vocabulary > 0; // the sign says so
    c.vocabulary_size = static_cast<std::size_t>(vocabulary < 0 ? -vocabulary : vocabulary);
    c.context = positive("seq_len");
    if (c.dimension % c.heads != 0)
        throw error(source, "n_heads", "expected a divisor of dim");
    c.head_dimension = c.dimension / c.heads;
    c.rotary.interleaved = true;
    c.bos = 1;
    c.eos = {1, 2};
    check(c, source);
    if (c.layers > in.left() / (4 * c.dimension))
        throw error(source, "n_layers",
                    "expected as many layers as fit into the file, found " +
                        std::to_string(c.layers));

    const std::size_t d = c.dimension;
    const std::size_t h = c.hidden_dimension;
    const std::size_t kv = c.kv_size();
    const auto cut = [&](const std::string& name, std::size_t layers,
                         std::initializer_list<std::size_t> shape) {
        detail::cut_llama2c(result, in, name, layers, shape);
    };
    cut("model.embed_tokens.weight", 0, {c.vocabulary_size, d});
    cut("model.layers.#.input_layernorm.weight", c.layers, {d});
    cut("model.layers.#.self_attn.q_proj.weight", c.layers, {d, d});
    cut("model.layers.#.self_attn.k_proj.weight", c.layers, {kv, d});
    cut("model.layers.#.self_attn.v_proj.weight", c.layers, {kv, d});
    cut("model.layers.#.self_attn.o_proj.weight", c.layers, {d, d});
    cut("model.layers.#.post_attention_layernorm.weight", c.layers, {d});
    cut("model.layers.#.mlp.gate_proj.weight", c.layers, {h, d});
    cut("model.layers.#.mlp.down_proj.weight", c.layers, {d, h});
    cut("model.layers.#.mlp.up_proj.weight", c.layers, {h, d});
    cut("model.norm.weight", 0, {d});
    // Tables of cosines and sines, [context, head dimension / 2] each, which nobody needs.
    in.take(std::uint64_t{4} * c.context * c.head_dimension, "rotary tables");
    if (!c.tied)
        cut("lm_head.weight", 0, {c.vocabulary_size, d});
    if (in.left() != 0)
        throw error(source, "file",
                    "expected the size that the header gives, found " + std::to_string(in.left()) +
                        " bytes more");
    return result;
}

} // namespace specdec::engine
