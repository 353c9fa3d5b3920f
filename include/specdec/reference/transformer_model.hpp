// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>

#include <specdec/core/concepts.hpp>
#include <specdec/core/error.hpp>
#include <specdec/core/model/context_tracker.hpp>
#include <specdec/core/model/tree_scoring.hpp>
#include <specdec/core/rows.hpp>
#include <specdec/head/lm_head.hpp>
#include <specdec/reference/transformer_batch.hpp>
#include <specdec/reference/transformer_weights.hpp>

namespace specdec::reference {

/// The reference transformer with one sequence: all else as transformer_batch. It models
/// TreeModelOf<Id>, HiddenTreeModelOf<Id>, FeatureModelOf<Id> and TellsHeld<Id>.
///
///     transformer_model<target_id> target(load_weights<float>("models/docs-target"));
///
/// Errors: specdec::error if the settings ask for several sequences.
template <class Id, std::floating_point Scalar = float>
class transformer_model {
public:
    explicit transformer_model(std::shared_ptr<const transformer_weights<Scalar>> weights,
                               const transformer_settings& settings = {})
        : all_(std::move(weights), settings) {
        require_that(all_.sequences() == 1, "reference transformer", "sequences",
                     "expected 1; transformer_batch has several");
    }

    [[nodiscard]] std::size_t size() const { return all_.size(0); }
    [[nodiscard]] std::size_t capacity() const { return all_.capacity(); }
    [[nodiscard]] std::size_t vocabulary_size() const { return all_.vocabulary_size(); }
    [[nodiscard]] held_tokens<Id> held() const { return all_.held(0); }
    [[nodiscard]] const transformer_config& config() const { return all_.config(); }

    void append(std::span<const Id> ids) { all_.append(0, ids); }
    void truncate(std::size_t n) { all_.truncate(0, n); }
    void keep_path(std::span<const std::size_t> nodes) { all_.keep_path(0, nodes); }
    [[nodiscard]] logits_rows<Id> score(std::span<const Id> ids) {
        const sequence_tokens<Id> part{0, ids};
        return all_.score({&part, 1});
    }
    [[nodiscard]] hidden_states hidden(std::span<const Id> ids) {
        const sequence_tokens<Id> part{0, ids};
        return all_.hidden({&part, 1});
    }
    [[nodiscard]] logits_rows<Id> score_tree(std::span<const Id> ids,
                                             std::span<const std::size_t> parents) {
        const sequence_nodes<Id> part = nodes(ids, parents);
        return all_.score_tree({&part, 1});
    }
    [[nodiscard]] hidden_states hidden_tree(std::span<const Id> ids,
                                            std::span<const std::size_t> parents) {
        const sequence_nodes<Id> part = nodes(ids, parents);
        return all_.hidden_tree({&part, 1});
    }
    [[nodiscard]] std::size_t feature_width() const { return all_.feature_width(); }
    [[nodiscard]] hidden_states features() const { return all_.features(); }

    [[nodiscard]] const matrix<Scalar>& logits() const { return all_.logits(); }
    [[nodiscard]] const key_value_cache<Scalar>& cache() const { return all_.cache(0); }

private:
    [[nodiscard]] static sequence_nodes<Id> nodes(std::span<const Id> ids,
                                                  std::span<const std::size_t> parents) {
        require_that(!parents.empty(), "reference transformer", "parents",
                     "expected a parent for each token"); // none would mean tokens
        return {0, ids, parents};
    }

    transformer_batch<Id, Scalar> all_;
};

} // namespace specdec::reference
