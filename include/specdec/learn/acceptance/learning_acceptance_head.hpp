// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <utility>

#include <specdec/core/error.hpp>
#include <specdec/core/law_version.hpp>
#include <specdec/learn/acceptance/acceptance_examples.hpp>
#include <specdec/learn/acceptance/acceptance_head.hpp>
#include <specdec/learn/acceptance/acceptance_learner.hpp>
#include <specdec/learn/replay_buffer.hpp>

namespace specdec {

/// How a head that learns beside its drafter is updated (OmniDraft, 3.3).
struct acceptance_updates {
    std::size_t remembered = std::size_t{1} << 14; ///< examples
    /// Joint: one step on the examples since the update before. Interleaved: so many steps, each on
    /// `batch` of all that are remembered.
    std::size_t interleaved = 0; ///< 0: joint
    std::size_t batch = 64;
    /// Labels are computed again by the updated drafter (acceptance_relabeller) and come with
    /// step(), so that rounds leave no examples and update() does nothing (OmniDraft, Alg. 3 and
    /// 4).
    bool labels_again = false;
    acceptance_learner_settings learner{};
};

/// An acceptance head that learns from the drafts that it ends:
///
///     predicted_end stop(head, 0.4, 8);      asks it, and hands it what came of each round
///     head.update();                         between two rounds, whenever the drafter is updated
///
/// Models AcceptancePredictor; predictions change as acceptance_head says. If the drafter learns,
/// examples use its present embeddings. Allocates at construction only.
template <TokenEmbedding Embedding, UniformSource U>
class learning_acceptance_head {
public:
    /// `uniform`: the randomness of the first weights and of the examples drawn. Errors:
    /// specdec::error as acceptance_learner and acceptance_examples, and for an empty batch.
    learning_acceptance_head(Embedding embedding, acceptance_shape shape, U uniform,
                             acceptance_updates settings = {})
        : embedding_(embedding), uniform_(std::move(uniform)), settings_(settings),
          examples_(settings.remembered), learner_(shape, uniform_, settings.learner),
          head_(std::move(embedding), shape, learner_.parameters()) {
        if (settings.interleaved > 0 && settings.batch == 0)
            fail("learning acceptance head", "batch", "expected 1 or more");
    }

    static constexpr rule_traits traits{.reads = true, .learn = true};
    [[nodiscard]] row_reading reads() const { return head_.reads(); }
    [[nodiscard]] double accept(const draft_progress& now) const { return head_.accept(now); }
    [[nodiscard]] double next(const draft_progress& now) const { return head_.next(now); }
    [[nodiscard]] law_version version() const { return head_.version(); }
    void learn(const draft_outcome& o) {
        if (!settings_.labels_again)
            examples_.add(o);
        head_.learn(o);
    }

    /// The examples remembered, all of them.
    [[nodiscard]] const acceptance_examples& examples() const { return examples_; }

    /// Updates the head. Returns the mean loss before its first step; 0 if there are no examples
    /// yet.
    double update() {
        const std::size_t n = examples_.size();
        double loss = 0;
        if (n == 0)
            return loss;
        if (settings_.interleaved == 0) {
            const std::size_t fresh = examples_.added() - learnt_;
            const std::size_t newest = fresh < n ? fresh : n;
            if (newest > 0)
                loss = learner_.step(
                    newest,
                    [&](std::size_t i) -> const acceptance_example& {
                        return examples_[n - newest + i];
                    },
                    embedding_);
        }
        for (std::size_t k = 0; k < settings_.interleaved; ++k) {
            const double now = learner_.step(
                settings_.batch,
                [&](std::size_t) -> const acceptance_example& { return examples_.any(uniform_); },
                embedding_);
            loss = k == 0 ? now : loss;
        }
        learnt_ = examples_.added();
        head_.take(learner_.parameters());
        return loss;
    }

    /// One step on all of these examples (OmniDraft, Alg. 3, line 10; Alg. 4, line 17). Returns the
    /// mean loss before it; 0 if there are none.
    double step(const acceptance_examples& batch) {
        if (batch.size() == 0)
            return 0;
        const double loss = learner_.step(
            batch.size(), [&](std::size_t i) -> const acceptance_example& { return batch[i]; },
            embedding_);
        head_.take(learner_.parameters());
        return loss;
    }

private:
    Embedding embedding_;
    U uniform_;
    acceptance_updates settings_;
    acceptance_examples examples_;
    acceptance_learner learner_;
    acceptance_head<Embedding> head_;
    std::size_t learnt_ = 0; // examples added before the latest update
};

} // namespace specdec
