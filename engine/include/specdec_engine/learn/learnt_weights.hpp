// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm> // std::copy, std::fill
#include <cmath>
#include <cstddef>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <utility>

#include <specdec/core/error.hpp>
#include <specdec/core/require.hpp>
#include <specdec/core/token_id.hpp>
#include <specdec/sampling/law/sparse_law.hpp>
#include <specdec_engine/kernel/aligned_allocator.hpp>
#include <specdec_engine/learn/adamw.hpp>
#include <specdec_engine/learn/clip_gradient.hpp>
#include <specdec_engine/learn/learner_settings.hpp>
#include <specdec_engine/learn/learning_state.hpp>
#include <specdec_engine/learn/reverse/lora.hpp>
#include <specdec_engine/learn/weight_anchor.hpp>

namespace specdec::engine {

/// What learns of a drafter, the same for every kind of drafter: its weights, or LoRA's adapters on
/// them alone. A step is
///
///     reverse -> clip -> AdamW -> the anchor's pull
///
/// All of it is saved and read again, so that learning goes on bit for bit. Parameters:
/// model_parameters<float>, feature_parameters<float>. Memory: five numbers for each that learns
/// with an anchor, else four; the weights once more where adapters learn.
template <class Parameters>
class learnt_weights {
public:
    /// The weights that a drafter decodes with; adapters, if there are any, are merged into them.
    /// Valid until the next call.
    [[nodiscard]] const Parameters& weights() {
        if (!adapters_)
            return base_;
        std::copy(base_.values().begin(), base_.values().end(), adapted_->values().begin());
        adapters_->merge(*adapted_);
        return *adapted_;
    }

    [[nodiscard]] const learner_settings& settings() const { return settings_; }
    [[nodiscard]] const std::optional<lora<float>>& adapters() const { return adapters_; }
    /// Errors: specdec::error, named after `source`, for a text that no update takes: too long, of
    /// other vocabularies or features, with places or laws that are none.
    template <class Text>
    void require(const Text& text, const char* source) const {
        if (text.tokens.size() > settings_.length)
            throw error(
                source, "text",
                "expected at most learner_settings::length = " + std::to_string(settings_.length) +
                    " tokens (a recorder's window), found " + std::to_string(text.tokens.size()));
        const std::size_t tokens = base_.config().vocabulary_size;
        require_ids(std::span(text.tokens), tokens, source, "text");
        if constexpr (requires { text.drafted; }) {
            require_ids(std::span(text.drafted), tokens, source, "drafts");
            require_that(text.rounds.empty() || text.width == base_.config().dimension, source,
                         "features", "expected the body's width");
        }
        require_whole(text, source);
        if constexpr (requires { text.merges; })
            for (const auto& merge : text.merges)
                if (merge.token.valid())
                    require_ids(std::span(&merge.token, 1), target_tokens_, source, "merges");
        for (const auto& entry : text.entries)
            require_ids(std::span(&entry.id, 1), target_tokens_, source, "laws");
        for (const auto& row : text.rows)
            if (row.count > 0)
                sparse_law<target_id>(text.entries_of(row), target_tokens_);
    }
    /// Numbers that learn, under their names.
    [[nodiscard]] const parameter_layout& layout() const {
        return adapters_ ? adapters_->tensors() : base_.layout().tensors();
    }
    [[nodiscard]] std::span<float> values() {
        return adapters_ ? adapters_->values() : base_.values();
    }
    [[nodiscard]] adamw<float>& optimiser() { return optimiser_; }
    [[nodiscard]] const weight_anchor<float>& anchor() const { return anchor_; }
    /// The latest update's gradient, clipped; of values().
    [[nodiscard]] std::span<const float> gradient() const { return gradient_; }

    /// Saves all that learning needs to go on. Errors: as save_learning_state.
    void save(const std::string& path, const std::string& note = "") {
        save_learning_state(path, layout(), values(), optimiser_, note,
                            std::as_const(anchor_).began());
    }
    /// Goes on from there; the note. Errors: as load_learning_state; nothing has changed then.
    std::string resume(const std::string& path) {
        return load_learning_state(path, layout(), values(), optimiser_, anchor_.began());
    }

protected:
    /// Precondition: check(settings) has passed. Errors: as lora.
    learnt_weights(const learner_settings& settings, Parameters&& start, std::size_t target_tokens)
        : settings_(settings), target_tokens_(target_tokens), base_(std::move(start)),
          optimiser_(0, settings.optimiser) {
        if (settings.adapters) {
            adapters_.emplace(base_.config(), *settings.adapters);
            std::minstd_rand bits(settings.seed);
            adapters_->draw(bits);
            adapted_ = base_;
        }
        optimiser_ = adamw<float>(values().size(), settings.optimiser);
        anchor_ = {settings.anchor, values()};
        gradient_.resize(values().size());
    }

    /// A step, unless the gradient is not finite. reverse(weights, adapters) adds the gradient to
    /// the span that is not empty.
    template <class Reverse>
    void step(update_result& result, const Reverse& reverse) {
        std::fill(gradient_.begin(), gradient_.end(), 0.0F);
        const std::span<float> all = gradient_, none;
        adapters_ ? reverse(none, all) : reverse(all, none);
        result.gradient_norm = clip_gradient<float>(gradient_, settings_.clip);
        if (!std::isfinite(result.gradient_norm))
            return;
        optimiser_.step(layout(), values(), gradient_, settings_.rate);
        anchor_.pull(values(), settings_.rate);
        result.applied = true;
    }

    /// What a pass computes with: weights without adapters, and these, or null.
    [[nodiscard]] const Parameters& base() const { return base_; }
    [[nodiscard]] const lora<float>* adapters_if_any() const {
        return adapters_ ? &*adapters_ : nullptr;
    }

private:
    learner_settings settings_;
    std::size_t target_tokens_; ///< of the laws that texts teach
    Parameters base_;           ///< frozen where adapters learn
    std::optional<lora<float>> adapters_;
    std::optional<Parameters> adapted_; ///< base_ and adapters_ together
    adamw<float> optimiser_;
    weight_anchor<float> anchor_;
    aligned_vector<float> gradient_; ///< of values()
};

} // namespace specdec::engine
