// SPDX-License-Identifier: MIT
#include <specdec/reference/transformer_head.hpp>

#include <catch2/catch.hpp>

#include "reference/toy_weights.hpp"
#include <specdec/core/token_id.hpp>
#include <specdec/reference/transformer_model.hpp>
#include <specdec/testing/contract/head_contract.hpp>

namespace transformer_head_tests {

using namespace specdec;

TEST_CASE("the reference transformer's head keeps the contract of heads") {
    const auto weights = testing::toy_weights();
    reference::transformer_head<draft_id, double> head(weights);
    static_assert(LmHeadOf<decltype(head), draft_id>);
    const contract_report report = check_head<draft_id>(
        [&] { return reference::transformer_model<draft_id, double>(weights, {.capacity = 40}); },
        head, {.tolerance = 1e-5});
    CHECK(report.text() == "");
    CHECK(report.keeps("head.score"));
}

} // namespace transformer_head_tests
