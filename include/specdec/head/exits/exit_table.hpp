// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <specdec/head/exits/exit_thresholds.hpp>

namespace specdec {

/// The thresholds of one drafter for each of several targets, by the target's name. Paper: S2D
/// (Kavehzadeh et al. 2024), sections 3.3 and 4.4.1: a small target wants cheap drafts (low
/// thresholds, or a fixed shallow exit), a large one good ones.
///
///     exit_table table;                                     // others: the first exit alone
///     table.set("vicuna-7b", exit_thresholds::fixed(0));
///     table.set("llama-70b", exit_thresholds({0.9, 0.8}));
///     confidence_exit choice(table.of("llama-70b"));
///
/// Complexity: linear in the names. `set` allocates.
class exit_table {
public:
    /// `otherwise` is for targets that are not named.
    explicit exit_table(exit_thresholds otherwise = {}) : otherwise_(std::move(otherwise)) {}

    void set(std::string_view target, exit_thresholds thresholds) {
        for (auto& [name, held] : of_)
            if (name == target) {
                held = std::move(thresholds);
                return;
            }
        of_.emplace_back(target, std::move(thresholds));
    }
    [[nodiscard]] const exit_thresholds& of(std::string_view target) const {
        for (const auto& [name, held] : of_)
            if (name == target)
                return held;
        return otherwise_;
    }

private:
    exit_thresholds otherwise_;
    std::vector<std::pair<std::string, exit_thresholds>> of_;
};

} // namespace specdec
