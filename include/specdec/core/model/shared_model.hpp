// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <specdec/core/concepts.hpp>
#include <specdec/core/model/context_tracker.hpp>
#include <specdec/core/model/tree_scoring.hpp>
#include <specdec/core/model/wrapped_model.hpp>

namespace specdec {

/// Lets several users take turns with a context: sessions with one target, or drafters with one
/// drafter's model. It records the tokens of the context, so each user sees what the others left,
/// and feeds only what differs from its own text. Without it every user has to call target_lost()
/// before its turn: it would take another text of equal length for its own.
///
///     shared_model<target_id, engine_model> target(model);    // one, which all of them use
///     generate(..first text.., target);  generate(..second text.., target);  ...
///
/// Models ScoringBatchModelOf<Id>, and ScoringModelOf<Id> where the model does, and their trees
/// where it scores some. Borrows the model, which nobody else may feed or truncate meanwhile; its
/// engine may drop a context, which size() shows. Memory: 12 bytes a token of the capacity;
/// allocates at construction, and for trees larger than any before.
template <class Id, class M>
    requires ScoringModelOf<M, Id> || ScoringBatchModelOf<M, Id>
class shared_model : public wrapped_model<shared_model<Id, M>, Id, M> {
    using base = wrapped_model<shared_model<Id, M>, Id, M>;

public:
    static constexpr bool wraps_trees = base::trees;

    /// Truncates the model to nothing.
    explicit shared_model(M& model)
        : base(model), mirrors_(this->sequences()), nodes_(this->sequences()) {
        for (std::size_t s = 0; s < mirrors_.size(); ++s) {
            mirrors_[s].reserve(model.capacity());
            base::truncate(s, 0);
        }
    }

    using base::append, base::score, base::score_tree, base::keep_path, base::truncate,
        base::begin_draft_round;
    /// The tokens of the context. If the engine dropped it, they are not size() many.
    [[nodiscard]] held_tokens<Id> held(std::size_t s) const { return mirrors_[s].held(); }
    [[nodiscard]] held_tokens<Id> held() const
        requires ContextOf<M, Id>
    {
        return held(0);
    }

    void append(std::size_t s, std::span<const Id> ids) {
        base::append(s, ids);
        fed(s, ids);
    }
    [[nodiscard]] auto score(std::span<const sequence_tokens<Id>> parts) {
        const auto rows = this->rows_of_model(parts);
        for (const auto& [s, ids] : parts)
            fed(s, ids);
        return rows;
    }
    [[nodiscard]] logits_rows<Id> score_tree(std::span<const sequence_nodes<Id>> parts)
        requires base::trees
    {
        for (const auto& [s, ids, parents] : parts) // before the model has them
            nodes_[s].reserve(nodes_[s].size() + ids.size());
        const logits_rows<Id> rows = this->rows_of_trees(parts);
        for (const auto& [s, ids, parents] : parts)
            if (parents.empty())
                fed(s, ids);
            else
                nodes_[s].insert(nodes_[s].end(), ids.begin(), ids.end());
        return rows;
    }
    void keep_path(std::size_t s, std::span<const std::size_t> nodes)
        requires base::trees
    {
        this->keep_in_model(s, nodes);
        for (const std::size_t node : nodes)
            mirrors_[s].fed({&nodes_[s][node], 1});
        nodes_[s].clear();
    }
    void truncate(std::size_t s, std::size_t n) {
        base::truncate(s, n);
        mirrors_[s].truncated(n);
        nodes_[s].clear();
    }
    void begin_draft_round(std::size_t s, std::size_t n) {
        base::begin_draft_round(s, n);
        mirrors_[s].truncated(this->size(s));
        nodes_[s].clear();
    }

private:
    void fed(std::size_t s, std::span<const Id> ids) {
        mirrors_[s].fed(ids);
        nodes_[s].clear();
    }

    std::vector<context_tracker<Id>> mirrors_; // [sequences]
    std::vector<std::vector<Id>> nodes_;       // [sequences] of a tree behind the context
};

} // namespace specdec
