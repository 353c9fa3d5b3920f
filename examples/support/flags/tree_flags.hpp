// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include "support/flags/flag_values.hpp"
#include <specdec/core/error.hpp>
#include <specdec/speculation/rule.hpp>
#include <specdec/speculation/tree/tree_drafts.hpp>

/// Drafts that branch: flags for it.
namespace specdec::examples {

inline constexpr std::array<std::string_view, 3> sibling_names{"independent", "without-replacement",
                                                               "likeliest"};

/// What the flags of a program said.
struct tree_flags {
    std::vector<std::size_t> numbers;
    std::optional<std::size_t> depth, beam;
    std::string siblings, growth;

    /// Nothing: drafts are chains. Errors: specdec::error that names the flag.
    [[nodiscard]] std::optional<tree_drafts> settings() const {
        if (numbers.empty()) {
            if (!siblings.empty())
                throw error("--siblings", siblings, "expected --tree with it");
            refuse_growth("expected --tree with it");
            return std::nullopt;
        }
        tree_drafts s;
        if (numbers.size() == 1) {
            s.nodes = numbers.front();
        } else {
            refuse_growth("expected a number of nodes, not widths");
            s.widths = numbers;
        }
        s.depth = depth.value_or(s.depth);
        s.beam = beam.value_or(s.beam);
        for (std::size_t i = 0; i < tree_growth_names.size(); ++i)
            if (growth == tree_growth_names[i])
                s.growth = static_cast<tree_growth>(i);
        for (std::size_t i = 0; i < sibling_names.size(); ++i)
            if (siblings == sibling_names[i])
                s.siblings = static_cast<sibling_draw>(i);
        try {
            validate(s);
        } catch (const error& problem) {
            throw error(std::string("--tree: ") + problem.what());
        }
        return s;
    }

private:
    void refuse_growth(const std::string& expected) const {
        if (!growth.empty())
            throw error("--tree-growth", growth, expected);
        if (depth)
            throw error("--tree-depth", std::to_string(*depth), expected);
        if (beam)
            throw error("--tree-beam", std::to_string(*beam), expected);
    }
};

/// Prompt lookup in addition to a drafter: what the flag said, if it was given.
inline void add_lookup_flag(CLI::App& app, std::optional<bool>& asked, const std::string& what) {
    app.add_flag_function(
        "--lookup,!--no-lookup", [&asked](std::int64_t n) { asked = n > 0; },
        what + ": prompt lookup, where its continuation promises "
               "more than the drafter; of a tree it is a branch");
}
/// Whether a rule looks up in addition to its drafter: if nothing else was asked for, whenever it
/// has one. Lookup takes a round only where it promises more (docs/results/trees-and-lookup.md).
[[nodiscard]] inline bool looks_up_beside(std::optional<bool> asked, rule r) {
    return asked.value_or(takes_drafter(r));
}

inline void add_tree_flags(CLI::App& app, tree_flags& f, const std::string& whose) {
    add_number(app, "--tree", f.numbers, {1, 256},
               whose +
                   ": trees of so many tokens (8), or of a fixed shape, the children of a node "
                   "by its depth (3,2,1); rules " +
                   rule_names(can_draft_trees));
    app.add_option("--tree-growth", f.growth,
                   "of a tree of so many tokens at most: paying (as many as pay; the default), "
                   "dynamic (EAGLE-2's), budgeted (Sequoia's) or fixed")
        ->check(CLI::IsMember(
            std::vector<std::string>(tree_growth_names.begin(), tree_growth_names.end())));
    add_number(app, "--tree-depth", f.depth, {1, 64},
               "the most levels of a tree of so many tokens (default: 8)");
    add_number(
        app, "--tree-beam", f.beam, {1, 16},
        "of such a tree: so many nodes of a level have children, and so many each (default: 4; "
        "EAGLE-2's K)");
    app.add_option("--siblings", f.siblings,
                   "of a tree: independent, without-replacement or likeliest (default: the "
                   "likeliest at temperature 0, else without-replacement)")
        ->check(
            CLI::IsMember(std::vector<std::string>(sibling_names.begin(), sibling_names.end())));
}

} // namespace specdec::examples
