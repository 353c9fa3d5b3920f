// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include <specdec/core/error.hpp>

namespace specdec {

/// How logits become a law, applied in this order (as Hugging Face does): temperature, top_k,
/// top_p, min_p. All four are cutoffs on the logit: ids whose logits are equal are kept or dropped
/// together, so that the law does not depend on the order of ids.
struct sampling_parameters {
    /// Logits are divided by it; 0: all mass on the largest logit (the lowest id among equals).
    float temperature = 1;
    /// Ids with a logit not below the k-th largest; 0: off.
    std::size_t top_k = 0;
    /// The fewest likeliest ids that hold this share of the mass left by top_k; 1: off.
    float top_p = 1;
    /// Ids at least this many times as likely as the likeliest; 0: off.
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
