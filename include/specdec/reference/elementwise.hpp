// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstddef>

#include <Eigen/Core>

#include <specdec/reference/panels.hpp>

/// What a transformer does to single positions, in Eigen. Columns start on cache lines and every
/// function sees one position at a time, so that results do not depend on how positions are grouped.
namespace specdec::reference {

/// Distances between columns are multiples of this many values (a cache line of floats).
inline constexpr std::size_t line_values = 16;

using aligned_column = Eigen::Map<Eigen::ArrayXf, Eigen::Aligned64>;
using aligned_constant_column = Eigen::Map<const Eigen::ArrayXf, Eigen::Aligned64>;

[[nodiscard]] inline aligned_column column(float* data, std::size_t n) {
    return {data, static_cast<Eigen::Index>(n)};
}
[[nodiscard]] inline aligned_constant_column column(const float* data, std::size_t n) {
    return {data, static_cast<Eigen::Index>(n)};
}

/// A column's length in memory: whole cache lines of floats, the rest zeros.
[[nodiscard]] constexpr std::size_t column_stride(std::size_t n) {
    return round_up(n, line_values);
}

using sixteen = Eigen::Array<float, 16, 1>;
[[nodiscard]] inline Eigen::Map<sixteen, Eigen::Aligned64> line(float* data) {
    return Eigen::Map<sixteen, Eigen::Aligned64>(data);
}
[[nodiscard]] inline Eigen::Map<const sixteen, Eigen::Aligned64> line(const float* data) {
    return Eigen::Map<const sixteen, Eigen::Aligned64>(data);
}

/// Rounds a line to the precision of the panels. (A fixed count: vectorised at -O2 too.)
template <PanelValue Value>
void round_line(const float* from, Value* to) {
    for (std::size_t i = 0; i < line_values; ++i) to[i] = round_to<Value>(from[i]);
}

/// out = x / rms(x) * weight, rounded to the precision of the panels; all are columns of n values.
template <PanelValue Value>
void rms_norm(const float* x, const float* weight, std::size_t n, float epsilon, Value* out) {
    const float mean = column(x, n).square().sum() / static_cast<float>(n);
    const float scale = 1.0F / std::sqrt(mean + epsilon);
    for (std::size_t i = 0; i < n; i += line_values) {
        alignas(64) float y[line_values];
        line(y) = line(weight + i) * (line(x + i) * scale);
        round_line(y, out + i);
    }
}

/// SwiGLU of 16 values: silu(gate) * up, silu(z) = z / (1 + exp(-z)).
template <PanelValue Value>
void swiglu_line(const float* gate, const float* up, Value* out) {
    alignas(64) float y[line_values];
    line(y) = line(gate) / (1.0F + (-line(gate)).exp()) * line(up);
    round_line(y, out);
}

/// Turns the first n scores into exp(score - greatest), rounded to Value, and the rest of `padded`
/// (a multiple of 16) into zeros. Returns 1 / the sum of the exponentials.
template <PanelValue Value>
[[nodiscard]] float softmax_weights(float* scores, std::size_t n, std::size_t padded, Value* out) {
    const std::size_t whole = round_up(n, line_values);
    // Whole lines only: Eigen's vector and scalar exp differ in the last bit.
    for (std::size_t i = n; i < whole; ++i) scores[i] = scores[0];
    auto all = column(scores, whole);
    all = (all - all.maxCoeff()).exp();
    for (std::size_t i = n; i < whole; ++i) scores[i] = 0.0F;
    const float sum = all.sum();
    for (std::size_t i = 0; i < whole; i += line_values) round_line(scores + i, out + i);
    for (std::size_t i = whole; i < padded; ++i) out[i] = Value{};
    return 1.0F / sum;
}

} // namespace specdec::reference
