// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm> // std::copy
#include <concepts>
#include <cstddef>
#include <span>

#include <specdec_engine/kernel/aligned_allocator.hpp>
#include <specdec_engine/kernel/elementwise.hpp>
#include <specdec_engine/kernel/number_format.hpp>

namespace specdec::engine {

/// Columns as they are written, in a number format: of `length` numbers each, zero behind them to a
/// multiple of 32.
template <NumberFormat Format>
struct stored_columns {
    const typename format_parts<Format>::stored* data = nullptr;
    std::size_t stride = 0;
    std::size_t length = 0;
};

/// Columns as products read them.
template <NumberFormat Format>
struct input_columns {
    const typename format_parts<Format>::input* data = nullptr;
    std::size_t stride = 0;
};

/// Makes the inputs of products. Of float and bf16_bits what is stored is what is read; quantised
/// columns are made of floats, by every thread that reads them: that is cheaper than a loop more.
template <NumberFormat Format>
class input_maker {
public:
    using input = typename format_parts<Format>::input;
    using stored = typename format_parts<Format>::stored;

    /// For columns of at most so many numbers.
    explicit input_maker(std::size_t longest, isa instructions)
        : functions_(column_functions_for<stored>(instructions)),
          quantise_(column_quantiser_for(instructions)),
          stride_(same ? round_up(longest, 32) : blocks_of(longest)) {}

    [[nodiscard]] const column_functions<stored>& functions() const { return functions_; }
    /// Of the columns it makes.
    [[nodiscard]] std::size_t stride() const { return stride_; }

    /// A column of `from` numbers, x / rms(x) * weight; `line` is a stored column.
    void norm(const float* x, const aligned_vector<float>& weight, std::size_t n, float epsilon,
              [[maybe_unused]] stored* line, input* out) const {
        if constexpr (same) {
            functions_.rms_norm(x, weight.data(), n, epsilon, out);
        } else {
            functions_.rms_norm(x, weight.data(), n, epsilon, line);
            quantise_(line, n, out);
        }
    }
    /// A column of any numbers; `line` is a stored column.
    void round(std::span<const float> x, [[maybe_unused]] stored* line, input* out) const {
        if constexpr (same) {
            for (std::size_t k = 0; k < x.size(); ++k)
                out[k] = round_to<input>(x[k]);
        } else {
            std::copy(x.begin(), x.end(), line);
            quantise_(line, x.size(), out);
        }
    }
    /// n stored columns as inputs. They are made in `memory` unless they are there from the call
    /// before.
    input_columns<Format> make(stored_columns<Format> x, std::size_t n, [[maybe_unused]] bool first,
                               [[maybe_unused]] input* memory) const {
        if constexpr (same) {
            return {x.data, x.stride};
        } else {
            for (std::size_t c = 0; first && c < n; ++c)
                quantise_(x.data + c * x.stride, x.length, memory + c * stride_);
            return {memory, stride_};
        }
    }

private:
    static constexpr bool same = std::same_as<input, stored>;

    column_functions<stored> functions_;
    column_quantiser quantise_;
    std::size_t stride_;
};

} // namespace specdec::engine
