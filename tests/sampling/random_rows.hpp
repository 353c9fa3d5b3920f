// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstddef>
#include <limits>
#include <random>
#include <vector>

inline constexpr float minus_infinity = -std::numeric_limits<float>::infinity();

/// Sizes around the lanes, groups, blocks and chunks of the kernels and laws.
inline const std::vector<std::size_t> sizes{1,   2,    3,    4,    15,   16,   17,   31,
                                            33,  63,   64,   65,   127,  129,  255,  256,
                                            257, 1023, 1024, 1025, 2047, 2048, 2049, 4100};

/// Logits as a language model gives: a normal bulk and a few peaks.
inline std::vector<float> random_row(std::size_t size, unsigned seed, float spread = 2.5F) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal(0, spread);
    std::vector<float> row(size);
    for (float& logit : row)
        logit = normal(random);
    for (std::size_t peak = 0; peak < 6 && size > 8; ++peak)
        row[random() % size] += 3 * spread;
    return row;
}

/// exp(logit / temperature) / sum in double: the law that every other way of computing is compared
/// with.
inline std::vector<double> softmax(const std::vector<float>& row, double temperature = 1) {
    double maximum = -std::numeric_limits<double>::infinity(), total = 0;
    for (const float logit : row)
        maximum = std::max(maximum, static_cast<double>(logit));
    std::vector<double> p;
    for (const float logit : row)
        total += p.emplace_back(std::exp((static_cast<double>(logit) - maximum) / temperature));
    for (double& probability : p)
        probability /= total;
    return p;
}
