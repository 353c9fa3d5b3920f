// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <specdec/core/error.hpp>
#include <specdec_engine/file/config.hpp>

namespace specdec::engine {

/// What a pass has memory for.
struct training_limits {
    std::size_t sequences = 8; ///< of a batch
    std::size_t length = 128;  ///< tokens of a sequence
    std::size_t rows = 1024;   ///< rows of logits of a batch
};

/// A text to learn from, which the caller owns: its tokens, and the positions whose logits are
/// asked for, in any order (position i's row is the law of token i + 1).
struct training_sequence {
    std::span<const std::int32_t> ids;
    std::span<const std::size_t> rows;
};

/// What batches refuse, by their name. Each throws specdec::error.
struct batch_checks {
    const char* batch;

    [[noreturn]] void refuse(const std::string& field, const std::string& expected) const {
        throw error(batch, field, expected);
    }
    void at_most(const char* field, std::size_t found, std::size_t most) const {
        if (found > most)
            refuse(field,
                   "expected at most " + std::to_string(most) + ", found " + std::to_string(found));
    }
    void below(std::span<const std::int32_t> ids, std::size_t vocabulary) const {
        for (const std::int32_t id : ids)
            if (id < 0 || static_cast<std::size_t>(id) >= vocabulary)
                refuse("token " + std::to_string(id),
                       "expected an id below " + std::to_string(vocabulary));
    }
};

/// The sequences of a batch one behind the other, without padding: a column a token.
class training_batch {
public:
    struct place {
        std::size_t token;    ///< its id
        std::size_t position; ///< in its sequence
    };

    training_batch(const model_config& c, const training_limits& limits)
        : limits_(limits), vocabulary_(c.vocabulary_size) {
        begins_.reserve(limits.sequences + 1);
        places_.reserve(limits.sequences * limits.length);
        asked_.reserve(limits.rows);
    }

    /// Takes the place of what was there. Allocates nothing. Errors, before anything changes:
    /// specdec::error for what the limits do not allow, a sequence without tokens, an id that is
    /// none of the model's, a row behind its sequence's end.
    void assign(std::span<const training_sequence> sequences) {
        check(sequences);
        places_.clear();
        asked_.clear();
        begins_.assign(1, 0);
        for (const training_sequence& s : sequences) {
            for (const std::size_t row : s.rows)
                asked_.push_back(begins_.back() + row);
            for (std::size_t i = 0; i < s.ids.size(); ++i)
                places_.push_back({static_cast<std::size_t>(s.ids[i]), i});
            begins_.push_back(places_.size());
        }
    }

    [[nodiscard]] std::size_t sequences() const { return begins_.size() - 1; }
    /// Columns of all sequences.
    [[nodiscard]] std::size_t size() const { return places_.size(); }
    [[nodiscard]] const place& operator[](std::size_t column) const { return places_[column]; }
    [[nodiscard]] std::size_t begin(std::size_t sequence) const { return begins_[sequence]; }
    [[nodiscard]] std::size_t length(std::size_t sequence) const {
        return begins_[sequence + 1] - begins_[sequence];
    }
    /// The columns whose logits are asked for: of the first sequence in its order, then the second.
    [[nodiscard]] std::span<const std::size_t> asked() const { return asked_; }

private:
    void check(std::span<const training_sequence> sequences) const {
        const batch_checks is{"training batch"};
        is.at_most("sequences", sequences.size(), limits_.sequences);
        std::size_t rows = 0;
        for (const training_sequence& s : sequences) {
            if (s.ids.empty())
                is.refuse("sequence", "expected tokens");
            is.at_most("length of a sequence", s.ids.size(), limits_.length);
            is.below(s.ids, vocabulary_);
            for (const std::size_t row : s.rows)
                is.at_most("row of a sequence", row, s.ids.size() - 1);
            rows += s.rows.size();
        }
        is.at_most("rows", rows, limits_.rows);
    }

    training_limits limits_;
    std::size_t vocabulary_;
    std::vector<std::size_t> begins_ = {0}; ///< [sequences + 1]
    std::vector<place> places_;             ///< [columns]
    std::vector<std::size_t> asked_;
};

} // namespace specdec::engine
