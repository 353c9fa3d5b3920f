// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include <specdec/bridge/strings/pushforward.hpp>
#include <specdec/core/coin.hpp>

namespace specdec {

/// The law of one proposal of a pushforward: a view, alive until the bridge's next call. Models
/// LawOf<target_id>; probability() and at() refine fully (exponential in the worst case: for
/// proofs), below() as far as a decision needs.
template <Translation F>
class pushforward_law {
public:
    using id_type = target_id;
    /// An invalid token is the draft's end, not a proposal (see proposal).
    [[nodiscard]] static constexpr bool ends_drafts() { return true; }

    pushforward_law(pushforward<F>& whole, std::size_t index) : whole_(&whole), index_(index) {}

    [[nodiscard]] std::size_t size() const { return whole_->translation().target_size(); }
    [[nodiscard]] double probability(target_id t) const { return whole_->probability(index_, t); }
    /// Whether probability(t) < bound: exact, and lazy.
    template <class B>
    [[nodiscard]] bool below(target_id t, B bound) const {
        return whole_->below(index_, t, bound);
    }
    template <UnitNumber U>
    [[nodiscard]] bool keeps(target_id t, double p, U u) const {
        return whole_->is_last(index_) ? whole_->keeps(index_, p, u) : below(t, p / u);
    }
    /// Invalid where u falls on the draft's end.
    template <UnitNumber U>
    [[nodiscard]] target_id at(U u) const {
        double reached = 0;
        for (std::size_t t = 0; t < size(); ++t) {
            const double p = probability(id_at<target_id>(t));
            reached += p;
            if (p > 0 && u < reached)
                return id_at<target_id>(t);
        }
        return {};
    }
    /// Draws by drafting on from the tokens drawn before.
    template <Coin C>
    [[nodiscard]] target_id draw(C& coin, draw_site site) const {
        return whole_->draw(index_, coin, site);
    }

private:
    pushforward<F>* whole_;
    std::size_t index_;
};

} // namespace specdec
