// SPDX-License-Identifier: MIT
#include <specdec/draft/costs/drafting_balance.hpp>

#include <catch2/catch.hpp>

using namespace specdec;

TEST_CASE("drafts that lose lose a few tokens, and then a share of the time") {
    drafting_balance balance;
    double lost = 0;
    int drafts = 0;
    for (int i = 0; i < 4000; ++i) {
        const bool drafted = balance.may_draft();
        balance.count(drafted, 1, drafted ? 1.5 : 1);
        lost += drafted ? 0.5 : 0;
        drafts += drafted ? 1 : 0;
    }
    CHECK(lost < 0.02 * 4000 + 6);
    CHECK(drafts > 50); // it goes on looking
}

TEST_CASE("drafts that gain are never refused, and what they gained is soon lost") {
    drafting_balance balance;
    for (int i = 0; i < 1000; ++i) {
        CHECK(balance.may_draft());
        balance.count(true, 1.0 + i % 3, 1.6);
    }
    int more = 0;
    for (; balance.may_draft(); ++more)
        balance.count(true, 1, 1.6);
    CHECK(more < 20);
}
