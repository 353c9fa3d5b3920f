// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <specdec/core/require.hpp>
#include <specdec/core/token_id.hpp>
#include <specdec/sampling/law/sparse_law.hpp>

namespace specdec {

/// A text of the target, as a drafter learns from it: the text in the drafter's tokens, and the
/// target's laws at places where tokens of both vocabularies begin. Losses compare these laws with
/// the rows that the drafter computes behind its tokens, in one pass over the text.
struct distillation_sample {
    /// A law of the target: of its token that begins behind tokens[behind].
    struct row {
        std::size_t behind = 0;
        std::size_t first = 0, count = 0; ///< entries[first, first + count), the likeliest of p
    };
    /// One committed target token that is several of the drafter's: tokens[first, first + count).
    struct merge {
        std::size_t first = 0, count = 0;
        float probability = 0; ///< p(t), at temperature 1 as the rows
        target_id token{};     ///< t, where it is known: the n-gram KL asks for it
    };

    std::vector<draft_id> tokens;
    std::vector<row> rows;                       ///< ascending in `behind`
    std::vector<merge> merges;                   ///< ascending in `first`, which is at least 1
    std::vector<weighted_id<target_id>> entries; ///< of the rows; in a row ascending in id

    [[nodiscard]] std::span<const weighted_id<target_id>> entries_of(const row& r) const {
        return std::span(entries).subspan(r.first, r.count);
    }
    void clear() {
        tokens.clear();
        rows.clear();
        merges.clear();
        entries.clear();
    }
};

/// Requires rows and merges in their order, of tokens and entries that the text has. Linear.
inline void require_whole(const distillation_sample& text, const char* source) {
    const std::size_t tokens = text.tokens.size(), entries = text.entries.size();
    bool whole = true;
    std::size_t next = 0; // the first place that may follow
    for (const distillation_sample::row& r : text.rows) {
        whole =
            whole && r.behind >= next && r.behind < tokens && is_part(r.first, r.count, entries);
        next = r.behind + 1;
    }
    require_that(whole, source, "rows",
                 "expected ascending places of the sequence, and its entries");
    next = 1;
    for (const distillation_sample::merge& m : text.merges) {
        whole = whole && m.first >= next && m.count > 0 && is_part(m.first, m.count, tokens);
        next = m.first + m.count;
    }
    require_that(whole, source, "merges", "expected ascending places of the sequence's tokens");
}

} // namespace specdec
