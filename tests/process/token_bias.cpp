// SPDX-License-Identifier: MIT
#include <specdec/process/token_bias.hpp>

#include <limits>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/process/row_processor.hpp>

using namespace specdec;

namespace token_bias_tests {

constexpr float forbidden = -std::numeric_limits<float>::infinity();

static_assert(RowProcessor<logit_bias<target_id>, target_id>);
static_assert(!RowProcessor<logit_bias<target_id>, draft_id>);
static_assert(RowProcessor<minimum_length<draft_id>, draft_id>);

template <class Id, class P>
std::vector<float> processed(const P& p, std::size_t tokens = 0) {
    std::vector<float> row{1, 2, 3, 4};
    p(std::span<const Id>(std::vector<Id>(tokens, Id{0})), std::span<float>(row));
    return row;
}

// Target 0 is draft 2 and 3, target 1 draft 0; target 2 and draft 1 are of one side only.
const id_map map({1, -1, 0, 0}, {2, 0, -1}, 0, 0);

TEST_CASE("biases are added and bans forbid") {
    const logit_bias<target_id> bias(4, {{target_id{1}, 0.5F}, {target_id{3}, forbidden}});
    CHECK(processed<target_id>(bias) == std::vector<float>{1, 2.5F, 3, forbidden});
    const target_id banned[] = {target_id{0}, target_id{2}};
    CHECK(processed<target_id>(banned_tokens<target_id>(4, banned)) ==
          std::vector<float>{forbidden, 2, forbidden, 4});
    CHECK(processed<target_id>(logit_bias<target_id>(9, {{target_id{8}, 1}})) ==
          std::vector<float>{1, 2, 3, 4}); // a row that is shorter than the vocabulary
}

TEST_CASE("biases of no token and of no number are refused") {
    CHECK_THROWS_WITH((logit_bias<target_id>(4, {{target_id{4}, 1}})),
                      "logit bias: target's ids: expected ids from 0 to 4 - 1, found 4");
    CHECK_THROWS_AS((logit_bias<target_id>(4, {{target_id{}, 1}})), error);
    CHECK_THROWS_WITH(
        (logit_bias<target_id>(4, {{target_id{0}, std::numeric_limits<float>::quiet_NaN()}})),
        "logit bias: bias: expected a finite number or -infinity");
    CHECK_THROWS_AS((logit_bias<target_id>(4, {{target_id{0}, -forbidden}})), error);
}

TEST_CASE("a mirrored bias is that of all draft tokens of the same bytes") {
    const logit_bias<target_id> bias(
        3, {{target_id{0}, -1}, {target_id{1}, forbidden}, {target_id{2}, 5}});
    CHECK(processed<draft_id>(mirrored(bias, map)) == std::vector<float>{forbidden, 2, 2, 3});
    const target_id ends[] = {target_id{2}, target_id{0}};
    CHECK(mirrored(ends, map) == std::vector{draft_id{2}, draft_id{3}});
}

TEST_CASE("a text may not end before its length") {
    const minimum_length<target_id> least({target_id{2}}, 3, 2);
    CHECK(processed<target_id>(least, 2)[2] == forbidden); // within the prompt
    CHECK(processed<target_id>(least, 3)[2] == forbidden);
    CHECK(processed<target_id>(least, 4)[2] == forbidden);
    CHECK(processed<target_id>(least, 5)[2] == 3);
    CHECK(processed<target_id>(least, 3)[1] == 2);
    const minimum_length<target_id> never({target_id{2}}, 3,
                                          std::numeric_limits<std::size_t>::max());
    CHECK(processed<target_id>(never, 5)[2] == forbidden);
}

} // namespace token_bias_tests
