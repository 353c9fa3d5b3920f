// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include <specdec/core/drafting.hpp>
#include <specdec/core/require.hpp>
#include <specdec/head/hot_set.hpp>

namespace specdec {

/// A head of which kept tokens can be replaced, as trimmed_head.
template <class H>
concept AdaptiveHead = requires(H& h, std::size_t k, draft_id id) {
    { h.ids() } -> std::convertible_to<std::span<const draft_id>>;
    h.replace(k, id);
};

/// A drafter whose trimmed head follows the text: where a round begins, and only there, the tokens
/// that its context has gained (the prompt, what was committed) go through the hot set, and what
/// enters it is kept by the head. So a list never changes between a draw and the decision about it,
/// and the draft law is a function of the text and its prompt. Lossless with every bridge that
/// tells where rounds begin (all of the library's).
///
///     hot_set<draft_id> hot(list);
///     trimmed_head few(head, list);           // the same list, in the same order
///     headed_model draft(model, few);
///     model_drafter plain(draft);
///     adaptive_drafter drafter(plain, few, hot);
///
/// One for a text, or for several that draft in turns: then the list follows all of them. Models
/// Drafter, FollowsRounds, and ManyRowsDrafter where D does. Borrows all three; head and hot set
/// are changed by nobody else. Complexity of a round: hot_set::see for each token gained. Allocates
/// nothing. Errors: specdec::error where head and hot set hold other tokens.
template <Drafter D, AdaptiveHead Head>
class adaptive_drafter {
public:
    adaptive_drafter(D& drafter, Head& head, hot_set<draft_id>& hot)
        : drafter_(drafter), head_(head), hot_(hot) {
        const std::span<const draft_id> kept = head.ids();
        bool same = kept.size() == hot.size();
        for (std::size_t k = 0; same && k < kept.size(); ++k)
            same = kept[k] == hot.ids()[k];
        if (!same)
            fail("adaptive drafter", "list", "expected head and hot set to hold the same tokens");
    }

    [[nodiscard]] std::size_t capacity() const { return drafter_.capacity(); }

    void begin_round(std::size_t tokens) {
        round_ = tokens;
        if constexpr (FollowsRounds<D>)
            drafter_.begin_round(tokens);
    }

    void sync(std::span<const draft_id> context, std::size_t unchanged) {
        if (round_ > 0) {
            seen_ =
                unchanged < seen_ ? unchanged : seen_; // another text, or another way to write it
            for (; seen_ < round_; ++seen_)
                if (const std::optional<std::size_t> k = hot_.see(context[seen_]))
                    head_.replace(*k, context[seen_]);
            round_ = 0;
        }
        drafter_.sync(context, unchanged);
    }
    [[nodiscard]] logits_row<draft_id> row() { return drafter_.row(); }
    [[nodiscard]] logits_rows<draft_id> rows(std::size_t n)
        requires ManyRowsDrafter<D>
    {
        return drafter_.rows(n);
    }
    void push(draft_id id) { drafter_.push(id); }

private:
    D& drafter_;
    Head& head_;
    hot_set<draft_id>& hot_;
    std::size_t seen_ = 0;  // tokens of the context that went through the hot set
    std::size_t round_ = 0; // tokens of the context of a round that begins
};

} // namespace specdec
