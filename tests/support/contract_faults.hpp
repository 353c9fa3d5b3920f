// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/testing/contract/contract_report.hpp>

namespace specdec::testing {

/// The clauses that are violated, one behind the other.
inline std::string violated(const contract_report& report) {
    std::string names;
    for (const violation& v : report.violations)
        names += (names.empty() ? "" : " ") + v.clause;
    return names;
}

/// What one fault violates, as violated() tells it, and what the first of the clauses has seen.
template <class Fault>
struct found_fault {
    Fault what;
    std::string clauses, seen;
};

/// Each fault violates these clauses and no other; every other one is kept or unchecked.
template <class Fault, class Check>
void check_faults(const std::vector<found_fault<Fault>>& faults, const Check& check) {
    const std::size_t all = check(Fault::none).kept.size();
    for (const found_fault<Fault>& f : faults) {
        const contract_report report = check(f.what);
        CAPTURE(static_cast<int>(f.what), report.text());
        CHECK(violated(report) == f.clauses);
        REQUIRE_FALSE(report.ok());
        CHECK_THAT(report.violations[0].seen, Catch::Contains(f.seen));
        CHECK_THAT(report.text(), Catch::Contains(report.violations[0].clause + ": expected "));
        CHECK(report.kept.size() + report.violations.size() + report.unchecked.size() == all);
    }
}

} // namespace specdec::testing
