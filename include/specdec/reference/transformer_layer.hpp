// SPDX-License-Identifier: MIT
#pragma once

#include <cmath> // std::sqrt, std::log
#include <concepts>
#include <cstddef>
#include <numbers> // std::numbers::pi
#include <span>
#include <vector>

#include <Eigen/Core>

#include <specdec/reference/key_value_cache.hpp>
#include <specdec/reference/transformer_config.hpp>
#include <specdec/reference/transformer_weights.hpp>

/// The parts of a layer of the Llama family (Touvron et al. 2023, arXiv 2302.13971), each as its
/// equation says.
///
/// Shapes: n new tokens, one a row; the other letters as in transformer_config.
namespace specdec::reference {

/// x W^T + b for each token. Shapes: x: n x in, w: out x in, b: out or empty; result: n x out.
template <std::floating_point Scalar>
[[nodiscard]] matrix<Scalar> project(const matrix<Scalar>& x, const matrix<Scalar>& w,
                                     const row_vector<Scalar>& b = {}) {
    matrix<Scalar> y = x * w.transpose();
    if (b.size() > 0)
        y.rowwise() += b;
    return y;
}

/// Root-mean-square normalisation: x / sqrt(mean(x^2) + epsilon) * g.
/// Paper: Zhang and Sennrich 2019, equation 4. Shapes: x: n x d, g: d; result: n x d.
template <std::floating_point Scalar>
[[nodiscard]] matrix<Scalar> rms_norm(const matrix<Scalar>& x, const row_vector<Scalar>& g,
                                      double epsilon) {
    const Eigen::ArrayX<Scalar> size =
        (x.array().square().rowwise().mean() + Scalar(epsilon)).sqrt(); // n
    return (x.array().colwise() / size).rowwise() * g.array();
}

/// The angle by which each pair of a head turns from one position to the next: theta^(-2i/e) for
/// pair i, stretched as the settings say. They are double for float weights, too: in float an angle
/// is off by 0.0005 at position 8,192. Paper: Su et al. 2021, section 3.2.2; the interpolation is
/// that of Llama 3.1. Shape: e / 2.
[[nodiscard]] inline Eigen::RowVectorXd rotary_frequencies(const rotary_settings& r,
                                                           std::size_t head_dimension) {
    const Eigen::Index pairs = index(head_dimension / 2);
    const Eigen::ArrayXd i = Eigen::ArrayXd::LinSpaced(pairs, 0, static_cast<double>(pairs - 1));
    const Eigen::ArrayXd plain = (-std::log(r.theta) / static_cast<double>(pairs) * i).exp();
    if (r.scaling == rotary_scaling::none)
        return plain;
    if (r.scaling == rotary_scaling::linear)
        return plain / r.factor;
    const Eigen::ArrayXd turns = plain * r.original_context / (2 * std::numbers::pi);
    const Eigen::ArrayXd kept =
        ((turns - r.low_frequency_factor) / (r.high_frequency_factor - r.low_frequency_factor))
            .max(0.0)
            .min(1.0);
    return plain * (kept + (1 - kept) / r.factor);
}

/// Cosines and sines of the angles of n tokens. Shapes: n x e / 2.
template <std::floating_point Scalar>
struct rotary_angles {
    matrix<Scalar> cosine, sine;

    /// Shapes: positions: n, frequencies: e / 2.
    rotary_angles(const Eigen::VectorXd& positions, const Eigen::RowVectorXd& frequencies)
        : cosine((positions * frequencies).array().cos().template cast<Scalar>()),
          sine((positions * frequencies).array().sin().template cast<Scalar>()) {}
};

/// Rotary embedding: turns pair i of each head, (a, b) := (x_i, x_(i + e/2)), by its angle.
/// Paper: Su et al. 2021, equation 34, with the two halves of a head as Hugging Face's files have
/// them. Shapes: x: n x (heads e).
template <std::floating_point Scalar>
void rotate(matrix<Scalar>& x, const rotary_angles<Scalar>& by) {
    const Eigen::Index half = by.cosine.cols();
    for (Eigen::Index head = 0; head < x.cols(); head += 2 * half) {
        auto a = x.middleCols(head, half), b = x.middleCols(head + half, half); // n x e / 2
        const matrix<Scalar> turned = a.cwiseProduct(by.cosine) - b.cwiseProduct(by.sine);
        b = b.cwiseProduct(by.cosine) + a.cwiseProduct(by.sine);
        a = turned;
    }
}

/// The softmax of each row over the entries that are visible (1), and 0 elsewhere (0).
/// Shapes: scores, visible: n x m; result: n x m. Pre: a row has a visible entry.
template <std::floating_point Scalar>
[[nodiscard]] matrix<Scalar> softmax(const matrix<Scalar>& scores, const matrix<Scalar>& visible) {
    const auto seen = visible.array();
    const Scalar lowest = Eigen::NumTraits<Scalar>::lowest();
    const Eigen::VectorX<Scalar> most =
        (seen > 0).select(scores.array(), lowest).matrix().rowwise().maxCoeff();
    const matrix<Scalar> e = (scores.colwise() - most).array().min(Scalar(0)).exp() * seen;
    return e.array().colwise() / e.rowwise().sum().array();
}

/// The input of a pass for one sequence: n new tokens, whose keys and values become the last n of
/// the first m rows of its cache.
template <std::floating_point Scalar>
struct pass_part {
    std::vector<std::size_t> ids; ///< [n]
    matrix<Scalar> visible; ///< n x m: 1 where the token attends to the row of the cache, else 0
    key_value_cache<Scalar>* cache = nullptr;
};

/// Grouped-query attention: for each query head h and its kv head g = h G / H,
///
///     softmax(Q_h K_g^T / sqrt(e)) V_g,    all heads side by side times W_o^T.
///
/// It puts the keys and values of the new tokens into the caches.
/// Paper: Vaswani et al. 2017, equation 1; Ainslie et al. 2023, section 2.2. Shapes: x: n x d, the
/// parts one after the other; result: n x d.
template <std::floating_point Scalar>
[[nodiscard]] matrix<Scalar> attention(const matrix<Scalar>& x, const layer_weights<Scalar>& w,
                                       const transformer_config& c, std::size_t layer,
                                       const rotary_angles<Scalar>& angles,
                                       std::span<const pass_part<Scalar>> parts) {
    matrix<Scalar> q = project(x, w.query, w.query_bias);       // n x H e
    matrix<Scalar> k = project(x, w.key, w.key_bias);           // n x G e
    const matrix<Scalar> v = project(x, w.value, w.value_bias); // n x G e
    rotate(q, angles);
    rotate(k, angles);
    matrix<Scalar> attended(q.rows(), q.cols()); // n x H e
    const Scalar root = std::sqrt(Scalar(c.head_dimension));
    const Eigen::Index e = index(c.head_dimension);
    Eigen::Index first = 0;
    for (const pass_part<Scalar>& part : parts) {
        const std::size_t n = part.ids.size(), m = static_cast<std::size_t>(part.visible.cols());
        part.cache->rows(layer, cache_side::key, m - n, n) = k.middleRows(first, index(n));
        part.cache->rows(layer, cache_side::value, m - n, n) = v.middleRows(first, index(n));
        for (std::size_t h = 0; h < c.heads; ++h) {
            const std::size_t g = h * c.kv_heads / c.heads;
            const auto keys = part.cache->head(layer, cache_side::key, g, m);     // m x e
            const auto values = part.cache->head(layer, cache_side::value, g, m); // m x e
            const auto queries = q.block(first, index(h) * e, index(n), e);       // n x e
            const matrix<Scalar> scores = queries * keys.transpose() / root;      // n x m
            attended.block(first, index(h) * e, index(n), e) =
                softmax(scores, part.visible) * values;
        }
        first += index(n);
    }
    return project(attended, w.output);
}

/// The gated MLP: (silu(x W_gate^T) * x W_up^T) W_down^T, with silu(z) = z / (1 + exp(-z)).
/// Paper: Shazeer 2020, equation 6. Shapes: x: n x d; result: n x d.
template <std::floating_point Scalar>
[[nodiscard]] matrix<Scalar> swiglu(const matrix<Scalar>& x, const layer_weights<Scalar>& w) {
    const matrix<Scalar> gate = project(x, w.gate), up = project(x, w.up); // n x f
    const matrix<Scalar> inner = gate.array() / (1 + (-gate.array()).exp()) * up.array();
    return project(inner, w.down);
}

} // namespace specdec::reference
