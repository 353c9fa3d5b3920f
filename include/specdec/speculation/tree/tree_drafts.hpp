// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <specdec/bridge/tree/tree_buffers.hpp>
#include <specdec/core/error.hpp>
#include <specdec/core/tree/token_tree.hpp>
#include <specdec/core/tree/tree_drafting.hpp>
#include <specdec/draft/cost_table.hpp>
#include <specdec/draft/tree/beam_tree.hpp>
#include <specdec/draft/tree/fixed_tree.hpp>
#include <specdec/draft/tree/paying_tree.hpp>

namespace specdec {

/// Drafts that branch: the target scores several continuations of a text in one pass.
struct tree_drafts {
    std::size_t nodes = 8; ///< most of a round, where no widths are given
    /// The children of each node, by its depth ({3, 2, 1}); nothing: a shape is chosen. Of the
    /// likeliest siblings EAGLE-2's tree, which goes where the drafter is sure, else a paying_tree,
    /// which plans by what the text's own rounds keep.
    std::vector<std::size_t> widths{};
    /// Nothing: the likeliest at temperature 0, else without replacement.
    std::optional<sibling_draw> siblings{};
    cost_table costs{}; ///< that a paying_tree goes by; as it is, further nodes cost nothing

    bool operator==(const tree_drafts&) const = default;
};

/// Errors: specdec::error that names the setting.
inline void validate(const tree_drafts& s) {
    validate(s.costs);
    if (s.widths.empty() && (s.nodes == 0 || s.nodes > 256))
        fail("tree", "nodes", "expected a number from 1 to 256");
    std::size_t level = 1, nodes = 0;
    for (const std::size_t width : s.widths) {
        if (width == 0 || width > 256)
            fail("tree", "widths", "expected numbers from 1 to 256");
        nodes += level *= width;
        if (nodes > 1024)
            fail("tree", "widths", "expected at most 1024 nodes in all");
    }
}

/// How siblings are drawn at this temperature of the drafter.
[[nodiscard]] inline sibling_draw siblings_of(const tree_drafts& s, float temperature) {
    if (s.siblings)
        return *s.siblings;
    return temperature == 0 ? sibling_draw::likeliest : sibling_draw::without_replacement;
}

/// A shape by name: models no concept itself, but visit(use) calls use with one that does.
class any_tree_shape {
public:
    /// Errors: as validate.
    any_tree_shape(const tree_drafts& s, float temperature)
        : shape_((validate(s), shape_of(s, siblings_of(s, temperature)))) {
        settings_.siblings = siblings_of(s, temperature);
        if (const auto* const fixed = std::get_if<fixed_tree>(&shape_)) {
            settings_.max_nodes = fixed->size();
            settings_.max_depth = fixed->depth();
        } else if (std::holds_alternative<paying_tree>(shape_)) {
            settings_.max_nodes = s.nodes;
            settings_.max_depth = s.nodes < deepest ? s.nodes : deepest;
        } else {
            const auto& grown = std::get<confident_tree>(shape_);
            settings_.max_nodes = s.nodes;
            settings_.max_depth = grown.depth;
            settings_.max_drafted = grown.width + (grown.depth - 1) * grown.beam * grown.width;
        }
    }

    /// For the bridge.
    [[nodiscard]] const tree_settings& settings() const { return settings_; }

    /// Between a round's decision and the next draft: what it kept of the tree, if there was one,
    /// whose first `drafted` nodes are the drafter's.
    void learn(const token_tree<target_id>* tree, std::span<const std::size_t> path,
               std::size_t drafted) {
        if (auto* const planned = std::get_if<paying_tree>(&shape_))
            planned->learn(tree, path, drafted);
    }

    template <class Use>
    decltype(auto) visit(const Use& use) const {
        return std::visit(use, shape_);
    }

private:
    using shapes = std::variant<fixed_tree, paying_tree, confident_tree>;
    static constexpr std::size_t deepest = 8;

    static shapes shape_of(const tree_drafts& s, sibling_draw siblings) {
        const auto most = [&](std::size_t n) { return s.nodes < n ? s.nodes : n; };
        if (!s.widths.empty())
            return fixed_tree::of_widths(s.widths);
        if (siblings == sibling_draw::likeliest)
            return confident_tree{{.beam = most(4), .width = most(4), .depth = most(deepest)}};
        return paying_tree(s.costs, {.nodes = s.nodes, .depth = most(deepest)});
    }

    shapes shape_;
    tree_settings settings_{};
};

} // namespace specdec
