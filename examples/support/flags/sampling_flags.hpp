// SPDX-License-Identifier: MIT
#pragma once

#include <CLI/CLI.hpp>

#include "support/flags/flag_values.hpp"
#include <specdec/sampling/law/parameters.hpp>

namespace specdec::examples {

/// The cutoffs, of both models alike; the temperature is each program's own flag.
inline void add_cutoff_flags(CLI::App& app, sampling_parameters& sampling) {
    const char* group = "Sampling";
    add_number(app, "--top-k", sampling.top_k, any_count, "the k likeliest tokens only (0: all)")
        ->group(group);
    add_number(app, "--top-p", sampling.top_p, {.low = 0, .high = 1, .above_low = true},
               "the likeliest tokens of this share only (1: all)")
        ->group(group);
    add_number(app, "--min-p", sampling.min_p, {0, 1},
               "tokens at least this many times as likely as the likeliest (0: all)")
        ->group(group);
}

} // namespace specdec::examples
