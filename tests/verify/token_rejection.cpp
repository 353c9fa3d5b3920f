// SPDX-License-Identifier: MIT
#include <specdec/verify/token_rejection.hpp>

#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "support/watched_laws.hpp"
#include "verify/coin_ends.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace token_rejection_tests {

using certain_proposal = proposal<one_hot_law<target_id>>;

TEST_CASE("token rejection without a draft: one draw of the target") {
    check_no_draft(token_rejection{});
}

TEST_CASE("token rejection keeps a sure prefix, asks for no row behind the rejection") {
    check_sure_prefixes(token_rejection{});
}

TEST_CASE("token rejection: counts and rows fit each other on random laws") {
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        constexpr std::size_t gamma = 3;
        watched_laws laws(random_rows(gamma + 1, 4, seed));
        const auto q_rows = random_rows(gamma, 4, seed + 5000);
        philox_coin coin(seed);
        using law = softmax_law<target_id>;
        std::vector<proposal<law>> draft;
        for (std::uint32_t i = 0; i < gamma; ++i)
            draft.push_back(proposal<law>::draw(law(logits_row<target_id>{q_rows[i]}), coin,
                                                {5, purpose::draft, i}));
        const verdict v = verify(laws, draft, seed, token_rejection{});
        const bool all = v.accepted == gamma;
        REQUIRE(v.evaluated == (all ? gamma : v.accepted + 1));
        REQUIRE(v.origin == (all ? token_origin::free : token_origin::corrected));
        REQUIRE(laws.asked == first_places(v.accepted + 1));
        REQUIRE(v.next.valid());
        if (!all) { // what replaces a proposal has residual mass, which the proposal has not
            const law p = laws(v.accepted), q = draft[v.accepted].law();
            REQUIRE(p.probability(v.next) > q.probability(v.next));
        }
    }
}

TEST_CASE("token rejection: the number of thinning draws changes no verdict but the replacement") {
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        watched_laws laws(random_rows(3, 4, seed));
        const std::vector draft{certain(target_id{0}), certain(target_id{1})};
        const verdict a = verify(laws, draft, seed, token_rejection{0});
        const verdict b = verify(laws, draft, seed, token_rejection{32});
        REQUIRE(a.accepted == b.accepted);
        REQUIRE(a.evaluated == b.evaluated);
        REQUIRE(a.origin == b.origin);
    }
}

TEST_CASE("token rejection: more draws than sites can be numbered are refused") {
    watched_laws laws(random_rows(2, 4, 1));
    const std::vector draft{certain(target_id{0})};
    CHECK_THROWS_AS(verify(laws, draft, 1, token_rejection{1U << 29}), error);
    CHECK(laws.asked.empty());
}

TEST_CASE("token rejection: a coin of 0 or 1 keeps and draws nothing that p forbids") {
    check_ends_of_the_coin(token_rejection{});
    check_ends_of_the_coin(token_rejection{.thinning = {0, 0}});
    // A coin of 0 keeps all that p allows, and none below 1 rejects what is as likely as proposed.
    const auto rows = random_rows(3, 5, 1);
    for (const double u : {0.0, 1 - 0x1p-53}) {
        std::vector<proposal<softmax_law<target_id>>> draft;
        fixed_coin coin{u};
        for (const std::size_t i : {0U, 1U})
            draft.push_back(proposal<softmax_law<target_id>>::draw(
                softmax_law<target_id>(logits_row<target_id>{rows[i]}), coin, {}));
        watched_laws laws(rows);
        CHECK(token_rejection{}(laws, std::span(std::as_const(draft)), coin, 5).accepted == 2);
    }
}

} // namespace token_rejection_tests
