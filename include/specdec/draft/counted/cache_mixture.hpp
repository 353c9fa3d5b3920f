// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include <specdec/core/basic/builtins.hpp>
#include <specdec/core/rows.hpp>
#include <specdec/core/token_id.hpp>
#include <specdec/draft/counted/count_shares.hpp>
#include <specdec/draft/counted/successor_counts.hpp>
#include <specdec/sampling/law/row_spread.hpp>

namespace specdec {

/// Mixes a row's law with counts, in place:
///
///     q'(d) = (1 - lambda) q(d) + lambda c(d),   c(d) = weight of d / weight of all
///
/// as logits: only those of the successors change. log_sum: of the row's exponentials, before and
/// behind it. A cache language model (Kuhn and De Mori 1990), interpolated as Jelinek and Mercer
/// do. Tokens that the row leaves out (-infinity, as those outside of a trimmed head) are given
/// what the counts give them. Preconditions: log_sum is finite, 0 < lambda < 1. O(successors).
inline counted_saying mix_counts(std::span<float> row, double& log_sum,
                                 const successor_counts::found& seen, std::size_t cell,
                                 double lambda) {
    counted_saying said{.cell = cell, .lambda = lambda};
    const double odds = lambda / (1 - lambda);
    for (std::size_t k = 0; k < seen.successors.size() && k < counted_saying::width; ++k) {
        const successor_counts::successor& s = seen.successors[k];
        if (!(s.weight > 0) || s.id.index() >= row.size())
            continue;
        float& logit = row[s.id.index()];
        said.id[k] = s.id;
        said.c[k] = static_cast<double>(s.weight) / seen.weight;
        said.q[k] = builtin::exp(static_cast<double>(logit) - log_sum);
        logit = static_cast<float>(log_sum + builtin::log(said.q[k] + odds * said.c[k]));
    }
    log_sum -= builtin::log1p(-lambda);
    return said;
}

/// A row that was mixed, by its context's number of tokens and their last one.
struct counted_row {
    std::size_t tokens = 0;
    draft_id last{};
    std::array<counted_saying, 2> said{}; ///< of either source of count_shares
};

/// The rows of a pass, mixed in order; copied as soon as one of them is. Borrows both: `room` grows
/// to the largest pass.
class mixed_rows {
public:
    mixed_rows(logits_rows<draft_id> given, std::vector<float>& room) : rows_(given), room_(room) {}
    operator logits_rows<draft_id>() const { return rows_; } // NOLINT(*-explicit-*)

    /// The next row. Returns what was said of it.
    std::array<counted_saying, 2> mix(const successor_counts::found& of_all,
                                      const successor_counts::found& of_text,
                                      const count_shares& shares) {
        std::array<counted_saying, 2> said;
        const std::size_t row = next_++;
        if ((of_all.order == 0 && of_text.order == 0) || !any_allowed(rows_[row].values))
            return said;
        double log_sum = row_spread(rows_[row].values, row_reading::sureness).log_sum;
        for (const auto from : {count_shares::of_all_texts, count_shares::of_this_text})
            if (const auto& seen = from == count_shares::of_all_texts ? of_all : of_text;
                seen.order > 0) {
                const std::size_t cell = count_shares::cell_of(from, seen);
                said[from] = mix_counts(own_row(row), log_sum, seen, cell, shares.of(cell));
            }
        return said;
    }

private:
    std::span<float> own_row(std::size_t row) {
        const std::size_t size = rows_.vocabulary();
        if (!copied_) {
            if (room_.size() < rows_.size() * size)
                room_.resize(rows_.size() * size);
            for (std::size_t i = 0; i < rows_.size(); ++i)
                builtin::copy(room_.data() + i * size, rows_[i].values.data(),
                              size * sizeof(float));
            rows_ = {room_.data(), rows_.size(), size, size};
            copied_ = true;
        }
        return std::span(room_).subspan(row * size, size);
    }

    logits_rows<draft_id> rows_;
    std::vector<float>& room_;
    std::size_t next_ = 0;
    bool copied_ = false;
};

} // namespace specdec
