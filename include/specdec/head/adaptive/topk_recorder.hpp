// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>

#include <specdec/core/concepts.hpp>
#include <specdec/head/adaptive/target_topk.hpp>
#include <specdec/head/target_context.hpp>

namespace specdec {

/// A target of which target_topk keep what it finds likeliest behind each token that it scores:
///
///     target_topk likely;
///     topk_recorder words(target, likely);             // goes wherever the target does
///     adaptive_model draft(rows, few, hot, &likely);
///
/// Models ModelOf<target_id>, or BatchModelOf<target_id> where Target holds several sequences.
/// Borrows both. Complexity beside the target's: a read of each row.
template <class Target>
    requires ModelOf<Target, target_id> || BatchModelOf<Target, target_id>
class topk_recorder : public target_context<Target> {
    using target_context<Target>::several, target_context<Target>::target_;

public:
    topk_recorder(Target& target, target_topk& likely)
        : target_context<Target>(target), likely_(likely) {}

    void append(std::span<const target_id> ids)
        requires(!several)
    {
        target_.append(ids);
    }
    [[nodiscard]] logits_rows<target_id> score(std::span<const target_id> ids)
        requires(!several)
    {
        const std::size_t held = target_.size();
        const logits_rows<target_id> rows = target_.score(ids);
        for (std::size_t i = 0; i < rows.size(); ++i)
            likely_.add(0, held + i, rows[i]);
        return rows;
    }
    void truncate(std::size_t n)
        requires(!several)
    {
        target_.truncate(n);
        likely_.truncate(0, n);
    }

    void append(std::size_t s, std::span<const target_id> ids)
        requires several
    {
        target_.append(s, ids);
    }
    [[nodiscard]] logits_rows<target_id> score(std::span<const sequence_tokens<target_id>> parts)
        requires several
    {
        const logits_rows<target_id> rows = target_.score(parts);
        std::size_t row = 0;
        for (const sequence_tokens<target_id>& part : parts) {
            const std::size_t held = target_.size(part.sequence) - part.ids.size();
            for (std::size_t i = 0; i < part.ids.size() && row < rows.size(); ++i, ++row)
                likely_.add(part.sequence, held + i, rows[row]);
        }
        return rows;
    }
    void truncate(std::size_t s, std::size_t n)
        requires several
    {
        target_.truncate(s, n);
        likely_.truncate(s, n);
    }

private:
    target_topk& likely_;
};

} // namespace specdec
