// SPDX-License-Identifier: MIT
#pragma once

#include <cmath> // std::isfinite
#include <cstddef>
#include <string>

#include <specdec/core/error.hpp>

namespace specdec::reference {

/// How the frequencies of rotary embedding are stretched for contexts beyond the training length.
enum class rotary_scaling {
    none,
    linear, ///< every frequency is divided by the factor
    llama3, ///< low frequencies are divided, high ones stay, those in between are interpolated
};

struct rotary_settings {
    double theta = 10000;
    rotary_scaling scaling = rotary_scaling::none;
    double factor = 1;                ///< linear, llama3
    double low_frequency_factor = 1;  ///< llama3, as the next two
    double high_frequency_factor = 4; ///< above the low one
    double original_context = 8192;
};

/// The hyperparameters of a transformer of the Llama family.
///
/// Symbols: as in the shapes of all comments of this folder.
struct transformer_config {
    std::size_t width = 0;           ///< d: the residual stream ("hidden_size")
    std::size_t layers = 0;          ///< L
    std::size_t heads = 0;           ///< H: query heads
    std::size_t kv_heads = 0;        ///< G: key and value heads, a divisor of H
    std::size_t head_dimension = 0;  ///< e, even; H e need not be d
    std::size_t inner_width = 0;     ///< f: the SwiGLU block ("intermediate_size")
    std::size_t vocabulary_size = 0; ///< V: rows of the embedding and of the LM head
    std::size_t context = 0;         ///< the longest sequence that the model was made for
    double rms_epsilon = 1e-5;
    bool tied = false;     ///< the LM head is the embedding
    bool qkv_bias = false; ///< queries, keys and values have biases (Qwen 2)
    rotary_settings rotary{};

    [[nodiscard]] std::size_t query_width() const { return heads * head_dimension; } ///< H e
    [[nodiscard]] std::size_t kv_width() const { return kv_heads * head_dimension; } ///< G e
};

/// Errors: specdec::error(source, FIELD, ...) unless the numbers make a transformer. The bounds
/// keep products of two of them far from overflow.
inline void validate(const transformer_config& c,
                     const std::string& source = "transformer config") {
    const auto within = [&](const char* field, std::size_t value, std::size_t most) {
        if (value == 0 || value > most)
            fail(source, field,
                 "expected 1 to " + std::to_string(most) + ", found " + std::to_string(value));
    };
    within("hidden_size", c.width, 1U << 17);
    within("num_hidden_layers", c.layers, 1U << 12);
    within("num_attention_heads", c.heads, 1U << 12);
    within("num_key_value_heads", c.kv_heads, c.heads);
    within("head_dim", c.head_dimension, 1U << 12);
    within("intermediate_size", c.inner_width, 1U << 20);
    within("vocab_size", c.vocabulary_size, 1U << 24);
    within("max_position_embeddings", c.context, 1U << 30);
    const auto require = [&](bool holds, const char* field, const char* expected) {
        if (!holds)
            fail(source, field, expected);
    };
    const auto positive = [](double number) { return number > 0 && std::isfinite(number); };
    require(c.heads % c.kv_heads == 0, "num_key_value_heads", "expected a divisor of the heads");
    require(c.head_dimension % 2 == 0, "head_dim", "expected an even number");
    require(c.rms_epsilon > 0 && c.rms_epsilon < 1, "rms_norm_eps",
            "expected a number between 0 and 1");
    const rotary_settings& r = c.rotary;
    require(positive(r.theta), "rope_theta", "expected a positive number");
    require(positive(r.factor), "rope_scaling factor", "expected a positive number");
    if (r.scaling == rotary_scaling::llama3)
        require(positive(r.low_frequency_factor) && positive(r.original_context) &&
                    r.high_frequency_factor > r.low_frequency_factor &&
                    std::isfinite(r.high_frequency_factor),
                "rope_scaling", "expected 0 < low_freq_factor < high_freq_factor and a context");
}

} // namespace specdec::reference
