// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <specdec/core/require.hpp>
#include <specdec/core/token_id.hpp>
#include <specdec/head/lm_head.hpp>
#include <specdec/sampling/law/sparse_law.hpp>

namespace specdec {

/// A text of the target, as a drafter that reads features learns from it: the text with the
/// target's feature behind each token, and the drafts of its rounds with the target's laws behind
/// them. A draft's tokens need not be the text's: behind a rejected one the target's law is of the
/// draft, and there is no feature, which the drafter makes itself.
struct feature_sample {
    /// The likeliest entries of a law: entries[first, first + count).
    struct row {
        std::size_t first = 0, count = 0;
    };
    /// A round that began behind `begin` tokens of the text, 2 at least. Row j of it,
    /// rows[first_row + j], is the target's law behind these and drafted[first_draft, + j).
    struct round {
        std::size_t begin = 0;
        std::size_t first_draft = 0;
        std::size_t first_row = 0, rows = 0; ///< at least 1; so `rows` - 1 draft tokens
    };

    std::vector<draft_id> tokens;
    std::vector<float> values; ///< the features behind tokens[0], tokens[1], ...; the last may lack
    std::size_t width = 0;     ///< of a feature
    std::vector<draft_id> drafted;
    std::vector<round> rounds; ///< ascending in `begin`
    std::vector<row> rows;
    std::vector<weighted_id<target_id>> entries; ///< of the rows; in a row ascending in id

    [[nodiscard]] hidden_states features() const {
        return {values.data(), width == 0 ? 0 : values.size() / width, width, width};
    }
    [[nodiscard]] std::span<const weighted_id<target_id>> entries_of(const row& r) const {
        return std::span(entries).subspan(r.first, r.count);
    }
    /// How many of a round's draft tokens the text goes on with.
    [[nodiscard]] std::size_t kept(const round& r) const {
        std::size_t n = 0;
        while (n + 1 < r.rows && r.begin + n < tokens.size() &&
               drafted[r.first_draft + n] == tokens[r.begin + n])
            ++n;
        return n;
    }
    void clear() {
        tokens.clear();
        values.clear();
        drafted.clear();
        rounds.clear();
        rows.clear();
        entries.clear();
    }
};

/// Requires rounds that begin behind a feature, and of tokens, rows and entries that the text has.
/// Linear.
inline void require_whole(const feature_sample& text, const char* source) {
    bool whole = true;
    for (const feature_sample::row& r : text.rows)
        whole = whole && is_part(r.first, r.count, text.entries.size());
    require_that(whole, source, "rows", "expected entries of the sequence");
    for (const feature_sample::round& r : text.rounds)
        whole = whole && r.begin >= 2 && r.begin <= text.tokens.size() &&
                r.begin - 2 < text.features().size() && r.rows > 0 &&
                is_part(r.first_row, r.rows, text.rows.size()) &&
                is_part(r.first_draft, r.rows - 1, text.drafted.size());
    require_that(whole, source, "rounds",
                 "expected rounds of the sequence's features, logits and drafts");
}

} // namespace specdec
