// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <type_traits>

#include <specdec/core/concepts.hpp>
#include <specdec/core/draft_step.hpp>
#include <specdec/core/drafting.hpp>
#include <specdec/core/model/context_tracker.hpp>
#include <specdec/core/model/tree_scoring.hpp>
#include <specdec/core/require.hpp>
#include <specdec/sampling/listing.hpp>

namespace specdec {

/// A language model as drafter. Reaches every context that the bridge asks for by truncating the
/// model's to the common prefix and feeding the rest; nothing is fed before a row is asked for.
/// Borrows the model, which is used by nobody else meanwhile, unless all use it, draft by draft,
/// through one shared_model; its engine may drop its context between rounds (size() tells), which
/// is then fed again. Models Drafter, or ListingDrafter where the model scores lists, and
/// TreeDrafter where it scores trees. Allocates at construction only. Errors: specdec::error for
/// ids outside the model's vocabulary, and for rows of another shape than asked for; nothing is
/// then lost.
template <class Model>
    requires ModelOf<Model, draft_id> || ListingModelOf<Model, draft_id>
class model_drafter {
    using rows_type =
        std::conditional_t<ModelOf<Model, draft_id>, logits_rows<draft_id>, listed_rows<draft_id>>;

public:
    static constexpr model_traits traits{.begin_draft_round = true, .request_row = true};
    /// Precondition: the model's context is empty or may be dropped (it is truncated to nothing).
    explicit model_drafter(Model& model) : model_(model) {
        mirror_.reserve(model.capacity());
        model_.truncate(0);
    }
    /// Of a model that tells what it holds: as far as that agrees with a context, it is used.
    model_drafter(Model& model, left_context left)
        requires TellsHeld<Model, draft_id>
        : model_(model) {
        mirror_.reserve(model.capacity());
        if (left == left_context::dropped)
            model_.truncate(0);
    }

    [[nodiscard]] std::size_t capacity() const { return model_.capacity(); }

    /// What the model has to do for the last synced context: for engines that want to see it, and
    /// for tests; row() does it.
    [[nodiscard]] context_edit<draft_id> pending() const { return pending_; }

    void begin_draft_round(std::size_t n) {
        const bool alone = model_.size() == mirror_.size(); // otherwise sync looks what is left
        specdec::begin_draft_round(model_, n);
        if (alone)
            mirror_.truncated(model_.size());
    }

    void sync(std::span<const draft_id> context, std::size_t unchanged) {
        const std::size_t same = mirror_.meet(model_);
        unchanged = same < unchanged ? same : unchanged;
        // What the last sync asked for may not have been done: only this much agreed with it.
        const std::size_t agreed = pending_.truncate_to;
        synced_ = context;
        pushed_ = {};
        pending_ = mirror_.plan(context, unchanged < agreed ? unchanged : agreed);
    }

    /// Does what is pending, but feeds at most n tokens and not the last: what a row needs behind
    /// them is fed when it is asked for. Precondition: synced, and nothing was asked for since.
    void feed_some(std::size_t n) {
        SPECDEC_PRECONDITION(!pending_.append.empty());
        truncate();
        const std::size_t all = pending_.append.size() - 1;
        feed(n < all ? n : all);
    }
    /// The synced context has changed: until the next sync nothing is pending.
    void unsync() { pending_.append = {}; }

    /// Says that row() is asked for next: a model that gathers rows (row_batching_model) makes it
    /// in one pass with those of other texts. Since sync the context may have been dropped, or
    /// other texts have drafted with the model.
    [[nodiscard]] row_batcher* request_row() {
        if (!pushed_.valid() && !pending_.append.empty())
            sync(synced_, synced_.size());
        if constexpr (RequestsRows<Model, draft_id>) {
            prepare(1);
            return model_.request_row(pending_.append);
        } else {
            return nullptr;
        }
    }

    [[nodiscard]] logits_row<draft_id> row()
        requires ModelOf<Model, draft_id>
    {
        return score(1)[0];
    }
    [[nodiscard]] listed_row<draft_id> list()
        requires ListingModelOf<Model, draft_id>
    {
        return score(1)[0];
    }

    /// The rows behind each of the last n tokens of the synced context, in one forward pass.
    /// Precondition: nothing was asked for since sync; n <= tokens of the context.
    [[nodiscard]] logits_rows<draft_id> rows(std::size_t n)
        requires ModelOf<Model, draft_id>
    {
        if (pending_.append.size() < n) // held, but their rows are gone
            pending_ = {synced_.size() - n, synced_.subspan(synced_.size() - n)};
        return score(n);
    }

    void push(draft_id id) {
        SPECDEC_PRECONDITION(pending_.append.empty());
        pushed_ = id;
        pending_.append = {&pushed_, 1};
    }

    /// A level of a tree behind what was asked for last. Precondition: row() was, since sync.
    [[nodiscard]] logits_rows<draft_id> grow(std::span<const draft_id> ids,
                                             std::span<const std::size_t> parents)
        requires TreeModelOf<Model, draft_id>
    {
        SPECDEC_PRECONDITION(pending_.append.empty());
        require_ids(ids, model_.vocabulary_size(), "model drafter", "tokens");
        const logits_rows<draft_id> rows = model_.score_tree(ids, parents);
        require_rows(rows, ids.size(), model_.vocabulary_size(), "model drafter");
        return rows;
    }
    /// The context goes on with a path of that tree.
    void keep(std::span<const std::size_t> nodes, std::span<const draft_id> ids)
        requires TreeModelOf<Model, draft_id>
    {
        model_.keep_path(nodes);
        mirror_.fed(ids);
        pending_ = {mirror_.size(), {}};
    }

    [[nodiscard]] law_version version() const { return version_of(model_); }

private:
    static constexpr std::size_t one_pass = 8;

    /// Does what is pending, but for the pass that makes the last n of its rows.
    void prepare(std::size_t n) {
        SPECDEC_PRECONDITION(pending_.append.size() >= n && n > 0);
        truncate();
        // A long tail (the prompt) needs no rows but the last; a short one is cheapest in one pass,
        // unless tokens without rows cost none.
        if (pending_.append.size() > n &&
            (pending_.append.size() > one_pass || lazy_append(model_)))
            feed(pending_.append.size() - n);
    }
    /// Does what is pending; the last n of its rows.
    rows_type score(std::size_t n) {
        prepare(n);
        const rows_type rows = model_.score(pending_.append);
        require_rows(rows, pending_.append.size(), model_.vocabulary_size(), "model drafter");
        mirror_.fed(pending_.append);
        pending_ = {mirror_.size(), {}};
        return rows.middle(rows.size() - n, n);
    }

    void truncate() {
        require_ids(pending_.append, model_.vocabulary_size(), "model drafter", "tokens");
        if (pending_.truncate_to < mirror_.size()) {
            model_.truncate(pending_.truncate_to);
            mirror_.truncated(pending_.truncate_to);
        }
    }
    void feed(std::size_t n) {
        model_.append(pending_.append.first(n));
        mirror_.fed(pending_.append.first(n));
        pending_ = {mirror_.size(), pending_.append.subspan(n)};
    }

    Model& model_;
    context_tracker<draft_id> mirror_;
    std::span<const draft_id> synced_;
    context_edit<draft_id> pending_;
    draft_id pushed_;
};

} // namespace specdec
