// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <span>
#include <vector>

#include "support/pair/head_texts.hpp"
#include <specdec/draft/any_predictor.hpp>
#include <specdec/learn/acceptance/learning_acceptance_head.hpp>
#include <specdec_engine/learn/reverse/model_parameters.hpp>

namespace specdec::examples {

/// The drafter's embeddings of the latest update.
struct embeddings {
    const std::vector<float>* rows;
    std::size_t width;
    [[nodiscard]] std::span<const float> operator()(draft_id d) const {
        return std::span<const float>(*rows).subspan(d.index() * width, width);
    }
};
struct random_bits {
    std::minstd_rand bits{1};
    double operator()() { return static_cast<double>(bits()) / 2147483648.0; }
};

/// A head that ends drafts and learns when the drafter does. With texts(), the drafter computes
/// labels again before each step: one step on the texts since its last update (joint), or some
/// steps on texts drawn from all after each text (interleaved).
class draft_ender {
public:
    draft_ender(const engine::model_parameters<float>& drafter, const acceptance_updates& settings)
        : head_(embeddings{&rows_, drafter.config().dimension},
                {.embedding = drafter.config().dimension}, random_bits{}, settings),
          any_(head_), steps_(settings.interleaved) {
        take(drafter);
    }
    /// settings.labels_again: with these texts.
    template <class... Texts>
    draft_ender(const engine::model_parameters<float>& drafter, const acceptance_updates& settings,
                Texts&&... texts)
        : draft_ender(drafter, settings) {
        texts_.emplace(static_cast<Texts&&>(texts)...);
    }
    draft_ender(const draft_ender&) = delete; // views within
    draft_ender& operator=(const draft_ender&) = delete;

    [[nodiscard]] any_predictor& predictor() { return any_; }

    /// Where a round begins: with the drafter's next update, an update of the head. Of a drafter
    /// that learns nothing, every 32 rounds.
    template <class Learner>
    void follow(Learner& online, bool learns) {
        const std::uint64_t now = learns ? online.counts().updates : ++rounds_ / 32;
        if (now == updates_)
            return;
        updates_ = now;
        if (learns)
            online.with_learner([&](auto& learner) { take(learner.weights()); });
        if (texts_ && steps_ == 0)
            online.with_learner([&](auto& learner) { (void)head_.step(texts_->newest(learner)); });
        (void)head_.update();
    }

    /// Null where labels stay those of their round.
    [[nodiscard]] head_texts* texts() { return texts_ ? &*texts_ : nullptr; }
    /// A text has ended, that texts() has followed.
    template <class Learner>
    void text_ended(Learner& online) {
        texts_->finish();
        for (std::size_t k = 0; k < steps_; ++k)
            online.with_learner(
                [&](auto& learner) { (void)head_.step(texts_->any(learner, bits_)); });
    }

private:
    void take(const engine::model_parameters<float>& drafter) {
        const auto rows = drafter.tensor("model.embed_tokens.weight");
        rows_.assign(rows.begin(), rows.end());
    }

    std::vector<float> rows_;
    learning_acceptance_head<embeddings, random_bits> head_;
    any_predictor any_;
    std::size_t steps_; ///< of the interleaved variant
    std::optional<head_texts> texts_;
    random_bits bits_;
    std::uint64_t updates_ = 0, rounds_ = 0;
};

} // namespace specdec::examples
