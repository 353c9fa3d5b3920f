// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include <catch2/catch.hpp>

#include "support/watched_laws.hpp"

namespace specdec::testing {

/// A coin that always gives one number, and counts how often.
struct fixed_coin {
    double u;
    int asked = 0;

    double uniform(draw_site) {
        ++asked;
        return u;
    }
    bool flip(draw_site site, double probability) { return uniform(site) < probability; }
    template <class L>
    auto pick(draw_site site, const L& law) {
        return law.at(uniform(site));
    }
};

/// Numbers at the ends of [0, 1), and 1, to which a coin of floats rounds: two bugs of 2026 (a coin
/// of exactly 0 accepts p = 0, a coin of 1 draws what lies behind the law). Whatever the coin says,
/// no token is kept or drawn that its target law forbids, not even by a proposal that was likely.
template <class Rule>
void check_ends_of_the_coin(const Rule& rule) {
    constexpr std::size_t gamma = 3, vocabulary = 5;
    constexpr float no = -std::numeric_limits<float>::infinity();
    using law = softmax_law<target_id>;
    std::size_t forbidden = 0;
    for (std::uint64_t seed = 0; seed < 400; ++seed) {
        auto p_rows = random_rows(gamma + 1, vocabulary, seed);
        auto q_rows = random_rows(gamma, vocabulary, seed + 5000);
        for (std::size_t i = 0; i <= gamma; ++i) { // two ids in five, other ones of q
            p_rows[i][(seed + i) % vocabulary] = p_rows[i][(seed + i + 2) % vocabulary] = no;
            if (i < gamma)
                q_rows[i][(seed / 5 + i) % vocabulary] = no;
        }
        philox_coin drafter(seed);
        std::vector<proposal<law>> draft;
        for (std::uint32_t i = 0; i < gamma; ++i)
            draft.push_back(proposal<law>::draw(law(logits_row<target_id>{q_rows[i]}), drafter,
                                                {5, purpose::draft, i}));
        for (const double u : {0.0, 0x1p-1074, 0x1p-53, 1 - 0x1p-53, 1.0}) {
            watched_laws laws(p_rows);
            fixed_coin coin{u};
            const verdict v = rule(laws, std::span<const proposal<law>>(draft), coin, 5);
            CAPTURE(seed, u, v.accepted);
            for (std::size_t i = 0; i < v.accepted; ++i)
                REQUIRE(laws(i).probability(draft[i].token()) > 0);
            REQUIRE(v.next.valid());
            REQUIRE(laws(v.accepted).probability(v.next) > 0);
            REQUIRE(coin.asked > 0);
            if (v.accepted < gamma &&
                !(laws(v.accepted).probability(draft[v.accepted].token()) > 0))
                ++forbidden;
        }
    }
    CHECK(forbidden > 300); // proposals that only their p of 0 stopped
}

} // namespace specdec::testing
