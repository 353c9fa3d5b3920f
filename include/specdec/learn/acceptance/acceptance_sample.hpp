// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <vector>

#include <specdec/bridge/tli.hpp>
#include <specdec/bridge/token/mapped_law.hpp>
#include <specdec/core/concepts.hpp>
#include <specdec/core/drafting.hpp>
#include <specdec/core/error.hpp>
#include <specdec/core/require.hpp>
#include <specdec/core/rows.hpp>
#include <specdec/core/token_id.hpp>
#include <specdec/learn/acceptance/acceptance_examples.hpp>
#include <specdec/learn/acceptance/acceptance_labels.hpp>
#include <specdec/sampling/law/parameters.hpp>
#include <specdec/sampling/law/row_spread.hpp>
#include <specdec/sampling/law/softmax_law.hpp>
#include <specdec/vocab/table/id_map.hpp>

namespace specdec {

/// A text in the drafter's tokens, with the draft tokens that were verified and the probabilities
/// that the target gave them: what the labels of an acceptance head are computed from again after
/// the drafter has learnt.
struct acceptance_sample {
    /// Draft token d_n, drawn from the drafter's row after tokens[behind].
    struct row {
        std::size_t behind = 0;
        std::size_t drafted = 0; ///< n
        draft_id token{};        ///< d_n
        double target = 0;       ///< p(d_n)
    };

    std::vector<draft_id> tokens;
    std::vector<row> rows; ///< ascending in `behind`; those of one draft follow each other

    void clear() {
        tokens.clear();
        rows.clear();
    }
};

/// Examples of a text by the drafter as it is now (OmniDraft, Alg. 3, line 9; Alg. 4, line 16): the
/// drafter's confidence and entropy, which the head sees, and the labels
///
///     a_n = min(1, p(d_n) / q'(d_n))
///
/// with p of the round that verified d_n, and q' the law that TLI (or identity, with a map of one
/// vocabulary) proposes from: the drafter's row, restricted to shared tokens, under the draft's
/// sampling parameters. At temperature 0 both laws are certain, so labels are 1 and 0. Borrows the
/// map. Memory: a row of the drafter, at construction; a draft longer than any before allocates.
class acceptance_relabeller {
public:
    explicit acceptance_relabeller(const id_map& map, const sampling_parameters& draft = {})
        : map_(map), draft_(draft), prepared_(map.draft_size()) {}

    /// Appends to `examples`: two for each row of the text, as acceptance_examples::add. rows: the
    /// drafter's logits, one for each of text.rows. Complexity: three reads of each row. Errors:
    /// specdec::error for rows of another number or vocabulary, for tokens that are not shared, and
    /// as softmax_law; examples of the drafts before that stay.
    template <RowsOf<draft_id> Rows>
    void operator()(const acceptance_sample& text, const Rows& rows,
                    acceptance_examples& examples) {
        require_rows(rows, text.rows.size(), prepared_.size(), "acceptance relabeller");
        for (std::size_t i = 0; i < text.rows.size(); ++i) {
            const acceptance_sample::row& x = text.rows[i];
            if (x.drafted == 1) {
                steps_.clear();
                labels_.clear();
            }
            map_.prepare(rows[i].values, prepared_);
            const mapped_law q(make_law(logits_row<draft_id>{prepared_}, draft_), map_);
            const target_id t = x.token.valid() && x.token.index() < prepared_.size()
                                    ? map_.to_target(x.token)
                                    : target_id{};
            if (!t.valid())
                fail("acceptance relabeller", "text", "expected draft tokens that are shared");
            const row_spread spread(prepared_, row_reading::entropy);
            const double q_t = q.probability(t);
            steps_.push_back({.drafted = x.drafted,
                              .last = q_t,
                              .sure = spread.sureness(prepared_[x.token.index()]),
                              .entropy = spread.entropy,
                              .token = x.token});
            labels_.push_back(acceptance_ratio(x.target, q_t));
            if (i + 1 == text.rows.size() || text.rows[i + 1].drafted == 1)
                examples.add(steps_, labels_);
        }
    }

private:
    tli_map map_;
    sampling_parameters draft_;
    std::vector<float> prepared_; // [D]
    std::vector<draft_progress> steps_;
    std::vector<float> labels_;
};

} // namespace specdec
