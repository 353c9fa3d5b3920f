// SPDX-License-Identifier: MIT
#include <specdec/reference/transformer_model.hpp>

#include <cstddef>
#include <vector>

#include <catch2/catch.hpp>

#include "reference/toy_weights.hpp"
#include <specdec/core/concepts.hpp>
#include <specdec/core/model/context_tracker.hpp>
#include <specdec/core/model/tree_scoring.hpp>
#include <specdec/head/features/features.hpp>
#include <specdec/testing/contract/feature_contract.hpp>
#include <specdec/testing/contract/tree_contract.hpp>

namespace transformer_model_tests {

using namespace specdec;
using namespace specdec::testing;
using reference::transformer_model;
using reference::transformer_settings;

template <class Scalar>
using target = transformer_model<target_id, Scalar>;

static_assert(TreeModelOf<target<double>, target_id>);
static_assert(TreeModelOf<target<float>, target_id>);
static_assert(!ModelOf<target<double>, draft_id>);
static_assert(HiddenTreeModelOf<target<double>, target_id>);
static_assert(FeatureModelOf<target<double>, target_id>);
static_assert(TellsHeld<target<double>, target_id>);

TEST_CASE("the reference transformer keeps the contracts of models, trees and features") {
    const auto check = [](const auto& weights, double tolerance) {
        using model = target<typename std::remove_cvref_t<decltype(weights->embedding)>::Scalar>;
        const auto report = check_tree_model<target_id>(
            [&] { return model(weights, {.capacity = 40}); }, {.tolerance = tolerance});
        CHECK(report.text() == "");
        CHECK(report.unchecked.empty());
        for (const std::vector<std::size_t>& layers : {std::vector<std::size_t>{3}, {2, 0, 1}}) {
            const auto features = check_features<target_id>(
                [&] { return model(weights, {.capacity = 40, .features = layers}); },
                {.tolerance = tolerance});
            CHECK(features.text() == "");
        }
    };
    check(toy_weights<double>(), 1e-6);
    check(toy_weights<float>(), 5e-5);
}

} // namespace transformer_model_tests
