// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "support/decoder.hpp"
#include <specdec/core/concepts.hpp>

namespace specdec::examples {

/// A target that, where asked to, scores every round twice: all positions in one call, and each in
/// a call of its own; it returns the rows of the former and counts what the grouping changed among
/// those that greedy decoding looks at (the rows up to the first whose choice is not the next id).
/// Models ModelOf<target_id>.
template <ModelOf<target_id> Model>
class grouping_check {
public:
    grouping_check(Model& model, bool on, grouping_counts& counts)
        : model_(model), on_(on), counts_(counts) {}

    [[nodiscard]] std::size_t size() const { return model_.size(); }
    [[nodiscard]] std::size_t capacity() const { return model_.capacity(); }
    [[nodiscard]] std::size_t vocabulary_size() const { return model_.vocabulary_size(); }
    void append(std::span<const target_id> ids) { model_.append(ids); }
    void truncate(std::size_t n) { model_.truncate(n); }

    [[nodiscard]] logits_rows<target_id> score(std::span<const target_id> ids) {
        if (on_ && ids.size() > 1)
            check(ids);
        return model_.score(ids);
    }

private:
    void check(std::span<const target_id> ids) {
        const std::size_t held = model_.size(), n = model_.vocabulary_size();
        const logits_rows<target_id> grouped = model_.score(ids);
        together_.clear();
        for (std::size_t i = 0; i < ids.size(); ++i)
            together_.insert(together_.end(), grouped[i].values.begin(), grouped[i].values.end());
        model_.truncate(held);
        ++counts_.rounds;
        for (std::size_t i = 0; i < ids.size(); ++i) {
            const std::span<const float> alone = model_.score(ids.subspan(i, 1))[0].values;
            const std::span<const float> row(together_.data() + i * n, n);
            for (std::size_t k = 0; k < n; ++k)
                counts_.largest_difference =
                    std::max(counts_.largest_difference, std::abs(row[k] - alone[k]));
            const std::size_t choice = best(row);
            if (choice != best(alone)) {
                ++counts_.changed;
                counts_.widest_margin = std::max(counts_.widest_margin, margin(alone));
                break;
            }
            if (i + 1 < ids.size() && choice != ids[i + 1].index())
                break;
        }
        model_.truncate(held);
    }

    static std::size_t best(std::span<const float> row) {
        return static_cast<std::size_t>(std::max_element(row.begin(), row.end()) - row.begin());
    }
    /// Between the two best.
    static float margin(std::span<const float> row) {
        const std::size_t first = best(row);
        float second = -HUGE_VALF;
        for (std::size_t k = 0; k < row.size(); ++k)
            if (k != first)
                second = std::max(second, row[k]);
        return row[first] - second;
    }

    Model& model_;
    bool on_;
    grouping_counts& counts_;
    std::vector<float> together_; ///< copies of the grouped rows
};

} // namespace specdec::examples
