// SPDX-License-Identifier: MIT
#include <specdec/head/exits/early_exit_model.hpp>

#include <cstdint>
#include <span>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/core/model/one_sequence.hpp>
#include <specdec/draft/model_drafter.hpp>
#include <specdec/head/exits/confidence_exit.hpp>
#include <specdec/head/exits/sampled_token_exit.hpp>
#include <specdec/sampling/coin/philox_coin.hpp>
#include <specdec/speculation/any/any_model.hpp>

#include "support/ids.hpp"
#include "support/toy_exits.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace early_exit_model_tests {

constexpr std::size_t tokens = 7;

std::vector<float> row_of(std::size_t exit, const sequence& prefix) {
    return toy_rows(row_kind::random, tokens, exit + 1)(prefix);
}
toy_exits make_model(std::size_t sequences = 1) {
    return {tokens, 3, row_of, sequences};
}
/// The exit that speaks behind a prefix, by the definition.
std::size_t wanted_exit(const exit_thresholds& tau, const sequence& prefix) {
    for (std::size_t e = 0; e < 3; ++e)
        if (row_confidence(row_of(e, prefix)) >= tau[e])
            return e;
    return early_exit_model<toy_exits, confidence_exit>::none;
}

TEST_CASE("each row is that of the first exit that is sure, however tokens are grouped") {
    const exit_thresholds tau({0.4, 0.37});
    std::vector<std::size_t> spoke(3);
    for (const std::size_t group : {1U, 2U, 5U, 10U}) {
        toy_exits model = make_model();
        confidence_exit choice(tau);
        early_exit_model draft(model, choice, 1); // fewer rows than are asked for
        static_assert(BatchModelOf<decltype(draft), draft_id>);
        const auto ids = ids_of({0, 3, 1, 6, 2, 2, 5, 0, 4, 1});
        sequence prefix;
        for (std::size_t first = 0; first < ids.size(); first += group) {
            const sequence_tokens<draft_id> part{0, std::span(ids).subspan(first, group)};
            const logits_rows<draft_id> rows = draft.score(std::span(&part, 1));
            for (std::size_t i = 0; i < group; ++i) {
                if (first + i > 0)
                    prefix.push_back(ids[first + i].value);
                const std::size_t e = wanted_exit(tau, prefix);
                CHECK(draft.exit_of(0, first + i) == e);
                const std::vector<float> wanted = row_of(e, prefix);
                CHECK(copy_of(rows[i].values) == wanted);
                ++spoke[e];
            }
        }
        std::size_t sum = 0;
        for (const std::uint64_t n : draft.counts())
            sum += n;
        CHECK(sum == ids.size());
        CHECK(draft.counts()[1] == model.asked[1] - draft.counts()[2]);
        CHECK(draft.ended() == 0);
    }
    for (const std::size_t n : spoke)
        CHECK(n > 0);
}

TEST_CASE("a fixed exit is the drafter of that depth, and no other is computed") {
    for (std::size_t e = 0; e < 3; ++e) {
        toy_exits model = make_model();
        confidence_exit choice(exit_thresholds::fixed(e));
        early_exit_model draft(model, choice);
        const auto ids = ids_of({0, 4, 4});
        const sequence_tokens<draft_id> part{0, ids};
        const auto rows = draft.score(std::span(&part, 1));
        const std::vector<float> wanted = row_of(e, {4, 4});
        CHECK(copy_of(rows[2].values) == wanted);
        for (std::size_t k = 0; k < 3; ++k)
            CHECK(model.asked[k] == (k == e ? 3U : 0U));
    }
}

TEST_CASE("where the last exit is not sure the row allows nothing") {
    toy_exits model = make_model();
    confidence_exit choice(exit_thresholds({1, 1, 1}));
    early_exit_model draft(model, choice);
    const auto ids = ids_of({0, 1});
    const sequence_tokens<draft_id> part{0, ids};
    const auto rows = draft.score(std::span(&part, 1));
    CHECK_FALSE(any_allowed(rows[0].values));
    CHECK_FALSE(any_allowed(rows[1].values));
    CHECK(draft.ended() == 2);
    CHECK(draft.exit_of(0, 1) == draft.none);
}

TEST_CASE(
    "a row that is asked for again comes from the exit that gave it, whatever was drawn since") {
    toy_exits model = make_model();
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        philox_coin coin(seed);
        sampled_token_exit choice(exit_thresholds({0.3, 0.2}), {}, std::span(&coin, 1));
        early_exit_model draft(model, choice);
        const auto ids = ids_of({0, 3, 1, 6, 2, 2, 5});
        const sequence_tokens<draft_id> part{0, ids};
        std::vector<std::vector<float>> first;
        for (int time = 0; time < 3; ++time) {
            draft.truncate(0, 0);
            const auto rows = draft.score(std::span(&part, 1));
            for (std::size_t i = 0; i < ids.size(); ++i) {
                if (time == 0)
                    first.push_back(copy_of(rows[i].values));
                CHECK(copy_of(rows[i].values) == first[i]);
            }
        }
    }
}

TEST_CASE("several sequences, and a pass that throws") {
    toy_exits model = make_model(2);
    confidence_exit choice(exit_thresholds({0.4, 0.37}));
    early_exit_model draft(model, choice);
    const auto a = ids_of({0, 3}), b = ids_of({0, 5, 6});
    const sequence_tokens<draft_id> parts[] = {{1, b}, {0, a}};
    model.fails_at = 0;
    CHECK_THROWS(draft.score(parts));
    CHECK(draft.size(0) + draft.size(1) == 0);
    model.fails_at = 99;
    const auto rows = draft.score(parts);
    REQUIRE(rows.size() == 5);
    const exit_thresholds& tau = choice.thresholds();
    CHECK(rows[2].values[0] == row_of(wanted_exit(tau, {5, 6}), {5, 6})[0]);
    CHECK(rows[4].values[0] == row_of(wanted_exit(tau, {3}), {3})[0]);
    CHECK(draft.size(1) == 3);
    draft.truncate(1, 1);
    CHECK(model.size(1) == 1);
    CHECK_THROWS(draft.append(0, std::vector<draft_id>(63)));
    CHECK(draft.size(0) == 2);
}

TEST_CASE("rows that nobody reads are not computed") {
    toy_exits model = make_model();
    confidence_exit choice(exit_thresholds::fixed(1));
    early_exit_model sorted(model, choice);
    one_sequence<draft_id, decltype(sorted)> draft(sorted, 0);
    model_drafter drafter(draft);
    const auto text = ids_of({0, 1, 2, 3});
    drafter.sync(text, 0);
    CHECK(drafter.row().values[2] == row_of(1, {1, 2, 3})[2]);
    CHECK(model.asked == std::vector<std::size_t>{0, 1, 0});
    drafter.sync(text, 4);
    CHECK(drafter.rows(2)[0].values[2] == row_of(1, {1, 2})[2]);
    CHECK(model.asked == std::vector<std::size_t>{0, 3, 0});
    any_batch_model<draft_id> any(sorted); // behind one type, too
    CHECK(one_sequence<draft_id, any_batch_model<draft_id>>(any, 0).lazy_append());
}

TEST_CASE("thresholds and exits that do not fit are refused") {
    toy_exits model = make_model();
    const auto make = [&](const exit_thresholds& tau) {
        confidence_exit choice(tau);
        early_exit_model draft(model, choice);
    };
    CHECK_NOTHROW(make(exit_thresholds()));
    CHECK_NOTHROW(make(exit_thresholds({0.2, 0.3, 0.4})));
    CHECK_THROWS_AS(make(exit_thresholds({0.2, 0.3, 0.4, 0.5})), error);
    CHECK_THROWS_AS(make(exit_thresholds::fixed(3)), error);
    toy_exits none(tokens, 0, row_of);
    confidence_exit first{exit_thresholds()};
    CHECK_THROWS_AS(early_exit_model(none, first), error);
}

} // namespace early_exit_model_tests
