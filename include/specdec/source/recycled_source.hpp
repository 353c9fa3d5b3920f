// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <specdec/bridge/context/bridge.hpp>
#include <specdec/bridge/context/bridge_traits.hpp>
#include <specdec/core/drafting.hpp>
#include <specdec/core/proposal.hpp>
#include <specdec/draft/counted/successor_table.hpp>
#include <specdec/draft/draft_outcome.hpp>
#include <specdec/draft/lookup/lookup_length.hpp>
#include <specdec/source/known_tokens.hpp>
#include <specdec/source/recycling.hpp>

namespace specdec {

/// Token recycling as a chain: behind the text's last token its likeliest successor, behind that
/// one its own, and so on (successor_table), each proposed for certain. It needs no
/// drafter, as lookup_source: nothing is drawn, so it is lossless with every verifier. What it
/// learns of a round's rows (learn_rows) is proposed in later rounds only. How much is proposed: as
/// the stop rule asks, or a lookup_length. Models Bridge with any drafter. Allocates at
/// construction only.
class recycled_source : public recycling {
public:
    using law_type = one_hot_law<target_id>;
    static constexpr bridge_traits traits = recycling::traits | bridge_traits{.shares_pass = true};

    explicit recycled_source(successor_table& table, std::size_t max_draft = 8,
                             std::optional<lookup_length> length = {})
        : recycling(table, max_draft + 1), max_draft_(max_draft), length_(std::move(length)) {
        ids_.reserve(max_draft);
        steps_.reserve(max_draft);
        proposals_.reserve(max_draft);
    }

    void start(std::span<const draft_id> prefix) {
        recycling::start(prefix);
        forget();
    }
    void follow(std::span<const target_id> committed) {
        if (length_ && asked_)
            length_->learn(proposals_.size(), committed.size(),
                           outcome_of_known(ids_, steps_, committed));
        forget();
        recycling::follow(committed);
    }

    /// How many texts share the target's passes: between rounds.
    void share_pass(std::size_t texts) {
        if (length_)
            length_->share_pass(texts);
    }

    template <class D, StopRule Stop, Coin C>
    [[nodiscard]] draft_view<law_type> propose(D&, const Stop& stop, C&,
                                               const draft_request& request) {
        forget();
        if (const no_draft why = refuses_draft(stop, request); why != no_draft::none)
            return draft_view<law_type>::nothing(why);
        asked_ = true;
        draft_progress now;
        for (target_id t = last(); ids_.size() < max_draft_; t = ids_.back()) {
            const auto next = table().of(t);
            if (next.empty() || (!ids_.empty() && is_end(request.end_ids, t)))
                break;
            ids_.push_back(next[0].id);
            now = extend_progress(now, stop, draft_id{next[0].id.value}, 1.0,
                                  static_cast<double>(next[0].share), 0.0);
            steps_.push_back(now);
        }
        if (ids_.empty())
            return draft_view<law_type>::nothing(no_draft::nothing_found);
        return propose_known(ids_, steps_, length_, stop, request, proposals_);
    }

private:
    void forget() {
        ids_.clear();
        steps_.clear();
        proposals_.clear();
        asked_ = false;
    }

    std::size_t max_draft_;
    std::optional<lookup_length> length_;
    std::vector<target_id> ids_;
    std::vector<draft_progress> steps_; // [ids_]
    std::vector<proposal<law_type>> proposals_;
    bool asked_ = false; // in this round
};

} // namespace specdec
