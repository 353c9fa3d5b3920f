// SPDX-License-Identifier: MIT
#include <specdec/decode/statistics.hpp>

#include <vector>

#include <catch2/catch.hpp>

using namespace specdec;

TEST_CASE("nothing counted gives rates of 0") {
    const statistics counts;
    CHECK(counts.tokens_per_target_call() == 0.0);
    CHECK(counts.acceptance_rate() == 0.0);
    CHECK(counts.conditional_acceptance_rate() == 0.0);
    CHECK(counts.rounds_with_draft() == 0);
    CHECK(counts.mean_accepted_length() == 1.0);
}

TEST_CASE("rounds are counted by their verdict") {
    statistics counts;
    counts.reserve(3);
    counts.count({2, 3, target_id{1}, token_origin::corrected}, 3, 4, 5, no_draft::none);
    counts.count({4, 4, target_id{1}, token_origin::free}, 2, 4, 4, no_draft::none);
    counts.count({0, 0, target_id{1}, token_origin::free}, 1, 0, 1, no_draft::nothing_to_say);
    CHECK(counts.looked_up == 0);
    statistics found;
    found.count({2, 3, target_id{1}, token_origin::corrected}, 3, 5, 0, no_draft::none, {4, 2});
    found.count({3, 3, target_id{1}, token_origin::free}, 4, 3, 0, no_draft::none, {2, 2});
    found.count({.accepted = 2, .evaluated = 2, .ended = true}, 2, 2, 0, no_draft::none);
    CHECK(found.free == 1); // none behind an end token
    CHECK(found.committed == 9);
    CHECK(found.discarded == 0);
    CHECK(found.looked_up == 6);
    CHECK(found.looked_up_accepted == 4);
    CHECK(found.accepted == 7);
    CHECK(counts.rounds == 3);
    CHECK(counts.draft_tokens == 10);
    CHECK(counts.proposed == 8);
    CHECK(counts.evaluated == 7);
    CHECK(counts.accepted == 6);
    CHECK(counts.corrected == 1);
    CHECK(counts.free == 2);
    CHECK(counts.evaluated_at == std::vector<std::uint64_t>{2, 2, 2}); // no place for the fourth
    CHECK(counts.rounds_by_proposals == std::vector<std::uint64_t>{1, 0, 0, 0});
    CHECK(counts.accepted_at == std::vector<std::uint64_t>{2, 2, 1});
    CHECK(counts.acceptance_rate() == Approx(6 / 8.0)); // of all that was proposed
    CHECK(counts.conditional_acceptance_rate() == Approx(6 / 7.0));
    for (std::size_t r = 0; r < no_draft_reasons; ++r)
        CHECK(counts.without_draft[r] == (r == static_cast<std::size_t>(no_draft::nothing_to_say)));
    CHECK(counts.committed == 6);
    CHECK(counts.discarded == 3);
    CHECK(counts.tokens_per_target_call() == 2.0);
    CHECK(counts.rounds_with_draft() == 2);
    CHECK(counts.mean_accepted_length() == 1 + 6 / 2.0); // of the rounds with a draft
}
