// SPDX-License-Identifier: MIT
#include <specdec/testing/contract/batch_model_contract.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "support/batch_of.hpp"
#include "support/contract_faults.hpp"
#include "support/faulty_batch_model.hpp"
#include "support/toy_model.hpp"
#include "support/toys/weighted_model.hpp"
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
    const std::vector<found_fault<fault>> faults{
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
    check_faults(faults, [](fault f) { return check(f); });
}

enum class tree_fault { none, rows_backwards, one_parent_list, keep_forgets_all };

/// Toys that score trees, with one fault.
struct faulty_trees : batch_of<target_id, weighted_model<target_id>> {
    using base = batch_of<target_id, weighted_model<target_id>>;
    tree_fault fault;

    faulty_trees(std::size_t n, const weighted_rows& laws, tree_fault f)
        : base(n, {laws, 3}), fault(f) {}

    [[nodiscard]] logits_rows<target_id>
    score_tree(std::span<const sequence_nodes<target_id>> parts) {
        std::vector<sequence_nodes<target_id>> given(parts.begin(), parts.end());
        if (fault == tree_fault::rows_backwards)
            std::reverse(given.begin(), given.end());
        for (auto& part : given)
            if (fault == tree_fault::one_parent_list && part.ids.size() == 3)
                part.parents = chain;
        return base::score_tree(given);
    }
    void keep_path(std::size_t s, std::span<const std::size_t> nodes) {
        base::keep_path(s, nodes);
        for (auto& m : models)
            if (fault == tree_fault::keep_forgets_all)
                m.truncate(m.size());
    }
    static constexpr std::size_t chain[] = {tree_root, 0, 1};
};

TEST_CASE("trees of several sequences are checked where a model scores them") {
    const weighted_rows rows{{{1, 2, 4}, {5, 1, 2}, {2, 7, 1}, {3, 1, 9}, {4, 8, 3}}};
    const auto seen = [&](std::size_t n, tree_fault f) {
        const contract_report report =
            check_batch_model<target_id>([&] { return faulty_trees(n, rows, f); });
        CHECK(report.keeps("batch.trees") == (f == tree_fault::none));
        return report.ok() ? "" : report.violations[0].clause + ": " + report.violations[0].seen;
    };
    for (const std::size_t n : {1U, 2U, 3U, 5U})
        CHECK(seen(n, tree_fault::none) == "");
    CHECK_THAT(seen(3, tree_fault::rows_backwards), Contains("batch.trees: the row of"));
    CHECK_THAT(seen(2, tree_fault::one_parent_list), Contains("in a pass over trees"));
    CHECK_THAT(seen(2, tree_fault::keep_forgets_all), Contains("batch.trees"));
}

/// Tells what its sequences hold; where it lags, without the last tokens of a pass of several.
struct telling : batch_of<target_id, toy_model<target_id>> {
    bool lags;
    std::size_t untold = 0;

    explicit telling(bool lag) : batch_of(3, {3, row, 3, 64}), lags(lag) {}
    static std::vector<float> row(const std::vector<target_id>& held) {
        return {static_cast<float>(held.size()), 1.0F, static_cast<float>(held.back().value)};
    }
    [[nodiscard]] logits_rows<target_id> score(std::span<const sequence_tokens<target_id>> parts) {
        untold = lags && parts.size() > 1 ? 1 : 0;
        return batch_of::score(parts);
    }
    [[nodiscard]] std::span<const target_id> held(std::size_t s) const {
        return std::span(models[s].held()).first(size(s) - untold);
    }
};

TEST_CASE("what sequences tell of themselves is checked behind a pass of several") {
    const auto check_telling = [](bool lags) {
        return check_batch_model<target_id>([=] { return telling(lags); });
    };
    CHECK(check_telling(false).keeps("model.held"));
    CHECK(check_telling(false).ok());
    REQUIRE_FALSE(check_telling(true).ok());
    CHECK(check_telling(true).violations[0].clause == "batch.row_order");
    CHECK(check_telling(true).violations[0].seen == "held(2) told others in pass 0");
}

TEST_CASE("what one sequence gets wrong is a violation of a model's clause, and ends it there") {
    const contract_report report = check(fault::none, model_fault::stale_keys);
    CHECK_FALSE(report.keeps("model.truncate_then_append"));
    REQUIRE(report.unchecked.size() == 1);
    CHECK(report.unchecked[0].clause == "batch.*");
    const contract_report none = check(fault::no_sequences);
    REQUIRE(violated(none) == "model.starts_empty");
    CHECK_THAT(none.violations[0].seen,
               Contains("batch model: sequences(): expected one or more, found none"));
}

TEST_CASE("a batch of one sequence, and one too large to fill, say what they leave open") {
    const auto check_toys = [&](std::size_t n, std::size_t capacity) {
        using toy = toy_model<target_id>;
        return check_batch_model<target_id>(
            [&] { return batch_of<target_id, toy>(n, toy(3, telling::row, 3, capacity)); });
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
