// SPDX-License-Identifier: MIT
#include "support/toys/weighted_model.hpp"

#include <vector>

#include <catch2/catch.hpp>

#include <specdec/testing/contract/tree_contract.hpp>

using namespace specdec;

namespace weighted_model_tests {

TEST_CASE("weighted rows keep a model's contract, and are the laws they say") {
    const weighted_rows rows{{{3, 1}, {0, 5, 5}, {0, 0}}};
    const auto make = [&] { return weighted_model<target_id>(rows, 4); };
    const contract_report report = check_tree_model<target_id>(make);
    CHECK(report.text() == "");
    CHECK(report.unchecked.empty());
    CHECK(rows.text() == "3 1 | 0 5 5 | 0 0");

    const std::vector even{target_id{1}}; // 2 of 3: without weight
    for (const double p : weighted_probabilities(rows, even, 4))
        CHECK(p == Approx(0.25));
    const std::vector<double> p = weighted_probabilities(rows, std::vector{target_id{0}}, 3);
    CHECK(p[0] == 0);
    CHECK(p[1] == Approx(0.5));
}

TEST_CASE("a toy fails once, and holds what it held") {
    const weighted_rows rows;
    weighted_model<draft_id> model(rows, 2);
    const std::vector ids{draft_id{0}, draft_id{1}};
    model.fail_behind(1);
    model.append(ids);
    CHECK_THROWS_AS(model.append(ids), toy_fault);
    CHECK(model.size() == 2);
    model.append(ids);
    CHECK(model.size() == 4);

    const std::vector<std::size_t> chain{tree_root, 0}, path{0};
    (void)model.score_tree(ids, chain);
    model.fail_behind(0);
    CHECK_THROWS_AS(model.score_tree(ids, chain), toy_fault);
    model.keep_path(path);
    CHECK(model.size() == 5);
}

} // namespace weighted_model_tests
