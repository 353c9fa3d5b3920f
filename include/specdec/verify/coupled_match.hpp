// SPDX-License-Identifier: MIT
#pragma once

#include <span>

#include <specdec/core/coin.hpp>
#include <specdec/core/text_offset.hpp>
#include <specdec/sampling/coin/text_keys.hpp>
#include <specdec/verify/exact_match.hpp>
#include <specdec/verify/placed_coin.hpp>

namespace specdec {

/// Exact match whose draw sites carry their place in the text, so a coupled_coin gives the target
/// the same noise that it gave the drafter at that place. Like exact match it emits the target's
/// own draws, so it is lossless whatever is proposed and with every coin. With a coupled_coin it
/// keeps proposals about as often as token rejection, and the text of a seed is the same, byte for
/// byte, with any drafter, bridge, draft length and stop rule, and with none.
///
/// Paper: Daliri, Musco, Suresh 2024 (one vocabulary); places: ours. Expected acceptance at a
/// position whose context the drafter shares: race_winner's; at least (1 - TV) / (1 + TV), where
/// token rejection has 1 - TV. Models Verifier and FollowsText. Borrows the keys; its only state is
/// the place behind the committed text. Complexity, allocation: as exact_match.
class coupled_match {
public:
    explicit coupled_match(const text_keys& keys) : begin_(keys.widths()), place_(begin_) {}
    explicit coupled_match(const text_keys&& gone_before_use) = delete;

    void start(std::span<const target_id> prompt) {
        place_ = begin_;
        follow(prompt);
    }
    void follow(std::span<const target_id> committed) {
        for (const target_id t : committed)
            place_.pass(t);
    }
    /// The place behind the committed text.
    [[nodiscard]] text_offset place() const { return place_; }

    template <class LawAt, class Law, Coin C>
    [[nodiscard]] verdict operator()(LawAt&& law_at, std::span<const proposal<Law>> proposals,
                                     C& coin, round_name round) const {
        placed_coin<C> placed{coin, place_};
        return exact_match{}(law_at, proposals, placed, round);
    }

private:
    text_offset begin_;
    text_offset place_;
};

} // namespace specdec
