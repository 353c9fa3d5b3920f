// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include <specdec/core/drafting.hpp>
#include <specdec/core/error.hpp>
#include <specdec/draft/acceptance_table.hpp>
#include <specdec/learn/acceptance/acceptance_network.hpp>

namespace specdec {

/// The embeddings e_d of draft tokens: a callable that returns a view of the numbers of a valid id,
/// or an empty one. Those of a drafter that learns may change between rounds.
template <class E>
concept TokenEmbedding = requires(const E& embedding, draft_id d) {
    { embedding(d) } -> std::convertible_to<std::span<const float>>;
};

template <TokenEmbedding Embedding>
[[nodiscard]] acceptance_features features_of(const draft_progress& now,
                                              const Embedding& embedding) {
    return {now, now.token.valid() ? std::span<const float>(embedding(now.token))
                                   : std::span<const float>{}};
}

/// A trained prediction of what the target keeps (SpecDec++; OmniDraft, 3.3, Eq. 5): the sigmoid of
/// acceptance_logits. Models AcceptancePredictor, for predicted_end (Eq. 6 and 7) and
/// profitable_length.
///
///     head.take(learner.parameters());   at any time
///     stop.learn(outcome_of(...));       between a round's decision and the next draft, as ever
///
/// Parameters of take() are used from the next learn() on, so predictions do not change between a
/// draft and its decision, where SLRS and merge ask again. Have one head for each text; for texts
/// that take turns, call learn() when none of them is between draft and decision.
///
/// Memory: the parameters twice, at construction; take() and predictions allocate nothing.
template <TokenEmbedding Embedding>
class acceptance_head {
public:
    /// Errors: specdec::error for parameters of another number than the shape's.
    acceptance_head(Embedding embedding, acceptance_shape shape, std::span<const float> parameters)
        : embedding_(std::move(embedding)), shape_(shape),
          used_(parameters.begin(), parameters.end()), next_(used_) {
        require_fitting(parameters);
    }

    static constexpr rule_traits traits{.reads = true, .learn = true};
    [[nodiscard]] row_reading reads() const { return row_reading::entropy; }
    [[nodiscard]] double accept(const draft_progress& now) const { return chance(now, 0); }
    [[nodiscard]] double next(const draft_progress& now) const { return chance(now, 1); }

    /// Other parameters, from the next learn() on. Errors: as at construction; nothing changes.
    void take(std::span<const float> parameters) {
        require_fitting(parameters);
        next_.assign(parameters.begin(), parameters.end());
    }
    void learn(const draft_outcome&) {
        ++changes_;
        used_ = next_;
    }
    [[nodiscard]] law_version version() const { return changes_ + version_of(embedding_); }

private:
    void require_fitting(std::span<const float> parameters) const {
        if (parameters.size() != shape_.parameters())
            fail("acceptance head", "parameters", "expected as many as the shape has");
    }
    [[nodiscard]] double chance(const draft_progress& now, std::size_t output) const {
        return sigmoid(acceptance_logits(shape_, std::span<const float>(used_),
                                         features_of(now, embedding_))[output]);
    }

    Embedding embedding_;
    acceptance_shape shape_;
    std::vector<float> used_, next_; // the parameters now, and from the next learn() on
    law_version changes_ = 0;
};

} // namespace specdec
