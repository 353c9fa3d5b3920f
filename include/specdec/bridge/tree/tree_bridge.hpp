// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

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
        made_.clear();
        likeliest_ = settings_.siblings == sibling_draw::likeliest ||
                     (settings_.siblings == sibling_draw::without_replacement &&
                      request.path.sampling.temperature == 0);
        const std::size_t most = smaller(request.max_nodes, settings_.max_nodes);
        const std::size_t deepest = smaller(request.path.max_proposals, settings_.max_depth);
        std::size_t drafted = most;
        if constexpr (ChoosingShape<Shape>) {
            if (!likeliest_)
                fail("tree bridge", "shape",
                     "expected the likeliest siblings where a shape chooses among nodes, as "
                     "dropping what was drawn would bias the law");
            drafted = settings_.drafted();
        }
        made_.beside = request.beside;
        made_.ask(shape);
        const bool any = made_.children[0] > 0;
        const std::size_t room = smaller(drafted, deepest);
        const std::size_t fed = TreeDrafter<D> ? drafted : deepest;
        if (const no_draft why = begin_synced(context_, drafter, asked{any}, smaller(most, room),
                                              fed, map_.shared() > 0);
            why != no_draft::none)
            return {.reason = why};
        for (std::size_t depth = 0; depth < deepest; ++depth) {
            if (depth > 0)
                made_.ask(shape);
            choose_parents(drafted, request.path);
            if (made_.parents.empty() || (depth > 0 && !made_.has_room(drafter)))
                break;
            const std::size_t begin = made_.tree.size();
            draw_level(drafter, reading_of(shape), coin, request.path, depth);
            made_.level = begin;
            if (made_.tree.size() == begin)
                break;
        }
        if constexpr (ChoosingShape<Shape>)
            if (!made_.tree.empty())
                made_.choose(shape, most);
        return {&made_.tree, made_.proposals, made_.draft_ids, made_.nodes,
                made_.tree.empty() ? no_draft::nothing_shared : no_draft::none};
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
        [[nodiscard]] law_mark mark() const { return 0; }
    };

    static std::size_t smaller(std::size_t a, std::size_t b) { return a < b ? a : b; }
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
            const std::size_t n = smaller(made_.children[i], room);
            if (n == 0 || ends(node))
                continue;
            made_.parents.push_back({node, n});
            room -= n;
        }
    }

    template <class D, class C>
    void draw_level(D& drafter, row_reading reads, C& coin, const draft_request& request,
                    std::size_t depth) {
        const auto draw = [&](std::size_t i, bool any) {
            if (any)
                draw_children(made_.parents[i], reads, coin, request);
        };
        if (depth == 0) {
            draw(0, kept_.keep(slot(), drafter, map_));
        } else if constexpr (TreeDrafter<D>) {
            const logits_rows<draft_id> rows = made_.feed(drafter);
            require_rows(rows, made_.parents.size(), map_.draft_size(), "tree bridge");
            for (std::size_t i = 0; i < rows.size(); ++i)
                draw(i, kept_.keep_row(slot(), rows[i], map_));
        } else {
            for (std::size_t i = 0; i < made_.parents.size(); ++i) {
                made_.sync(drafter, context_.ids(), made_.parents[i].node);
                draw(i, kept_.keep(slot(), drafter, map_));
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
    bool likeliest_ = false; // in this round
};

using identity_tree_bridge = tree_bridge<shared_context, identity_map>;
/// Trees of tokens that both vocabularies have.
template <class TargetTokenizer, class DraftTokenizer>
using tli_tree_bridge = tree_bridge<retokenised_context<TargetTokenizer, DraftTokenizer>, tli_map>;

} // namespace specdec
