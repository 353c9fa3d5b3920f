// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm> // std::copy_n, std::fill_n, std::min
#include <cstddef>
#include <cstdint>
#include <cstring> // std::memcpy
#include <span>

#include <specdec/interop/xtensor_containers.hpp>
#include <specdec_engine/attention/kv_cache.hpp> // attention_queries
#include <specdec_engine/kernel/aligned_allocator.hpp>
#include <specdec_engine/kernel/elementwise.hpp>
#include <specdec_engine/kernel/panels.hpp>
#include <specdec_engine/kernel/quantised_column.hpp>

namespace specdec::engine {

namespace detail {

/// n whole numbers of 8 bits, in lines, as BF16, which has them all.
[[gnu::always_inline]] inline void widen_body(const std::int8_t* from, std::size_t n,
                                              bf16_bits* to) {
    using bytes [[gnu::vector_size(line_values)]] = std::int8_t;
    using shorts [[gnu::vector_size(2 * line_values)]] = std::int16_t;
    for (std::size_t i = 0; i < n; i += line_values) {
        bytes b;
        std::memcpy(&b, from + i, sizeof b);
        const shorts twice = __builtin_convertvector(b, shorts); // GCC makes one instruction of
        const line_ints wide = __builtin_convertvector(twice, line_ints); // a step, none of two
        const auto bits = reinterpret_cast<line_bits>(__builtin_convertvector(wide, line));
        const line_halves halves = __builtin_convertvector(bits >> 16, line_halves);
        std::memcpy(to + i, &halves, sizeof halves);
    }
}
/// n products, in lines, rounded to BF16.
[[gnu::always_inline]] inline void products_body(const float* a, const float* b, std::size_t n,
                                                 bf16_bits* to) {
    for (std::size_t i = 0; i < n; i += line_values) {
        line x, y;
        load(x, a + i);
        load(y, b + i);
        store_rounded(x * y, to + i);
    }
}

/// out = y * scale, or added to what is there; 32 rows of n columns, out's `stride` apart.
template <std::size_t Lanes>
[[gnu::always_inline]] inline void scale_rows_body(const float* y, const float* scale,
                                                   std::size_t n, bool add, float* out,
                                                   std::size_t stride) {
    for (std::size_t h = 0; h < panel_rows; h += Lanes) {
        typename line_part<Lanes>::floats factor;
        load(factor, scale + h);
        for (std::size_t i = 0; i < n; ++i) {
            typename line_part<Lanes>::floats x, sum{};
            load(x, y + i * panel_rows + h);
            if (add)
                load(sum, out + i * stride + h);
            add_product(sum, x, factor);
            store_rounded(sum, out + i * stride + h);
        }
    }
}

/// The three, compiled for an instruction set.
struct widening_functions {
    void (*widen)(const std::int8_t* from, std::size_t n, bf16_bits* to);
    void (*products)(const float* a, const float* b, std::size_t n, bf16_bits* to);
    void (*scale_rows)(const float* y, const float* scale, std::size_t n, bool add, float* out,
                       std::size_t stride);
};

#define SPECDEC_WIDENING_FUNCTIONS(SET, LANES, TARGET)                                             \
    struct SET {                                                                                   \
        TARGET static void widen(const std::int8_t* from, std::size_t n, bf16_bits* to) {          \
            widen_body(from, n, to);                                                               \
        }                                                                                          \
        TARGET static void products(const float* a, const float* b, std::size_t n,                 \
                                    bf16_bits* to) {                                               \
            products_body(a, b, n, to);                                                            \
        }                                                                                          \
        TARGET static void scale_rows(const float* y, const float* s, std::size_t n, bool add,     \
                                      float* out, std::size_t stride) {                            \
            scale_rows_body<LANES>(y, s, n, add, out, stride);                                     \
        }                                                                                          \
        static constexpr widening_functions all{&widen, &products, &scale_rows};                   \
    }
SPECDEC_WIDENING_FUNCTIONS(portable_widening, 4, );
#if defined(__x86_64__)
SPECDEC_WIDENING_FUNCTIONS(avx2_widening, 8, [[gnu::target("avx2,fma")]]);
SPECDEC_WIDENING_FUNCTIONS(avx512_widening, 16,
                           [[gnu::target("avx2,fma,avx512f,avx512bw,avx512dq,avx512vl")]]);
#endif
#undef SPECDEC_WIDENING_FUNCTIONS

[[nodiscard]] inline widening_functions widening_functions_for(isa set) {
#if defined(__x86_64__)
    if (set >= isa::avx512)
        return avx512_widening::all;
    if (set >= isa::avx2)
        return avx2_widening::all;
#endif
    static_cast<void>(set);
    return portable_widening::all;
}

} // namespace detail

/// A kv_cache of 8 bits: every key and value in blocks of 32 dimensions, each of whole numbers from
/// -127 to 127 and a float scale (quantised_column.hpp), so a position's block depends on its own
/// numbers only. Products are of BF16 with the whole numbers, which BF16 has exactly; scales of
/// keys go to the scores, those of values to the weights before these are rounded.
///
/// Shapes: keys [layers, heads, panels of positions, 32 * key length], their scales [layers, heads,
/// panels of positions, blocks, 32], values [layers, heads, panels of dimensions, 32 * value
/// length], their scales [layers, heads, panels of dimensions, value length].
class q8_cache {
public:
    using number = bf16_bits;
    using weight = float;
    using node = float;

    q8_cache() = default;
    q8_cache(std::size_t layers, std::size_t heads, std::size_t head_dimension,
             std::size_t capacity, isa instructions = isa::portable)
        : head_dimension_(head_dimension), quantise_(column_quantiser_for(instructions)),
          functions_(detail::widening_functions_for(instructions)) {
        const std::size_t length = round_up(capacity, panel_rows);
        keys_.resize({layers, heads, length / panel_rows, panel_rows * key_length()});
        key_scales_.resize({layers, heads, length / panel_rows, key_length()});
        values_.resize({layers, heads, value_panels(), panel_rows * length});
        value_scales_.resize({layers, heads, value_panels(), length});
        keys_.fill(0);
        key_scales_.fill(0.0F);
        values_.fill(0);
        value_scales_.fill(0.0F);
    }

    [[nodiscard]] std::size_t key_length() const { return round_up(head_dimension_, panel_rows); }
    [[nodiscard]] std::size_t value_panels() const { return key_length() / panel_rows; }
    /// The length of the value panels for n positions.
    [[nodiscard]] static std::size_t value_length(std::size_t n) {
        return round_up(n, length_multiple);
    }

    /// As kv_cache's. Queries are readable and zero up to key_length().
    void score(const panel_kernels<bf16_bits>& kernels, std::size_t layer, std::size_t head,
               std::size_t panel, const bf16_bits* queries, std::size_t stride, std::size_t n,
               float* scores, std::size_t scores_stride) const {
        alignas(64) bf16_bits wide[block];
        for (std::size_t b = 0; b < value_panels(); ++b) {
            functions_.widen(&keys_(layer, head, panel, b * block), block, wide);
            const float* const scale = &key_scales_(layer, head, panel, b * panel_rows);
            multiply_panel(kernels, wide, panel_rows, queries + b * panel_rows, stride, n,
                           [&](std::size_t c, std::size_t columns, const float* y) {
                               functions_.scale_rows(y, scale, columns, b > 0,
                                                     scores + c * scores_stride, scores_stride);
                           });
        }
    }
    void weigh(const panel_kernels<bf16_bits>& kernels, std::size_t layer, std::size_t head,
               std::size_t panel, std::size_t first, std::size_t end, const float* weights,
               std::size_t stride, std::size_t n, float* sums) const {
        alignas(64) bf16_bits wide[piece_length * panel_rows];
        alignas(64) bf16_bits x[attention_queries * piece_length];
        const std::int8_t* const all = &values_(layer, head, panel, 0) + first * panel_rows;
        const float* const scales = &value_scales_(layer, head, panel, 0) + first;
        const std::size_t length = value_length(end) - first;
        multiply_in_pieces(
            kernels, length, n,
            [&](std::size_t k, std::size_t here) -> panel_piece<bf16_bits> {
                functions_.widen(all + k * panel_rows, here * panel_rows, wide);
                for (std::size_t c = 0; c < n; ++c)
                    functions_.products(weights + c * stride + first + k, scales + k,
                                        round_up(here, line_values), x + c * piece_length);
                const std::size_t next = std::min(piece_length, length - k - here);
                return {wide, x, piece_length,
                        std::as_bytes(std::span(all + (k + here) * panel_rows, next * panel_rows))};
            },
            sums);
    }

    /// Stores one position of one head.
    void write(std::size_t layer, std::size_t head, std::size_t position, const float* key,
               const float* value) {
        const std::size_t row = position % panel_rows;
        std::int8_t* const to_key = &keys_(layer, head, position / panel_rows, 0);
        float* const key_scale = &key_scales_(layer, head, position / panel_rows, 0);
        for (std::size_t b = 0; b < value_panels(); ++b) {
            const q8_block of_key = block_of(key, b), of_value = block_of(value, b);
            key_scale[b * panel_rows + row] = of_key.scale;
            value_scales_(layer, head, b, position) = of_value.scale;
            std::int8_t* const to_value = &values_(layer, head, b, 0);
            for (std::size_t i = 0; i < quantised_values; ++i) {
                to_key[panel_index<bf16_bits>(row, b * panel_rows + i)] = of_key.values[i];
                to_value[panel_index<bf16_bits>(i, position)] = of_value.values[i];
            }
        }
    }
    /// See kv_cache.
    void copy_prefix(const q8_cache& from, std::size_t n) {
        const std::size_t panels = round_up(n, panel_rows) / panel_rows, length = value_length(n);
        copy_rows(from.keys_, panels, keys_.shape(3), keys_);
        copy_rows(from.key_scales_, panels, key_scales_.shape(3), key_scales_);
        copy_rows(from.values_, value_panels(), length * panel_rows, values_);
        copy_rows(from.value_scales_, value_panels(), length, value_scales_);
    }
    /// See kv_cache.
    void clear_behind(std::size_t layer, std::size_t head, std::size_t n) {
        for (std::size_t b = 0; b < value_panels(); ++b)
            std::fill_n(&value_scales_(layer, head, b, 0) + n, value_length(n) - n, 0.0F);
    }

private:
    static constexpr std::size_t block = panel_rows * quantised_values;

    template <class Number>
    using array = xt::xtensor<Number, 4, xt::layout_type::row_major, aligned_allocator<Number>>;

    [[nodiscard]] q8_block block_of(const float* x, std::size_t b) const {
        float padded[quantised_values] = {};
        std::copy_n(x + b * quantised_values,
                    std::min(quantised_values, head_dimension_ - b * quantised_values), padded);
        q8_block out;
        quantise_(padded, quantised_values, &out);
        return out;
    }

    std::size_t head_dimension_ = 0;
    column_quantiser quantise_ = column_quantiser_for(isa::portable);
    detail::widening_functions functions_ = detail::widening_functions_for(isa::portable);
    array<std::int8_t> keys_, values_;
    array<float> key_scales_, value_scales_;
};

} // namespace specdec::engine
