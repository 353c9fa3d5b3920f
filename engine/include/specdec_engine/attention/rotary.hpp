// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstddef>
#include <numbers> // std::numbers::pi
#include <vector>

#include <Eigen/Core>

#include <specdec_engine/file/config.hpp>

/// Rotary position embedding (Su et al., arXiv 2104.09864).
///
///     pair i of a head at position m is turned by the angle  m theta^(-2i/d):
///     (a, b) -> (a cos - b sin, b cos + a sin)
///
/// Two layouts are in use: half-split (Hugging Face: pair i is values i and i + d/2) and
/// interleaved (llama2.c, GGUF's llama architecture: values 2i and 2i + 1). The engine computes
/// half-split; interleaved checkpoints have the rows of q and k reordered at loading, which changes
/// no score.
namespace specdec::engine {

/// Where row r of an interleaved head belongs in a half-split one.
[[nodiscard]] constexpr std::size_t half_split_row(std::size_t r, std::size_t head_dimension) {
    return r / 2 + (r % 2) * (head_dimension / 2);
}

/// The d/2 angles of position 1, in float as Transformers computes them.
[[nodiscard]] inline std::vector<float> rotary_frequencies(const rotary_config& c,
                                                           std::size_t head_dimension) {
    std::vector<float> out(head_dimension / 2);
    for (std::size_t i = 0; i < out.size(); ++i) {
        const double exponent = static_cast<double>(2 * i) / static_cast<double>(head_dimension);
        double frequency = 1.0 / std::pow(c.theta, exponent);
        if (c.scaled) {
            const llama3_scaling& s = c.llama3;
            const double turns = s.original_context * frequency / (2.0 * std::numbers::pi);
            const double keep = (turns - s.low_frequency_factor) /
                                (s.high_frequency_factor - s.low_frequency_factor);
            if (keep <= 0.0)
                frequency /= s.factor;
            else if (keep < 1.0)
                frequency = (1.0 - keep) * frequency / s.factor + keep * frequency;
        }
        frequency /= c.linear;
        if (!c.factors.empty())
            frequency /= static_cast<double>(c.factors[i]);
        out[i] = static_cast<float>(frequency);
    }
    return out;
}

/// Cosines and sines of all positions below the capacity.
class rotary_table {
public:
    rotary_table() = default;
    rotary_table(const rotary_config& c, std::size_t head_dimension, std::size_t positions)
        : half_(static_cast<Eigen::Index>(head_dimension / 2)),
          cosine_(half_, static_cast<Eigen::Index>(positions)),
          sine_(half_, static_cast<Eigen::Index>(positions)) {
        const std::vector<float> frequencies = rotary_frequencies(c, head_dimension);
        for (Eigen::Index m = 0; m < cosine_.cols(); ++m)
            for (Eigen::Index i = 0; i < half_; ++i) {
                const float angle =
                    static_cast<float>(m) * frequencies[static_cast<std::size_t>(i)];
                cosine_(i, m) = static_cast<float>(std::cos(static_cast<double>(angle)));
                sine_(i, m) = static_cast<float>(std::sin(static_cast<double>(angle)));
            }
    }

    /// Turns one half-split head as position m asks; out is other memory.
    void turn(const float* head, std::size_t m, float* out) const {
        using part = Eigen::Map<Eigen::ArrayXf>;
        using constant_part = Eigen::Map<const Eigen::ArrayXf>;
        const auto cosine = cosine_.col(static_cast<Eigen::Index>(m));
        const auto sine = sine_.col(static_cast<Eigen::Index>(m));
        const constant_part a(head, half_);
        const constant_part b(head + half_, half_);
        part(out, half_) = a * cosine - b * sine;
        part(out + half_, half_) = b * cosine + a * sine;
    }

private:
    Eigen::Index half_ = 0;
    Eigen::ArrayXXf cosine_; ///< [d/2, positions], a column a position
    Eigen::ArrayXXf sine_;
};

} // namespace specdec::engine
