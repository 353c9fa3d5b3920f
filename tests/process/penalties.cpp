// SPDX-License-Identifier: MIT
#include <specdec/process/penalties.hpp>

#include <algorithm>
#include <limits>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/process/row_processor.hpp>

#include "support/holds.hpp"
#include "support/ids.hpp"

using namespace specdec;

namespace penalties_tests {

static_assert(RowProcessor<repetition_penalty<target_id>, target_id>);
static_assert(RowProcessor<occurrence_penalty<draft_id>, draft_id>);

template <class P>
std::vector<float> processed(P& p, const std::vector<int>& tokens, std::vector<float> row) {
    p(std::span<const target_id>(testing::ids_of<target_id>(tokens)), std::span<float>(row));
    return row;
}

TEST_CASE("the repetition penalty is that of CTRL, over prompt and text") {
    repetition_penalty<target_id> penalty(4, 2);
    constexpr float forbidden = -std::numeric_limits<float>::infinity();
    CHECK(processed(penalty, {0, 1, 1, 3}, {3, -3, 5, 0}) == std::vector<float>{1.5F, -6, 5, 0});
    CHECK(processed(penalty, {2}, {3, -3, forbidden, 0}) ==
          std::vector<float>{3, -3, forbidden, 0});
    CHECK(processed(penalty, {}, {3, -3, 5, 0}) == std::vector<float>{3, -3, 5, 0});
    CHECK_THROWS_WITH((repetition_penalty<target_id>(4, 0)),
                      "repetition penalty: penalty: expected a positive number");
    CHECK_THROWS_AS((repetition_penalty<target_id>(4, -forbidden)), error);
    CHECK_NOTHROW(repetition_penalty<target_id>(4, 0.5F)); // a reward
}

TEST_CASE("presence and frequency are OpenAI's, over the text behind the prompt") {
    occurrence_penalty<target_id> penalty(4, 2, {.presence = 0.5F, .frequency = 0.25F});
    CHECK(processed(penalty, {0, 1, 1, 3, 3}, {1, 1, 1, 1}) ==
          std::vector<float>{1, 0.25F, 1, 0}); // 0 stands in the prompt only
    CHECK(processed(penalty, {3}, {1, 1, 1, 1}) == std::vector<float>{1, 1, 1, 1});
    occurrence_penalty<target_id> reward(2, 0, {.presence = -1});
    CHECK(processed(reward, {1, 1}, {0, 0}) == std::vector<float>{0, 1});
    CHECK_THROWS_WITH((occurrence_penalty<target_id>(
                          4, 0, {.frequency = std::numeric_limits<float>::quiet_NaN()})),
                      "occurrence penalty: costs: expected finite numbers");
}

TEST_CASE("rows with tokens that a penalty does not count are refused") {
    repetition_penalty<target_id> repeated(3, 2);
    CHECK_THROWS_WITH(
        processed(repeated, {0}, {1, 1, 1, 1}),
        "repetition penalty: row: expected at most the 3 logits of its vocabulary, found 4");
    occurrence_penalty<target_id> occurred(3, 0, {});
    CHECK_THROWS_WITH(
        processed(occurred, {0}, {1, 1, 1, 1}),
        "occurrence penalty: row: expected at most the 3 logits of its vocabulary, found 4");
    CHECK(processed(repeated, {0, 2}, {2, 2}) == std::vector<float>{1, 2}); // a shorter row
}

TEST_CASE("counts are those of the tokens, whatever was counted before") {
    testing::require_holds([] {
        token_counts<target_id> counts(5, 1);
        std::vector<target_id> tokens;
        // How many tokens stay, and those behind them; 5: an id outside.
        const auto steps = up_to(60, rc::gen::pair(any_in(0, 30), up_to(8, any_in(0, 5))));
        for (const auto& [stay, more] : *steps) {
            tokens.resize(std::min(tokens.size(), stay));
            for (const std::size_t t : more)
                tokens.push_back(id_at<target_id>(t));
            counts.follow(tokens);
            std::size_t distinct = 0;
            for (int t = 0; t < 5; ++t) {
                std::size_t expected = 0;
                for (std::size_t k = 1; k < tokens.size(); ++k)
                    expected += tokens[k] == target_id{t} ? 1U : 0U;
                distinct += expected > 0 ? 1U : 0U;
                RC_ASSERT(counts[target_id{t}] == expected);
            }
            RC_ASSERT(counts.distinct().size() == distinct);
            for (const target_id t : counts.distinct())
                RC_ASSERT(counts[t] > 0U);
        }
    });
}

} // namespace penalties_tests
