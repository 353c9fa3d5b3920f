// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility> // std::move
#include <vector>

#include <specdec/core/basic/first_where.hpp>
#include <specdec/core/contract.hpp>
#include <specdec/core/error.hpp>
#include <specdec/core/token_id.hpp>
#include <specdec/vocab/table/id_map.hpp>

namespace specdec {

/// Draft tokens whose pieces begin alike: the entries [begin, end) of token_pieces share their
/// first `depth` pieces.
struct piece_range {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
    std::uint32_t depth = 0;

    [[nodiscard]] std::size_t size() const { return end - begin; }
    friend bool operator==(const piece_range&, const piece_range&) = default;
};

/// The fixed map f: D -> T+ of nested TLI: every draft token as a string of one or more target
/// tokens, its pieces (ours). Draft tokens without pieces are outside the map. Made
/// by split_tokens().
///
/// The draft tokens of the map are *entries*, sorted by their pieces, a shorter string before those
/// it begins: all that begin with the same pieces are neighbours, those that end there first, and
/// sums over them are sums over a range. Of draft tokens with equal pieces the canonical one of the
/// id_map comes first, then the lowest.
///
/// Immutable: one object may be read by any number of threads. Memory: 4 bytes a piece, 8 a draft
/// token, 4 a target token. Look-ups allocate nothing.
class token_pieces {
public:
    /// ends[d]: where the pieces of draft id d end; they begin where those of d - 1 end.
    /// Shapes: ends [map.draft_size()], pieces [ends.back()]. Errors: ends that descend or do not
    /// end with the pieces; a piece that is no target id of the map. Complexity: linear in the
    /// pieces, and a pass over both vocabularies for every piece of the longest token. Allocates.
    token_pieces(const id_map& map, std::vector<std::uint32_t> ends, std::vector<target_id> pieces)
        : ends_(std::move(ends)), pieces_(std::move(pieces)), first_(map.target_size() + 1) {
        if (ends_.size() != map.draft_size() ||
            pieces_.size() != (ends_.empty() ? 0 : ends_.back()))
            fail("token pieces", "ends",
                 "expected an end for every draft id, the last at the pieces' end");
        std::uint32_t longest = 0, begin = 0;
        for (const std::uint32_t end : ends_) {
            if (end < begin || end > pieces_.size())
                fail("token pieces", "ends", "expected ends that ascend");
            longest = end - begin > longest ? end - begin : longest;
            begin = end;
        }
        for (const target_id t : pieces_)
            if (!t.valid() || t.index() >= target_size())
                fail("token pieces", "pieces", "expected ids of the target's vocabulary");
        sort(map, longest);
    }

    [[nodiscard]] std::size_t draft_size() const { return ends_.size(); }
    [[nodiscard]] std::size_t target_size() const { return first_.size() - 1; }
    /// The number of draft tokens that have pieces.
    [[nodiscard]] std::size_t size() const { return entries_.size(); }

    /// f(d); empty for a draft token outside the map. Precondition: d is a draft id of the map.
    [[nodiscard]] std::span<const target_id> of(draft_id d) const {
        SPECDEC_PRECONDITION(d.index() < draft_size());
        const std::uint32_t begin = d.value == 0 ? 0 : ends_[d.index() - 1];
        return std::span(pieces_).subspan(begin, ends_[d.index()] - begin);
    }

    /// The draft token of an entry. Precondition: entry < size().
    [[nodiscard]] draft_id entry(std::size_t entry) const { return entries_[entry]; }
    /// Piece number `depth` of an entry. Precondition: it has so many.
    [[nodiscard]] target_id piece(std::size_t entry, std::size_t depth) const {
        return of(entries_[entry])[depth];
    }

    /// Every entry.
    [[nodiscard]] piece_range all() const { return {0, static_cast<std::uint32_t>(size()), 0}; }

    /// The entries of `range` that have more than its common pieces: all but the first ones.
    /// Complexity: logarithmic.
    [[nodiscard]] piece_range longer(piece_range range) const {
        const auto has_more = [&](std::size_t e) { return of(entries_[e]).size() > range.depth; };
        return {first_where(range.begin, range.end, has_more), range.end, range.depth};
    }

    /// The first entry of `range` whose next piece is at least t. Precondition: all entries have a
    /// next piece. Complexity: logarithmic; constant for all().
    [[nodiscard]] std::uint32_t lower_bound(piece_range range, std::size_t t) const {
        if (range.depth == 0)
            return first_[t < target_size() ? t : target_size()];
        return first_where(range.begin, range.end,
                           [&](std::size_t e) { return piece(e, range.depth).index() >= t; });
    }

    /// The entries of `range` whose next piece is t. As lower_bound.
    [[nodiscard]] piece_range with_next(piece_range range, target_id t) const {
        return {lower_bound(range, t.index()), lower_bound(range, t.index() + 1), range.depth + 1};
    }

    /// out[e] = the logit of entry e. Pre: row.size() == draft_size(), out.size() == size().
    void gather(std::span<const float> row, std::span<float> out) const {
        SPECDEC_PRECONDITION(row.size() == draft_size() && out.size() == size());
        for (std::size_t e = 0; e < out.size(); ++e)
            out[e] = row[entries_[e].index()];
    }

private:
    /// Radix sort from the last piece to the first; tokens join where their last piece is, in
    /// front, so that every pass leaves them before the longer ones.
    void sort(const id_map& map, std::size_t longest) {
        std::vector<draft_id> joined;
        for (std::size_t depth = longest; depth-- > 0;) {
            joined.clear();
            for (const bool canonical : {true, false})
                for (std::size_t i = 0; i < draft_size(); ++i) {
                    const auto d = id_at<draft_id>(i);
                    if (of(d).size() == depth + 1 &&
                        (depth == 0 && map.to_draft(of(d)[0]) == d) == canonical)
                        joined.push_back(d);
                }
            joined.insert(joined.end(), entries_.begin(), entries_.end());

            first_.assign(first_.size(), 0);
            for (const draft_id d : joined)
                ++first_[of(d)[depth].index() + 1];
            for (std::size_t t = 0; t < target_size(); ++t)
                first_[t + 1] += first_[t];
            entries_.resize(joined.size());
            std::vector<std::uint32_t> place(first_);
            for (const draft_id d : joined)
                entries_[place[of(d)[depth].index()]++] = d;
        }
    }

    std::vector<std::uint32_t> ends_;  // [draft_size] of the pieces of every draft id
    std::vector<target_id> pieces_;    // [ends_.back()]
    std::vector<draft_id> entries_;    // [size] sorted by pieces
    std::vector<std::uint32_t> first_; // [target_size + 1] the first entry that begins with t
};

} // namespace specdec
