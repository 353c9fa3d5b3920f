// SPDX-License-Identifier: MIT
#include <specdec/head/token_groups.hpp>

#include <cstdint>
#include <vector>

#include <catch2/catch.hpp>

#include "support/ids.hpp"

using namespace specdec;

namespace groups_tests {

std::vector<std::vector<int>> members(const token_groups<draft_id>& groups) {
    std::vector<std::vector<int>> out(groups.size());
    for (std::size_t g = 0; g < groups.size(); ++g) {
        out[g] = testing::values_of(groups[g]);
        CHECK(groups.ids().data() + groups.begin_of(g) == groups[g].data());
    }
    return out;
}
using lists = std::vector<std::vector<int>>;

TEST_CASE("groups by any assignment, with tokens of no group") {
    constexpr std::uint32_t none = token_groups<draft_id>::none;
    const std::vector<std::uint32_t> of{1, none, 0, 1, 0, 1};
    const token_groups<draft_id> groups(of, 2);
    CHECK(members(groups) == lists{{2, 4}, {0, 3, 5}});
    CHECK(groups.vocabulary_size() == 6);
    CHECK(groups.ids().size() == 5);
}

TEST_CASE("equal parts of a vocabulary and of a list") {
    CHECK(members(token_groups<draft_id>::equal_parts(7, 3)) == lists{{0, 1, 2}, {3, 4}, {5, 6}});
    const token_list<draft_id> list({draft_id{1}, draft_id{3}, draft_id{4}, draft_id{9}}, 10);
    CHECK(members(token_groups<draft_id>::equal_parts(list, 2)) == lists{{1, 3}, {4, 9}});
}

TEST_CASE("groups that are none are refused") {
    using Catch::Contains;
    const std::vector<std::uint32_t> of{0, 2};
    CHECK_THROWS_WITH((token_groups<draft_id>(of, 2)), Contains("token 1"));
    CHECK_THROWS_WITH((token_groups<draft_id>(of, 3)), Contains("group 1"));
    CHECK_THROWS_WITH((token_groups<draft_id>({}, 0)), Contains("at least one"));
    CHECK_THROWS_WITH((token_groups<draft_id>::equal_parts(2, 3)), Contains("at least one token"));
}

} // namespace groups_tests
