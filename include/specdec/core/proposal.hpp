// SPDX-License-Identifier: MIT
#pragma once

#include <utility>

#include <specdec/core/coin.hpp>
#include <specdec/core/law.hpp>
#include <specdec/core/token_id.hpp>

namespace specdec {

/// A proposed target token together with the law q it was drawn from, inseparable: the commonest
/// losslessness bug in the field is a q that is not the law the sample came from, so a proposal can
/// only be made by drawing from its law.
///
/// The token is invalid where the draft left the target's vocabulary (Timor et al., Alg. 1): such a
/// proposal can only be rejected.
template <LawOf<target_id> Law>
class proposal {
public:
    using law_type = Law;

    /// Draws from the law (in the law's own way where it has one: law.draw(coin, site)). The
    /// proposal is a view where the law is one.
    template <Coin C>
    [[nodiscard]] static proposal draw(Law law, C& coin, draw_site site) {
        target_id token;
        if constexpr (requires { law.draw(coin, site); })
            token = law.draw(coin, site);
        else
            token = coin.pick(site, law);
        return proposal(std::move(law), token);
    }

    [[nodiscard]] target_id token() const { return token_; }
    [[nodiscard]] const Law& law() const { return law_; }
    /// q(token).
    [[nodiscard]] double probability() const { return law_.probability(token_); }

private:
    proposal(Law law, target_id token) : law_(std::move(law)), token_(token) {}
    friend proposal<one_hot_law<target_id>> certain(target_id token);

    Law law_;
    target_id token_;
};

/// A proposal without randomness of its own (given the draft it came from): q is one-hot.
[[nodiscard]] inline proposal<one_hot_law<target_id>> certain(target_id token) {
    return {one_hot_law<target_id>(token), token};
}

} // namespace specdec
