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

} // namespace verdict_tests
