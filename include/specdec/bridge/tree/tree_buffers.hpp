// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <specdec/bridge/context/bridge.hpp>
#include <specdec/core/tree/tree_drafting.hpp>

namespace specdec {

/// Sizes of a bridge's draft trees, for callers of the templates.
struct tree_settings {
    /// The most nodes that the target scores in a round.
    std::size_t max_nodes = 16;
    /// The most tokens of a path from the root.
    std::size_t max_depth = 8;
    /// How siblings are drawn.
    sibling_draw siblings = sibling_draw::without_replacement;
    /// The most nodes that are drafted by a shape which then chooses among them. 0: `max_nodes`.
    std::size_t max_drafted = 0;

    /// The most nodes that are drafted in a round.
    [[nodiscard]] std::size_t drafted() const {
        return max_drafted > max_nodes ? max_drafted : max_nodes;
    }
    /// The most tokens of a path that is scored, and of `most`.
    [[nodiscard]] std::size_t longest_path(std::size_t most) const {
        const std::size_t longest = max_depth < max_nodes ? max_depth : max_nodes;
        return longest < most ? longest : most;
    }
};

/// Errors: specdec::error that names the setting.
inline void validate(const tree_settings& settings) {
    if (settings.max_nodes == 0 || settings.max_nodes > (1U << 16))
        fail("tree settings", "max_nodes", "expected a number from 1 to 65536");
    if (settings.max_depth == 0)
        fail("tree settings", "max_depth", "expected at least 1");
    if (settings.max_drafted != 0 && settings.max_drafted < settings.max_nodes)
        fail("tree settings", "max_drafted", "expected 0, or at least max_nodes");
}

struct tree_request {
    draft_request path{};      ///< max_proposals: of one path
    std::size_t max_nodes = 0; ///< the target has room for this many
    beside_tree beside{};      ///< that the shape is told of
};

/// A draft tree: a proposal for each node, with its law. Views into the bridge, which live until
/// its next call.
template <class Law>
struct draft_tree_view {
    const token_tree<target_id>* tree = nullptr; ///< none if nothing was proposed
    std::span<const proposal<Law>> proposals{};  ///< [nodes]
    std::span<const draft_id> draft_tokens{};    ///< [nodes] of the drafter
    std::span<const tree_node> nodes{};          ///< [nodes] of the drafter
    no_draft reason = no_draft::none;            ///< why there is no tree
    /// Nodes from this one on are text that was seen before: the drafter has nothing of them.
    std::size_t drafted = ~std::size_t{0};
    std::size_t passes = 0; ///< of the drafter, which drew it

    /// No draft, and why.
    [[nodiscard]] static draft_tree_view nothing(no_draft why) { return {.reason = why}; }
    /// How many nodes are that.
    [[nodiscard]] std::size_t found() const {
        return tree != nullptr && tree->size() > drafted ? tree->size() - drafted : 0;
    }
    /// How many nodes of a path from the root are the drafter's: those before the first of these.
    [[nodiscard]] std::size_t drafted_of(std::span<const std::size_t> path) const {
        std::size_t n = 0;
        while (n < path.size() && path[n] < drafted)
            ++n;
        return n;
    }
};

/// What shapes learn of: the tree that the drafter drafted, none where there was none, and the path
/// of it that was kept. Where a draft's tokens are proposals as they are, the tree that is scored.
struct kept_draft {
    const token_tree<target_id>* tree = nullptr;
    std::span<const std::size_t> path{};
};

/// A node of the last level, and how many children it is to have.
struct tree_parent {
    std::size_t node = tree_root;
    std::size_t children = 0;
};

/// The buffers of a tree bridge. Allocates at construction, and once for drafters that are fed path
/// by path.
template <class DraftLaw, class Law>
struct tree_buffers {
    token_tree<target_id> tree;
    std::vector<proposal<Law>> proposals; // [nodes] here and below
    std::vector<draft_id> draft_ids;
    std::vector<tree_node> nodes;
    std::vector<text_offset> places; // behind each
    std::vector<std::size_t> fed;    // its number at the drafter, or tree_root
    std::size_t level = 0;           // first node of the last level
    beside_tree beside{};

    std::vector<DraftLaw> laws;        // of nodes with children
    std::vector<std::size_t> children; // of the level's nodes
    std::vector<tree_parent> parents;  // those that have some
    std::vector<draft_id> likeliest, ids, path;
    std::vector<std::size_t> numbers; // of nodes at the drafter
    std::vector<std::uint8_t> chosen;
    token_tree<target_id> spare;
    std::size_t fed_nodes = 0;
    std::size_t most_nodes, most_laws; // of a draft

    explicit tree_buffers(const tree_settings& settings)
        : most_nodes(settings.drafted()),
          most_laws(settings.siblings == sibling_draw::likeliest ? 0 : most_nodes) {
        const std::size_t most = most_nodes;
        clear();
        spare.reserve(most);
        proposals.reserve(most);
        draft_ids.reserve(most);
        nodes.reserve(most);
        places.reserve(most);
        fed.reserve(most);
        children.reserve(most);
        parents.reserve(most);
        likeliest.reserve(most);
        ids.reserve(most);
        numbers.reserve(most);
        chosen.reserve(most);
    }
    void clear() {
        tree.clear();
        proposals.clear();
        draft_ids.clear();
        nodes.clear();
        places.clear();
        fed.clear();
        laws.clear();
        level = fed_nodes = 0;
        tree.reserve(most_nodes); // proposals view its ids, and these laws: a copy has lost it
        laws.reserve(most_laws);
    }

    [[nodiscard]] growing_tree growing() const { return {tree, nodes, level, beside}; }
    /// How many children the nodes of the level have: the root, if there are no nodes.
    template <class Shape>
    void ask(const Shape& shape) {
        children.assign(tree.empty() ? 1 : tree.size() - level, 0);
        shape.grow(growing(), std::span(children));
    }
    [[nodiscard]] text_offset place_behind(std::size_t node, text_offset root) const {
        return node == tree_root ? root : places[node];
    }
    void add(std::size_t parent, const proposal<Law>& x, draft_id d, text_offset place) {
        tree.add(parent, x.token());
        proposals.push_back(x);
        draft_ids.push_back(d);
        place.pass(x.token());
        places.push_back(place);
        fed.push_back(tree_root);
    }
    /// What the shape will know of the nodes from `first` on. A negative sureness: it is not read.
    template <class Sureness>
    void reach(std::size_t first, const Sureness& sureness) {
        for (std::size_t node = first; node < tree.size(); ++node) {
            const std::size_t parent = tree.parent(node);
            const double last = proposals[node].probability(), read = sureness(draft_ids[node]);
            const double some = read < 0 ? last : read;
            const double sure = some < 1 ? some : 1.0; // no node is surer than its parent
            nodes.push_back(
                {last, sure, (parent == tree_root ? 1.0 : nodes[parent].reached) * sure});
        }
    }

    /// Whether the drafter can be fed the parents, as far as it tells.
    template <DraftContextHolder D>
    [[nodiscard]] bool has_room(const D& drafter) const {
        if constexpr (traits_of<model_traits, D>.room_for_nodes)
            return fed_nodes + parents.size() <= drafter.room_for_nodes();
        return true;
    }
    /// Feeds the parents to the drafter in one pass, whose last rows are theirs. If the drafter
    /// does not hold the nodes above them, because it was synced since, it is fed these as well.
    /// `ids` are all that were fed.
    template <TreeDrafter D>
    [[nodiscard]] logits_rows<draft_id> feed(D& drafter, bool holds_nodes) {
        if (fed[parents.front().node] == tree_root) // else the last call has thrown
            for (const tree_parent& p : parents)
                fed[p.node] = fed_nodes++;
        const std::size_t first = holds_nodes ? fed[parents.front().node] : 0;
        ids.assign(fed_nodes - first, draft_id{});
        numbers.assign(fed_nodes - first, tree_root);
        for (std::size_t node = 0; node < tree.size(); ++node) {
            if (fed[node] == tree_root || fed[node] < first)
                continue;
            const std::size_t above = tree.parent(node);
            ids[fed[node] - first] = draft_ids[node];
            numbers[fed[node] - first] = above == tree_root ? tree_root : fed[above];
        }
        if (!holds_nodes)
            (void)drafter.row();
        return drafter.grow(ids, numbers);
    }
    /// Syncs the drafter with a node's path behind the context.
    template <DraftContextHolder D>
    void sync(D& drafter, std::span<const draft_id> context, std::size_t node) {
        constexpr std::size_t long_context = 1U << 20U; // beyond it the path grows by and by
        path.reserve(drafter.capacity() < long_context ? drafter.capacity() : long_context);
        path.assign(context.begin(), context.end());
        path.resize(context.size() + tree.depth(node));
        for (std::size_t i = path.size(); i > context.size(); node = tree.parent(node))
            path[--i] = draft_ids[node];
        drafter.sync(path, context.size());
    }
    /// The drafter keeps what it was fed of these nodes, once.
    template <TreeDrafter D>
    void keep(D& drafter, std::span<const std::size_t> kept) {
        ids.clear();
        numbers.clear();
        for (std::size_t i = 0; i < kept.size() && fed[kept[i]] != tree_root; ++i) {
            numbers.push_back(fed[kept[i]]);
            ids.push_back(draft_ids[kept[i]]);
        }
        if (!numbers.empty())
            drafter.keep(numbers, ids);
        fed.assign(fed.size(), tree_root); // it has forgotten the others
    }

    /// Leaves the nodes that a shape chooses.
    template <class Shape>
    void choose(const Shape& shape, std::size_t most) {
        chosen.assign(tree.size(), 0);
        if constexpr (ChoosingShape<Shape>)
            shape.choose(growing(), most, std::span(chosen));
        leave_chosen(most);
    }
    /// Leaves the first n nodes, or all.
    void leave_first(std::size_t n) {
        if (n >= tree.size())
            return;
        chosen.assign(tree.size(), 0);
        for (std::size_t node = 0; node < n; ++node)
            chosen[node] = 1;
        leave_chosen(n);
    }

private:
    void leave_chosen(std::size_t most) {
        spare.clear();
        numbers.assign(tree.size(), tree_root); // the new number of each
        for (std::size_t node = 0; node < tree.size(); ++node) {
            if (chosen[node] == 0)
                continue;
            const std::size_t parent = tree.parent(node), to = spare.size();
            if ((parent != tree_root && chosen[parent] == 0) || to == most)
                fail("tree bridge", "shape",
                     "expected a shape that chooses at most " + std::to_string(most) +
                         " nodes, each with its parent");
            numbers[node] =
                spare.add(parent == tree_root ? tree_root : numbers[parent], tree.id(node));
            proposals[to] = proposals[node];
            draft_ids[to] = draft_ids[node];
            nodes[to] = nodes[node];
            places[to] = places[node];
            fed[to] = fed[node];
        }
        const auto n = static_cast<std::ptrdiff_t>(spare.size());
        proposals.erase(proposals.begin() + n, proposals.end());
        draft_ids.resize(spare.size());
        nodes.resize(spare.size());
        places.erase(places.begin() + n, places.end());
        fed.resize(spare.size());
        std::swap(tree, spare);
    }
};

} // namespace specdec
