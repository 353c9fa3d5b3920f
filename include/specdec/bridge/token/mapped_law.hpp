// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <utility>

#include <specdec/core/coin.hpp>
#include <specdec/core/law.hpp>
#include <specdec/core/token_id.hpp>

namespace specdec {

/// A draft law over D seen through an id map as a law over T: the law of map(d) for d ~ inner. q(t)
/// = sum of inner(d) over the draft ids d that map to t, on demand, because a verifier needs q at a
/// few ids only. If some d has no image in T (union, Timor et al. Alg. 1), at() may return an
/// invalid id, and the probabilities over T sum to less than 1. Models LawOf<target_id>. Map is a
/// small copyable view.
template <LawOf<draft_id> Inner, class Map>
class mapped_law {
public:
    mapped_law(Inner inner, Map map) : inner_(std::move(inner)), map_(map) {}

    [[nodiscard]] std::size_t size() const { return map_.target_size(); }

    /// 0 for an invalid id: outside T there is no id to give the mass to.
    [[nodiscard]] double probability(target_id t) const {
        if (!t.valid())
            return 0.0;
        double sum = 0.0;
        for (draft_id d = map_.to_draft(t); d.valid(); d = map_.next_duplicate(d))
            sum += inner_.probability(d);
        return sum;
    }

    template <UnitNumber U>
    [[nodiscard]] target_id at(U u) const {
        return map_.to_target(inner_.at(u));
    }

    /// Draws in D, where every outcome has an id, and maps the draw to T. The same law as at().
    template <Coin C>
    [[nodiscard]] target_id draw(C& coin, draw_site site) const {
        return map_.to_target(coin.pick(site, inner_));
    }

private:
    Inner inner_;
    Map map_;
};

} // namespace specdec
