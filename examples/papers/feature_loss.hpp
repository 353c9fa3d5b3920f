// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>

#include <specdec/core/basic/builtins.hpp>
#include <specdec/core/error.hpp>
#include <specdec/learn/loss/logit_gradient.hpp>
#include <specdec/learn/loss/row_softmax.hpp>

/// The losses that train a drafter which makes features and reads them again: EAGLE's, HASS's over
/// several steps, and CORAL's
///
///     w_reg L_reg + w_cls L_cls + w_CSRA L_CSRA    (Eq. 3; 0.5, 0.1 and 0.05 to 0.2, Appendix A)
///
/// Losses allocate nothing and write their gradients. Errors: specdec::error for sizes that do not
/// fit.
namespace specdec::papers {

/// L_reg, weighted: the mean smooth L1 (x^2 / 2 below 1, else |x| - 1 / 2) of features against the
/// target's. Shapes: all the same. Complexity: O(numbers).
inline double regression_loss(std::span<const float> made, std::span<const float> wanted,
                              std::span<float> gradient, double weight = 1) {
    if (made.empty() || wanted.size() != made.size() || gradient.size() != made.size())
        fail("regression loss", "sizes", "expected features, as many wanted ones and gradients");
    const double share = weight / static_cast<double>(made.size());
    double sum = 0;
    for (std::size_t k = 0; k < made.size(); ++k) {
        const double x = static_cast<double>(made[k]) - static_cast<double>(wanted[k]);
        const double far = builtin::fabs(x);
        sum += far < 1 ? x * x / 2 : far - 0.5;
        gradient[k] = static_cast<float>(share * (far < 1 ? x : x > 0 ? 1 : -1));
    }
    return share * sum;
}

/// L_cls, weighted: the cross-entropy of the target's distribution p and q = softmax(logits),
///
///     - weight * sum over t of p(t) log q(t)
///
/// Writes the gradient with respect to the logits, weight (q - p). Shapes: all the same; p sums to
/// 1. Complexity: O(tokens). Errors: also as row_softmax and logit_gradient.
inline double classification_loss(std::span<const float> p, std::span<const float> logits,
                                  std::span<float> gradient, double weight = 1) {
    if (p.size() != logits.size())
        fail("classification loss", "sizes", "expected a probability for each logit");
    const row_softmax q(logits_row<draft_id>{logits});
    logit_gradient dz(q, gradient);
    double sum = 0;
    for (std::size_t t = 0; t < p.size(); ++t)
        if (p[t] > 0) {
            const double p_t = static_cast<double>(p[t]);
            sum -= p_t * q.log_probability(id_at<draft_id>(t));
            dz.add(id_at<draft_id>(t), -p_t);
        }
    dz.finish(weight);
    return weight * sum;
}

/// L_CSRA, weighted: cross-step representation alignment (CORAL, section 3.1, Eq. 2), InfoNCE. The
/// last step's feature q_i of each position i is drawn to those of the same position, of the steps
/// before and of the target, and pushed from all others:
///
///     weight * mean over i of [ log sum over f of exp(cos(q_i, f) / tau) - mean over f+ of
///                               cos(q_i, f+) / tau ],    f != q_i, f+ those f of position i
///
/// views [steps + 1, positions, width]: features of step 1, 2, .., then the target's, which get no
/// gradient; gradients [steps, positions, width]; tau is the paper's 0.07. Complexity: O(steps
/// positions^2 width). Errors: also for a feature of zeros and a tau outside [0.01, 1e6].
inline double alignment_loss(std::span<const float> views, std::size_t positions, std::size_t width,
                             std::span<float> gradients, double weight = 1, double tau = 0.07) {
    const std::size_t step = positions * width;
    if (step == 0 || views.size() % step != 0 || views.size() < 2 * step ||
        gradients.size() != views.size() - step)
        fail("alignment loss", "sizes", "expected steps, the target's and gradients of the steps");
    if (!(tau >= 0.01 && tau <= 1e6)) // exp(-2 / tau) is a number
        fail("alignment loss", "temperature", "expected a number from 0.01 to 1e6");
    const std::size_t all = views.size() / width, own = all - positions, first = own - positions;
    const auto positives = static_cast<double>(own) / static_cast<double>(positions);
    const auto dot = [&](std::size_t a, std::size_t b) { // in sums that do not wait for each other
        double sums[8] = {};
        const float *const x = &views[a * width], *const y = &views[b * width];
        for (std::size_t k = 0; k < width; ++k)
            sums[k % 8] += static_cast<double>(x[k]) * static_cast<double>(y[k]);
        return ((sums[0] + sums[4]) + (sums[1] + sums[5])) +
               ((sums[2] + sums[6]) + (sums[3] + sums[7]));
    };
    for (std::size_t f = 0; f < all; ++f)
        if (!(dot(f, f) > 0))
            fail("alignment loss", "features", "expected finite ones that are not all zeros");
    for (float& g : gradients)
        g = 0;
    double loss = 0;
    for (std::size_t q = first; q < own; ++q) {
        const double q_q = dot(q, q);
        const auto each_other = [&](const auto& use) { // |q| |f|, and what f is of f+: 0 or 1
            for (std::size_t f = 0; f < all; ++f)
                if (f != q) {
                    const double f_f = dot(f, f), size = builtin::sqrt(q_q * f_f);
                    use(f, f_f, size, dot(q, f) / size, f % positions == q - first ? 1.0 : 0.0);
                }
        };
        double below = 0, wanted = 0; // sums of exp((cos - 1) / tau), and of cos over the f+
        each_other([&](std::size_t, double, double, double cos, double positive) {
            below += builtin::exp((cos - 1) / tau);
            wanted += positive * cos;
        });
        loss += builtin::log(below) + (1 - wanted / positives) / tau;
        each_other([&](std::size_t f, double f_f, double size, double cos, double positive) {
            const double by = weight / static_cast<double>(positions) / tau *
                              (builtin::exp((cos - 1) / tau) / below - positive / positives);
            const auto add = [&](std::size_t to, std::size_t other, double squares) {
                for (std::size_t k = 0; k < width; ++k)
                    gradients[to * width + k] += static_cast<float>(
                        by * (static_cast<double>(views[other * width + k]) / size -
                              cos * static_cast<double>(views[to * width + k]) / squares));
            };
            add(q, f, q_q);
            if (f < own)
                add(f, q, f_f);
        });
    }
    return weight * loss / static_cast<double>(positions);
}

} // namespace specdec::papers
