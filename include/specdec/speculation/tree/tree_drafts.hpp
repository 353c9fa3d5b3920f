// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm> // std::fill
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
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
#include <specdec/draft/tree/planned_tree.hpp>
#include <specdec/draft/tree/profitable_tree.hpp>

namespace specdec {

/// How draft trees grow if no widths are given (docs/use/choosing-a-rule.md).
enum class tree_growth : std::uint8_t {
    paying,   ///< as many nodes and levels as pay: with the likeliest siblings a profitable_tree,
              ///< else a planned_tree, planned by what the request's own rounds accepted
    dynamic,  ///< the most nodes that are allowed, where the drafter is surest: with the likeliest
              ///< siblings EAGLE-2's tree, else a beam_tree
    budgeted, ///< Sequoia's tree of that many nodes, planned by what the request's rounds accepted
    fixed,    ///< Sequoia's tree by a first guess, the same in every round
};
inline constexpr std::array<std::string_view, 4> tree_growth_names{"paying", "dynamic", "budgeted",
                                                                   "fixed"};

/// Draft trees: the target scores several continuations of a sequence in one pass.
struct tree_drafts {
    /// The most nodes of a round's tree. Not read if `widths` are given.
    std::size_t nodes = 8;
    /// The number of children of each node, by its depth, as in {3, 2, 1}. Empty: the tree grows as
    /// `growth` says.
    std::vector<std::size_t> widths{};
    /// The most levels of a tree that grows. Not read if `widths` are given.
    std::size_t depth = 8;
    /// How many nodes of a level have children, and how many children each of them has, at most:
    /// EAGLE-2's K. Read by the dynamic growths, and by `paying` with the likeliest siblings.
    std::size_t beam = 4;
    /// How siblings are drawn. None: `likeliest` at temperature 0, else `without_replacement`.
    std::optional<sibling_draw> siblings{};
    /// How the tree grows. Not read if `widths` are given.
    tree_growth growth = tree_growth::paying;
    /// The costs that paying trees use; they then depend on no clock. None: `speculation` uses
    /// length_settings::costs, or measures them once. A shape that you make yourself then takes
    /// further nodes to cost nothing.
    std::optional<cost_table> costs{};

    /// Whether costs have to be measured: a paying tree without `costs`.
    [[nodiscard]] bool needs_costs() const {
        return widths.empty() && growth == tree_growth::paying && !costs;
    }
    bool operator==(const tree_drafts&) const = default;
};

/// Errors: specdec::error that names the setting.
inline void validate(const tree_drafts& s) {
    if (s.costs)
        validate(*s.costs);
    if (s.widths.empty() && (s.nodes == 0 || s.nodes > 256))
        fail("tree", "nodes", "expected a number from 1 to 256");
    if (s.depth == 0 || s.depth > 64)
        fail("tree", "depth", "expected a number from 1 to 64");
    if (s.beam == 0 || s.beam > 16)
        fail("tree", "beam", "expected a number from 1 to 16");
    if (s.beam + (s.depth - 1) * s.beam * s.beam > most_draft_tokens)
        fail("tree", "depth", "expected at most 1024 nodes in all");
    std::size_t level = 1, nodes = 0;
    for (const std::size_t width : s.widths) {
        if (width == 0 || width > 256)
            fail("tree", "widths", "expected numbers from 1 to 256");
        nodes += level *= width;
        if (nodes > most_draft_tokens)
            fail("tree", "widths",
                 "expected at most " + std::to_string(most_draft_tokens) + " nodes in all");
    }
}

/// How siblings are drawn at this temperature of the drafter.
[[nodiscard]] inline sibling_draw siblings_of(const tree_drafts& s, float temperature) {
    if (s.siblings)
        return *s.siblings;
    return temperature == 0 ? sibling_draw::likeliest : sibling_draw::without_replacement;
}

/// A shape by name. Models ChoosingShape; whether it chooses, chooses() says.
class any_tree_shape {
public:
    static constexpr rule_traits traits{.reads = true};
    /// Errors: as validate.
    any_tree_shape(const tree_drafts& s, float temperature)
        : drafts_((validate(s), s)), shape_(shape_of(s, siblings_of(s, temperature))) {
        settings_.siblings = siblings_of(s, temperature);
        if (const auto* const fixed = std::get_if<fixed_tree>(&shape_)) {
            settings_.max_nodes = fixed->size();
            settings_.max_depth = fixed->depth();
            return;
        }
        settings_.max_nodes = s.nodes;
        settings_.max_depth = s.nodes < s.depth ? s.nodes : s.depth;
        if (settings_.siblings == sibling_draw::likeliest &&
            !std::holds_alternative<planned_tree>(shape_)) {
            const beam_tree beam = beam_of(s);
            settings_.max_drafted = beam.width + (beam.depth - 1) * beam.beam * beam.width;
            if (settings_.max_nodes > settings_.max_drafted) // a beam draws no more
                settings_.max_nodes = settings_.max_drafted;
        }
    }

    /// What it was made by.
    [[nodiscard]] const tree_drafts& drafts() const { return drafts_; }
    /// For the bridge.
    [[nodiscard]] const tree_settings& settings() const { return settings_; }

    /// Between a round's decision and the next draft: what it kept of the tree, if there was one,
    /// of which the drafter's nodes come first.
    void learn(const token_tree<target_id>* tree, std::span<const std::size_t> path,
               std::span<const tree_node> nodes) {
        if (auto* const planned = std::get_if<planned_tree>(&shape_))
            planned->learn(tree, path, nodes.size());
        else if (auto* const paying = std::get_if<profitable_tree>(&shape_))
            paying->learn(tree, path, nodes);
    }
    /// How many texts share a pass of the target: a position costs its share.
    void share_pass(std::size_t texts) {
        with_costs([&](auto& shape) { shape.share_pass(texts); });
    }
    /// What rounds cost from the next draft on, and whether drafts may be made: of shapes that pay.
    void follow(const cost_table& costs, bool may_draft) {
        with_costs([&](auto& shape) { shape.follow(costs, may_draft); });
    }

    /// Whether the drafter has a pause: no node has children.
    void rest(bool pause) { rests_ = pause; }

    void grow(const growing_tree& growing, std::span<std::size_t> children) const {
        if (rests_)
            return std::fill(children.begin(), children.end(), std::size_t{0});
        std::visit([&](const auto& shape) { shape.grow(growing, children); }, shape_);
    }
    [[nodiscard]] law_version version() const {
        return std::visit([](const auto& shape) { return law_version{shape.version()}; }, shape_) ^
               (rests_ ? ~law_version{0} : law_version{0});
    }
    [[nodiscard]] row_reading reads() const {
        return std::visit([](const auto& shape) { return reading_of(shape); }, shape_);
    }
    [[nodiscard]] bool chooses() const {
        return std::visit([](const auto& shape) { return chooses_nodes(shape); }, shape_);
    }
    void choose(const growing_tree& growing, std::size_t most, std::span<std::uint8_t> kept) const {
        std::visit(
            [&]<class Shape>(const Shape& shape) {
                if constexpr (ChoosingShape<Shape>)
                    shape.choose(growing, most, kept);
            },
            shape_);
    }

private:
    /// f(shape), if the shape goes by costs.
    template <class F>
    void with_costs(const F& f) {
        if (auto* const planned = std::get_if<planned_tree>(&shape_))
            f(*planned);
        else if (auto* const paying = std::get_if<profitable_tree>(&shape_))
            f(*paying);
    }

    using shapes = std::variant<fixed_tree, planned_tree, profitable_tree, eagle2_tree, beam_tree>;
    static beam_tree beam_of(const tree_drafts& s) {
        const auto most = [&](std::size_t n) { return s.nodes < n ? s.nodes : n; };
        return {.beam = most(s.beam), .width = most(s.beam), .depth = most(s.depth)};
    }

    static shapes shape_of(const tree_drafts& s, sibling_draw siblings) {
        const beam_tree beam = beam_of(s);
        const bool certain = siblings == sibling_draw::likeliest;
        if (!s.widths.empty())
            return fixed_tree::of_widths(s.widths);
        if (s.growth == tree_growth::dynamic)
            return certain ? shapes(eagle2_tree{beam}) : shapes(beam);
        const cost_table costs =
            s.growth == tree_growth::paying && s.costs ? *s.costs : cost_table{};
        if (s.growth == tree_growth::paying && certain)
            return profitable_tree(costs, {.beam = beam});
        planned_tree planned(costs, {.nodes = s.nodes, .depth = beam.depth});
        return s.growth == tree_growth::fixed ? shapes(planned.shape()) : shapes(planned);
    }

    tree_drafts drafts_;
    shapes shape_;
    bool rests_ = false;
    tree_settings settings_{};
};

} // namespace specdec
