// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <stdexcept>
#include <vector>

#include "faulty_model.hpp"

namespace specdec::testing {

/// What can go wrong in an adapter of several sequences.
enum class batch_fault {
    none,
    no_sequences,
    starts_with_a_token, ///< in its first sequence
    rows_by_sequence,    ///< rows stand in the order of the sequences, whatever the parts' is
    rows_of_first_part,  ///< only the first part's rows are computed
    truncates_all,       ///< truncate forgets every sequence's tokens
    truncates_behind,    ///< the same of those behind it, in one memory
    one_memory,          ///< capacity() counts the room that all share
    half_pass,           ///< a refused pass keeps the parts before the refused one
    sees_others,         ///< rows depend on the other sequences: no mask between them
};

/// Several faulty_models without a fault side by side, with one of their own.
template <class Id>
class faulty_batch_model {
public:
    explicit faulty_batch_model(batch_fault fault = batch_fault::none,
                                model_fault of_one = model_fault::none)
        : fault_(fault),
          models_(fault == batch_fault::no_sequences ? 0 : 3, faulty_model<Id>(of_one)) {
        if (has(batch_fault::starts_with_a_token)) {
            const Id id{1};
            models_[0].append({&id, 1});
        }
    }

    [[nodiscard]] std::size_t sequences() const { return models_.size(); }
    [[nodiscard]] std::size_t size(std::size_t s) const { return models_[s].size(); }
    [[nodiscard]] std::size_t capacity() const { return one_.capacity(); }
    [[nodiscard]] std::size_t vocabulary_size() const { return one_.vocabulary_size(); }

    void append(std::size_t s, std::span<const Id> ids) {
        require_room(s, ids.size());
        models_[s].append(ids);
    }
    void truncate(std::size_t s, std::size_t n) {
        for (std::size_t i = 0; i < models_.size(); ++i)
            if (i == s || ((has(batch_fault::truncates_all) ||
                            (has(batch_fault::truncates_behind) && i > s)) &&
                           models_[i].size() > n))
                models_[i].truncate(n);
    }
    [[nodiscard]] logits_rows<Id> score(std::span<const sequence_tokens<Id>> given) {
        std::vector<sequence_tokens<Id>> parts(given.begin(), given.end());
        if (has(batch_fault::rows_by_sequence))
            std::sort(parts.begin(), parts.end(),
                      [](const auto& a, const auto& b) { return a.sequence < b.sequence; });
        if (!has(batch_fault::half_pass))
            for (const auto& [s, ids] : parts)
                require_room(s, ids.size());
        rows_.clear();
        std::size_t n = 0;
        for (const auto& [s, ids] : parts) {
            require_room(s, ids.size());
            const logits_rows<Id> own = models_[s].score(ids);
            for (std::size_t i = 0; i < own.size(); ++i)
                if (n == 0 || s == parts[0].sequence || !has(batch_fault::rows_of_first_part)) {
                    rows_.insert(rows_.end(), own[i].values.begin(), own[i].values.end());
                    rows_.back() += has(batch_fault::sees_others) ? seen_by(s) : 0.0F;
                    ++n;
                }
        }
        return {rows_.data(), n, vocabulary_size(), vocabulary_size()};
    }

private:
    [[nodiscard]] bool has(batch_fault fault) const { return fault_ == fault; }
    [[nodiscard]] float seen_by(std::size_t s) const {
        std::size_t held = 0;
        for (std::size_t i = 0; i < models_.size(); ++i)
            held += i == s ? 0 : models_[i].size();
        return static_cast<float>(held);
    }
    void require_room(std::size_t s, std::size_t n) const {
        std::size_t held = models_[s].size();
        if (has(batch_fault::one_memory))
            for (std::size_t i = 0; i < models_.size(); ++i)
                held += i == s ? 0 : models_[i].size();
        if (n > capacity() - std::min(held, capacity()))
            throw std::runtime_error("no room");
    }

    batch_fault fault_;
    faulty_model<Id> one_;
    std::vector<faulty_model<Id>> models_;
    std::vector<float> rows_;
};

} // namespace specdec::testing
