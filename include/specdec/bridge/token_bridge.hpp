// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include <specdec/bridge/draft_context.hpp>
#include <specdec/bridge/draft_request.hpp>
#include <specdec/bridge/mapped_law.hpp>
#include <specdec/core/require.hpp>
#include <specdec/sampling/drawn_draft.hpp>
#include <specdec/sampling/softmax_law.hpp>

namespace specdec {

/// The draft loop of every bridge that maps token by token (identity, union, TLI): draw a draft
/// token, propose its image, feed the drafter with it.
///
///     while the stop rule asks for more:
///         q := law of the drafter's next row, as the map prepares it
///         x ~ map(q);  propose (x, q)
///         stop behind an end token or a token that has left T
///         the drafter's context := context + x
///
/// Map: to_target, to_draft, next_duplicate, target_size, and prepare(row, out), which copies a row
/// of the drafter and takes out what must not be drawn. Memory: one copy of the drafter's row a
/// proposal ([max_draft, |D|] floats), allocated at construction, because the residual needs q
/// after the drafter has moved on. A round allocates nothing.
template <DraftContext Context, class Map>
class token_bridge {
public:
    using law_type = mapped_law<softmax_law<draft_id>, Map>;

    /// The map is a small view of tables shared by all sequences; max_draft bounds the draft.
    /// Errors: specdec::error where map and context are of different vocabularies.
    token_bridge(Map map, Context context, std::size_t max_draft)
        : map_(map), context_(std::move(context)), max_draft_(max_draft),
          rows_(max_draft * map.draft_size()) {
        if constexpr (requires { context_.draft_size(); })
            require_size<draft_id>(map.draft_size(), context_.draft_size(), "token bridge",
                                   "context");
        if constexpr (requires { context_.target_size(); })
            require_size<target_id>(map.target_size(), context_.target_size(), "token bridge",
                                    "context");
        proposals_.reserve(max_draft);
        drawn_.reserve(max_draft);
    }

    void start(std::span<const draft_id> prefix) { context_.start(prefix); }
    void follow(std::span<const target_id> committed) { context_.follow(committed); }
    [[nodiscard]] const Context& context() const { return context_; }
    [[nodiscard]] std::size_t target_size() const { return map_.target_size(); }
    [[nodiscard]] std::size_t draft_size() const { return map_.draft_size(); }

    template <Drafter D, StopRule Stop, Coin C>
    [[nodiscard]] draft_view<law_type> propose(D& drafter, const Stop& stop, C& coin,
                                               const draft_request& request) {
        proposals_.clear();
        drawn_.clear();
        const std::size_t most =
            request.max_proposals < max_draft_ ? request.max_proposals : max_draft_;
        if (const no_draft why = refusal(context_, drafter, stop, most, most, map_.shared() > 0);
            why != no_draft::none)
            return draft_view<law_type>::nothing(why);

        drafter.sync(context_.ids(), context_.unchanged());
        context_.mark();
        text_place place = request.place;
        while (proposals_.size() < most && stop.more(drawn_.progress())) {
            const std::size_t i = proposals_.size();
            const std::span<float> row{rows_.data() + i * map_.draft_size(), map_.draft_size()};
            map_.prepare(next_row(drafter, row.size(), "token bridge").values, row);
            if (!any_allowed(row))
                break;
            const auto attempt = static_cast<std::uint32_t>(i);
            proposals_.push_back(proposal<law_type>::draw(
                law_type(make_law(logits_row<draft_id>{row}, request.sampling), map_), coin,
                request.round.site(purpose::draft, attempt, place.value())));
            const target_id x = proposals_.back().token();
            place.pass(x);
            const draft_id d = x.valid() ? map_.to_draft(x) : draft_id{};
            drawn_.push(stop, d, proposals_.back().probability(), row,
                        d.valid() ? row[d.index()] : -__builtin_inff(), request.sampling);
            if (!x.valid() || is_end(request.end_ids, x))
                break;
            drafter.push(d);
        }
        return {proposals_, drawn_.tokens(), drawn_.steps(),
                proposals_.empty() ? no_draft::nothing_shared : no_draft::none};
    }

private:
    Map map_;
    Context context_;
    std::size_t max_draft_;
    std::vector<float> rows_; // [max_draft, |D|]
    std::vector<proposal<law_type>> proposals_;
    drawn_draft drawn_;
};

} // namespace specdec
