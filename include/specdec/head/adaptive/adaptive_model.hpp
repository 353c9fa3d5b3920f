// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include <specdec/core/concepts.hpp>
#include <specdec/core/error.hpp>
#include <specdec/core/law_version.hpp>
#include <specdec/core/model/new_context_tokens.hpp>
#include <specdec/core/model/wrapped_model.hpp>
#include <specdec/head/adaptive/adaptive_token_list.hpp>
#include <specdec/head/adaptive/target_topk.hpp>

namespace specdec {

/// A head of which kept tokens can be replaced, as trimmed_head.
template <class H>
concept AdaptiveHead = requires(H& h, std::size_t k, draft_id id) {
    { h.ids() } -> std::convertible_to<std::span<const draft_id>>;
    h.replace(k, id);
};

/// A drafter's model whose trimmed head follows the text. Where a round begins, the tokens that its
/// context has gained (the prompt, what was committed) go through the adaptive list before the
/// first row of the round is made; what enters the list is kept by the head. Every round has a mark
/// of its own, so that a decision for which the list has changed is refused. Lossless with every
/// bridge and verifier.
///
/// With target_topk, so does what the target found likely behind these tokens (topk_recorder.hpp):
/// then the target has to hold the committed text alone where a round begins (session::prepare,
/// before the draft), so that the list stays a function of the text.
///
/// One for a text, or for several that draft in turns or in sequences of one model: then the list
/// follows all of them, one behind the other, and with SLRS and merge a text is decided before the
/// next one drafts (otherwise its decision is refused). Models RoundAware, BatchModelOf<draft_id>,
/// and ModelOf<draft_id> where Model is of one sequence; over a listing_model ScoringBatchModelOf
/// and ListingModelOf. Borrows all; head and adaptive list are changed by nobody else. Memory: two
/// copies of each context's ids, allocated at construction. Complexity of a round: a comparison of
/// the context's ids, adaptive_token_list::see for each token gained, see_likely for each likely
/// one. Errors: specdec::error where head and adaptive list hold other tokens.
template <class Model, AdaptiveHead Head>
    requires ScoringModelOf<Model, draft_id> || ScoringBatchModelOf<Model, draft_id>
class adaptive_model : public wrapped_model<adaptive_model<Model, Head>, draft_id, Model> {
    using base = wrapped_model<adaptive_model<Model, Head>, draft_id, Model>;

public:
    adaptive_model(Model& model, Head& head, adaptive_token_list<draft_id>& hot,
                   target_topk* likely = nullptr)
        : base(model), head_(head), hot_(hot), likely_(likely), texts_(this->sequences()) {
        const std::span<const draft_id> kept = head.ids();
        bool same = kept.size() == hot.size();
        for (std::size_t k = 0; same && k < kept.size(); ++k)
            same = kept[k] == hot.ids()[k];
        if (!same)
            fail("adaptive model", "list",
                 "expected head and adaptive list to hold the same tokens");
        for (std::size_t s = 0; s < texts_.size(); ++s) {
            texts_[s].reserve(model.capacity());
            base::truncate(s, 0);
        }
    }

    using base::append, base::score, base::truncate, base::begin_draft_round, base::version;
    void append(std::size_t s, std::span<const draft_id> ids) {
        follow(s, ids);
        base::append(s, ids);
        texts_[s].fed(ids);
    }
    [[nodiscard]] auto score(std::span<const sequence_tokens<draft_id>> parts) {
        for (const auto& [s, ids] : parts)
            follow(s, ids);
        const auto rows = this->rows_of_model(parts);
        for (const auto& [s, ids] : parts)
            texts_[s].fed(ids);
        return rows;
    }
    void truncate(std::size_t s, std::size_t n) {
        base::truncate(s, n);
        texts_[s].truncated(n);
    }

    void begin_draft_round(std::size_t s, std::size_t n) {
        texts_[s].begin_draft_round(n);
        ++rounds_;
        base::begin_draft_round(s, n);
    }
    /// The list is as it began, and follows the next text from its first token on.
    void forget_learnt() {
        hot_.reset();
        while (!put_back()) {
        }
        for (new_context_tokens<draft_id>& t : texts_)
            t.forget();
        ++rounds_; // rows of before are of another list
        if (likely_ != nullptr)
            likely_->take([](draft_id) {});
    }
    [[nodiscard]] law_version version(std::size_t s) const {
        return rounds_ + base::version(s) + version_of(head_);
    }

private:
    [[nodiscard]] bool keeps(draft_id id) const { return is_one_of<draft_id>(head_.ids(), id); }
    /// Brings tokens of the head to their places in the list; whether all are there. A head keeps
    /// none twice, so where each waits for another's place, one makes way for a token outside.
    bool put_back() {
        std::size_t waiting = hot_.size();
        bool moved = false;
        for (std::size_t k = 0; k < hot_.size(); ++k) {
            const draft_id id = hot_.ids()[k];
            if (head_.ids()[k] == id)
                continue;
            if (keeps(id)) {
                waiting = k;
                continue;
            }
            head_.replace(k, id);
            moved = true;
        }
        if (waiting == hot_.size())
            return true;
        if (!moved) {
            std::size_t outside = 0;
            while (keeps(id_at<draft_id>(outside)))
                ++outside;
            head_.replace(waiting, id_at<draft_id>(outside));
        }
        return false;
    }

    /// Before ids are fed: what the round's context has of tokens that were not there before.
    void follow(std::size_t s, std::span<const draft_id> ids) {
        const bool begins = texts_[s].awaited();
        texts_[s].feed(this->size(s), ids,
                       [this](std::span<const draft_id> tokens, std::size_t first, std::size_t) {
                           for (const draft_id id : tokens.subspan(first))
                               if (const std::optional<std::size_t> k = hot_.see(id))
                                   head_.replace(*k, id);
                       });
        if (begins && likely_ != nullptr)
            likely_->take([this](draft_id id) {
                if (const std::optional<std::size_t> k = hot_.see_likely(id))
                    head_.replace(*k, id);
            });
    }

    Head& head_;
    adaptive_token_list<draft_id>& hot_;
    target_topk* likely_;
    std::vector<new_context_tokens<draft_id>> texts_; // [sequences]
    law_version rounds_ = 0;                          // that began
};

} // namespace specdec
