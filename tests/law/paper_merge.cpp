// SPDX-License-Identifier: MIT
// OmniDraft's Eq. 2 as printed: how far its output law is from the target's, enumerated by the
// machinery that finds the exact merge at 1e-16.
#include <specdec/bridge/paper_merge.hpp>

#include <cmath>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/bridge/ngram_merge.hpp>
#include <specdec/sampling/coin/philox_coin.hpp>
#include <specdec/vocab/ngrams/ngram_cache.hpp>

#include "bridge_cases.hpp"
#include "support/script_drafter.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace {

struct merging_pair {
    target_words target{{"a", "b", "ab"}};
    draft_words draft{{"a", "b"}};
    id_map map = intersect(draft.table(), target.table());
    byte_order<draft_id> order{draft};
    ngram_cache<no_eviction> cache;

    merging_pair() { cache.insert(std::vector{draft_id{0}, draft_id{1}}, target_id{2}); }

    [[nodiscard]] auto printed(std::size_t gamma) {
        return lossy::paper_merge_bridge(merging(cache, target, draft, map, order), map,
                                         retokenised_context(target, draft, map, 16), gamma);
    }
    [[nodiscard]] auto exact_form(std::size_t gamma) {
        return make_ngram_merge_bridge(cache, target, draft, map, order, 16, {gamma, 0});
    }
};

} // namespace

TEST_CASE("the merge as printed changes the law; the exact merge does not", "[law]") {
    merging_pair two;
    double sum = 0, greatest = 0;
    const int cases = 100;
    for (int i = 0; i < cases; ++i) {
        row_tree p(toy_rows(row_kind::random, 3, 900 + static_cast<std::uint64_t>(i)));
        row_tree q(toy_rows(row_kind::random, 2, 500 + static_cast<std::uint64_t>(i)));
        const law_case c{p, q, 2, 3};
        const joint_law expected = target_alone(p, 3);
        const double bias = total_variation(session_law(two.printed(2), rejection, c), expected);
        REQUIRE(total_variation(session_law(two.exact_form(2), rejection, c), expected) < exact);
        sum += bias;
        greatest = bias > greatest ? bias : greatest;
    }
    WARN("total variation of Eq. 2 as printed over " << cases << " random pairs: mean "
                                                     << sum / cases << ", greatest " << greatest);
    CHECK(sum / cases == Approx(0.09).margin(0.005)); // as docs/rules/merge-paper.md says
    CHECK(greatest == Approx(0.37).margin(0.005));
}

TEST_CASE("the merge as printed: Eq. 2's three cases where a merge was drawn, else the row") {
    merging_pair two;
    const double likely = std::exp(2.0) / (std::exp(2.0) + 1), merged = likely * likely;
    std::size_t merges = 0;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        auto bridge = two.printed(2);
        bridge.follow(std::vector{target_id{0}});              // a text
        script_drafter drafter(2, {draft_id{0}, draft_id{1}}); // a, then b
        philox_coin coin(seed);
        const auto draft = bridge.propose(drafter, fixed_length{}, coin, {0, 8, {}, {}});
        REQUIRE(draft.proposals.size() > 0);
        const auto& q = draft.proposals[0].law();
        const bool m = draft.proposals[0].token() == target_id{2};
        merges += m ? 1U : 0U;
        CHECK(q.probability(target_id{0}) == Approx(m ? likely - merged : likely));
        CHECK(q.probability(target_id{1}) == Approx(1 - likely));
        CHECK(q.probability(target_id{2}) == (m ? Approx(merged) : Approx(0)));
    }
    CHECK((merges > 0 && merges < 20));
}

TEST_CASE("at temperature 0 the merge as printed gives the target's text", "[law]") {
    merging_pair two;
    for (std::uint64_t i = 0; i < 50; ++i) {
        row_tree p(toy_rows(row_kind::random, 3, i)), q(toy_rows(row_kind::random, 2, 70 + i));
        const law_case c{p, q, 3, 4, {.temperature = 0}};
        REQUIRE(total_variation(session_law(two.printed(3), rejection, c),
                                target_alone(p, 4, {.temperature = 0})) < exact);
    }
}
