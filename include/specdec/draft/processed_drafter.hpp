// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include <specdec/core/concepts.hpp>
#include <specdec/core/draft_step.hpp>
#include <specdec/core/drafting.hpp>
#include <specdec/core/tree/tree_drafting.hpp>
#include <specdec/process/row_processor.hpp>

namespace specdec {

/// A drafter whose rows are processed: by what the target's rows go through, mirrored, or by
/// anything else, since every q is lossless (docs/use/processors.md). The processors see the
/// drafter's context and what was pushed. Borrows the drafter. Models Drafter, RoundAware, and
/// TreeDrafter and ManyRowsDrafter where the drafter does. Memory: a copy of the rows asked for at
/// a time, which grows with the first ones, and `tokens` ids: the longest context (of a
/// windowed_drafter, which has no longest one, to be given).
template <Drafter D, RowProcessor<draft_id> P>
class processed_drafter {
public:
    static constexpr model_traits traits{.begin_draft_round = true,
                                         .request_row = true,
                                         .room_for_nodes =
                                             traits_of<model_traits, D>.room_for_nodes};
    processed_drafter(D& drafter, P process)
        : processed_drafter(drafter, process, drafter.capacity()) {}
    processed_drafter(D& drafter, P process, std::size_t tokens)
        : drafter_(drafter), process_(std::move(process)) {
        if (!is_active(process_))
            return;
        tokens_.reserve(tokens);
        reserve_tokens(process_, tokens);
    }

    [[nodiscard]] std::size_t capacity() const { return drafter_.capacity(); }
    [[nodiscard]] law_version version() const { return drafter_.version(); }

    void begin_draft_round(std::size_t tokens) { specdec::begin_draft_round(drafter_, tokens); }

    void sync(std::span<const draft_id> context, std::size_t unchanged) {
        drafter_.sync(context, unchanged);
        tree_.clear();
        if (!is_active(process_))
            return;
        unchanged = unchanged < tokens_.size() ? unchanged : tokens_.size();
        tokens_.resize(unchanged);
        tokens_.insert(tokens_.end(), context.begin() + static_cast<std::ptrdiff_t>(unchanged),
                       context.end());
    }

    [[nodiscard]] row_batcher* request_row() { return ask_for_row(drafter_); }
    [[nodiscard]] logits_row<draft_id> row() {
        const logits_row<draft_id> given = drafter_.row();
        if (!is_active(process_))
            return given;
        rows_.resize(given.size());
        return processed(given, tokens_, rows_);
    }

    [[nodiscard]] logits_rows<draft_id> rows(std::size_t n)
        requires ManyRowsDrafter<D>
    {
        const logits_rows<draft_id> given = drafter_.rows(n);
        if (!is_active(process_))
            return given;
        const std::size_t size = given.vocabulary();
        rows_.resize(n * size);
        for (std::size_t i = 0; i < n; ++i)
            processed(given[i], std::span(tokens_).first(tokens_.size() - (n - 1 - i)),
                      std::span(rows_).subspan(i * size, size));
        return {rows_.data(), n, size, size};
    }

    [[nodiscard]] logits_rows<draft_id> grow(std::span<const draft_id> ids,
                                             std::span<const std::size_t> parents)
        requires TreeDrafter<D>
    {
        const logits_rows<draft_id> given = drafter_.grow(ids, parents);
        if (!is_active(process_))
            return given;
        const std::size_t size = given.vocabulary(), context = tokens_.size();
        rows_.resize(ids.size() * size);
        for (std::size_t i = 0; i < ids.size(); ++i) {
            tree_.add(parents[i], ids[i]);
            const std::size_t node = tree_.size() - 1;
            tokens_.resize(context + tree_.depth(node));
            tree_.path_to(node, std::span(tokens_).subspan(context));
            processed(given[i], tokens_, std::span(rows_).subspan(i * size, size));
        }
        tokens_.resize(context);
        return {rows_.data(), ids.size(), size, size};
    }
    [[nodiscard]] std::size_t room_for_nodes() const
        requires(traits.room_for_nodes)
    {
        return drafter_.room_for_nodes();
    }
    void keep(std::span<const std::size_t> nodes, std::span<const draft_id> ids)
        requires TreeDrafter<D>
    {
        drafter_.keep(nodes, ids);
    }

    void push(draft_id id) {
        drafter_.push(id);
        if (is_active(process_))
            tokens_.push_back(id);
    }

private:
    logits_row<draft_id> processed(logits_row<draft_id> given, std::span<const draft_id> tokens,
                                   std::span<float> row) {
        for (std::size_t i = 0; i < row.size(); ++i)
            row[i] = given.values[i];
        process_(tokens, row);
        return {row};
    }

    D& drafter_;
    P process_;
    std::vector<draft_id> tokens_; // the context, and what was pushed
    std::vector<float> rows_;
    token_tree<draft_id> tree_; // behind the context
};

} // namespace specdec
