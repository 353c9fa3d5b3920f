// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>

#include <specdec/core/error.hpp>

namespace specdec {

/// Which part of a long context a drafter reads: a windowed_drafter gives it to the wrapped one, a
/// feature_model to its body.
struct window_settings {
    /// The most tokens of a context that the drafter reads, such as the length of the texts that it
    /// was trained on. 0: the capacity of its context.
    std::size_t length = 0;
    /// The number of first tokens of the context that always stay. 1 keeps the BOS that models are
    /// trained with; more keep a prompt's instructions. `keep` and a block have to fit into the
    /// drafter's context.
    std::size_t keep = 1;
    /// The number of tokens that are dropped at a time. 0: half of the context after `keep`.
    std::size_t block = 0;
    /// The number of tokens that are left free after a round's context, or as many as fit. A longer
    /// draft may drop a block, and feed the rest again, in the middle of a round.
    std::size_t room = 32;
};

/// The tokens that a drafter of a short context does not read. Of a context of n tokens it reads
/// the first `keep` and those after the first keep + dropped(n_0, n),
///
///     dropped(n_0, n) := the smallest multiple of `block` with
///                        max(n_0 + room, n) - dropped(n_0, n) <= length
///
/// Symbols: n_0: the number of tokens that the round began with.
/// So the window is a function of the context's length and of where the round began. It does not
/// move between a draft and its verification.
/// Complexity: O(1). Allocates: nothing.
class context_window {
public:
    context_window() = default; // nothing is dropped

    /// `capacity`: the tokens that the drafter's context holds. Errors: specdec::error(source,
    /// "settings", ...) where `keep` and a block do not fit, and for a length beyond the capacity.
    context_window(const window_settings& s, std::size_t capacity, const char* source)
        : length_(s.length == 0 ? capacity : s.length), keep_(s.keep), block_(s.block) {
        if (length_ > capacity)
            fail(source, "settings",
                 "expected a length of at most the " + std::to_string(capacity) +
                     " tokens of the drafter's context, found " + std::to_string(length_));
        const std::size_t left = length_ > keep_ ? length_ - keep_ : 0;
        if (block_ == 0)
            block_ = left > 1 ? left / 2 : 1;
        if (block_ > left)
            fail(source, "settings",
                 "expected room for keep (" + std::to_string(keep_) + ") and a block (" +
                     std::to_string(block_) + ") in the drafter's context of " +
                     std::to_string(length_) + " tokens");
        room_ = s.room < left - block_ ? s.room : left - block_;
    }

    [[nodiscard]] std::size_t length() const { return length_; }
    [[nodiscard]] std::size_t keep() const { return keep_; }
    /// What is not read of a context of n tokens, in a round that began with n_0.
    [[nodiscard]] std::size_t dropped(std::size_t n_0, std::size_t n) const {
        const std::size_t all = n > n_0 + room_ ? n : n_0 + room_;
        return all <= length_ ? 0 : (all - length_ + block_ - 1) / block_ * block_;
    }

private:
    std::size_t length_ = ~std::size_t{0}, keep_ = 1, block_ = 1, room_ = 0;
};

} // namespace specdec
