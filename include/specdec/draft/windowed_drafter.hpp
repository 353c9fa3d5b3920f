// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <specdec/core/concepts.hpp>
#include <specdec/core/draft_step.hpp>
#include <specdec/core/drafting.hpp>
#include <specdec/core/model/context_window.hpp>
#include <specdec/core/tree/tree_drafting.hpp>
#include <specdec/sampling/listing.hpp>

namespace specdec {

/// A drafter for texts that are longer than its context, or than those that it was trained on.
/// Their oldest tokens are dropped in blocks, and the rest is fed again. The wrapped drafter sees
/// what a context_window leaves: of a context of n tokens the first `keep`, and those after the
/// first keep + dropped(n_0, n). The round began with n_0 tokens (0 with bridges that do not tell:
/// a draft across the end of a block then feeds these tokens again). So a row is a function of the
/// context and of where the round began, and the draft distribution is one distribution, whichever
/// drafts a decision looks at.
///
/// Cost: the tokens that stay (at most the capacity less the block) are fed again once a block, in
/// one pass without rows; nothing while the text fits. Memory: 4 bytes a token of the capacity,
/// allocated at construction.
///
/// Models Drafter, ListingDrafter, TreeDrafter and ManyRowsDrafter where D does (rows() across the
/// end of a block, which no draft of at most `room` tokens asks for, takes a pass a row and
/// allocates). Borrows the drafter, whose context nobody else uses. Errors: as context_window.
template <DraftContextHolder D>
class windowed_drafter {
public:
    static constexpr model_traits traits{
        .begin_draft_round = true, .request_row = true, .room_for_nodes = true};
    explicit windowed_drafter(D& drafter, window_settings settings = {})
        : drafter_(drafter), window_of_(settings, drafter.capacity(), "windowed drafter") {
        window_.reserve(window_of_.length() + 1);
    }

    /// No text is too long.
    [[nodiscard]] std::size_t capacity() const { return ~std::size_t{0}; }

    /// Tokens of the last context that the drafter does not see.
    [[nodiscard]] std::size_t dropped() const { return dropped_; }

    void begin_draft_round(std::size_t tokens) {
        if (window_of_.dropped(tokens, tokens) != window_of_.dropped(round_, round_))
            ++changes_; // of what contexts as long as the round's show
        round_ = tokens;
        specdec::begin_draft_round(drafter_, tokens - dropped(tokens));
    }

    void sync(std::span<const draft_id> context, std::size_t unchanged) {
        const std::size_t drop = dropped(context.size());
        const std::size_t keep = window_of_.keep();
        std::size_t same = unchanged < keep ? unchanged : keep; // of the window
        if (drop == dropped_ && unchanged > keep + drop)
            same = unchanged - drop;
        if (!shown_)
            same = 0;
        window_.resize(same < window_.size() ? same : window_.size());
        same = window_.size();
        if (same < keep && drop > 0)
            add(context.subspan(same, keep - same));
        add(context.subspan(window_.size() + drop));
        context_ = context;
        size_ = context.size();
        dropped_ = drop;
        show(same);
    }

    [[nodiscard]] row_batcher* request_row() { return ask_for_row(drafter_); }
    [[nodiscard]] logits_row<draft_id> row()
        requires Drafter<D>
    {
        return drafter_.row();
    }
    [[nodiscard]] listed_row<draft_id> list()
        requires ListingDrafter<D>
    {
        return drafter_.list();
    }

    [[nodiscard]] law_version version() const { return drafter_.version() + changes_; }

    /// Beside the window: settings.room is for trees, too.
    [[nodiscard]] std::size_t room_for_nodes() const {
        return window_of_.length() - window_.size();
    }
    [[nodiscard]] logits_rows<draft_id> grow(std::span<const draft_id> ids,
                                             std::span<const std::size_t> parents)
        requires TreeDrafter<D>
    {
        return drafter_.grow(ids, parents);
    }
    void keep(std::span<const std::size_t> nodes, std::span<const draft_id> ids)
        requires TreeDrafter<D>
    {
        drafter_.keep(nodes, ids);
    }

    void push(draft_id id) {
        window_.push_back(id);
        const std::size_t drop = dropped(++size_);
        if (drop == dropped_)
            return drafter_.push(id);
        const auto behind = window_.begin() + static_cast<std::ptrdiff_t>(window_of_.keep());
        window_.erase(behind, behind + static_cast<std::ptrdiff_t>(drop - dropped_));
        dropped_ = drop;
        show(window_of_.keep());
    }

    /// Precondition: nothing was asked for since sync; n <= tokens of the context.
    [[nodiscard]] logits_rows<draft_id> rows(std::size_t n)
        requires ManyRowsDrafter<D>
    {
        const std::span<const draft_id> context = context_;
        const std::size_t first = context.size() - n + 1; // tokens before the first row
        if (dropped(first) == dropped_)
            return drafter_.rows(n);
        rows_.clear();
        for (std::size_t i = first; i <= context.size(); ++i) {
            sync(context.first(i), i == first ? i : i - 1);
            const logits_row<draft_id> row = drafter_.row();
            rows_.insert(rows_.end(), row.values.begin(), row.values.end());
        }
        const std::size_t vocabulary = rows_.size() / n;
        return {rows_.data(), n, vocabulary, vocabulary};
    }

private:
    [[nodiscard]] std::size_t dropped(std::size_t n) const {
        return window_of_.dropped(n < round_ ? 0 : round_, n);
    }
    void show(std::size_t same) {
        shown_ = false; // should the drafter throw
        drafter_.sync(window_, same);
        shown_ = true;
    }
    void add(std::span<const draft_id> ids) {
        window_.insert(window_.end(), ids.begin(), ids.end());
    }

    D& drafter_;
    context_window window_of_;
    std::size_t round_ = 0;              // tokens that the round began with
    std::size_t size_ = 0, dropped_ = 0; // tokens of the context, and how many are not shown
    std::span<const draft_id> context_;  // of the last sync
    std::vector<draft_id> window_;       // what is shown
    bool shown_ = false;                 // the drafter was synced to it
    std::vector<float> rows_;            // across the end of a block
    law_version changes_ = 0;
};

} // namespace specdec
