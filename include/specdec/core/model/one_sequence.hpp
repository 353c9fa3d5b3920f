// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <specdec/core/concepts.hpp>
#include <specdec/core/draft_step.hpp>
#include <specdec/core/law_version.hpp>
#include <specdec/core/model/context_tracker.hpp>
#include <specdec/core/model/tree_scoring.hpp>
#include <specdec/core/require.hpp>

namespace specdec {

/// One sequence of a model of several, seen as a model of one (ModelOf<Id>). Borrows the model. Its
/// rows live until the next call on the model, for whichever sequence. Errors: specdec::error for a
/// sequence that the model does not have.
template <class Id, ScoringBatchModelOf<Id> M>
class one_sequence {
public:
    static constexpr model_traits traits = all_model_traits;
    one_sequence(M& model, std::size_t sequence) : model_(&model), sequence_(sequence) {
        require_sequence(sequence, model.sequences(), "one sequence"); // each call reads there
    }

    [[nodiscard]] std::size_t size() const { return model_->size(sequence_); }
    [[nodiscard]] std::size_t capacity() const { return model_->capacity(); }
    [[nodiscard]] std::size_t vocabulary_size() const { return model_->vocabulary_size(); }

    [[nodiscard]] held_tokens<Id> held() const
        requires TellsHeldBatch<M, Id>
    {
        return model_->held(sequence_);
    }

    /// How many calls have changed the sequence, where the model counts them.
    [[nodiscard]] std::uint64_t calls() const
        requires requires(const M& model, std::size_t s) { model.calls(s); }
    {
        return model_->calls(sequence_);
    }
    void append(std::span<const Id> ids) { model_->append(sequence_, ids); }
    [[nodiscard]] auto score(std::span<const Id> ids) {
        const sequence_tokens<Id> part{sequence_, ids};
        return score_rows<Id>(*model_, std::span(&part, 1));
    }
    void truncate(std::size_t n) { model_->truncate(sequence_, n); }
    /// Says what score() will be asked for next (row_batching_model).
    [[nodiscard]] row_batcher* request_row(std::span<const Id> ids)
        requires RequestsRows<M, Id, std::size_t>
    {
        return model_->request_row(sequence_, ids);
    }
    [[nodiscard]] logits_rows<Id> score_tree(std::span<const Id> ids,
                                             std::span<const std::size_t> parents)
        requires BatchTreeModelOf<M, Id>
    {
        if (parents.empty()) // which means tokens, not nodes
            fail("one sequence", "parents", "expected a parent for each token");
        const sequence_nodes<Id> part{sequence_, ids, parents};
        return model_->score_tree(std::span(&part, 1));
    }
    void keep_path(std::span<const std::size_t> nodes)
        requires BatchTreeModelOf<M, Id>
    {
        model_->keep_path(sequence_, nodes);
    }
    [[nodiscard]] bool scores_trees() const { return specdec::scores_trees(*model_); }
    void begin_draft_round(std::size_t n) { specdec::begin_draft_round(*model_, sequence_, n); }
    [[nodiscard]] bool reads_features() const { return specdec::reads_features(*model_); }
    [[nodiscard]] bool lazy_append() const { return specdec::lazy_append(*model_); }
    [[nodiscard]] bool replays_on_reject() const { return specdec::replays_on_reject(*model_); }
    [[nodiscard]] std::size_t trained_context() const { return specdec::trained_context(*model_); }
    [[nodiscard]] law_version version() const { return version_of(*model_, sequence_); }

private:
    M* model_;
    std::size_t sequence_;
};

} // namespace specdec
