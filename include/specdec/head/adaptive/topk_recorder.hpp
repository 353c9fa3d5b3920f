// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>

#include <specdec/core/concepts.hpp>
#include <specdec/core/model/wrapped_model.hpp>
#include <specdec/head/adaptive/target_topk.hpp>

namespace specdec {

/// A target of which target_topk keep what it finds likeliest behind each token that it scores.
/// Goes wherever the target does. Models BatchModelOf<target_id>, and ModelOf<target_id> where
/// Target is of one sequence. Borrows both. Complexity beside the target's: a read of each row.
template <class Target>
    requires ModelOf<Target, target_id> || BatchModelOf<Target, target_id>
class topk_recorder : public wrapped_model<topk_recorder<Target>, target_id, Target> {
    using base = wrapped_model<topk_recorder<Target>, target_id, Target>;

public:
    topk_recorder(Target& target, target_topk& likely) : base(target), likely_(likely) {}

    using base::score, base::truncate;
    [[nodiscard]] logits_rows<target_id> score(std::span<const sequence_tokens<target_id>> parts) {
        const logits_rows<target_id> rows = this->rows_of_model(parts);
        std::size_t row = 0;
        for (const sequence_tokens<target_id>& part : parts) {
            const std::size_t held = this->size(part.sequence) - part.ids.size();
            for (std::size_t i = 0; i < part.ids.size() && row < rows.size(); ++i, ++row)
                likely_.add(part.sequence, held + i, rows[row]);
        }
        return rows;
    }
    void truncate(std::size_t s, std::size_t n) {
        base::truncate(s, n);
        likely_.truncate(s, n);
    }

private:
    target_topk& likely_;
};

} // namespace specdec
