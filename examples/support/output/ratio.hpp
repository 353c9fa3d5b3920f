// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

namespace specdec::examples {

/// A mean with its standard error (NaN where there is too little to tell).
struct estimate {
    double value = 0;
    double error = 0;
};

/// A sum over the tokens of some texts, and how many tokens they were.
struct token_sum {
    double sum = 0;
    double tokens = 0;
};

/// Mean a token over groups of texts, and how far the groups lie from it. Tokens of one text depend
/// on each other, so it is groups (all texts of one prompt) that are taken as independent:
///
///     R = sum s_g / sum n_g,   error^2 = m / (m - 1) * sum (s_g - R n_g)^2 / (sum n_g)^2
///
/// (the ratio estimator; Cochran, Sampling Techniques, 2.11). If `other` is given: the difference
/// of the two means, whose groups are paired by prompt.
[[nodiscard]] inline estimate mean_a_token(const std::vector<token_sum>& groups,
                                           const std::vector<token_sum>* other = nullptr) {
    const auto total = [](const std::vector<token_sum>& all) {
        token_sum t;
        for (const token_sum& g : all) {
            t.sum += g.sum;
            t.tokens += g.tokens;
        }
        return t;
    };
    const token_sum all = total(groups),
                    others = other != nullptr ? total(*other) : token_sum{0, 1};
    const double mean = all.sum / all.tokens, other_mean = others.sum / others.tokens;
    double squares = 0;
    for (std::size_t g = 0; g < groups.size(); ++g) {
        double d = (groups[g].sum - mean * groups[g].tokens) / all.tokens;
        if (other != nullptr)
            d -= ((*other)[g].sum - other_mean * (*other)[g].tokens) / others.tokens;
        squares += d * d;
    }
    const double m = static_cast<double>(groups.size());
    return {mean - other_mean, m < 2 ? std::nan("") : std::sqrt(squares * m / (m - 1))};
}

} // namespace specdec::examples
