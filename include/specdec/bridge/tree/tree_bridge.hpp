// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm> // std::min
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include <specdec/bridge/context/bridge_traits.hpp>
#include <specdec/bridge/context/vocabulary_sizes.hpp>
#include <specdec/bridge/identity.hpp>
#include <specdec/bridge/tli.hpp>
#include <specdec/bridge/token/draft_list_store.hpp>
#include <specdec/bridge/tree/sibling_law.hpp>
#include <specdec/bridge/tree/tree_buffers.hpp>
#include <specdec/core/require.hpp>

namespace specdec {

/// The draft loop of trees, for bridges that map token by token. Level by level:
///
///     ask the shape how many children each node of the level has
///     q := law of what the drafter says behind each of these nodes: one pass, if it can
///     for each node, for each of its children: x ~ map(q), or what the siblings before it leave
///
/// A node with an end token of either side has no children. Map, Kept: as a token_bridge's; all
/// draws are in T (identity, TLI: a draw outside T could not be scored). Laws are views of rows
/// that are kept from the draft to its decision, so nothing is asked again. Memory: the store's,
/// for as many rows as nodes (one for likeliest siblings); allocated at construction and at the
/// first draft. A round allocates nothing.
template <DraftContext Context, class Map, class Kept = draft_row_store>
class tree_bridge {
public:
    using law_type = sibling_law<typename Kept::law_type, Map>;
    static constexpr bridge_traits traits{.drafts_trees = true};

    /// Borrows what map and context borrow. Errors: specdec::error where map and context are of
    /// different vocabularies, and for settings out of range.
    tree_bridge(Map map, Context context, const tree_settings& settings)
        : map_(map), context_(std::move(context)), settings_((validate(settings), settings)),
          kept_(rows_of(settings), map.draft_size()), made_(settings) {
        require_sizes(context_, map.draft_size(), map.target_size(), "tree bridge");
    }

    void start(std::span<const draft_id> prefix) { context_.start(prefix); }
    void follow(std::span<const target_id> committed) { context_.follow(committed); }
    [[nodiscard]] const Context& context() const { return context_; }
    [[nodiscard]] std::size_t target_size() const { return map_.target_size(); }
    [[nodiscard]] std::size_t draft_size() const { return map_.draft_size(); }
    [[nodiscard]] const tree_settings& settings() const { return settings_; }

    /// One draft. Views, which live until the next call. Errors: specdec::error for a shape that
    /// chooses among siblings that are drawn, and for a drafter's row that makes no law.
    template <DraftContextHolder D, TreeShape Shape, Coin C>
        requires(Kept::template takes<D>)
    [[nodiscard]] draft_tree_view<law_type> propose(D& drafter, const Shape& shape, C& coin,
                                                    const tree_request& request) {
        if (request.path.again && !made_.tree.empty() && !likeliest_) {
            sync_again(context_, drafter, {}, path_);
            holds_nodes_ = false;
        } else if (const no_draft why = begin(drafter, shape, request); why != no_draft::none) {
            return {.reason = why};
        }
        while (depth_ < deepest_) {
            if (!drawing_) {
                if (depth_ > 0)
                    made_.ask(shape);
                choose_parents(drafted_, request_);
                if (made_.parents.empty() || (depth_ > 0 && !made_.has_room(drafter)))
                    break;
                begin_ = made_.tree.size();
                next_ = 0;
                drawing_ = true;
            }
            draw_level(drafter, reading_of(shape), coin);
            drawing_ = false;
            made_.level = begin_;
            if (made_.tree.size() == begin_)
                break;
            ++depth_;
        }
        if (chooses_nodes(shape) && !made_.tree.empty())
            made_.choose(shape, most_);
        return {.tree = &made_.tree,
                .proposals = made_.proposals,
                .draft_tokens = made_.draft_ids,
                .nodes = made_.nodes,
                .reason = made_.tree.empty() ? no_draft::nothing_shared : no_draft::none,
                .passes = passes_};
    }

    /// Ends a draft in which something threw, because the drafter cannot go on: `draft` has the
    /// nodes that were drawn or, where there are none, nothing because of `why`. It is as if the
    /// shape had asked for no more, which it may do whatever was drawn. Of a shape that chooses
    /// among nodes the first ones stay. The drafter keeps nothing of this tree. False: a node was
    /// drawn that the shape cannot be told of.
    [[nodiscard]] bool end_draft(no_draft why, draft_tree_view<law_type>& draft) {
        if (!likeliest_ && made_.nodes.size() < made_.tree.size())
            return false;
        made_.leave_first(std::min(made_.nodes.size(), most_));
        made_.fed.assign(made_.fed.size(), tree_root);
        if (made_.tree.empty())
            draft = draft_tree_view<law_type>::nothing(why);
        else
            draft = {.tree = &made_.tree,
                     .proposals = made_.proposals,
                     .draft_tokens = made_.draft_ids,
                     .nodes = made_.nodes,
                     .passes = passes_};
        return true;
    }

    /// These nodes, a path from the root, were committed: a TreeDrafter keeps what it was fed of
    /// them. Precondition: nobody else used the drafter since the draft.
    template <DraftContextHolder D>
    void keep(D& drafter, std::span<const std::size_t> path) {
        if constexpr (TreeDrafter<D>)
            made_.keep(drafter, path);
    }

private:
    /// The shape as begin_synced asks for it.
    struct asked {
        bool any;
        [[nodiscard]] bool more(const draft_progress&) const { return any; }
        [[nodiscard]] law_version version() const { return 0; }
    };

    template <class D, class Shape>
    [[nodiscard]] no_draft begin(D& drafter, const Shape& shape, const tree_request& request) {
        made_.clear();
        request_ = request.path;
        likeliest_ = settings_.siblings == sibling_draw::likeliest ||
                     (settings_.siblings == sibling_draw::without_replacement &&
                      request_.sampling.temperature == 0);
        most_ = std::min(request.max_nodes, settings_.max_nodes);
        deepest_ = std::min(request_.max_proposals, settings_.max_depth);
        drafted_ = most_;
        if (chooses_nodes(shape)) {
            if (!likeliest_)
                fail("tree bridge", "shape",
                     "expected the likeliest siblings where a shape chooses among nodes, as "
                     "dropping drawn tokens would bias the output distribution");
            drafted_ = settings_.drafted();
        }
        depth_ = passes_ = 0;
        drawing_ = false;
        holds_nodes_ = true;
        made_.beside = request.beside;
        made_.ask(shape);
        const bool any = made_.children[0] > 0;
        const std::size_t room = std::min(drafted_, deepest_);
        const std::size_t fed = TreeDrafter<D> ? drafted_ : deepest_;
        return begin_synced(context_, drafter, asked{any}, std::min(most_, room), fed,
                            map_.shared() > 0);
    }

    static std::size_t rows_of(const tree_settings& settings) {
        return settings.siblings == sibling_draw::likeliest ? 1 : settings.drafted() + 1;
    }

    /// The nodes of the level that have children, as far as there is room.
    void choose_parents(std::size_t most, const draft_request& request) {
        const auto ends = [&](std::size_t node) {
            return node != tree_root && (is_end(request.end_ids, made_.tree.id(node)) ||
                                         is_end(request.draft_end_ids, made_.draft_ids[node]));
        };
        made_.parents.clear();
        std::size_t room = most - made_.tree.size();
        for (std::size_t i = 0; i < made_.children.size(); ++i) {
            const std::size_t node = made_.tree.empty() ? tree_root : made_.level + i;
            const std::size_t n = std::min(made_.children[i], room);
            if (n == 0 || ends(node))
                continue;
            made_.parents.push_back({node, n});
            room -= n;
        }
    }

    /// The children of the level's parents, from the next one on: those before it have theirs, of
    /// a draft in which something threw.
    template <class D, class C>
    void draw_level(D& drafter, row_reading reads, C& coin) {
        const auto draw = [&](bool any) {
            if (any)
                draw_children(made_.parents[next_], reads, coin, request_);
            ++next_;
        };
        if (depth_ == 0) {
            draw(kept_.keep(slot(), drafter, map_));
            ++passes_;
        } else if constexpr (TreeDrafter<D>) {
            const logits_rows<draft_id> all = made_.feed(drafter, holds_nodes_);
            ++passes_;
            holds_nodes_ = true;
            require_rows(all, made_.ids.size(), map_.draft_size(), "tree bridge");
            const logits_rows<draft_id> rows = all.last(made_.parents.size());
            while (next_ < rows.size())
                draw(kept_.keep_row(slot(), rows[next_], map_));
        } else {
            while (next_ < made_.parents.size()) {
                made_.sync(drafter, context_.ids(), made_.parents[next_].node);
                draw(kept_.keep(slot(), drafter, map_));
                ++passes_;
            }
        }
    }

    /// Where the next row is kept.
    [[nodiscard]] std::size_t slot() const { return likeliest_ ? 0 : made_.laws.size(); }

    template <class C>
    void draw_children(const tree_parent& parent, row_reading reads, C& coin,
                       const draft_request& request) {
        const std::size_t row = slot(), first = made_.tree.size();
        const auto add = [&](const law_type& law, draft_id d) {
            const std::size_t node = made_.tree.size();
            const text_offset place = made_.place_behind(parent.node, request.place);
            const draw_site site =
                request.round.site(purpose::draft, static_cast<std::uint32_t>(node), place.value());
            const auto x = proposal<law_type>::draw(law, coin, site);
            made_.add(parent.node, x, d.valid() ? d : map_.to_draft(x.token()), place);
        };
        if (likeliest_) {
            made_.likeliest.resize(parent.children);
            const std::size_t n = kept_.likeliest(row, std::span(made_.likeliest));
            for (std::size_t k = 0; k < n; ++k) {
                const draft_id d = made_.likeliest[k];
                const target_id t = map_.to_target(d);
                if (!is_one_of(made_.tree.ids().subspan(first), t)) // once each
                    add(law_type::certain(t, map_), d);
            }
        } else {
            made_.laws.push_back(kept_.law(row, request.sampling));
            for (std::size_t k = 0; k < parent.children; ++k) {
                const bool without = settings_.siblings == sibling_draw::without_replacement;
                const law_type law(made_.laws.back(), map_,
                                   made_.tree.ids().subspan(first, without ? k : 0));
                if (!(law.rest() > 0))
                    break;
                add(law, {});
            }
        }
        if (reads == row_reading::none)
            return made_.reach(first, [](draft_id) { return -1.0; });
        made_.reach(first, kept_.sureness(row));
    }

    Map map_;
    Context context_;
    tree_settings settings_;
    Kept kept_;
    tree_buffers<typename Kept::law_type, law_type> made_;
    std::vector<draft_id> path_; // the context, where something threw
    // Of this round:
    draft_request request_;
    bool likeliest_ = false;
    std::size_t most_ = 0, drafted_ = 0, deepest_ = 0; // nodes, nodes before a choice, levels
    std::size_t depth_ = 0;                            // levels that are drawn
    std::size_t passes_ = 0;                           // of the drafter
    bool drawing_ = false;                             // the next one is, so far as that:
    std::size_t begin_ = 0, next_ = 0;                 // its first node, the next of its parents
    bool holds_nodes_ = true;                          // the drafter does, of those that it was fed
};

using identity_tree_bridge = tree_bridge<shared_context, identity_map>;
/// Trees of tokens that both vocabularies have.
template <class TargetTokenizer, class DraftTokenizer>
using tli_tree_bridge = tree_bridge<retokenised_context<TargetTokenizer, DraftTokenizer>, tli_map>;

} // namespace specdec
