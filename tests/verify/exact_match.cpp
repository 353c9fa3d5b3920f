// SPDX-License-Identifier: MIT
#include <specdec/verify/exact_match.hpp>

#include <vector>

#include <catch2/catch.hpp>

#include "support/watched_laws.hpp"
#include "verify/coin_ends.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace exact_match_tests {

using certain_proposal = proposal<one_hot_law<target_id>>;
constexpr std::uint64_t begin = 11; // position of the round

/// What the target itself says at every place: the draws that exact match makes.
std::vector<target_id> own_tokens(watched_laws laws, std::size_t count, const philox_coin& coin) {
    std::vector<target_id> tokens;
    for (std::size_t i = 0; i < count; ++i)
        tokens.push_back(coin.pick({begin + i, purpose::target}, laws(i)));
    return tokens;
}

verdict verify(watched_laws& laws, const std::vector<certain_proposal>& draft, philox_coin coin) {
    return exact_match{}(laws, std::span<const certain_proposal>(draft), coin, begin);
}

TEST_CASE("exact match without a draft: one draw of the target") {
    check_no_draft(exact_match{});
}

TEST_CASE("exact match keeps the agreeing prefix and asks for no row behind it") {
    constexpr std::size_t gamma = 4;
    for (std::uint64_t seed = 0; seed < 20; ++seed)
        for (std::size_t agreeing = 0; agreeing <= gamma; ++agreeing) {
            const philox_coin coin(seed);
            watched_laws laws(random_rows(gamma + 1, 5, seed));
            const auto own = own_tokens(laws, gamma + 1, coin);
            std::vector<certain_proposal> draft;
            for (std::size_t i = 0; i < gamma; ++i)
                draft.push_back(certain(i < agreeing ? own[i] : target_id{(own[i].value + 1) % 5}));
            const verdict v = verify(laws, draft, coin);
            const bool all = agreeing == gamma;
            CHECK(v.accepted == agreeing);
            CHECK(v.evaluated == (all ? gamma : agreeing + 1));
            CHECK(v.origin == (all ? token_origin::free : token_origin::corrected));
            CHECK(v.next == own[agreeing]);
            CHECK(laws.asked == first_places(agreeing + 1));
        }
}

TEST_CASE("exact match: the tokens of a seed are the same whatever is proposed") {
    for (std::uint64_t seed = 0; seed < 30; ++seed) {
        const philox_coin coin(seed);
        watched_laws laws(random_rows(5, 4, seed));
        const auto own = own_tokens(laws, 5, coin);
        for (std::uint64_t draw = 0; draw < 30; ++draw) {
            std::vector<certain_proposal> draft;
            for (std::size_t i = 0; i < draw % 5; ++i)
                draft.push_back(
                    certain(target_id{static_cast<std::int32_t>((draw * 7 + i * 3) % 4)}));
            const verdict v = verify(laws, draft, coin);
            for (std::size_t i = 0; i < v.accepted; ++i)
                REQUIRE(draft[i].token() == own[i]);
            REQUIRE(v.next == own[v.accepted]);
        }
    }
}

TEST_CASE("exact match: a coin of 0 or 1 keeps and draws nothing that p forbids") {
    check_ends_of_the_coin(exact_match{});
}

} // namespace exact_match_tests
