// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>

#include <specdec/core/concepts.hpp>
#include <specdec/core/law_version.hpp>
#include <specdec/core/model/context_tracker.hpp>
#include <specdec/core/model/tree_scoring.hpp>

namespace specdec {

/// The base of what wraps a model, which is written for several sequences and serves for one. Each
/// call goes to the model; Self writes those that it changes, with a sequence's number, and score.
/// A model of one sequence is seen as one of several with sequences() == 1, and what wraps it has
/// the calls without a number, too, which are made of Self's:
///
///     template <class M>
///     class echo : public wrapped_model<echo<M>, target_id, M> {
///         using base = wrapped_model<echo<M>, target_id, M>;
///
///     public:
///         explicit echo(M& model) : base(model) {}
///         using base::score; // of one sequence
///         auto score(std::span<const sequence_tokens<target_id>> parts) {
///             return this->rows_of_model(parts);
///         }
///     };
///
/// So Self models ScoringBatchModelOf<Id>, and ScoringModelOf<Id> where M does; trees likewise,
/// where Self writes score_tree and keep_path, and says so by `wraps_trees`. one_sequence leads
/// from several back to one. Borrows the model.
template <class Self, class Id, class M>
    requires ContextOf<M, Id> || BatchContextOf<M, Id>
class wrapped_model {
protected:
    static constexpr bool several = BatchContextOf<M, Id>, one = ContextOf<M, Id>;
    using parts_type = std::span<const sequence_tokens<Id>>;
    using trees_type = std::span<const sequence_nodes<Id>>;
    using path_type = std::span<const std::size_t>;
    static constexpr bool trees = TreeModelOf<M, Id> || BatchTreeModelOf<M, Id>;

    explicit wrapped_model(M& model) : model_(&model) {}

    [[nodiscard]] M& wrapped() { return *model_; }
    [[nodiscard]] const M& wrapped() const { return *model_; }
    void set_wrapped(M& model) { model_ = &model; }

    [[nodiscard]] auto rows_of_model(parts_type parts) {
        if constexpr (several)
            return score_rows<Id>(*model_, parts);
        else
            return score_rows<Id>(*model_, parts.front().ids);
    }
    [[nodiscard]] logits_rows<Id> rows_of_trees(trees_type parts)
        requires trees
    {
        if constexpr (several)
            return model_->score_tree(parts);
        else if (parts.front().parents.empty())
            return model_->score(parts.front().ids);
        else
            return model_->score_tree(parts.front().ids, parts.front().parents);
    }
    void keep_in_model(std::size_t s, path_type nodes) {
        at_sequence<several>(s, [&](auto... at) { model_->keep_path(at..., nodes); });
    }

public:
    static constexpr model_traits traits = all_model_traits;
    [[nodiscard]] std::size_t sequences() const {
        if constexpr (several)
            return model_->sequences();
        else
            return 1;
    }
    [[nodiscard]] std::size_t capacity() const { return model_->capacity(); }
    [[nodiscard]] std::size_t vocabulary_size() const { return model_->vocabulary_size(); }
    [[nodiscard]] bool reads_features() const { return specdec::reads_features(*model_); }
    [[nodiscard]] bool lazy_append() const { return specdec::lazy_append(*model_); }
    [[nodiscard]] bool replays_on_reject() const { return specdec::replays_on_reject(*model_); }
    [[nodiscard]] std::size_t trained_context() const { return specdec::trained_context(*model_); }
    [[nodiscard]] bool scores_trees() const {
        if constexpr (requires { requires Self::wraps_trees; })
            return specdec::scores_trees(*model_);
        else
            return false;
    }
    void forget_learnt()
        requires LearnsFromTexts<M>
    {
        model_->forget_learnt();
    }

    [[nodiscard]] std::size_t size(std::size_t s) const {
        return at_sequence<several>(s, [&](auto... at) { return model_->size(at...); });
    }
    [[nodiscard]] held_tokens<Id> held([[maybe_unused]] std::size_t s) const
        requires TellsHeld<M, Id> || TellsHeldBatch<M, Id>
    {
        if constexpr (TellsHeldBatch<M, Id>)
            return model_->held(s);
        else
            return model_->held();
    }
    [[nodiscard]] context_key key(std::size_t s) const
        requires ReportsKey<M> || ReportsKeyBatch<M>
    {
        return at_sequence<several>(s, [&](auto... at) { return model_->key(at...); });
    }
    void set_key(std::size_t s, context_key key)
        requires TakesKey<M> || TakesKeys<M>
    {
        at_sequence<several>(s, [&](auto... at) { model_->set_key(at..., key); });
    }
    void append(std::size_t s, std::span<const Id> ids) {
        at_sequence<several>(s, [&](auto... at) { model_->append(at..., ids); });
    }
    void truncate(std::size_t s, std::size_t n) {
        at_sequence<several>(s, [&](auto... at) { model_->truncate(at..., n); });
    }
    void begin_draft_round(std::size_t s, std::size_t n) {
        specdec::begin_draft_round(*model_, s, n);
    }
    [[nodiscard]] law_version version(std::size_t s) const { return version_of(*model_, s); }

    [[nodiscard]] std::size_t size() const
        requires one
    {
        return self().size(0);
    }
    [[nodiscard]] held_tokens<Id> held() const
        requires(one && (TellsHeld<M, Id> || TellsHeldBatch<M, Id>))
    {
        return self().held(0);
    }
    void append(std::span<const Id> ids)
        requires one
    {
        self().append(0, ids);
    }
    [[nodiscard]] auto score(std::span<const Id> ids)
        requires one
    {
        const sequence_tokens<Id> part{0, ids};
        return self().score(parts_type(&part, 1));
    }
    [[nodiscard]] logits_rows<Id> score_tree(std::span<const Id> ids, path_type parents)
        requires(one && requires { requires Self::wraps_trees; })
    {
        if (parents.empty()) // which means tokens, not nodes
            fail("wrapped model", "parents", "expected a parent for each token");
        const sequence_nodes<Id> part{0, ids, parents};
        return self().score_tree(trees_type(&part, 1));
    }
    void keep_path(path_type nodes)
        requires(one && requires { requires Self::wraps_trees; })
    {
        self().keep_path(0, nodes);
    }
    void truncate(std::size_t n)
        requires one
    {
        self().truncate(0, n);
    }
    void begin_draft_round(std::size_t n)
        requires one
    {
        self().begin_draft_round(0, n);
    }
    [[nodiscard]] law_version version() const
        requires one
    {
        return self().version(0);
    }

private:
    [[nodiscard]] Self& self() { return static_cast<Self&>(*this); }
    [[nodiscard]] const Self& self() const { return static_cast<const Self&>(*this); }

    M* model_;
};

/// A model as it is, of one sequence or of several, with the calls of several.
template <class Id, class M>
class lifted_model : public wrapped_model<lifted_model<Id, M>, Id, M> {
    using base = wrapped_model<lifted_model<Id, M>, Id, M>;

public:
    static constexpr bool wraps_trees = base::trees;
    static constexpr model_traits traits = [] {
        model_traits t = base::traits;
        t.copies_prefix = traits_of<model_traits, M>.copies_prefix;
        return t;
    }();
    explicit lifted_model(M& model) : base(model) {}
    using base::score;
    [[nodiscard]] auto score(std::span<const sequence_tokens<Id>> parts) {
        return this->rows_of_model(parts);
    }
    using base::score_tree, base::keep_path;
    [[nodiscard]] logits_rows<Id> score_tree(std::span<const sequence_nodes<Id>> parts)
        requires base::trees
    {
        return this->rows_of_trees(parts);
    }
    void keep_path(std::size_t s, std::span<const std::size_t> nodes)
        requires base::trees
    {
        this->keep_in_model(s, nodes);
    }
    [[nodiscard]] bool copy_prefix(std::size_t to, std::size_t from, std::size_t n)
        requires(traits_of<model_traits, M>.copies_prefix)
    {
        return this->wrapped().copy_prefix(to, from, n);
    }
};

} // namespace specdec
