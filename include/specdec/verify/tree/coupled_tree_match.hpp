// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>

#include <specdec/verify/coupled_match.hpp>
#include <specdec/verify/placed_coin.hpp>
#include <specdec/verify/tree/tree_exact_match.hpp>

namespace specdec {

/// Coupled match on a tree: exact match whose draw sites carry their place in the text. With a
/// coupled_coin siblings without replacement are the first ones of the race that the target's token
/// has to win on the same noise: of every node the likeliest matches. Independent siblings would be
/// one token. Lossless with every coin; the text of a seed is that of coupled_match.
///
/// Models TreeVerifier and FollowsText. Borrows the keys. Complexity, allocation: as
/// tree_exact_match.
class coupled_tree_match {
public:
    explicit coupled_tree_match(const text_keys& keys) : text_(keys) {}
    explicit coupled_tree_match(const text_keys&& gone_before_use) = delete;

    void start(std::span<const target_id> prompt) { text_.start(prompt); }
    void follow(std::span<const target_id> committed) { text_.follow(committed); }
    [[nodiscard]] text_offset place() const { return text_.place(); }

    [[nodiscard]] static constexpr std::size_t rows(std::size_t) { return 0; }

    template <class LawAt, class Law, Coin C>
    [[nodiscard]] verdict operator()(LawAt&& law_at, const token_tree<target_id>& tree,
                                     std::span<const proposal<Law>> proposals, C& coin,
                                     round_name round, tree_workspace& work) const {
        placed_coin<C> placed{coin, place()};
        return tree_exact_match{}(law_at, tree, proposals, placed, round, work);
    }

private:
    coupled_match text_; // knows the place
};

} // namespace specdec
