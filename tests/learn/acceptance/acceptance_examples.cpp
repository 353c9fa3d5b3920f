// SPDX-License-Identifier: MIT
#include <specdec/learn/acceptance/acceptance_examples.hpp>

#include <vector>

#include <catch2/catch.hpp>

using namespace specdec;

namespace acceptance_examples_tests {

draft_progress at(int token) {
    return {.drafted = 1, .token = draft_id{token}};
}

TEST_CASE("a ring of the last ones, two for each label") {
    acceptance_examples examples(6);
    const std::vector<draft_progress> steps{at(0), at(1), at(2)};
    examples.add(steps, std::vector<float>{1, 0.5F});
    REQUIRE(examples.size() == 4);
    CHECK_FALSE(examples[0].at.token.valid());
    CHECK(examples[0].output == 1);
    CHECK(examples[0].label == 1);
    CHECK(examples[1].at.token == draft_id{0});
    CHECK(examples[1].output == 0);
    CHECK(examples[2].at.token == draft_id{0});
    CHECK(examples[2].output == 1);
    CHECK(examples[2].label == 0.5F);
    CHECK(examples[3].at.token == draft_id{1});
    examples.add(steps, std::vector<float>{0, 1, 0});
    REQUIRE(examples.size() == 6);
    CHECK(examples[0].label == 0);
    CHECK(examples[5].at.token == draft_id{2});
    CHECK(&examples.any([] { return 0.0; }) == &examples[0]);
    CHECK(&examples.any([] { return 0.9999; }) == &examples[5]);
    CHECK_THROWS_AS(acceptance_examples(0), error);
}

} // namespace acceptance_examples_tests
