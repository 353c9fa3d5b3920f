// SPDX-License-Identifier: MIT
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <specdec/core/basic/half.hpp>
#include <specdec/core/rows.hpp>
#include <specdec/core/token_id.hpp>
#include <specdec/sampling/listed_rows.hpp>

#include "toy_rows.hpp"

namespace specdec::testing {

/// A target whose rows are of the given kind, made of a tree of rows of numbers; the first token of
/// every context is a prompt token that rows ignore. Models ScoringModelOf<target_id>, and ModelOf
/// where the rows are logits.
template <class Rows>
class rows_model {
public:
    rows_model(row_tree& rows, std::size_t vocabulary) : tree_(rows), vocabulary_(vocabulary) {}

    [[nodiscard]] std::size_t size() const { return held_.size(); }
    [[nodiscard]] std::size_t capacity() const { return 64; }
    [[nodiscard]] std::size_t vocabulary_size() const { return vocabulary_; }
    void append(std::span<const target_id> ids) {
        held_.insert(held_.end(), ids.begin(), ids.end());
    }
    void truncate(std::size_t n) { held_.resize(n); }

    Rows score(std::span<const target_id> ids) {
        numbers_.clear();
        for (const target_id id : ids) {
            held_.push_back(id);
            sequence prefix;
            for (std::size_t i = 1; i < held_.size(); ++i)
                prefix.push_back(held_[i].value);
            numbers_.push_back(tree_(prefix));
        }
        return make(static_cast<Rows*>(nullptr));
    }

private:
    probabilities_rows<target_id> make(const probabilities_rows<target_id>*) {
        floats_.clear();
        for (const auto& row : numbers_)
            floats_.insert(floats_.end(), row.begin(), row.end());
        return {floats_.data(), numbers_.size(), vocabulary_, vocabulary_};
    }
    /// The upper halves of the numbers.
    logits_rows<target_id, bfloat16> make(const logits_rows<target_id, bfloat16>*) {
        halves_.clear();
        for (const auto& row : numbers_)
            for (const float x : row)
                halves_.push_back(
                    {static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(x) >> 16)});
        return {halves_.data(), numbers_.size(), vocabulary_, vocabulary_};
    }
    /// Those that are not 0.
    listed_rows<target_id> make(const listed_rows<target_id>*) {
        lists_.assign(numbers_.size() * vocabulary_, {});
        counts_.assign(numbers_.size(), 0);
        for (std::size_t i = 0; i < numbers_.size(); ++i)
            for (std::size_t v = 0; v < vocabulary_; ++v)
                if (numbers_[i][v] > 0)
                    lists_[i * vocabulary_ + counts_[i]++] = {id_at<target_id>(v), numbers_[i][v]};
        return {lists_.data(), vocabulary_, vocabulary_, counts_};
    }

    row_tree& tree_;
    std::size_t vocabulary_;
    std::vector<target_id> held_;
    std::vector<std::vector<float>> numbers_;
    std::vector<float> floats_;
    std::vector<bfloat16> halves_;
    std::vector<weighted_id<target_id>> lists_;
    std::vector<std::size_t> counts_;
};

} // namespace specdec::testing
