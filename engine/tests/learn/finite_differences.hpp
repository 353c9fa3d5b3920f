// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <random>
#include <span>
#include <vector>

#include <specdec_engine/learn/reverse/columns.hpp>

/// Gradients against central differences, in double.
namespace finite_differences {

/// |a - b| in units of the larger, where numbers near zero count as `least`.
inline double relative(double a, double b, double least) {
    return std::abs(a - b) / std::max({std::abs(a), std::abs(b), least});
}

/// The worst relative error of a gradient: along a direction that mixes all of its numbers and for
/// some of them alone. loss(): with the values as they are, which it must not change.
template <class Loss>
double worst_error(std::span<double> values, std::span<const double> gradient, const Loss& loss) {
    const auto slope = [&](const auto& direction) {
        constexpr double h = 1e-5;
        const std::vector<double> before(values.begin(), values.end());
        const auto at = [&](double step) {
            for (std::size_t i = 0; i < values.size(); ++i)
                values[i] = before[i] + step * direction(i);
            const double found = loss();
            std::copy(before.begin(), before.end(), values.begin());
            return found;
        };
        return (at(h) - at(-h)) / (2 * h);
    };
    double size = 0, along = 0;
    const auto mixed = [](std::size_t i) { return std::sin(1.0 + 1.7 * static_cast<double>(i)); };
    for (std::size_t i = 0; i < values.size(); ++i) {
        size += gradient[i] * gradient[i];
        along += gradient[i] * mixed(i);
    }
    const double least = 0.05 * std::sqrt(size / static_cast<double>(values.size()));
    if (!(size > 0)) // nothing would be compared
        return 1;
    double worst = relative(along, slope(mixed), least);
    for (std::size_t k = 0; k < 6; ++k) {
        const std::size_t chosen = (k * 7919 + 11) % values.size();
        worst = std::max(
            worst, relative(gradient[chosen],
                            slope([&](std::size_t i) { return i == chosen ? 1.0 : 0.0; }), least));
    }
    return worst;
}

/// Numbers of both signs.
inline std::vector<double> some_numbers(std::size_t n, unsigned seed) {
    std::minstd_rand bits(seed);
    std::vector<double> out(n);
    for (double& v : out)
        v = (static_cast<double>(bits() % 2001) - 1000) * 1e-3;
    return out;
}

/// sum of w_i y_i, a loss whose gradient is w.
inline double weighted(std::span<const double> y, std::span<const double> w) {
    double sum = 0;
    for (std::size_t i = 0; i < y.size(); ++i)
        sum += w[i] * y[i];
    return sum;
}

} // namespace finite_differences
