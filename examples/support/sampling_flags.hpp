// SPDX-License-Identifier: MIT
#pragma once

#include <CLI/CLI.hpp>

#include <specdec/sampling/parameters.hpp>

namespace specdec::examples {

/// The cutoffs, of both models alike; the temperature is each program's own flag.
inline void add_cutoff_flags(CLI::App& app, sampling_parameters& sampling) {
    const char* group = "Sampling";
    app.add_option("--top-k", sampling.top_k, "the k likeliest tokens only (0: all)")->group(group);
    app.add_option("--top-p", sampling.top_p, "the likeliest tokens of this share only (1: all)")
        ->group(group);
    app.add_option("--min-p", sampling.min_p,
                   "tokens at least this many times as likely as the likeliest (0: all)")
        ->group(group);
}

} // namespace specdec::examples
