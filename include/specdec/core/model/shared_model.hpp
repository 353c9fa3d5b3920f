// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <specdec/core/concepts.hpp>
#include <specdec/core/law_mark.hpp>
#include <specdec/core/model/context_mirror.hpp>
#include <specdec/core/model/tree_scoring.hpp>

namespace specdec {

/// Lets several users take turns with one model's context: sessions with one target, or drafters
/// with one drafter's model. It records the tokens of the context, so each user sees what the
/// others left, and feeds only what differs from its own text. Without it every user has to call
/// target_lost() before its turn: it would take another text of equal length for its own.
///
///     shared_model<target_id, engine_model> target(model);    // one, which all of them use
///     generate(..first text.., target);  generate(..second text.., target);  ...
///
/// Models ScoringModelOf<Id>, and TreeModelOf<Id> and RoundAware if the model does. Borrows the
/// model, which nobody else may feed or truncate meanwhile; its engine may drop the context, which
/// size() shows. Memory: 4 bytes a token of the capacity; allocates at construction, and for trees
/// larger than any before.
template <class Id, ScoringModelOf<Id> M>
class shared_model {
public:
    /// Truncates the model to nothing.
    explicit shared_model(M& model) : model_(&model) {
        mirror_.reserve(model.capacity());
        model.truncate(0);
    }

    [[nodiscard]] std::size_t size() const { return model_->size(); }
    [[nodiscard]] std::size_t capacity() const { return model_->capacity(); }
    [[nodiscard]] std::size_t vocabulary_size() const { return model_->vocabulary_size(); }
    /// The tokens of the context. If the engine dropped it, they are not size() many.
    [[nodiscard]] std::span<const Id> held() const { return mirror_.held(); }

    void append(std::span<const Id> ids) {
        model_->append(ids);
        fed(ids);
    }
    [[nodiscard]] auto score(std::span<const Id> ids) {
        const auto rows = score_rows<Id>(*model_, ids);
        fed(ids);
        return rows;
    }
    void truncate(std::size_t n) {
        model_->truncate(n);
        mirror_.truncated(n);
        nodes_.clear();
    }

    [[nodiscard]] logits_rows<Id> score_tree(std::span<const Id> ids,
                                             std::span<const std::size_t> parents)
        requires TreeModelOf<M, Id>
    {
        nodes_.reserve(nodes_.size() + ids.size()); // before the model has them
        const logits_rows<Id> rows = model_->score_tree(ids, parents);
        nodes_.insert(nodes_.end(), ids.begin(), ids.end());
        return rows;
    }
    void keep_path(std::span<const std::size_t> nodes)
        requires TreeModelOf<M, Id>
    {
        model_->keep_path(nodes);
        for (const std::size_t node : nodes)
            mirror_.fed({&nodes_[node], 1});
        nodes_.clear();
    }

    void begin_round(std::size_t n)
        requires RoundAware<M>
    {
        model_->begin_round(n);
        mirror_.truncated(model_->size());
        nodes_.clear();
    }
    [[nodiscard]] law_mark mark() const { return mark_of(*model_); }

private:
    void fed(std::span<const Id> ids) {
        mirror_.fed(ids);
        nodes_.clear();
    }

    M* model_;
    context_mirror<Id> mirror_;
    std::vector<Id> nodes_; // of a tree behind the context
};

} // namespace specdec
