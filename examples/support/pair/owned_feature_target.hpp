// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <utility>

#include <specdec/core/token_id.hpp>
#include <specdec/head/features/feature_recorder.hpp>
#include <specdec/head/features/feature_records.hpp>

namespace specdec::examples {

template <class Model>
struct feature_target {
    feature_target(Model target, std::shared_ptr<feature_records> kept)
        : model(std::move(target)), records(std::move(kept)) {}
    Model model;
    std::shared_ptr<feature_records> records;
};

/// A target of several sequences that keeps its features in records, which its drafter reads, too.
/// Owns both. Model: FeatureBatchModelOf<target_id>.
template <class Model>
class owned_feature_target : std::unique_ptr<feature_target<Model>>,
                             public feature_recorder<Model> {
    using parts = std::unique_ptr<feature_target<Model>>;

public:
    owned_feature_target(Model model, std::shared_ptr<feature_records> records)
        : parts(std::make_unique<feature_target<Model>>(std::move(model), std::move(records))),
          feature_recorder<Model>((*static_cast<const parts&>(*this)).model,
                                  *(*static_cast<const parts&>(*this)).records) {}

    [[nodiscard]] const Model& model() const { return static_cast<const parts&>(*this)->model; }
};

} // namespace specdec::examples
