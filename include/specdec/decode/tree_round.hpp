// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <specdec/bridge/context/bridge.hpp>
#include <specdec/bridge/context/bridge_traits.hpp>
#include <specdec/bridge/tree/tree_buffers.hpp>
#include <specdec/core/coin.hpp>
#include <specdec/core/model/context_tracker.hpp>
#include <specdec/core/model/tree_scoring.hpp>
#include <specdec/core/rows.hpp>
#include <specdec/core/tree/token_tree.hpp>
#include <specdec/decode/round_result.hpp>
#include <specdec/decode/session_settings.hpp>
#include <specdec/decode/statistics.hpp>
#include <specdec/decode/tree_feed.hpp>
#include <specdec/verify/tree/tree_verifier.hpp>

namespace specdec {

/// The rows along a path of a tree: row 0 is the first one, row i + 1 that of path[i]. A view.
template <class Rows>
struct path_rows {
    Rows rows;
    std::span<const std::size_t> path;

    [[nodiscard]] std::size_t size() const { return path.size() + 1; }
    [[nodiscard]] std::size_t vocabulary() const { return rows.vocabulary(); }
    [[nodiscard]] auto operator[](std::size_t i) const {
        return rows[i == 0 ? 0 : path[i - 1] + 1];
    }
};

/// chain_round's members for drafts that are trees: the target scores all nodes in one pass after
/// the committed tokens, and a path from the root is kept. A path ends with its first end token,
/// after which nothing is drawn. Target and drafter keep what they hold of the path. Allocates in
/// its constructor.
template <class B>
class tree_round {
public:
    using draft_type = draft_tree_view<typename B::law_type>;

    static std::size_t most(const B& bridge, const session_settings&) {
        return bridge.settings().max_nodes;
    }
    static std::size_t longest(const B& bridge, const session_settings& s) {
        return bridge.settings().longest_path(s.max_proposals);
    }

    template <class V>
    tree_round(const B& bridge, const V& verify, const session_settings& s) {
        const std::size_t depth = longest(bridge, s);
        feed_.reserve(s.capacity + depth + 1, most(bridge, s), depth);
        work_.reserve(depth, verify.rows(depth), bridge.target_size());
    }

    [[nodiscard]] static tree_request request(const B& bridge, draft_request path,
                                              round_room room) {
        path.max_proposals = bridge.settings().longest_path(path.max_proposals);
        return {path, room.nodes};
    }
    [[nodiscard]] static std::size_t room(const tree_request& request) { return request.max_nodes; }
    void take(const draft_type& given, std::span<const target_id> /*end_ids*/,
              std::vector<target_id>& tokens) {
        draft_ = given;
        feed_.draft(tokens.back(), draft_.tree);
    }
    void put(std::vector<target_id>&) { work_.path().clear(); }
    void forget(std::span<const target_id> committed) {
        draft_ = {};
        if (!committed.empty())
            feed_.draft(committed.back(), nullptr);
        work_.path().clear();
    }
    [[nodiscard]] const draft_type& draft() const { return draft_; }
    [[nodiscard]] std::size_t proposed() const { return feed_.ids().size() - 1; }
    [[nodiscard]] bool drew() const { return draft_.tree != nullptr; }
    void explain(no_draft why) {
        if (draft_.reason == no_draft::stop_rule)
            draft_.reason = why;
    }

    void start() { feed_.start(); }
    void lost() { feed_.lost(); }
    [[nodiscard]] context_edit<target_id> edit(std::span<const target_id> tokens,
                                               std::size_t committed) const {
        return feed_.edit(tokens.first(committed));
    }
    [[nodiscard]] std::size_t rows_needed(std::span<const target_id>, std::size_t) const {
        return feed_.ids().size();
    }
    void fed(const context_edit<target_id>& edit, std::size_t committed) {
        feed_.fed(edit, committed);
    }
    template <TreeModelOf<target_id> Target>
    [[nodiscard]] context_edit<target_id> prepare(Target& target, std::span<const target_id> tokens,
                                                  std::size_t committed) {
        return feed_.prepare(target, tokens.first(committed));
    }
    template <TreeModelOf<target_id> Target>
    [[nodiscard]] static logits_rows<target_id> score(Target& target,
                                                      const context_edit<target_id>& edit) {
        return tree_feed::score(target, edit);
    }

    template <class V, class LawOf, Coin C>
    [[nodiscard]] verdict decide(V& verify, const LawOf& law_of, std::vector<target_id>& tokens,
                                 std::size_t committed, std::span<const target_id> end_ids, C& coin,
                                 round_name name) {
        work_.path().clear();
        const token_tree<target_id>& tree = draft_.tree != nullptr ? *draft_.tree : no_tree_;
        const laws_along law_at{
            [&](std::size_t node) { // tree_root + 1 is 0
                return law_of(node + 1, text_to(tree, node, tokens, committed));
            },
            [&](std::size_t node) { return node != tree_root && is_end(end_ids, tree.id(node)); }};
        return verify(law_at, tree, draft_.proposals, coin, name, work_);
    }
    [[nodiscard]] std::span<const target_id> kept(std::vector<target_id>& tokens,
                                                  std::size_t committed, const verdict&) const {
        const std::span<const std::size_t> path = work_.path();
        return path.empty()
                   ? std::span<const target_id>()
                   : text_to(*draft_.tree, path.back(), tokens, committed).subspan(committed);
    }
    template <class Rows>
    [[nodiscard]] path_rows<Rows> kept_rows(const Rows& rows) const {
        return {rows, work_.path()};
    }
    [[nodiscard]] std::span<const target_id> scored(std::span<const target_id>, std::size_t) const {
        return feed_.ids();
    }
    [[nodiscard]] round_result result(B& bridge, std::span<const target_id> round, const verdict& v,
                                      round_log_probabilities log_probabilities) const {
        const std::span<const std::size_t> path = work_.path();
        round_result r{round,
                       v.accepted,
                       v.origin,
                       feed_.ids().subspan(1),
                       draft_.draft_tokens,
                       {},
                       draft_.reason,
                       log_probabilities,
                       draft_.drafted_of(path),
                       v.accepted,
                       draft_.tree,
                       path,
                       draft_.nodes,
                       {draft_.tree, path}};
        if constexpr (bridge_traits_of<B>.has_own_tree)
            r.kept = bridge.kept(path);
        return r;
    }

    void count(statistics& counts, const verdict& v, std::size_t n) const {
        counts.count(v, n, proposed(), draft_.draft_tokens.size(), draft_.reason,
                     {draft_.found(), v.accepted - draft_.drafted_of(work_.path())});
        counts.tree_passes += draft_.passes;
    }
    /// The drafter keeps what it was fed of the first n kept nodes: once, whatever throws.
    template <class D>
    void keep_in(B& bridge, D& drafter, std::size_t n) {
        const std::size_t all = work_.path().size();
        bridge.keep(drafter, work_.path_of(n < all ? n : all));
    }
    void commit(std::span<const target_id> committed, std::size_t n) {
        feed_.commit(work_.path(), committed, n);
    }
    [[nodiscard]] std::span<const std::size_t> nodes_to_keep() const {
        return feed_.nodes_to_keep();
    }

private:
    /// The committed tokens, then those of the path to a node.
    static std::span<const target_id> text_to(const token_tree<target_id>& tree, std::size_t node,
                                              std::vector<target_id>& tokens,
                                              std::size_t committed) {
        tokens.resize(committed + tree.depth(node));
        tree.path_to(node, std::span(tokens).subspan(committed));
        return tokens;
    }

    tree_feed feed_;
    draft_type draft_;
    token_tree<target_id> no_tree_;
    tree_workspace work_;
};

} // namespace specdec
