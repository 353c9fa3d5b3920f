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
            fail("successor table", "width", "expected 1 to 64, got " + std::to_string(width));
        entries_.resize(vocabulary * width);
    }

    [[nodiscard]] std::size_t vocabulary() const { return counts_.size(); }
    [[nodiscard]] std::size_t memory() const {
        return entries_.size() * sizeof(successor) + counts_.size();
    }

    /// Ignored for a token or a row of another vocabulary.
    void learn(target_id t, logits_row<target_id> row) {
        if (t.index() >= vocabulary() || row.size() > vocabulary())
            return;
        target_id ids[most_width];
        const std::size_t n = top_ids(row, std::span(ids, width_));
        successor* const own = entries_.data() + t.index() * width_;
        double all = 0;
        for (std::size_t k = 0; k < n; ++k) {
            const float below = row.values[ids[k].index()] - row.values[ids[0].index()];
            own[k] = {ids[k], builtin::expf(below)};
            all += static_cast<double>(own[k].share);
        }
        for (std::size_t k = 0; k < n; ++k)
            own[k].share = static_cast<float>(static_cast<double>(own[k].share) / all);
        counts_[t.index()] = static_cast<unsigned char>(n);
    }

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

/// What a bridge of recycled tokens remembers: the text's last token, and the table, which it
/// borrows and teaches, and which texts may share.
class recycling {
public:
    void start(std::span<const draft_id>) { last_ = {}; }
    void follow(std::span<const target_id> committed) {
        if (!committed.empty())
            last_ = committed.back();
    }
    [[nodiscard]] std::size_t target_size() const { return table_->vocabulary(); }
    /// The target's rows behind each of these tokens; of an engine's own kind nothing is learnt.
    template <class Rows>
    void learn_rows(std::span<const target_id> ids, const Rows& rows) {
        for (std::size_t i = 0; i < ids.size() && i < rows.size(); ++i)
            if constexpr (requires { table_->learn(ids[i], rows[i]); })
                table_->learn(ids[i], rows[i]);
    }

protected:
    explicit recycling(successor_table& table) : table_(&table) {}
    [[nodiscard]] const successor_table& table() const { return *table_; }
    [[nodiscard]] target_id last() const { return last_; }

private:
    successor_table* table_;
    target_id last_;
};

} // namespace specdec
