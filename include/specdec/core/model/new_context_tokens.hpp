// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <specdec/core/model/context_tracker.hpp>
#include <specdec/core/token_id.hpp>

namespace specdec {

/// What the contexts of a sequence's rounds gain, for a model that learns from it (adaptive_model,
/// cache_mixture_model): the prompt, and what was committed, told once, with the first tokens that
/// a round feeds and before its first row. What is fed behind them is drafted, and not told.
///
///     g.begin_draft_round(n)         a round of a context of n tokens begins
///     g.feed(size, ids, told)  before ids are fed to a context of `size` tokens
///     g.fed(ids), g.truncated(n)   as the model did
///
///     told(tokens, first, lost)   tokens[first ...] are new, behind those that were told before;
///                                 `lost` of these are no longer there: of another text, or another
///                                 way to cut it into tokens. So texts that take turns in one
///                                 sequence are told anew at each turn
///
/// Complexity: a round is linear in the tokens that changed since the round before. Memory: two
/// copies of the context, allocated by reserve.
template <class Id>
class new_context_tokens {
public:
    void reserve(std::size_t capacity) {
        mirror_.reserve(capacity);
        told_.reserve(capacity);
    }

    void begin_draft_round(std::size_t n) { round_ = n; }
    /// Whether not all of a round's context was fed yet.
    [[nodiscard]] bool awaited() const { return round_ > 0; }

    template <class Told>
    void feed(std::size_t size, std::span<const Id> ids, const Told& told) {
        truncated(size);
        if (round_ == 0)
            return;
        const std::size_t held = mirror_.size(), fed = held + ids.size();
        const std::size_t known = fed < round_ ? fed : round_;
        const auto at = [&](std::size_t i) { return i < held ? mirror_.held()[i] : ids[i - held]; };
        std::size_t same = same_ < known ? same_ : known;
        while (same < known && same < told_.size() && told_[same] == at(same))
            ++same;
        // A round's context is never shorter than the last one's of the same text.
        if (same < known || (known == round_ && same < told_.size())) {
            const std::size_t lost = told_.size() - same;
            told_.resize(same);
            for (std::size_t i = same; i < known; ++i)
                told_.push_back(at(i));
            told(std::span<const Id>(told_), same, lost);
        }
        same_ = held < known ? held : known; // ids are not fed yet
        if (fed >= round_)
            round_ = 0; // what follows is drafted
    }
    void fed(std::span<const Id> ids) { mirror_.fed(ids); }
    void truncated(std::size_t n) {
        mirror_.truncated(n);
        same_ = n < same_ ? n : same_;
    }

    /// What the model holds.
    [[nodiscard]] held_tokens<Id> held() const { return mirror_.held(); }
    /// Nothing was told.
    void forget() {
        told_.clear();
        same_ = round_ = 0;
    }

private:
    context_tracker<Id> mirror_;
    std::vector<Id> told_;
    std::size_t same_ = 0;  // of the first tokens held, which were told so
    std::size_t round_ = 0; // tokens of the context of a round that begins
};

} // namespace specdec
