// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include <specdec/core/error.hpp>

namespace specdec {

/// How logits become a distribution. The order is that of Hugging Face: temperature, top_k, top_p,
/// min_p. The last three are cutoffs on the logit: tokens with equal logits are kept or dropped
/// together, so the distribution does not depend on the order of the vocabulary.
struct sampling_parameters {
    /// The number that logits are divided by. 0: greedy, the token with the largest logit (among
    /// equals the lowest id) has probability 1.
    float temperature = 1;
    /// Keeps the tokens with a logit of at least the k-th largest; 0: off.
    std::size_t top_k = 0;
    /// Keeps the fewest likeliest tokens that have this share of the probability that top_k left;
    /// 1: off.
    float top_p = 1;
    /// Keeps the tokens that are at least this many times as likely as the likeliest; 0: off.
    float min_p = 0;

    friend bool operator==(const sampling_parameters&, const sampling_parameters&) = default;
};

/// Whether the law is the softmax of the row and nothing else.
[[nodiscard]] inline bool is_plain(const sampling_parameters& parameters) {
    return parameters == sampling_parameters{};
}

/// Throws specdec::error that names the field when a value is outside its range. (Written so that
/// NaN fails.)
inline void validate(const sampling_parameters& parameters) {
    const auto require = [](bool holds, const char* field, const char* expected) {
        if (!holds)
            fail("sampling parameters", field, expected);
    };
    require(parameters.temperature >= 0 && parameters.temperature <= 1e6F, "temperature",
            "expected a number from 0 to 1e6");
    require(parameters.top_p > 0 && parameters.top_p <= 1, "top_p",
            "expected a number above 0 and at most 1");
    require(parameters.min_p >= 0 && parameters.min_p <= 1, "min_p",
            "expected a number from 0 to 1");
}

} // namespace specdec
