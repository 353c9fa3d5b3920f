// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <specdec/core/contract.hpp>
#include <specdec/core/model/context_tracker.hpp>
#include <specdec/core/token_id.hpp>
#include <specdec/head/lm_head.hpp>

namespace specdec {

/// The features behind the tokens that one sequence of a target holds. Memory: capacity features,
/// allocated at construction.
class feature_record {
public:
    feature_record(std::size_t capacity, std::size_t width)
        : capacity_(capacity), width_(width), values_(capacity * width) {
        tokens_.reserve(capacity);
    }

    [[nodiscard]] std::size_t size() const { return tokens_.size(); }
    [[nodiscard]] std::size_t capacity() const { return capacity_; }
    [[nodiscard]] std::size_t width() const { return width_; }
    /// The features behind the tokens `first` .. `first + n - 1`.
    [[nodiscard]] hidden_states features(std::size_t first, std::size_t n) const {
        SPECDEC_PRECONDITION(first + n <= size());
        return {values_.data() + first * width_, n, width_, width_};
    }

    [[nodiscard]] held_tokens<target_id> tokens() const { return tokens_.held(); }
    /// Whether the record begins with these tokens, compared by number. Linear in them.
    [[nodiscard]] bool begins_with(std::span<const draft_id> text) const {
        if (text.size() > size())
            return false;
        const std::span<const target_id> own = tokens();
        for (std::size_t i = 0; i < text.size(); ++i)
            if (text[i].value != own[i].value)
                return false;
        return true;
    }

    void truncate(std::size_t n) { tokens_.truncated(n); }
    /// Preconditions: one feature of this width for each token, and room for them.
    void add(std::span<const target_id> ids, const hidden_states& features) {
        SPECDEC_PRECONDITION(features.size() == ids.size() && features.width() == width_ &&
                             ids.size() <= capacity() - size());
        for (std::size_t i = 0; i < ids.size(); ++i) {
            float* const to = values_.data() + (size() + i) * width_;
            for (std::size_t k = 0; k < width_; ++k)
                to[k] = features[i].values[k];
        }
        tokens_.fed(ids);
    }

private:
    std::size_t capacity_, width_;
    context_tracker<target_id> tokens_;
    std::vector<float> values_; // [capacity, width]
};

/// The records of all sequences of a target. A drafter finds its record by the text's tokens: equal
/// tokens have equal features, so it need not know which sequence of the target a text is in.
class feature_records {
public:
    feature_records(std::size_t sequences, std::size_t capacity, std::size_t width)
        : width_(width), capacity_(capacity) {
        of_.reserve(sequences);
        for (std::size_t s = 0; s < sequences; ++s)
            of_.emplace_back(capacity, width);
    }

    [[nodiscard]] std::size_t sequences() const { return of_.size(); }
    [[nodiscard]] std::size_t width() const { return width_; }
    [[nodiscard]] std::size_t capacity() const { return capacity_; }
    [[nodiscard]] feature_record& operator[](std::size_t sequence) { return of_[sequence]; }
    [[nodiscard]] const feature_record& operator[](std::size_t sequence) const {
        return of_[sequence];
    }

    /// A record that begins with these tokens; null: there is none.
    [[nodiscard]] const feature_record* find(std::span<const draft_id> text) const {
        for (const feature_record& record : of_)
            if (record.begins_with(text))
                return &record;
        return nullptr;
    }

private:
    std::vector<feature_record> of_;
    std::size_t width_, capacity_;
};

} // namespace specdec
