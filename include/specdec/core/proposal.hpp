// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <utility>

#include <specdec/core/coin.hpp>
#include <specdec/core/law.hpp>
#include <specdec/core/token_id.hpp>

namespace specdec {

/// A law that is drawn from in a way of its own: law.draw(coin, site).
template <class Law, class C>
concept DrawsItself = requires(const Law& law, C& coin, draw_site site) {
    { law.draw(coin, site) } -> std::same_as<target_id>;
};

/// A proposed target token together with the law q that it was drawn from. A proposal can only be
/// made by drawing from its law, because the commonest losslessness bug in the field is a q that is
/// not the law the sample came from.
///
/// The token is invalid where the draft left the target's vocabulary (Timor et al., Alg. 1): such a
/// proposal can only be rejected, unless its law EndsDrafts (SLRS, merge).
template <LawOf<target_id> Law>
class proposal {
public:
    using law_type = Law;

    /// Draws from the law, by law.draw(coin, site) if it DrawsItself, else by coin.pick. If the law
    /// is a view, so is the proposal.
    template <Coin C>
    [[nodiscard]] static proposal draw(Law law, C& coin, draw_site site) {
        target_id token;
        if constexpr (DrawsItself<Law, C>)
            token = law.draw(coin, site);
        else
            token = coin.pick(site, law);
        return proposal(std::move(law), token);
    }

    [[nodiscard]] target_id token() const { return token_; }
    [[nodiscard]] const Law& law() const { return law_; }
    /// Whether nothing is proposed here: the draft's law ended the draft.
    [[nodiscard]] bool ends_draft() const {
        if constexpr (EndsDrafts<Law>)
            return law_.ends_drafts() && !token_.valid();
        else
            return false;
    }
    /// q(token).
    [[nodiscard]] double probability() const { return law_.probability(token_); }

private:
    proposal(Law law, target_id token) : law_(std::move(law)), token_(token) {}
    friend proposal<one_hot_law<target_id>> certain(target_id token);

    Law law_;
    target_id token_;
};

/// A proposal that is certain given the draft it came from: q is one-hot.
[[nodiscard]] inline proposal<one_hot_law<target_id>> certain(target_id token) {
    return {one_hot_law<target_id>(token), token};
}

} // namespace specdec
