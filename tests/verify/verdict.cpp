// SPDX-License-Identifier: MIT
#include <specdec/verify/verdict.hpp>

#include <catch2/catch.hpp>

#include <specdec/sampling/coin/philox_coin.hpp>
#include <specdec/sampling/law/dense_law.hpp>
#include <specdec/sampling/law/softmax_law.hpp>
#include <specdec/sampling/law/sparse_law.hpp>
#include <specdec/verify/block_verification.hpp>
#include <specdec/verify/exact_match.hpp>
#include <specdec/verify/token_rejection.hpp>

#include "support/archetypes.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace verdict_tests {

using law = law_archetype<target_id>;
using law_at = law (*)(std::size_t);
template <class V, class L>
constexpr bool verifies = Verifier<V, L, law_at, coin_archetype>;

struct returns_a_count {
    template <class LawAt, class L, Coin C>
    std::size_t operator()(LawAt&&, std::span<const proposal<L>>, C&, std::uint64_t) const {
        return 0;
    }
};
struct keeps_state {
    template <class LawAt, class L, Coin C>
    verdict operator()(LawAt&&, std::span<const proposal<L>>, C&, std::uint64_t) {
        return {};
    }
};
struct without_position {
    template <class LawAt, class L, Coin C>
    verdict operator()(LawAt&&, std::span<const proposal<L>>, C&) const {
        return {};
    }
};

static_assert(verifies<exact_match, law>);
static_assert(verifies<token_rejection, law>);
static_assert(verifies<block_verification, law>);
static_assert(verifies<exact_match, one_hot_law<target_id>>);
static_assert(verifies<token_rejection, one_hot_law<target_id>>);
static_assert(verifies<token_rejection, dense_law<target_id>>);
static_assert(verifies<token_rejection, sparse_law<target_id>>);
static_assert(verifies<token_rejection, softmax_law<target_id>>);
static_assert(verifies<block_verification, softmax_law<target_id>>);
static_assert(!verifies<int, law>);
static_assert(!verifies<exact_match, int>);
static_assert(!verifies<exact_match, law_archetype<draft_id>>);
static_assert(!verifies<returns_a_count, law>);
static_assert(!verifies<keeps_state, law>);
static_assert(!verifies<without_position, law>);
static_assert(!Verifier<exact_match, law, law_at, int>);

TEST_CASE("the rules run with nothing but what the concepts promise") {
    coin_archetype coin;
    std::vector<proposal<law>> draft;
    for (std::uint32_t i = 0; i < 3; ++i)
        draft.push_back(proposal<law>::draw({}, coin, {0, purpose::draft, i}));
    const auto laws = [](std::size_t) { return law(); };
    const std::span<const proposal<law>> proposals(draft);
    const verdict rejection = token_rejection{}(laws, proposals, coin, 0);
    CHECK(rejection.accepted == 3); // p = q
    CHECK(rejection.next.valid());
    CHECK(block_verification{}(laws, proposals, coin, 0).accepted == 3);
    CHECK(exact_match{}(laws, proposals, coin, 0).next.valid());
}

TEST_CASE("a rule that accepts an end token draws nothing behind it, and asks for no law") {
    philox_coin coin(1);
    const std::vector draft{certain(target_id{0}), certain(target_id{1})};
    const auto check = [&](const auto& rule) {
        const laws_along laws{[](std::size_t i) {
                                  if (i == 2)
                                      throw "a law was asked for behind the end";
                                  return one_hot_law<target_id>(id_at<target_id>(i));
                              },
                              [](std::size_t i) { return i == 2; }};
        const verdict v = rule(laws, std::span(draft), coin, 0);
        CHECK(v.accepted == 2);
        CHECK(v.evaluated == 2);
        CHECK(v.ended);
        CHECK(v.decided());
        CHECK_FALSE(v.next.valid());
        CHECK(v.emitted() == 2);
        CHECK_THROWS_AS(require_undecided(v, "here"), error);
        const auto others = [](std::size_t) { return one_hot_law<target_id>(target_id{2}); };
        const verdict rejected = rule(others, std::span(draft), coin, 0);
        CHECK_FALSE(rejected.ended);
        CHECK(rejected.emitted() == 1);
    };
    check(exact_match{});
    check(token_rejection{});
    check(block_verification{});
    CHECK_FALSE(verdict{}.decided());
}

/// Draws the draft's end, and nothing else.
struct end_law : one_hot_law<target_id> {
    static constexpr bool ends_drafts() { return true; }
    explicit end_law(target_id t) : one_hot_law(t) {}
    template <Coin C>
    [[nodiscard]] target_id draw(C&, draw_site) const {
        return {};
    }
};

TEST_CASE("the mark of a draft's end is no proposal that could be rejected") {
    philox_coin coin(1);
    const auto end = proposal<end_law>::draw(end_law(target_id{0}), coin, {0, purpose::draft});
    CHECK(end.ends_draft());
    CHECK_FALSE(certain(target_id{}).ends_draft()); // one that left the target's vocabulary
    const auto laws = [](std::size_t) { return one_hot_law<target_id>(target_id{1}); };
    const auto check = [&](const auto& rule, std::size_t evaluated, token_origin origin,
                           const auto& proposals) {
        const verdict v = rule(laws, proposals, coin, 0);
        CHECK(v.accepted == 0);
        CHECK(v.next == target_id{1});
        CHECK(v.evaluated == evaluated);
        CHECK(v.origin == origin);
    };
    const std::span marks(&end, 1);
    check(token_rejection{}, 0, token_origin::residual, marks);
    check(block_verification{}, 0, token_origin::residual, marks);
    check(exact_match{}, 0, token_origin::residual, marks);
    const auto other = certain(target_id{});
    const std::span left(&other, 1);
    check(token_rejection{}, 1, token_origin::corrected, left);
    check(block_verification{}, 1, token_origin::corrected, left);
    check(exact_match{}, 1, token_origin::corrected, left);
}

} // namespace verdict_tests
