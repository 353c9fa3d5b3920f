// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include <specdec/core/error.hpp>

namespace specdec::engine {

/// Llama 3's stretching of low frequencies (`rope_type: llama3`).
struct llama3_scaling {
    double factor = 1.0;
    double low_frequency_factor = 1.0;
    double high_frequency_factor = 4.0;
    double original_context = 8192.0;

    friend bool operator==(const llama3_scaling&, const llama3_scaling&) = default;
};

struct rotary_config {
    double theta = 10000.0;
    bool interleaved = false;
    double linear = 1.0; ///< divides every frequency (`rope_type: linear`)
    bool scaled = false; ///< llama3 applies
    llama3_scaling llama3;
    std::vector<float> factors; ///< GGUF's rope_freqs: divisors of each frequency; may be empty

    friend bool operator==(const rotary_config&, const rotary_config&) = default;
};

inline void check(const rotary_config& c, std::size_t head_dimension, const std::string& source) {
    if (!(c.theta > 0.0 && std::isfinite(c.theta)))
        throw error(source, "rotary base (rope_theta)", "expected a positive number");
    if (!(c.linear > 0.0 && std::isfinite(c.linear)))
        throw error(source, "rope_scaling factor", "expected a positive number");
    if (c.scaled && !(c.llama3.factor >= 1.0 && std::isfinite(c.llama3.factor) &&
                      c.llama3.low_frequency_factor > 0.0 && c.llama3.original_context > 0.0 &&
                      c.llama3.high_frequency_factor > c.llama3.low_frequency_factor))
        throw error(source, "rope_scaling", "expected factor >= 1, 0 < low < high, context > 0");
    if (!c.factors.empty() && c.factors.size() != head_dimension / 2)
        throw error(source, "rope_freqs", "expected one factor for each pair of a head");
    for (const float factor : c.factors)
        if (!(factor > 0.0F && std::isfinite(factor)))
            throw error(source, "rope_freqs", "expected positive, finite factors");
}

/// How a layer attends to the positions up to its own.
enum class layer_kind : std::uint8_t {
    full,      ///< to all of them
    window,    ///< to the last `window` of them, with rotary settings of its own if there are any
    unrotated, ///< to all of them, by queries and keys that are not turned (SmolLM3)
};

/// The configuration of a model of the Llama family, or of one that differs by what stands here,
/// whatever file it came from (hf_config.hpp, gguf_checkpoint.hpp and llama2c.hpp fill it).
struct model_config {
    std::size_t dimension = 0;        ///< of the residual stream ("hidden_size")
    std::size_t layers = 0;           ///< transformer blocks
    std::size_t heads = 0;            ///< query heads
    std::size_t kv_heads = 0;         ///< key and value heads; divides heads
    std::size_t head_dimension = 0;   ///< even; heads * head_dimension need not be the dimension
    std::size_t hidden_dimension = 0; ///< of the SwiGLU block ("intermediate_size")
    std::size_t vocabulary_size = 0;  ///< rows of the embedding and of the head
    std::size_t context = 0;          ///< longest context the model was made for
    /// Tokens of the texts that it was trained on, where the files say so; 0: they do not. A
    /// drafter's longer contexts are windowed to it.
    std::size_t trained_context = 0;
    float rms_epsilon = 1e-5F;
    bool tied = false;     ///< the head is the embedding
    bool qkv_bias = false; ///< Qwen2: biases on q, k and v
    bool qk_norm = false;  ///< Qwen 3, Gemma 3: each head's query and key pass an RMS norm
    /// Gemma 3: what attention and the feed-forward block give passes an RMS norm before it is
    /// added.
    bool post_norms = false;
    bool norms_less_one = false; ///< weights of RMS norms are stored minus one (Gemma's folders)
    bool gelu = false;           ///< the gate's function is GELU by tanh, not SiLU (Gemma 3)
    float embedding_scale = 1.0F;
    float query_scale = 0.0F; ///< 0: 1 / sqrt(head dimension)
    rotary_config rotary;
    std::optional<rotary_config> local_rotary; ///< of layers of layer_kind::window; none: `rotary`
    std::vector<layer_kind> kinds;             ///< [layers]; empty: all are full
    std::int32_t bos = -1;                     ///< -1: none named
    std::vector<std::int32_t> eos;             ///< every id that ends a text; may be empty
    /// The layers behind which it may stop (exit_model), rising to `layers`; empty: trained whole.
    std::vector<std::size_t> exits;
    /// Tokens that a position sees in layers of layer_kind::window, itself included.
    std::size_t window = ~std::size_t{0};

    [[nodiscard]] layer_kind kind(std::size_t layer) const {
        return kinds.empty() ? layer_kind::full : kinds[layer];
    }
    /// Positions that a layer sees, the position's own included.
    [[nodiscard]] std::size_t seen_by(std::size_t layer) const {
        return kind(layer) == layer_kind::window ? window : ~std::size_t{0};
    }
    [[nodiscard]] std::size_t query_size() const { return heads * head_dimension; }
    [[nodiscard]] std::size_t kv_size() const { return kv_heads * head_dimension; }
};

/// Throws specdec::error unless `exits` rise and the last one is behind all `layers`.
inline void check_exits(const std::vector<std::size_t>& exits, std::size_t layers,
                        const std::string& source) {
    std::size_t before = 0;
    for (const std::size_t e : exits) {
        if (e <= before || e > layers)
            throw error(source, "exits",
                        "expected numbers of layers that rise from 1 or more to " +
                            std::to_string(layers));
        before = e;
    }
    if (before != layers)
        throw error(source, "exits",
                    "expected the last one after all " + std::to_string(layers) + " layers");
}

/// Throws specdec::error naming the field unless the numbers make a model. The bounds keep every
/// product of two of them far from overflow; tensors are checked against the file later.
inline void check(const model_config& c, const std::string& source) {
    const auto within = [&](const char* field, std::size_t value, std::size_t most) {
        if (value == 0 || value > most)
            throw error(source, field,
                        "expected 1 to " + std::to_string(most) + ", found " +
                            std::to_string(value));
    };
    within("hidden size", c.dimension, 1U << 17);
    within("number of layers", c.layers, 1U << 12);
    within("number of heads", c.heads, 1U << 12);
    within("number of key/value heads", c.kv_heads, c.heads);
    within("head dimension", c.head_dimension, 1U << 12);
    within("intermediate size", c.hidden_dimension, 1U << 20);
    within("vocabulary size", c.vocabulary_size, 1U << 24);
    within("context length", c.context, std::size_t{1} << 30);
    if (c.heads % c.kv_heads != 0)
        throw error(source, "number of key/value heads", "expected a divisor of the query heads");
    if (c.head_dimension % 2 != 0)
        throw error(source, "head dimension", "expected an even number");
    if (!(c.rms_epsilon > 0.0F && c.rms_epsilon < 1.0F))
        throw error(source, "RMS norm epsilon", "expected a number between 0 and 1");
    check(c.rotary, c.head_dimension, source);
    if (c.local_rotary)
        check(*c.local_rotary, c.head_dimension, source);
    if (!c.kinds.empty() && c.kinds.size() != c.layers)
        throw error(source, "layer_types", "expected one for each layer");
    if (c.window == 0)
        throw error(source, "sliding_window", "expected at least 1");
    if (!(c.embedding_scale > 0.0F && c.query_scale >= 0.0F && std::isfinite(c.embedding_scale) &&
          std::isfinite(c.query_scale)))
        throw error(source, "scales of embeddings and queries", "expected positive numbers");
    if (!c.exits.empty())
        check_exits(c.exits, c.layers, source);
}

/// The trained context of a file's field. Throws specdec::error unless it is 2 to the context.
[[nodiscard]] inline std::size_t checked_trained_context(std::size_t tokens, std::size_t context,
                                                         const std::string& source,
                                                         const std::string& field) {
    if (tokens < 2 || tokens > context)
        throw error(source, field,
                    "expected 2 to the longest context, " + std::to_string(context) + ", found " +
                        std::to_string(tokens));
    return tokens;
}

/// Throws specdec::error for a context beyond the sliding window, for a part of the engine that has
/// no windows.
inline void check_capacity(const model_config& c, std::size_t capacity, const std::string& source) {
    if (capacity > c.window)
        throw error(source, "capacity",
                    "expected at most the " + std::to_string(c.window) +
                        " tokens of its sliding window, which is not supported");
}

/// The same for a model whose context may be longer than its window. `field`: the file's name of
/// it.
inline void require_no_closing_window(const model_config& c, const std::string& source,
                                      const std::string& field) {
    if (c.window < c.context)
        throw error(source, field,
                    "expected none below the context of " + std::to_string(c.context) + ", found " +
                        std::to_string(c.window) + ": it is not supported");
}

/// Throws specdec::error for arithmetic that training does not have: it trains Llama, Mistral
/// (within its window) and Qwen 2.
inline void require_trainable(const model_config& c, const std::string& source) {
    const auto refuse = [&](const char* field) {
        throw error(source, field, "expected none: models that have it are not trained here");
    };
    if (c.qk_norm)
        refuse("norms of queries and keys");
    if (c.post_norms || c.norms_less_one)
        refuse("norms after attention");
    if (c.gelu)
        refuse("GELU");
    if (c.embedding_scale != 1.0F || c.query_scale != 0.0F)
        refuse("scales of embeddings and queries");
    for (const layer_kind kind : c.kinds)
        if (kind == layer_kind::unrotated || (kind == layer_kind::window && c.window < c.context))
            refuse("layers of another kind");
}

/// Requires that new weights agree in a field with those they stand in for. Errors: specdec::error.
inline void require_as_before(bool same, const std::string& source, const char* field) {
    if (!same)
        throw error(source, field, "expected the same as in the weights before");
}

/// Throws specdec::error naming what differs unless blocks of both compute alike: `other` weights
/// may then stand in for those `now`. Where the rows of q and k lie in files, the context and the
/// ends of a text change no number.
inline void require_same_arithmetic(const model_config& now, const model_config& other,
                                    const std::string& source) {
    const auto shape = [](const model_config& c) {
        return std::array{c.dimension,        c.heads,
                          c.kv_heads,         c.head_dimension,
                          c.hidden_dimension, std::size_t{c.qkv_bias}};
    };
    const auto scales = [](const model_config& c) {
        return std::tuple(c.qk_norm, c.post_norms, c.gelu, c.embedding_scale, c.query_scale);
    };
    require_as_before(scales(now) == scales(other), source, "norms, functions and scales");
    require_as_before(now.kinds == other.kinds && now.window == other.window &&
                          now.local_rotary == other.local_rotary,
                      source, "kinds of layers");
    const rotary_config &a = now.rotary, &b = other.rotary;
    require_as_before(shape(now) == shape(other), source, "shapes");
    require_as_before(now.rms_epsilon == other.rms_epsilon, source, "RMS norm epsilon");
    require_as_before(a.theta == b.theta && a.linear == b.linear && a.scaled == b.scaled &&
                          (!a.scaled || a.llama3 == b.llama3) && a.factors == b.factors,
                      source, "rotary settings");
}

} // namespace specdec::engine
