// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <specdec/core/basic/builtins.hpp>
#include <specdec/core/error.hpp>
#include <specdec/core/rows.hpp>
#include <specdec/core/token_id.hpp>
#include <specdec/sampling/law/draw.hpp>

namespace specdec {

/// The likeliest successors of each token, as the target's last row behind that token had them:
/// rows that were computed anyway, those of rejected proposals, too. Paper: Token Recycling (Luo et
/// al., ACL 2025), whose matrix of candidates this is.
///
///     table.learn(t, row)    the target's row behind a token t, whatever stood before it
///     table.of(t)            its successors, the likeliest first; none: t was not seen
///
/// Each has its share of the mass of the row's likeliest: how sure the target was there and then.
/// Memory: 8 bytes for each of `width` successors of each token, at construction; it does not grow.
/// Complexity: learn one pass over the row, of O(1). Not for several threads at a time. Errors:
/// specdec::error for a width of 0 or above 64.
class successor_table {
public:
    struct successor {
        target_id id;
        float share = 0;
    };

    explicit successor_table(std::size_t vocabulary, std::size_t width = 8)
        : width_(width), counts_(vocabulary, 0) {
        if (width == 0 || width > most_width)
            fail("successor table", "width", "expected 1 to 64, found " + std::to_string(width));
        entries_.resize(vocabulary * width);
    }

    [[nodiscard]] std::size_t vocabulary() const { return counts_.size(); }
    [[nodiscard]] std::size_t memory() const {
        return entries_.size() * sizeof(successor) + counts_.size();
    }

    /// Ignored for a token or a row of another vocabulary.
    void learn(target_id t, logits_row<target_id> row) {
        successor own[most_width];
        if (row.size() <= vocabulary())
            learn(t, std::span<const successor>(own).first(successors_in(row, own)));
    }
    /// The same in two parts: what a row of the vocabulary says, of which `out` has room for
    /// width(), and how many these are; then to learn it. More than width() are ignored, too.
    std::size_t successors_in(logits_row<target_id> row, std::span<successor> out) const {
        target_id ids[most_width];
        const std::size_t n = top_ids(row, std::span(ids, width_));
        double all = 0;
        for (std::size_t k = 0; k < n; ++k) {
            const float below = row.values[ids[k].index()] - row.values[ids[0].index()];
            out[k] = {ids[k], builtin::expf(below)};
            all += static_cast<double>(out[k].share);
        }
        for (std::size_t k = 0; k < n; ++k)
            out[k].share = static_cast<float>(static_cast<double>(out[k].share) / all);
        return n;
    }
    void learn(target_id t, std::span<const successor> successors) {
        if (t.index() >= vocabulary() || successors.size() > width_)
            return;
        for (std::size_t k = 0; k < successors.size(); ++k)
            entries_[t.index() * width_ + k] = successors[k];
        counts_[t.index()] = static_cast<unsigned char>(successors.size());
    }
    [[nodiscard]] std::size_t width() const { return width_; }
    [[nodiscard]] std::span<const successor> of(target_id t) const {
        if (t.index() >= vocabulary())
            return {};
        return std::span(entries_).subspan(t.index() * width_, counts_[t.index()]);
    }

private:
    static constexpr std::size_t most_width = 64;

    std::size_t width_;
    std::vector<unsigned char> counts_; // [vocabulary] successors that are known
    std::vector<successor> entries_;    // [vocabulary, width]
};

} // namespace specdec
