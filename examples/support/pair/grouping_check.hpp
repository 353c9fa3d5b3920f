// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <specdec/core/concepts.hpp>
#include <specdec/core/model/wrapped_model.hpp>
#include <specdec/speculation/any/any_model.hpp>

namespace specdec::examples {

/// Rounds in which scoring all positions together made another greedy choice than scoring each
/// alone.
struct grouping_counts {
    std::size_t rounds = 0, changed = 0;
    float widest_margin = 0;      ///< between the two best logits, where the choice changed
    float largest_difference = 0; ///< of a logit
};

/// Whether a target is to be watched, and what was seen.
struct grouping_watch {
    bool on = false;
    grouping_counts counts{};
};

/// A target that, where asked to, scores every round twice: all positions in one pass, and each in
/// a pass of its own; it returns the rows of the former and counts what the grouping changed among
/// those that greedy decoding looks at (a text's rows up to the first whose choice is not the next
/// id). Models BatchModelOf<target_id>.
class grouping_check : std::unique_ptr<any_batch_model<target_id>>, // a place that stays
                       public wrapped_model<grouping_check, target_id, any_batch_model<target_id>> {
    using owned = std::unique_ptr<any_batch_model<target_id>>;
    using base = wrapped_model<grouping_check, target_id, any_batch_model<target_id>>;

public:
    static constexpr bool wraps_trees = base::trees;
    static constexpr model_traits traits = any_batch_model<target_id>::traits;
    grouping_check(any_batch_model<target_id> model, std::shared_ptr<grouping_watch> watch)
        : owned(std::make_unique<any_batch_model<target_id>>(std::move(model))),
          base(*owned::get()), watch_(std::move(watch)) {}

    [[nodiscard]] logits_rows<target_id> score(std::span<const sequence_tokens<target_id>> parts) {
        if (watch_->on && (parts.size() > 1 || parts[0].ids.size() > 1))
            check(parts);
        return this->rows_of_model(parts);
    }

    // Trees are not checked: no position of one is scored alone.
    [[nodiscard]] logits_rows<target_id>
    score_tree(std::span<const sequence_nodes<target_id>> parts) {
        return this->rows_of_trees(parts);
    }
    void keep_path(std::size_t s, std::span<const std::size_t> nodes) {
        this->keep_in_model(s, nodes);
    }
    [[nodiscard]] bool copy_prefix(std::size_t to, std::size_t from, std::size_t n) {
        return this->wrapped().copy_prefix(to, from, n);
    }

private:
    void check(std::span<const sequence_tokens<target_id>> parts) {
        const std::size_t n = vocabulary_size();
        const logits_rows<target_id> grouped = this->rows_of_model(parts);
        together_.clear();
        for (std::size_t i = 0; i < grouped.size(); ++i)
            together_.insert(together_.end(), grouped[i].values.begin(), grouped[i].values.end());
        const float* first = together_.data();
        for (const auto& [sequence, ids] : parts) {
            const std::size_t held = size(sequence) - ids.size();
            truncate(sequence, held);
            check(sequence, ids, {first, ids.size() * n});
            truncate(sequence, held);
            first += ids.size() * n;
        }
    }

    /// together: [ids][vocabulary]
    void check(std::size_t sequence, std::span<const target_id> ids,
               std::span<const float> together) {
        const std::size_t n = vocabulary_size();
        grouping_counts& counts = watch_->counts;
        ++counts.rounds;
        for (std::size_t i = 0; i < ids.size(); ++i) {
            const sequence_tokens<target_id> single{sequence, ids.subspan(i, 1)};
            const std::span<const float> alone = this->rows_of_model({&single, 1})[0].values;
            const std::span<const float> row = together.subspan(i * n, n);
            for (std::size_t k = 0; k < n; ++k)
                counts.largest_difference =
                    std::max(counts.largest_difference, std::abs(row[k] - alone[k]));
            const std::size_t choice = best(row);
            if (choice != best(alone)) {
                ++counts.changed;
                counts.widest_margin = std::max(counts.widest_margin, margin(alone));
                break;
            }
            if (i + 1 < ids.size() && choice != ids[i + 1].index())
                break;
        }
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

    std::shared_ptr<grouping_watch> watch_;
    std::vector<float> together_; ///< copies of the grouped rows
};

} // namespace specdec::examples
