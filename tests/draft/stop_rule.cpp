// SPDX-License-Identifier: MIT
#include <specdec/draft/stop_rule.hpp>

#include <catch2/catch.hpp>

using namespace specdec;

TEST_CASE("a fixed length drafts that many tokens, sure or not") {
    for (const std::size_t length : {0U, 1U, 5U}) {
        const fixed_length stop{length};
        for (std::size_t drafted = 0; drafted < 8; ++drafted) {
            CHECK(stop.more(drafted, 1.0) == (drafted < length));
            CHECK(stop.more(drafted, 0.0) == (drafted < length));
        }
    }
}

TEST_CASE("confidence ends behind the first unlikely token and at its length") {
    const confidence stop{0.4, 3};
    CHECK(stop.more(0, 1.0)); // before the first token
    CHECK(stop.more(1, 0.4));
    CHECK_FALSE(stop.more(1, 0.39));
    CHECK_FALSE(stop.more(3, 1.0));
    CHECK_FALSE(confidence{0.4, 0}.more(0, 1.0));
    CHECK(confidence{0.0, 3}.more(2, 0.0));
}
