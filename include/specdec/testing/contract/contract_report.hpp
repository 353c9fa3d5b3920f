// SPDX-License-Identifier: MIT
#pragma once

#include <exception>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace specdec {

/// A clause of a contract that does not hold.
struct violation {
    std::string clause;   ///< its stable name, "model.row_position"
    std::string expected; ///< what the clause says
    std::string seen;     ///< what was found instead, with positions and numbers
};

/// A clause that was not looked at.
struct unchecked_clause {
    std::string clause;
    std::string reason; ///< the clause it builds on, or the setting that left it out
};

/// What the checks of engine_contract.hpp found. A plain value: print it, or assert on it.
///
///     const contract_report report = check_model<target_id>(make_model);
///     REQUIRE(report.text() == "");                      // any test framework
///     if (!report.ok()) std::cerr << report.text();      // or none
struct contract_report {
    std::vector<violation> violations;       ///< at most one a clause
    std::vector<unchecked_clause> unchecked; ///< in the order in which they would have run
    std::vector<std::string> kept;           ///< names of the clauses that hold
    /// The greatest distance seen between log-probabilities that should be equal: 0 where all were
    /// so bit for bit.
    double greatest_difference = 0;

    /// No clause is violated; `unchecked` says what that leaves open.
    [[nodiscard]] bool ok() const { return violations.empty(); }
    [[nodiscard]] bool keeps(std::string_view clause) const {
        for (const std::string& name : kept)
            if (name == clause)
                return true;
        return false;
    }

    /// A line for each violation: "CLAUSE: expected EXPECTED; seen: SEEN". Empty if there is none.
    [[nodiscard]] std::string text() const {
        std::string lines;
        for (const violation& v : violations)
            lines += v.clause + ": expected " + v.expected + "; seen: " + v.seen + "\n";
        return lines;
    }

    /// Takes over what another report found.
    void add(contract_report other) {
        for (violation& v : other.violations)
            violations.push_back(std::move(v));
        for (unchecked_clause& u : other.unchecked)
            unchecked.push_back(std::move(u));
        for (std::string& name : other.kept)
            kept.push_back(std::move(name));
        if (other.greatest_difference > greatest_difference)
            greatest_difference = other.greatest_difference;
    }

    /// Runs the check of one clause: returns, it holds; throws clause_broken, clause_left_out or
    /// anything else (an engine's own exception), it is violated, unchecked, violated. Unchecked
    /// too where a clause of `needs` is not among those that hold: its check would mean nothing.
    template <class Check>
    void run(std::string_view clause, std::string_view expected,
             std::initializer_list<std::string_view> needs, const Check& check) {
        run(clause, expected, needs, &check,
            [](const void* c) { (*static_cast<const Check*>(c))(); });
    }

private:
    void run(std::string_view clause, std::string_view expected,
             std::initializer_list<std::string_view> needs, const void* check,
             void (*call)(const void*));
};

/// Thrown by a check: what was seen instead of what the clause says.
struct clause_broken {
    std::string seen;
};

/// Thrown by a check that cannot be made.
struct clause_left_out {
    std::string reason;
};

/// The exception that is being handled, in words.
[[nodiscard]] inline std::string handled_exception() {
    try {
        throw;
    } catch (const std::exception& e) {
        return std::string("the exception \"") + e.what() + "\"";
    } catch (...) {
        return "an exception that is no std::exception";
    }
}

template <class Call>
[[nodiscard]] bool throws(const Call& call) {
    try {
        call();
    } catch (...) {
        return true;
    }
    return false;
}

inline void contract_report::run(std::string_view clause, std::string_view expected,
                                 std::initializer_list<std::string_view> needs, const void* check,
                                 void (*call)(const void*)) {
    for (const std::string_view need : needs)
        if (!keeps(need)) {
            unchecked.push_back({std::string(clause), "builds on " + std::string(need)});
            return;
        }
    const auto broken = [&](std::string seen) {
        violations.push_back({std::string(clause), std::string(expected), std::move(seen)});
    };
    try {
        call(check);
        kept.emplace_back(clause);
    } catch (clause_broken& b) {
        broken(std::move(b.seen));
    } catch (clause_left_out& l) {
        unchecked.push_back({std::string(clause), std::move(l.reason)});
    } catch (...) {
        broken(handled_exception());
    }
}

} // namespace specdec
