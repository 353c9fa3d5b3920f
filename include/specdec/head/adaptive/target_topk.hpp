// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <specdec/core/rows.hpp>
#include <specdec/core/token_id.hpp>
#include <specdec/sampling/law/draw.hpp>

namespace specdec {

/// What a target found likeliest behind the tokens of its texts, as draft tokens, until it is
/// taken: for a list that follows the text, and would rather hold a token before it occurs
/// (adaptive_token_list::see_likely). topk_recorder.hpp fills it, adaptive_model takes from it.
///
/// Memory: `a_row` ids for each of `rows` rows, of which the oldest are dropped where nobody takes
/// them; with a map an id for each token of the target. Allocates at construction and in
/// translate().
class target_topk {
public:
    explicit target_topk(std::size_t a_row = 32, std::size_t rows = 128)
        : a_row_(a_row), most_(rows), ids_(a_row * (rows + 1)) {
        rows_.reserve(rows + 1);
    }

    /// The draft tokens of a pair with two vocabularies; without it both have the same ids. Map:
    /// to_draft, as an id_map.
    template <class Map>
    void translate(const Map& map, std::size_t target_vocabulary) {
        draft_.resize(target_vocabulary);
        for (std::size_t t = 0; t < target_vocabulary; ++t)
            draft_[t] = map.to_draft(id_at<target_id>(t));
    }

    /// The row behind the tokens 0 .. place of a sequence. Complexity: a read of it.
    void add(std::size_t sequence, std::size_t place, logits_row<target_id> row) {
        rows_.push_back({sequence, place, top_ids(row, ids(rows_.size()))});
        if (rows_.size() > most_)
            keep([first = rows_.data()](const noted& x) { return &x != first; });
    }
    /// The sequence holds n tokens: the rows behind those that went were of another text.
    void truncate(std::size_t sequence, std::size_t n) {
        keep([=](const noted& x) { return x.sequence != sequence || x.place < n; });
    }

    /// Calls see(draft_id) for each token that has a draft token, row by row, likeliest last (what
    /// is seen last stays longest), and forgets them.
    template <class See>
    void take(const See& see) {
        for (std::size_t r = 0; r < rows_.size(); ++r)
            for (std::size_t i = rows_[r].count; i-- > 0;) {
                const target_id t = ids(r)[i];
                if (draft_.empty())
                    see(draft_id{t.value});
                else if (t.index() < draft_.size() && draft_[t.index()].valid())
                    see(draft_[t.index()]);
            }
        rows_.clear();
    }

private:
    struct noted {
        std::size_t sequence, place, count;
    };
    [[nodiscard]] std::span<target_id> ids(std::size_t r) {
        return std::span(ids_).subspan(r * a_row_, a_row_);
    }
    template <class Wanted>
    void keep(const Wanted& wanted) {
        std::size_t kept = 0;
        for (std::size_t r = 0; r < rows_.size(); ++r) {
            if (!wanted(rows_[r]))
                continue;
            for (std::size_t i = 0; kept != r && i < rows_[r].count; ++i)
                ids(kept)[i] = ids(r)[i];
            rows_[kept++] = rows_[r];
        }
        rows_.resize(kept);
    }

    std::size_t a_row_, most_;
    std::vector<target_id> ids_;  // [rows, a_row]
    std::vector<draft_id> draft_; // [target vocabulary], or none
    std::vector<noted> rows_;
};

} // namespace specdec
