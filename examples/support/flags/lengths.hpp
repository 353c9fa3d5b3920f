// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "support/flags/flag_values.hpp"
#include <specdec/core/error.hpp>
#include <specdec/speculation/length_settings.hpp>

/// How long drafts are: flags for it.
namespace specdec::examples {

/// The costs as a list: a draft token, a token more for the drafter, then passes over 1, 2, ...
/// positions. Errors: specdec::error that names the flag.
[[nodiscard]] inline cost_table costs_of(const std::vector<double>& list) {
    if (list.size() < 3)
        throw error("--costs", "list",
                    "expected the costs of a draft token, of a token more in the drafter's pass, "
                    "and of the target's passes over 1, 2, ... positions");
    cost_table costs{{list.begin() + 2, list.end()}, list[0], list[1]};
    try {
        validate(costs);
    } catch (const error& problem) { // names the cost
        throw error(std::string("--costs: ") + problem.what());
    }
    return costs;
}
[[nodiscard]] inline std::vector<double> list_of(const cost_table& costs) {
    std::vector<double> list{costs.draft, costs.catch_up};
    list.insert(list.end(), costs.pass.begin(), costs.pass.end());
    return list;
}

/// What the flags of a program said.
struct length_flags {
    std::string kind;
    std::optional<double> threshold;
    std::vector<double> costs;

    [[nodiscard]] bool given() const { return !kind.empty() || threshold || !costs.empty(); }
    /// `length`: what the program was asked for, if it was.
    [[nodiscard]] length_settings settings(std::optional<std::size_t> length) const {
        length_settings s{.kind = length ? length_kind::fixed : length_kind::automatic,
                          .length = length.value_or(8)};
        for (std::size_t i = 0; i < length_names.size(); ++i)
            if (kind == length_names[i])
                s.kind = static_cast<length_kind>(i);
        if (kind.empty() && threshold)
            s.kind = length_kind::confidence;
        const bool has_threshold = s.kind == length_kind::confidence ||
                                   s.kind == length_kind::entropy ||
                                   s.kind == length_kind::predicted;
        if (threshold && !has_threshold)
            throw error("--stop-confidence", std::to_string(*threshold),
                        "expected --lengths confidence, entropy or predicted with it, not " +
                            std::string(name(s.kind)));
        if (!costs.empty() && s.kind != length_kind::automatic)
            throw error("--costs", "list",
                        "expected --lengths auto with it, not " + std::string(name(s.kind)));
        s.threshold = threshold.value_or(s.threshold);
        if (!costs.empty())
            s.costs = costs_of(costs);
        return s;
    }
};

inline void add_length_flags(CLI::App& app, length_flags& f,
                             const std::string& usual = "auto, with --draft-length fixed") {
    app.add_option("--lengths", f.kind,
                   "how long drafts are: auto (what is expected to be fastest, nothing where "
                   "drafting loses), fixed, confidence, entropy (AdaEDL), heuristic (+2 / -1) or "
                   "predicted (SpecDec++); default: " +
                       usual)
        ->check(CLI::IsMember(std::vector<std::string>(length_names.begin(), length_names.end())));
    add_number(app, "--stop-confidence", f.threshold, any_share,
               "the threshold of confidence, entropy and predicted lengths (default: 0.4): end a "
               "draft after a token less likely than this");
    add_number(app, "--costs", f.costs, {0, 1e9},
               "of auto lengths, instead of measuring them: a draft token, a token more for the "
               "drafter, the target's passes over 1, 2, ... positions; a seed then has the "
               "same output again");
}

} // namespace specdec::examples
