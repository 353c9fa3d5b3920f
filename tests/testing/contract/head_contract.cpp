// SPDX-License-Identifier: MIT
#include <specdec/testing/contract/head_contract.hpp>

#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/core/basic/heap.hpp>

#include "support/toy_head.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace head_contract_tests {

constexpr std::size_t tokens = 11, numbers = 4;

enum class fault {
    none,
    not_finite,
    writes_behind,
    range_from_0,
    list_ascends,
    copy_all,
    copy_fixed
};

/// A head that does one thing wrong.
struct faulty_head {
    toy_head<draft_id> inner = toy_head<draft_id>::random(tokens, numbers, 1);
    fault what = fault::none;

    [[nodiscard]] std::size_t vocabulary_size() const { return inner.vocabulary_size(); }
    [[nodiscard]] std::size_t width() const { return inner.width(); }
    void multiply(const hidden_states& x, scores_out out) {
        inner.multiply(x, out);
        if (what == fault::not_finite)
            out.data[out.stride] = __builtin_nanf("");
        if (what == fault::writes_behind && out.stride > vocabulary_size())
            out.data[vocabulary_size()] = 0;
    }
    void multiply(const hidden_states& x, std::size_t first, std::size_t n, scores_out out) {
        inner.multiply(x, what == fault::range_from_0 ? 0 : first, n, out);
    }
    void multiply(const hidden_states& x, std::span<const draft_id> ids, scores_out out) {
        std::vector<draft_id> order(ids.begin(), ids.end());
        if (what == fault::list_ascends)
            heap_sort(order, [](draft_id a, draft_id b) { return a < b; });
        inner.multiply(x, std::span<const draft_id>(order), out);
    }
    [[nodiscard]] faulty_head select(std::span<const draft_id> ids) {
        return {what == fault::copy_all ? inner : inner.select(ids), what};
    }
    void replace(std::size_t k, const faulty_head& from, draft_id id) {
        if (what != fault::copy_fixed)
            inner.replace(k, from.inner, id);
    }
};

contract_report check(fault what) {
    faulty_head head;
    head.what = what;
    return check_head<draft_id>(
        [] {
            return toy_hidden_model<draft_id>(tokens, numbers,
                                              toy_rows(row_kind::random, numbers, 5));
        },
        head);
}

TEST_CASE("a head that keeps its contract: every clause but the model's own rows") {
    const contract_report report = check(fault::none);
    CHECK(report.text() == "");
    for (const char* clause :
         {"model.rejected_tokens", "head.values", "head.range", "head.list", "head.copy"})
        CHECK(report.keeps(clause));
    REQUIRE(report.unchecked.size() == 1);
    CHECK(report.unchecked[0].clause == "head.score");
}

TEST_CASE("each fault of a head violates its clause") {
    const auto violated = [](fault what) {
        const contract_report report = check(what);
        return report.ok() ? std::string() : report.violations.front().clause;
    };
    CHECK(violated(fault::range_from_0) == "head.range");
    CHECK(violated(fault::list_ascends) == "head.list");
    CHECK(violated(fault::copy_all) == "head.copy");
    CHECK(violated(fault::copy_fixed) == "head.copy");
    CHECK(violated(fault::writes_behind) == "head.values");
    CHECK(violated(fault::not_finite) == "model.row_values");
}

TEST_CASE("a head without copies is checked as far as it goes") {
    toy_head<draft_id> inner = toy_head<draft_id>::random(tokens, numbers, 1);
    fixed_head<draft_id> head{inner};
    const contract_report report = check_head<draft_id>(
        [] {
            return toy_hidden_model<draft_id>(tokens, numbers,
                                              toy_rows(row_kind::random, numbers, 5));
        },
        head);
    CHECK(report.ok());
    CHECK_FALSE(report.keeps("head.copy"));
}

} // namespace head_contract_tests
