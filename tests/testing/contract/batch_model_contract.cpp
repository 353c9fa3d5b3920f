// SPDX-License-Identifier: MIT
#include <specdec/testing/contract/batch_model_contract.hpp>

#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "support/batch_of.hpp"
#include "support/faulty_batch_model.hpp"
#include "support/toy_model.hpp"
#include <specdec/testing/contract/engine_contract.hpp>

using namespace specdec;
using namespace specdec::testing;
using Catch::Contains;

namespace batch_model_contract_tests {

using fault = batch_fault;

contract_report check(fault f, model_fault of_one = model_fault::none) {
    return check_batch_model<target_id>([=] { return faulty_batch_model<target_id>(f, of_one); });
}

const std::vector<std::string> batch_clauses{"batch.starts_empty", "batch.row_order",
                                             "batch.sequences_apart", "batch.capacity",
                                             "batch.refused_pass"};

TEST_CASE("several sequences that keep their contract: every clause is checked, bit for bit") {
    const contract_report report = check(fault::none);
    CHECK(report.text() == "");
    CHECK(report.unchecked.empty());
    CHECK(report.kept.size() == 13 + batch_clauses.size());
    for (const std::string& clause : batch_clauses)
        CHECK(report.keeps(clause));
    CHECK(report.greatest_difference == 0);
}

TEST_CASE("each fault of several sequences violates the clause it breaks") {
    struct broken {
        fault what;
        std::string clause, seen;
    };
    const broken table[] = {
        {fault::no_sequences, "model.starts_empty",
         "batch model: sequences(): expected one or more, found none"},
        {fault::starts_with_a_token, "batch.starts_empty",
         "size(0) 1 instead of 0 after a new model"},
        {fault::rows_by_sequence, "batch.row_order", "of sequence 2 in pass 0, gives token"},
        {fault::rows_of_first_part, "batch.row_order", "rows of 11 values from a pass over"},
        {fault::truncates_all, "batch.sequences_apart",
         "size(0) 1 instead of 4 after another sequence's truncate"},
        {fault::truncates_behind, "batch.sequences_apart",
         "size(2) 1 instead of 4 after another sequence's truncate"},
        {fault::sees_others, "batch.row_order", "of sequence"},
        {fault::one_memory, "batch.capacity",
         "the append of 40 tokens to sequence 1 threw the exception \"no room\""},
        {fault::half_pass, "batch.refused_pass", "size(0) 4 instead of 2 after a refused pass"},
    };
    for (const broken& b : table) {
        const contract_report report = check(b.what);
        CAPTURE(static_cast<int>(b.what), report.text());
        REQUIRE_FALSE(report.ok());
        CHECK(report.violations[0].clause == b.clause);
        CHECK_THAT(report.violations[0].seen, Contains(b.seen));
    }
}

TEST_CASE("what one sequence gets wrong is a violation of a model's clause, and ends it there") {
    const contract_report report = check(fault::none, model_fault::stale_keys);
    CHECK_FALSE(report.keeps("model.truncate_then_append"));
    REQUIRE(report.unchecked.size() == 1);
    CHECK(report.unchecked[0].clause == "batch.*");
}

TEST_CASE("a batch of one sequence, and one too large to fill, say what they leave open") {
    const auto row = [](const std::vector<target_id>& held) {
        return std::vector<float>{static_cast<float>(held.size()), 1.0F,
                                  static_cast<float>(held.back().value)};
    };
    const auto check_toys = [&](std::size_t n, std::size_t capacity) {
        using toy = toy_model<target_id>;
        return check_batch_model<target_id>(
            [&] { return batch_of<target_id, toy>(n, toy(3, row, 3, capacity)); });
    };
    const auto left_open = [](const contract_report& report) {
        std::vector<std::string> names;
        for (const unchecked_clause& u : report.unchecked)
            names.push_back(u.clause);
        return names;
    };
    CHECK(check_toys(3, 64).ok());
    CHECK(left_open(check_toys(3, 64)).empty());
    CHECK(left_open(check_toys(1, 64)) ==
          std::vector<std::string>{"batch.sequences_apart", "batch.refused_pass"});
    CHECK(left_open(check_toys(20, 64)) ==
          std::vector<std::string>{"batch.capacity", "batch.refused_pass"});
}

} // namespace batch_model_contract_tests
