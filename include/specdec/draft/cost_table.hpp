// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <specdec/core/error.hpp>

namespace specdec {

/// Costs that follow the rounds (cost_model) tell so many numbers of positions apart, and of more
/// every power of two.
inline constexpr std::size_t followed_positions = 16;

/// What the parts of a round cost, all in one unit of your choice: seconds, or passes of the
/// target. The table is measured (decode/measure_costs.hpp) or given. With a given table automatic
/// draft lengths depend on no clock, so a seed has the same output again.
struct cost_table {
    /// [n - 1] The cost of the target's pass over n positions. At least one entry; each is above 0
    /// and no less than the one before it.
    std::vector<double> pass{1.0};
    /// The cost of a draft token: the drafter's pass, and the distributions of both models.
    double draft = 0;
    /// The cost of each further token that the drafter is fed in one pass.
    double catch_up = 0;
    /// The cost of each token that the target is fed again after a rejection. 0: the target's
    /// context can be truncated (replays_on_reject).
    double replay = 0;
    /// The cost of a draft in addition to that of its tokens.
    double start = 0;

    friend bool operator==(const cost_table&, const cost_table&) = default;

    /// The target's pass over n >= 1 positions, in between and beyond the last two as on a line.
    [[nodiscard]] double pass_over(double n) const {
        if (pass.size() == 1)
            return pass[0];
        std::size_t i = n > 1 ? static_cast<std::size_t>(n - 1) : 0;
        i = i + 2 > pass.size() ? pass.size() - 2 : i;
        return pass[i] + (pass[i + 1] - pass[i]) * (n - 1 - static_cast<double>(i));
    }
    /// One text's share of a pass in which each of so many texts has n positions.
    [[nodiscard]] double share_of_pass(double n, double texts) const {
        return pass_over(n * texts) / texts;
    }
    /// One text's part of a pass over so many positions, of which it has n and each of so many
    /// texts at least one: its share of a pass in which nobody drafts, and what its drafts add.
    [[nodiscard]] double part_of_pass(double n, double positions, double texts) const {
        const double plain = pass_over(texts), drafts = positions - texts;
        return plain / texts + (drafts > 0 ? (pass_over(positions) - plain) * (n - 1) / drafts : 0);
    }
    /// Room for all positions that costs are followed for, as those of `other` are. Allocates.
    void reserve_as(const cost_table& other) {
        const std::size_t known = other.pass.size();
        pass.reserve(known > followed_positions ? known : followed_positions);
    }
    /// A draft that takes so many forwards of the drafter; 0 for none.
    [[nodiscard]] double draft_of(double forwards) const {
        return forwards > 0 ? start + draft * forwards : 0;
    }
};

/// Errors: specdec::error that names the entry, unless all costs are finite and positive (of the
/// drafter and of replays: not negative) and no pass is cheaper than one over fewer positions.
inline void validate(const cost_table& costs) {
    const auto require = [](bool holds, const std::string& field, const char* expected) {
        if (!holds)
            fail("cost table", field, expected);
    };
    const auto finite = [](double x) { return x - x == 0; };
    require(!costs.pass.empty(), "pass", "expected at least the cost of one position");
    for (std::size_t i = 0; i < costs.pass.size(); ++i) {
        const std::string field = "pass over " + std::to_string(i + 1);
        require(finite(costs.pass[i]) && costs.pass[i] > 0, field, "expected a number above 0");
        require(i == 0 || costs.pass[i] >= costs.pass[i - 1], field,
                "expected no less than for fewer positions");
    }
    require(finite(costs.draft) && costs.draft >= 0, "draft", "expected a number of at least 0");
    require(finite(costs.catch_up) && costs.catch_up >= 0, "catch_up",
            "expected a number of at least 0");
    require(finite(costs.replay) && costs.replay >= 0, "replay", "expected a number of at least 0");
    require(finite(costs.start) && costs.start >= 0, "start", "expected a number of at least 0");
}

} // namespace specdec
