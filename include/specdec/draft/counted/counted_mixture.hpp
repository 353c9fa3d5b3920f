// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <specdec/core/basic/builtins.hpp>
#include <specdec/core/rows.hpp>
#include <specdec/core/token_id.hpp>
#include <specdec/draft/counted/successor_counts.hpp>
#include <specdec/sampling/law/row_spread.hpp>

namespace specdec {

/// How far counts are believed: the more tokens they stand behind and the oftener these were seen.
///
///     lambda(n, w) = (0.1, 0.2, 0.4, 0.6 for n = 1, 2, 3, 4 and more) * w / (w + 1 / 2)
///
/// Measured on kinds of text that no drafter was trained on (docs/results/learning.md); what is
/// learnt in place of these numbers gains 1 % more.
[[nodiscard]] inline double share_of_counts(std::size_t order, double weight) {
    constexpr double shares[] = {0, 0.1, 0.2, 0.4, 0.6};
    return shares[order < 4 ? order : 4] * (weight / (weight + 0.5));
}

/// Mixes a row's law with counts, in place:
///
///     q'(d) = (1 - lambda) q(d) + lambda c(d),   c(d) = weight of d / weight of all
///
/// as logits: only those of the successors change. log_sum: of the row's exponentials, before and
/// behind it. A cache language model (Kuhn and De Mori 1990), interpolated as Jelinek and Mercer
/// do. Tokens that the row leaves out (-infinity, as those outside of a trimmed head) are given
/// what the counts give them. Precondition: log_sum is finite. O(successors).
inline void mix_counts(std::span<float> row, double& log_sum, const successor_counts::found& seen) {
    const double lambda = share_of_counts(seen.order, seen.weight);
    const double odds = lambda / (1 - lambda) / seen.weight;
    for (const successor_counts::successor& s : seen.successors) {
        if (s.weight <= 0 || s.id.index() >= row.size())
            continue;
        float& logit = row[s.id.index()];
        const double before = builtin::exp(static_cast<double>(logit) - log_sum);
        logit = static_cast<float>(log_sum +
                                   builtin::log(before + odds * static_cast<double>(s.weight)));
    }
    log_sum -= builtin::log1p(-lambda);
}

/// The rows of a pass, mixed in order; copied as soon as one of them is. Borrows both: `room` grows
/// to the largest pass.
class mixed_rows {
public:
    mixed_rows(logits_rows<draft_id> given, std::vector<float>& room) : rows_(given), room_(room) {}
    operator logits_rows<draft_id>() const { return rows_; } // NOLINT(*-explicit-*)

    void mix(const successor_counts::found& of_all, const successor_counts::found& of_text) {
        const std::size_t row = next_++;
        if ((of_all.order == 0 && of_text.order == 0) || !any_allowed(rows_[row].values))
            return;
        double log_sum = row_spread(rows_[row].values, row_reading::sureness).log_sum;
        for (const successor_counts::found& seen : {of_all, of_text})
            if (seen.order > 0)
                mix_counts(own_row(row), log_sum, seen);
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
