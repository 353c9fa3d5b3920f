// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm> // std::min
#include <cstddef>
#include <span>
#include <vector>

#include <specdec/bridge/context/bridge.hpp>
#include <specdec/bridge/context/bridge_traits.hpp>
#include <specdec/bridge/tree/tree_buffers.hpp>
#include <specdec/core/proposal.hpp>
#include <specdec/core/tree/tree_drafting.hpp>
#include <specdec/draft/counted/successor_table.hpp>
#include <specdec/source/recycling.hpp>

namespace specdec {

/// Token recycling as a tree: the children of a node are the likeliest successors of its token
/// (successor_table), each proposed for certain, as many as the shape says. Nothing is drawn, so
/// any shape may choose among them, and it is lossless with every rule of trees. It needs no
/// drafter, and learns as recycled_source. Models what a session of trees takes of a bridge.
/// Allocates at construction only.
class recycled_tree_source : public recycling {
public:
    using law_type = one_hot_law<target_id>;
    static constexpr bridge_traits traits = recycling::traits | bridge_traits{.drafts_trees = true};

    /// Errors: specdec::error for settings out of range.
    recycled_tree_source(successor_table& table, tree_settings settings)
        : recycling(table, (validate(settings), settings.max_nodes + 1)),
          settings_(likeliest_of(settings)), made_(settings_) {
        shares_.reserve(settings_.drafted());
    }

    [[nodiscard]] const tree_settings& settings() const { return settings_; }
    template <class D>
    void keep(D&, std::span<const std::size_t>) {}
    /// It asks no drafter that could fail.
    [[nodiscard]] bool end_draft(no_draft, draft_tree_view<law_type>&) { return false; }

    template <class D, TreeShape Shape, Coin C>
    [[nodiscard]] draft_tree_view<law_type> propose(D&, const Shape& shape, C&,
                                                    const tree_request& request) {
        made_.clear();
        shares_.clear();
        const std::size_t most = std::min(request.max_nodes, settings_.max_nodes);
        const std::size_t deepest = std::min(request.path.max_proposals, settings_.max_depth);
        const std::size_t drafted = chooses_nodes(shape) ? settings_.drafted() : most;
        if (most == 0 || deepest == 0)
            return {.reason = no_draft::no_room};
        for (std::size_t depth = 0; depth < deepest; ++depth) {
            const std::size_t begin = made_.tree.size();
            made_.ask(shape);
            if (depth == 0 && made_.children[0] == 0)
                return {.reason = no_draft::stop_rule};
            for (std::size_t i = 0; i < made_.children.size(); ++i)
                add_children(depth == 0 ? tree_root : made_.level + i, made_.children[i], drafted,
                             request.path.end_ids);
            std::size_t node = begin;
            made_.reach(begin, [&](draft_id) { return static_cast<double>(shares_[node++]); });
            made_.level = begin;
            if (made_.tree.size() == begin)
                break;
        }
        if (made_.tree.empty())
            return {.reason = no_draft::nothing_found};
        if (chooses_nodes(shape))
            made_.choose(shape, most);
        return {&made_.tree, made_.proposals, made_.draft_ids, made_.nodes};
    }

private:
    static tree_settings likeliest_of(tree_settings settings) {
        settings.siblings = sibling_draw::likeliest;
        return settings;
    }

    /// The first n successors of a node's token, as far as there is room.
    void add_children(std::size_t node, std::size_t n, std::size_t most,
                      std::span<const target_id> end_ids) {
        const target_id t = node == tree_root ? last() : made_.tree.id(node);
        if (node != tree_root && is_end(end_ids, t))
            return;
        const auto next = table().of(t);
        for (std::size_t k = 0; k < n && k < next.size() && made_.tree.size() < most; ++k) {
            shares_.push_back(next[k].share);
            made_.add(node, certain(next[k].id), draft_id{}, {});
        }
    }

    tree_settings settings_;
    tree_buffers<law_type, law_type> made_;
    std::vector<float> shares_; // [nodes]
};

} // namespace specdec
