// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include <specdec/core/basic/builtins.hpp>
#include <specdec/core/drafting.hpp>
#include <specdec/core/error.hpp>

namespace specdec {

/// Sizes of an acceptance network, and where its numbers lie in one flat array:
///
///     [width] of { A_k [inputs], a_k, C_0k, C_1k }, [2] of { w_o [inputs], b_o }
struct acceptance_shape {
    static constexpr std::size_t scalars = 3, outputs = 2;
    std::size_t embedding = 0; ///< numbers of a token's embedding
    std::size_t width = 16;    ///< hidden units

    [[nodiscard]] std::size_t inputs() const { return embedding + scalars; }
    [[nodiscard]] std::size_t parameters() const {
        return width * (inputs() + 1 + outputs) + outputs * (inputs() + 1);
    }
};

/// What the network sees of a draft d_1 .. d_n: the embedding of d_n, scaled to a mean square of 1,
/// and log sure (at least -12), the entropy and log(1 + n). A view of the embedding; empty before
/// the first token and where it has none, which counts as zeros.
struct acceptance_features {
    std::span<const float> embedding;
    double scale = 0;
    std::array<double, acceptance_shape::scalars> scalars{};

    acceptance_features(const draft_progress& now, std::span<const float> of_token)
        : embedding(of_token),
          scalars{now.sure > 6.2e-6 ? builtin::log(now.sure) : -12.0, now.entropy,
                  builtin::log1p(static_cast<double>(now.drafted))} {
        double squares = 0;
        for (const float e : embedding)
            squares += static_cast<double>(e) * static_cast<double>(e);
        if (squares > 0)
            scale = builtin::sqrt(static_cast<double>(embedding.size()) / squares);
    }

    /// Calls f(i, x_i) for every input that is not zero.
    template <class F>
    void each(std::size_t embedding_size, F&& f) const {
        for (std::size_t i = 0; i < embedding.size(); ++i)
            f(i, static_cast<double>(embedding[i]) * scale);
        for (std::size_t i = 0; i < scalars.size(); ++i)
            f(embedding_size + i, scalars[i]);
    }
};

[[nodiscard]] inline double sigmoid(double f) {
    const double e = builtin::exp(-builtin::fabs(f));
    return f < 0 ? e / (1 + e) : 1 / (1 + e);
}

namespace acceptance_network_detail {

template <class Scalar>
[[nodiscard]] double affine(const Scalar* weights, std::size_t inputs, std::size_t embedding,
                            const acceptance_features& x) {
    auto sum = static_cast<double>(weights[inputs]);
    x.each(embedding,
           [&](std::size_t i, double x_i) { sum += static_cast<double>(weights[i]) * x_i; });
    return sum;
}
template <class Scalar>
void add_affine(Scalar* gradient, std::size_t inputs, std::size_t embedding,
                const acceptance_features& x, double by) {
    x.each(embedding,
           [&](std::size_t i, double x_i) { gradient[i] += static_cast<Scalar>(by * x_i); });
    gradient[inputs] += static_cast<Scalar>(by);
}

inline void require_shape(const acceptance_shape& shape, std::size_t parameters,
                          const acceptance_features& x) {
    if (parameters != shape.parameters())
        fail("acceptance network", "parameters", "expected as many as the shape has");
    if (!x.embedding.empty() && x.embedding.size() != shape.embedding)
        fail("acceptance network", "embedding", "expected as many numbers as the shape has");
}

} // namespace acceptance_network_detail

/// The logits of an acceptance head (SpecDec++, Huang et al. 2025; OmniDraft, Eq. 5): a residual
/// network of one hidden layer with two outputs,
///
///     f_o(x) = w_o x + b_o + sum_k C_ok silu(A_k x + a_k)
///
/// f_0: that d_n is kept if those before it are; f_1: the same of d_(n+1), which is not drawn yet
/// (the papers' heads lack it; rules that look ahead want it). Complexity: O(width (embedding +
/// 6)). Allocates nothing. Errors: specdec::error for sizes that are not the shape's.
template <class Scalar>
[[nodiscard]] std::array<double, 2> acceptance_logits(const acceptance_shape& shape,
                                                      std::span<const Scalar> parameters,
                                                      const acceptance_features& x) {
    using namespace acceptance_network_detail;
    require_shape(shape, parameters.size(), x);
    const std::size_t n = shape.inputs();
    const Scalar* at = parameters.data();
    std::array<double, 2> f{};
    for (std::size_t k = 0; k < shape.width; ++k, at += n + 3) {
        const double u = affine(at, n, shape.embedding, x), silu = u * sigmoid(u);
        f[0] += static_cast<double>(at[n + 1]) * silu;
        f[1] += static_cast<double>(at[n + 2]) * silu;
    }
    for (double& f_o : f) {
        f_o += affine(at, n, shape.embedding, x);
        at += n + 1;
    }
    return f;
}

/// Adds to `gradient` the derivatives by the parameters of a loss whose derivatives by f_0 and f_1
/// are df. Complexity, errors: as acceptance_logits.
template <class Scalar>
void acceptance_gradient(const acceptance_shape& shape, std::span<const Scalar> parameters,
                         const acceptance_features& x, std::array<double, 2> df,
                         std::span<Scalar> gradient) {
    using namespace acceptance_network_detail;
    require_shape(shape, parameters.size(), x);
    require_shape(shape, gradient.size(), x);
    const std::size_t n = shape.inputs();
    const Scalar* at = parameters.data();
    Scalar* to = gradient.data();
    for (std::size_t k = 0; k < shape.width; ++k, at += n + 3, to += n + 3) {
        const double u = affine(at, n, shape.embedding, x), s = sigmoid(u);
        const double dsilu =
            df[0] * static_cast<double>(at[n + 1]) + df[1] * static_cast<double>(at[n + 2]);
        add_affine(to, n, shape.embedding, x, dsilu * (s + u * s * (1 - s)));
        to[n + 1] += static_cast<Scalar>(df[0] * u * s);
        to[n + 2] += static_cast<Scalar>(df[1] * u * s);
    }
    for (const double d : df) {
        add_affine(to, n, shape.embedding, x, d);
        to += n + 1;
    }
}

} // namespace specdec
