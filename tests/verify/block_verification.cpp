// SPDX-License-Identifier: MIT
#include <specdec/verify/block_verification.hpp>

#include <set>
#include <tuple>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/sampling/coin/philox_coin.hpp>
#include <specdec/verify/token_rejection.hpp>

#include "support/archetypes.hpp"
#include "support/enumeration/enumerating_coin.hpp"
#include "support/stack_watch.hpp"
#include "support/watched_laws.hpp"
#include "verify/coin_ends.hpp"

using namespace specdec;
using namespace specdec::testing;

static_assert(Verifier<block_verification, law_archetype<target_id>,
                       law_archetype<target_id> (*)(std::size_t), coin_archetype>);
static_assert(Verifier<block_verification, one_hot_law<target_id>,
                       law_archetype<target_id> (*)(std::size_t), coin_archetype>);

namespace block_verification_tests {

using law = softmax_law<target_id>;
using certain_proposal = proposal<one_hot_law<target_id>>;
std::vector<proposal<law>> drawn(const std::vector<std::vector<float>>& rows, std::uint64_t seed) {
    philox_coin coin(seed);
    std::vector<proposal<law>> draft;
    for (std::uint32_t i = 0; i < rows.size(); ++i)
        draft.push_back(
            proposal<law>::draw(law(logits_row<target_id>{rows[i]}), coin, {5, purpose::draft, i}));
    return draft;
}

bool same(const verdict& a, const verdict& b) {
    return a.accepted == b.accepted && a.evaluated == b.evaluated && a.next == b.next &&
           a.origin == b.origin;
}

/// Another coin that counts draws and refuses a site that is used twice.
struct counting_coin {
    philox_coin coin;
    std::set<std::tuple<std::uint64_t, purpose, std::uint32_t>> sites{};
    std::size_t picks = 0;

    bool flip(draw_site site, double probability) {
        take(site);
        return coin.flip(site, probability);
    }
    template <class L>
    auto pick(draw_site site, const L& l) {
        take(site);
        picks += site.why == purpose::residual ? 1 : 0;
        return coin.pick(site, l);
    }
    void take(draw_site site) {
        REQUIRE(sites.insert({site.position, site.why, site.attempt}).second);
    }
};

TEST_CASE("block verification without a draft: one draw of the target") {
    check_no_draft(block_verification{});
}

TEST_CASE("block verification keeps a sure prefix, asks for no row behind what p forbids") {
    check_sure_prefixes(block_verification{});
}

TEST_CASE("one proposal: block verification is token rejection, draw by draw") {
    for (std::uint64_t seed = 0; seed < 500; ++seed)
        for (const std::uint32_t draws : {0U, 1U, 32U}) {
            watched_laws laws(random_rows(2, 4, seed));
            const auto rows = random_rows(1, 4, seed + 5000);
            const auto draft = drawn(rows, seed);
            REQUIRE(same(verify(laws, draft, seed, block_verification{draws}),
                         verify(laws, draft, seed, token_rejection{draws})));
        }
}

TEST_CASE("block verification: counts, rows and sites fit each other; one draw a place") {
    constexpr std::size_t gamma = 5, rounds = 2000;
    std::size_t picks = 0, kept_behind_a_rejection = 0;
    for (std::uint64_t seed = 0; seed < rounds; ++seed) {
        watched_laws laws(random_rows(gamma + 1, 6, seed));
        const auto rows = random_rows(gamma, 6, seed + 5000);
        const auto draft = drawn(rows, seed);
        counting_coin coin{philox_coin(seed)};
        const verdict v =
            block_verification{}(laws, std::span<const proposal<law>>(draft), coin, 5);
        const bool all = v.accepted == gamma;
        REQUIRE(v.evaluated == (all ? gamma : v.accepted + 1));
        REQUIRE(v.origin == (all ? token_origin::free : token_origin::corrected));
        REQUIRE(laws.asked == first_places(all ? gamma + 1 : gamma)); // each once, ascending
        REQUIRE(v.next.valid());
        picks += coin.picks;
        kept_behind_a_rejection +=
            v.accepted > verify(laws, draft, seed, token_rejection{}).accepted ? 1U : 0U;
    }
    CHECK(picks <= rounds * gamma * 11 / 10); // on average at most one
    CHECK(kept_behind_a_rejection > rounds / 50);
}

TEST_CASE("block verification: a draft of many tokens") {
    constexpr std::size_t gamma = 200;
    const sampling_parameters greedy{.temperature = 0};
    watched_laws laws(random_rows(gamma + 1, 5, 3), greedy);
    std::vector<certain_proposal> draft;
    for (std::size_t i = 0; i < gamma; ++i)
        draft.push_back(certain(laws(i).top()));
    CHECK(verify(laws, draft, 1, block_verification{}).accepted == gamma);
}

TEST_CASE("block verification: a proposal takes the stack of its law and little else") {
    constexpr std::size_t gamma = 20;
    const std::vector<float> even(4, 0.0F);
    const std::vector rows(gamma, even);
    const auto draft = drawn(rows, 1);
    const philox_coin coin(1);
    stack_watch stack;
    const auto law_at = [&](std::size_t) {
        stack.pass();
        return make_law(logits_row<target_id>{even}, {});
    };
    const verdict v = block_verification{}(law_at, std::span<const proposal<law>>(draft), coin, 5);
    CHECK(v.accepted == gamma);
    REQUIRE(stack.places.size() == gamma + 1);
    if (stack_watch::works)
        CHECK(stack.a_level() < sizeof(law) + 512);
}

TEST_CASE("block verification: equal laws are kept whole, at any cap on the draws") {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        const auto rows = random_rows(4, 5, seed);
        watched_laws laws(rows);
        const std::vector front(rows.begin(), rows.begin() + 3);
        const auto draft = drawn(front, seed);
        REQUIRE(verify(laws, draft, seed, block_verification{0}).accepted == 3);
    }
}

/// A law that is compared, a little below uniform but for its first id.
struct compared_law {
    [[nodiscard]] std::size_t size() const { return 4; }
    [[nodiscard]] double probability(target_id t) const { return t.value == 0 ? 0.2575 : 0.2475; }
    [[nodiscard]] bool below(target_id t, double bound) const { return probability(t) < bound; }
    [[nodiscard]] target_id at(double u) const {
        const auto id = static_cast<std::int32_t>((u - 0.01) * 4);
        return target_id{id < 0 ? 0 : id};
    }
};

/// Also shows what decides.
struct shown_coin : counting_coin {
    double uniform(draw_site site) {
        take(site);
        return coin.uniform(site);
    }
};

TEST_CASE("block verification: no two decisions of a round have one site, however many draws") {
    const std::vector<float> even(4, 0.0F);
    std::size_t most = 0;
    for (std::uint64_t seed = 0; seed < 3000; ++seed) {
        shown_coin coin{{philox_coin(seed)}};
        const auto law_at = [&](std::size_t) { return make_law(logits_row<target_id>{even}, {}); };
        std::vector<proposal<compared_law>> draft;
        for (std::uint32_t i = 0; i < 3; ++i)
            draft.push_back(proposal<compared_law>::draw({}, coin, {5, purpose::draft, i}));
        (void)block_verification{}(law_at, std::span<const proposal<compared_law>>(draft), coin, 5);
        most = coin.picks > most ? coin.picks : most;
    }
    CHECK(most > 40);
}

TEST_CASE("block verification: more draws than sites can be numbered are refused") {
    const auto rows = random_rows(3, 4, 1);
    const std::vector drafted{rows[0], rows[1]}; // borrowed by the draft's laws
    const auto draft = drawn(drafted, 2);
    const auto decide = [&](thinning_limits limits) {
        watched_laws laws(rows);
        return verify(laws, draft, 3, block_verification{limits}).next;
    };
    CHECK(decide({.draws = (1U << 28) - 1}) == decide({}));
    CHECK_THROWS_AS(decide({.draws = 1U << 28}), error);
    CHECK_THROWS_AS(decide({.draws = ~0U}), error);
    CHECK_THROWS_AS(decide({.lazy_draws = 1U << 29}), error);
}

TEST_CASE("block verification: a coin of 0 or 1 keeps and draws nothing that p forbids") {
    check_ends_of_the_coin(block_verification{});
    check_ends_of_the_coin(block_verification{.thinning = {0, 0}});
}

} // namespace block_verification_tests
