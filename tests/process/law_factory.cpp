// SPDX-License-Identifier: MIT
#include <specdec/process/law_factory.hpp>

#include <catch2/catch.hpp>

#include <specdec/core/basic/half.hpp>
#include <specdec/process/given_laws.hpp>
#include <specdec/process/processed_rows.hpp>

using namespace specdec;

namespace {

using halves = logits_rows<target_id, bfloat16>;
static_assert(RowsFor<logits_rows<target_id>, softmax_rows>);
static_assert(!RowsFor<logits_rows<draft_id>, softmax_rows>);
static_assert(!RowsFor<halves, softmax_rows> && RowsFor<halves, processed_rows<>>);
static_assert(!RowsFor<probabilities_rows<target_id>, softmax_rows>);
static_assert(!RowsFor<logits_rows<target_id>, given_laws>);
static_assert(RowsFor<listed_rows<target_id>, given_laws>);

} // namespace

TEST_CASE("plain logits become their softmax") {
    const float row[] = {0, 1, 2};
    const sampling_parameters warm{.temperature = 2};
    const auto law = softmax_rows{}(logits_row<target_id>{row}, 3, {}, warm);
    const auto expected = make_law(logits_row<target_id>{row}, warm);
    for (int t = 0; t < 3; ++t)
        CHECK(law.probability(target_id{t}) == expected.probability(target_id{t}));
}
