// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <specdec/core/basic/builtins.hpp>

namespace specdec {

/// The laws of a toy: a few rows of small whole weights, which print and shrink well. The row
/// behind a context is one of them, chosen by all of its tokens; a row that is too short begins
/// anew, and one without weight is uniform.
struct weighted_rows {
    std::vector<std::vector<unsigned>> rows{{1}};

    /// The weight of a token behind a context. Ids: anything with index().
    template <class Id>
    [[nodiscard]] const std::vector<unsigned>& behind(std::span<const Id> context) const {
        std::size_t which = 0;
        for (const Id id : context)
            which = 3 * which + id.index() + 1;
        return rows[which % rows.size()];
    }

    /// logits[v] = the logarithm of the weight of token v behind the context.
    template <class Id>
    void logits(std::span<const Id> context, std::span<float> out) const {
        const std::vector<unsigned>& row = behind(context);
        float sum = 0;
        for (std::size_t v = 0; v < out.size(); ++v)
            sum += out[v] = row.empty() ? 0.0F : static_cast<float>(row[v % row.size()]);
        for (float& x : out)
            x = sum > 0 ? builtin::logf(x) : 0.0F;
    }

    /// "1 2 | 3 4": the rows one behind the other.
    [[nodiscard]] std::string text() const {
        std::string all;
        for (const std::vector<unsigned>& row : rows) {
            all += all.empty() ? "" : " |";
            for (const unsigned weight : row)
                all += (all.empty() ? "" : " ") + std::to_string(weight);
        }
        return all;
    }
};

} // namespace specdec
