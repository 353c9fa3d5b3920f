// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <specdec/core/basic/on_throw.hpp>
#include <specdec/core/concepts.hpp>
#include <specdec/core/draft_step.hpp>
#include <specdec/core/law_version.hpp>
#include <specdec/core/model/context_tracker.hpp>
#include <specdec/core/model/tree_scoring.hpp>
#include <specdec/core/model/wrapped_model.hpp>
#include <specdec/core/require.hpp>

namespace specdec {

/// A drafter's model of several sequences, one for each text, whose rows may be requested: those
/// that several texts need next are then made in one pass.
///
///     row_batching_model<draft_id, engine_model> rows(model);
///     one_sequence first(rows, 0), second(rows, 1);    // model_drafter(first), ...
///
///     rows.request_row(s, ids)    the next call for sequence s will be score of these ids
///     rows.pass()              one pass of the model over all that was requested
///     rows.score({s, ids})     takes the row that was made so, or makes it
///
/// A request is a hint. Whatever else is called for a sequence, requested ids and rows that
/// were not taken are as if they had never been there, and so is a row whose mark has changed since
/// it was made. So a text sees the model alone; its rows are to the bit those it gets alone, if the
/// model's do not depend on what else is in the pass.
///
/// Models what the model models, with the calls of several sequences; a row_batcher. Rows live
/// until the next call that changes the model: request everything, then pass(), then take
/// everything. Borrows the model. Memory: the ids that were requested; allocates where more are
/// than ever before. A pass that throws leaves the model as it was, with nothing requested.
template <class Id, class M>
    requires ScoringModelOf<M, Id> || ScoringBatchModelOf<M, Id>
class row_batching_model : public wrapped_model<row_batching_model<Id, M>, Id, M>,
                           public row_batcher {
    using base = wrapped_model<row_batching_model<Id, M>, Id, M>;
    using parts_type = std::span<const sequence_tokens<Id>>;
    using rows_type = decltype(score_rows<Id>(std::declval<lifted_model<Id, M>&>(), parts_type{}));

public:
    static constexpr bool wraps_trees = base::trees;

    explicit row_batching_model(M& model) : base(model), texts_(base::sequences()) {
        parts_.reserve(texts_.size());
    }

    using base::size, base::append, base::score, base::truncate, base::begin_draft_round,
        base::score_tree, base::keep_path;

    /// Passes of the model that made rows.
    [[nodiscard]] std::uint64_t passes() const { return passes_; }

    [[nodiscard]] row_batcher* request_row(std::size_t s, std::span<const Id> ids) {
        forget(s);
        texts_[s].ids.assign(ids.begin(), ids.end());
        texts_[s].state = phase::requested;
        return this;
    }

    void pass() override {
        parts_.clear();
        for (std::size_t s = 0; s < texts_.size(); ++s)
            if (texts_[s].state == phase::requested)
                parts_.push_back({s, texts_[s].ids});
        if (parts_.empty())
            return;
        forget_made();
        on_throw guard([this] { forget(); });
        ++passes_;
        rows_.clear();
        rows_.push_back(this->rows_of_model(parts_));
        require_rows(rows_.front(), count_tokens(parts_), this->vocabulary_size(),
                     "gathered model");
        guard.done();
        std::size_t n = 0;
        for (const auto& [s, ids] : parts_) {
            texts_[s].state = phase::made;
            texts_[s].first = n;
            texts_[s].mark = base::version(s);
            n += ids.size();
        }
    }
    void forget() override {
        for (std::size_t s = 0; s < texts_.size(); ++s)
            forget(s);
    }

    void forget_learnt()
        requires LearnsFromTexts<M>
    {
        forget();
        base::forget_learnt();
    }
    [[nodiscard]] auto score(parts_type parts) {
        if (parts.size() == 1 && is_made(parts.front())) {
            text& t = texts_[parts.front().sequence];
            t.state = phase::none;
            return rows_.front().middle(t.first, t.ids.size());
        }
        for (const auto& [s, ids] : parts)
            change(s);
        ++passes_;
        return this->rows_of_model(parts);
    }
    [[nodiscard]] std::size_t size(std::size_t s) const { return base::size(s) - ahead(s); }
    [[nodiscard]] held_tokens<Id> held(std::size_t s) const
        requires TellsHeld<M, Id> || TellsHeldBatch<M, Id>
    {
        const held_tokens<Id> all = base::held(s);
        return all.first(all.size() < ahead(s) ? 0 : all.size() - ahead(s));
    }
    [[nodiscard]] held_tokens<Id> held() const
        requires(ContextOf<M, Id> && (TellsHeld<M, Id> || TellsHeldBatch<M, Id>))
    {
        return held(0);
    }
    void append(std::size_t s, std::span<const Id> ids) {
        change(s);
        base::append(s, ids);
    }
    void truncate(std::size_t s, std::size_t n) {
        change(s);
        base::truncate(s, n);
    }
    void begin_draft_round(std::size_t s, std::size_t n) {
        change(s);
        base::begin_draft_round(s, n);
    }
    [[nodiscard]] logits_rows<Id> score_tree(std::span<const sequence_nodes<Id>> parts)
        requires base::trees
    {
        for (const auto& [s, ids, parents] : parts)
            change(s);
        ++passes_;
        return this->rows_of_trees(parts);
    }
    void keep_path(std::size_t s, std::span<const std::size_t> nodes)
        requires base::trees
    {
        change(s);
        this->keep_in_model(s, nodes);
    }

private:
    enum class phase : std::uint8_t { none, requested, made };
    struct text {
        std::vector<Id> ids{}; // requested; where made, at the end of what the model holds
        phase state = phase::none;
        std::size_t first = 0; // of its rows among rows_
        law_version mark = 0;  // that they were made under
    };

    [[nodiscard]] std::size_t ahead(std::size_t s) const {
        const std::size_t made = texts_[s].state == phase::made ? texts_[s].ids.size() : 0;
        return made < base::size(s) ? made : base::size(s); // an engine may drop its context
    }
    [[nodiscard]] bool is_made(const sequence_tokens<Id>& part) const {
        const text& t = texts_[part.sequence];
        return t.state == phase::made && t.mark == base::version(part.sequence) &&
               t.ids.size() == part.ids.size() &&
               common_prefix<Id>(t.ids, part.ids) == part.ids.size();
    }
    /// The model will be changed for sequence s: rows do not outlive that.
    void change(std::size_t s) {
        forget_made();
        forget(s);
    }
    void forget_made() {
        for (std::size_t s = 0; s < texts_.size(); ++s)
            if (texts_[s].state == phase::made)
                forget(s);
    }
    void forget(std::size_t s) {
        const bool fed = texts_[s].state == phase::made;
        const std::size_t before = size(s);
        texts_[s].state = phase::none;
        if (fed)
            base::truncate(s, before);
    }

    std::vector<text> texts_; // [sequences]
    std::vector<sequence_tokens<Id>> parts_;
    std::vector<rows_type> rows_; // of the latest pass
    std::uint64_t passes_ = 0;
};

} // namespace specdec
