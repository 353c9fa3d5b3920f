// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <vector>

#include <specdec/core/concepts.hpp>

namespace specdec::testing {

/// What can go wrong in an adapter.
enum class model_fault {
    none,
    starts_with_a_token,  ///< a BOS that the engine feeds by itself
    append_keeps_size,    ///< append does not count
    padded_rows,          ///< rows as long as the padded head
    last_row_only,        ///< as an engine answers that was not asked for all logits
    batch_too_large,      ///< no call of more than 16 tokens
    not_a_number,         ///< in one row
    infinite,             ///< +infinity in one row
    forbids_all,          ///< -infinity all over one row
    row_of_next_token,    ///< row i of a call is row i + 1, the last stays
    row_before_token,     ///< the law before token i, in any call
    row_before_but_first, ///< the same, but for the context's first token
    vocabulary_as_stride, ///< rows are padded, but the vocabulary is given as their distance
    rows_pile_up,         ///< rows of all calls in one buffer, of which the beginning is returned
    rows_one_call_late,   ///< the other one of two buffers is returned
    sees_whole_call,      ///< no causal mask in a call
    depends_on_grouping,  ///< a little: sums in another order
    append_of_blanks,     ///< append moves on and writes no keys
    truncate_leaves_one,  ///< truncate(n) leaves n + 1
    truncate_throws,      ///< a memory that cannot go back
    stale_keys,           ///< truncated cells are still attended to
    positions_count_on,   ///< positions go on where the truncated tokens ended
    append_counts_on,     ///< the same, in append only
    rows_by_position,     ///< rows are remembered, whatever was truncated
    unbounded,            ///< takes more than its capacity
    score_unbounded,      ///< the same, in score only
    refuses_when_full,    ///< but takes any number where there is room for one
    less_than_promised,   ///< capacity() counts a reserve that is not there
    half_append,          ///< a refused call leaves what still fitted
    half_score,           ///< the same, in score only
    leaks_cells,          ///< a refused call uses up room
    shared_rows,          ///< all models write their rows to one buffer
};

/// A model like an engine: cells of a cache with a token and a position each, rows computed from
/// the cells that are seen, padded. With one fault.
template <class Id>
class faulty_model {
public:
    explicit faulty_model(model_fault fault = model_fault::none) : fault_(fault) {
        if (has(model_fault::starts_with_a_token))
            hold(Id{1});
    }

    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] std::size_t capacity() const { return most; }
    [[nodiscard]] std::size_t vocabulary_size() const { return vocabulary; }

    void append(std::span<const Id> ids) {
        require_room(ids, false);
        for (const Id id : ids)
            hold(has(model_fault::append_of_blanks) ? Id{} : id,
                 has(model_fault::append_counts_on));
        if (has(model_fault::append_keeps_size))
            size_ -= ids.size();
    }

    logits_rows<Id> score(std::span<const Id> ids) {
        require_room(ids, true);
        if (has(model_fault::batch_too_large) && ids.size() > 16)
            throw std::runtime_error("n_batch");
        std::vector<std::vector<float>> rows;
        const std::size_t before = size_;
        if (has(model_fault::sees_whole_call))
            for (const Id id : ids)
                hold(id);
        size_ = before;
        for (const Id id : ids) {
            const bool late = has(model_fault::row_before_token) ||
                              (has(model_fault::row_before_but_first) && size_ > 0);
            if (late)
                rows.push_back(row(ids.size()));
            hold(id);
            if (!late)
                rows.push_back(row(ids.size()));
        }
        if (has(model_fault::row_of_next_token))
            for (std::size_t i = 0; i + 1 < rows.size(); ++i)
                rows[i] = rows[i + 1];
        return written(rows);
    }

    void truncate(std::size_t n) {
        if (has(model_fault::truncate_throws))
            throw std::runtime_error("cannot remove cells");
        size_ = has(model_fault::truncate_leaves_one) && n < size_ ? n + 1 : n;
        if (!has(model_fault::stale_keys))
            cells_.resize(size_);
    }

private:
    static constexpr std::size_t vocabulary = 11, stride = 16, most = 40;

    struct cell {
        Id id;
        std::size_t position;
    };

    [[nodiscard]] bool has(model_fault fault) const { return fault_ == fault; }

    void require_room(std::span<const Id> ids, bool scoring) {
        const std::size_t left =
            most - size_ - leaked_ - (has(model_fault::less_than_promised) ? 4 : 0);
        if (ids.size() <= left || has(model_fault::unbounded) ||
            (scoring && has(model_fault::score_unbounded)) ||
            (left > 0 && has(model_fault::refuses_when_full)))
            return;
        if (has(scoring ? model_fault::half_score : model_fault::half_append))
            for (const Id id : ids.first(left))
                hold(id);
        if (has(model_fault::leaks_cells))
            leaked_ = left > 8 ? 8 : 0;
        throw std::runtime_error("no room");
    }

    void hold(Id id, bool counts_on = false) {
        if (size_ == cells_.size())
            cells_.emplace_back();
        cells_[size_] = {id, counts_on || has(model_fault::positions_count_on) ? fed_ : size_};
        ++size_;
        ++fed_;
    }

    [[nodiscard]] std::vector<float> row(std::size_t call) {
        std::uint64_t h = 7;
        const bool all = has(model_fault::stale_keys) || has(model_fault::sees_whole_call);
        for (std::size_t i = 0; i < (all ? cells_.size() : size_); ++i) {
            h = (h ^ static_cast<std::uint64_t>(cells_[i].id.value) * 31) * 0xBF58476D1CE4E5B9U;
            h = (h ^ (h >> 29) ^ cells_[i].position) * 0x94D049BB133111EBU;
        }
        h = (h ^ size_) * 0x94D049BB133111EBU;
        std::vector<float> values(stride, 1000.0F);
        for (std::size_t v = 0; v < vocabulary; ++v) {
            values[v] = static_cast<float>((h ^ (h >> 31)) * (2 * v + 1) >> 40) * 0x1p-22F;
            if (has(model_fault::depends_on_grouping))
                values[v] += 1e-5F * static_cast<float>(call * v);
        }
        constexpr float infinity = std::numeric_limits<float>::infinity();
        if (has(model_fault::not_a_number) && size_ == 3)
            values[2] = infinity - infinity;
        if (has(model_fault::infinite) && size_ == 3)
            values[2] = infinity;
        if (has(model_fault::forbids_all) && size_ == 3)
            values.assign(stride, -infinity);
        if (has(model_fault::rows_by_position)) {
            if (size_ > remembered_.size())
                remembered_.resize(size_);
            if (remembered_[size_ - 1].empty())
                remembered_[size_ - 1] = values;
            return remembered_[size_ - 1];
        }
        return values;
    }

    logits_rows<Id> written(const std::vector<std::vector<float>>& rows) {
        static std::vector<float> shared(most * stride);
        std::vector<float>& buffer = has(model_fault::shared_rows) ? shared : buffer_;
        if (has(model_fault::rows_one_call_late))
            std::swap(buffer_, other_buffer_);
        if (!has(model_fault::rows_pile_up))
            written_ = 0;
        buffer.resize(most * most * stride);
        for (const std::vector<float>& values : rows)
            for (const float x : values)
                buffer[written_++] = x;
        if (has(model_fault::last_row_only))
            return {&buffer[(rows.size() - 1) * stride], 1, vocabulary, stride};
        other_buffer_.resize(buffer.size());
        return {has(model_fault::rows_one_call_late) ? other_buffer_.data() : buffer.data(),
                rows.size(), has(model_fault::padded_rows) ? stride : vocabulary,
                has(model_fault::vocabulary_as_stride) ? vocabulary : stride};
    }

    model_fault fault_;
    std::vector<cell> cells_;
    std::size_t size_ = 0;
    std::size_t fed_ = 0;
    std::size_t leaked_ = 0;
    std::size_t written_ = 0;
    std::vector<float> buffer_, other_buffer_;
    std::vector<std::vector<float>> remembered_;
};

} // namespace specdec::testing
