// SPDX-License-Identifier: MIT
#include <specdec/testing/contract/contract_report.hpp>

#include <stdexcept>

#include <catch2/catch.hpp>

using namespace specdec;

TEST_CASE("a clause holds, is violated or is left out, as its check ends") {
    contract_report report;
    report.run("holds", "nothing", {}, [] {});
    report.run("broken", "a", {"holds"}, [] { throw clause_broken{"b"}; });
    report.run("throws", "c", {}, [] { throw std::runtime_error("d"); });
    report.run("throws a number", "e", {}, [] { throw 5; });
    report.run("left out", "f", {}, [] { throw clause_left_out{"g"}; });
    bool ran = false;
    report.run("builds", "h", {"holds", "broken"}, [&] { ran = true; });
    report.run("builds on that", "h", {"builds"}, [&] { ran = true; });
    report.run("builds on what was left out", "h", {"left out"}, [&] { ran = true; });

    CHECK_FALSE(ran);
    CHECK_FALSE(report.ok());
    CHECK(report.keeps("holds"));
    CHECK_FALSE(report.keeps("broken"));
    CHECK_FALSE(report.keeps("left out"));
    CHECK(report.text() == "broken: expected a; seen: b\n"
                           "throws: expected c; seen: the exception \"d\"\n"
                           "throws a number: expected e; seen: an exception that is no "
                           "std::exception\n");
    REQUIRE(report.unchecked.size() == 4);
    CHECK(report.unchecked[0].reason == "g");
    CHECK(report.unchecked[1].reason == "builds on broken");
    CHECK(report.unchecked[2].reason == "builds on builds");
    CHECK(report.unchecked[3].reason == "builds on left out");
}

TEST_CASE("reports add up") {
    contract_report a, b;
    CHECK(a.ok());
    CHECK(a.text() == "");
    a.run("one", "", {}, [] {});
    a.greatest_difference = 0.5;
    b.run("two", "", {}, [] {});
    b.run("three", "x", {}, [] { throw clause_broken{"y"}; });
    b.run("four", "", {"three"}, [] {});
    b.greatest_difference = 0.25;
    a.add(b);
    CHECK(a.keeps("one"));
    CHECK(a.keeps("two"));
    CHECK(a.text() == b.text());
    CHECK(a.unchecked.size() == 1);
    CHECK(a.greatest_difference == 0.5);
    b.add(a);
    CHECK(b.greatest_difference == 0.5);
}
