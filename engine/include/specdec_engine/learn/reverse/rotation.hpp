// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include <specdec_engine/attention/rotary.hpp>
#include <specdec_engine/kernel/aligned_allocator.hpp>
#include <specdec_engine/learn/reverse/columns.hpp>

namespace specdec::engine {

/// Rotary position embedding in place (rotary.hpp has the angles and the two layouts), and its
/// reverse: the turn by the opposite angles.
template <class Scalar>
class rotation {
public:
    /// For positions below `positions`. Heads are half-split.
    rotation(const rotary_config& c, std::size_t head_dimension, std::size_t positions)
        : half_(head_dimension / 2), cosine_(half_ * positions), sine_(half_ * positions) {
        const std::vector<float> frequencies = rotary_frequencies(c, head_dimension);
        for (std::size_t m = 0; m < positions; ++m)
            for (std::size_t i = 0; i < half_; ++i) { // the angle in float, as rotary_table
                const auto angle = static_cast<double>(static_cast<float>(m) * frequencies[i]);
                cosine_[m * half_ + i] = static_cast<Scalar>(std::cos(angle));
                sine_[m * half_ + i] = static_cast<Scalar>(std::sin(angle));
            }
    }

    /// Turns the heads of a column of position m, one behind the other.
    void turn(Scalar* heads, std::size_t n, std::size_t m) const { turn(heads, n, m, Scalar{1}); }
    void turn_back(Scalar* heads, std::size_t n, std::size_t m) const {
        turn(heads, n, m, Scalar{-1});
    }

private:
    void turn(Scalar* heads, std::size_t n, std::size_t m, Scalar sign) const {
        const Scalar* const cosine = &cosine_[m * half_];
        const Scalar* const sine = &sine_[m * half_];
        for (Scalar* a = heads; a != heads + 2 * n * half_; a += 2 * half_)
            for (std::size_t i = 0; i < half_; ++i) {
                const Scalar x = a[i];
                const Scalar y = a[i + half_];
                a[i] = x * cosine[i] - y * (sign * sine[i]);
                a[i + half_] = y * cosine[i] + x * (sign * sine[i]);
            }
    }

    std::size_t half_ = 0;
    aligned_vector<Scalar> cosine_; ///< [positions][d/2]
    aligned_vector<Scalar> sine_;
};

} // namespace specdec::engine
