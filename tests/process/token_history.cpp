// SPDX-License-Identifier: MIT
#include <specdec/process/token_history.hpp>

#include <cstdint>
#include <vector>

#include <catch2/catch.hpp>

using namespace specdec;

namespace token_history_tests {

std::vector<target_id> ids(std::size_t n, int change_at = -1) {
    std::vector<target_id> made;
    for (std::size_t i = 0; i < n; ++i)
        made.emplace_back(static_cast<std::int32_t>(i % 7) +
                          (static_cast<int>(i) == change_at ? 1 : 0));
    return made;
}

TEST_CASE("a state is brought in step by what has changed") {
    token_history<target_id> history;
    history.reserve(300);
    std::vector<target_id> state;
    std::size_t undone = 0, added = 0;
    const auto follow = [&](const std::vector<target_id>& tokens) {
        undone = added = 0;
        history.follow(
            std::span<const target_id>(tokens),
            [&](target_id id) {
                REQUIRE(state.back() == id);
                state.pop_back();
                ++undone;
            },
            [&](target_id id) {
                state.push_back(id);
                ++added;
            });
        REQUIRE(state == tokens);
        REQUIRE(std::vector(history.tokens().begin(), history.tokens().end()) == tokens);
    };
    follow({});
    follow(ids(200));
    CHECK(added == 200);
    follow(ids(203));
    CHECK((undone == 0 && added == 3));
    follow(ids(203));
    CHECK((undone == 0 && added == 0));
    follow(ids(201)); // truncated
    CHECK((undone == 2 && added == 0));
    for (const int at : {0, 63, 64, 127, 128, 199}) { // another text from there on, and back
        follow(ids(201, at));
        CHECK(undone == 201 - static_cast<std::size_t>(at));
        CHECK(added == undone);
        follow(ids(201));
    }
    follow({});
    CHECK(undone == 201);
}

TEST_CASE("a token that could not be added is added again") {
    token_history<target_id> history;
    int left = 1, added = 0;
    const auto tokens = ids(3);
    const auto follow = [&] {
        history.follow(
            std::span<const target_id>(tokens), [](target_id) {},
            [&](target_id id) {
                if (id == target_id{1} && left-- > 0)
                    throw 1;
                ++added;
            });
    };
    CHECK_THROWS_AS(follow(), int);
    CHECK((history.tokens().size() == 1 && added == 1));
    follow();
    CHECK((history.tokens().size() == 3 && added == 3));
}

} // namespace token_history_tests
