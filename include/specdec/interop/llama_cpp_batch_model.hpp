// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm> // std::copy_n
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <llama.h>

#include <specdec/core/concepts.hpp>
#include <specdec/core/error.hpp>
#include <specdec/interop/llama_cpp_batch.hpp>
#include <specdec/interop/llama_cpp_model.hpp>

namespace specdec {

/// The first sequences of a llama_context (all n_seq_max, or as many as are asked for) as a
/// BatchModelOf<Id>: a score is one llama_decode for all parts. Rows depend a little on what else
/// is in the decode, as llama.cpp's do; with llama_cpp_scoring::alone every position has a decode
/// of its own, and a text is the same beside others as alone.
///
/// The context is borrowed, see llama_cpp_model; so are the rules for its rows, which are copied
/// only for a single part of more than n_batch ids and for llama_cpp_scoring::alone. Allocates at
/// construction, and where such copies are more than ever before.
///
/// Errors, specdec::error that names the call: those of llama_cpp_model; several parts of more than
/// n_batch tokens together (make the context with sequences * (draft length + 1) or more). Every
/// sequence is then as before.
template <class Id>
class llama_cpp_batch_model {
public:
    /// Precondition: context is not null. `servers`: those that hold layers of it, or null.
    explicit llama_cpp_batch_model(llama_context* context,
                                   llama_cpp_scoring scoring = llama_cpp_scoring::together,
                                   llama_cpp_servers* servers = nullptr, std::size_t sequences = 0)
        : batch_(context, servers), scoring_(scoring) {
        const std::size_t n = sequences > 0 ? sequences : llama_n_seq_max(context);
        for (std::size_t s = 0; s < n; ++s)
            models_.emplace_back(context, static_cast<llama_seq_id>(s), scoring, servers);
        held_.resize(n);
    }

    [[nodiscard]] std::size_t sequences() const { return models_.size(); }
    [[nodiscard]] std::size_t size(std::size_t s) const { return models_[s].size(); }
    /// See llama_cpp_model.
    [[nodiscard]] held_tokens<Id> held(std::size_t s) const { return models_[s].held(); }
    /// Of a memory that all sequences share each has an equal part.
    [[nodiscard]] std::size_t capacity() const {
        const llama_context* context = models_[0].context();
        const std::size_t part = llama_n_ctx(context) / sequences();
        return part < models_[0].capacity() ? part : models_[0].capacity();
    }
    [[nodiscard]] std::size_t vocabulary_size() const { return models_[0].vocabulary_size(); }

    void append(std::size_t s, std::span<const Id> ids) {
        require_room(s, ids);
        models_[s].append(ids);
    }
    void truncate(std::size_t s, std::size_t n) { models_[s].truncate(n); }

    [[nodiscard]] logits_rows<Id> score(std::span<const sequence_tokens<Id>> parts) {
        std::size_t rows = 0;
        for (const auto& [s, ids] : parts) {
            require_room(s, ids);
            held_[s] = size(s);
            rows += ids.size();
        }
        if (parts.size() == 1) // in pieces where n_batch is small
            return models_[parts[0].sequence].score(parts[0].ids);
        if (scoring_ == llama_cpp_scoring::alone)
            return score_alone(parts, rows);
        if (rows > batch_.capacity())
            throw error("llama_context", "n_batch",
                        "expected at least the " + std::to_string(rows) +
                            " tokens of a pass, found " + std::to_string(batch_.capacity()));
        if (rows == 0)
            return {};
        batch_.clear();
        for (const auto& [s, ids] : parts)
            for (std::size_t i = 0; i < ids.size(); ++i)
                batch_.add(ids[i].value, held_[s] + i, models_[s].sequence(), true);
        try {
            batch_.decode();
            for (const auto& [s, ids] : parts)
                models_[s].fed(ids);
        } catch (...) {
            take_back(parts);
            throw;
        }
        return {batch_.logits(), rows, vocabulary_size(), vocabulary_size()};
    }

private:
    void require_room(std::size_t s, std::span<const Id> ids) const {
        if (const std::size_t held = size(s); held + ids.size() > capacity())
            throw error("llama_context", "sequence " + std::to_string(s),
                        "expected room for " + std::to_string(ids.size()) + " tokens, " +
                            std::to_string(held) + " of " + std::to_string(capacity()) +
                            " are held");
    }
    logits_rows<Id> score_alone(std::span<const sequence_tokens<Id>> parts, std::size_t rows) {
        const std::size_t length = vocabulary_size();
        if (copies_.size() < rows * length)
            copies_.resize(rows * length);
        std::size_t done = 0;
        try {
            for (const auto& [s, ids] : parts) {
                const logits_rows<Id> own = models_[s].score(ids);
                for (std::size_t i = 0; i < ids.size(); ++i, ++done)
                    std::copy_n(own[i].values.data(), length, copies_.data() + done * length);
            }
        } catch (...) {
            take_back(parts);
            throw;
        }
        return {copies_.data(), rows, length, length};
    }

    /// After a decode that failed.
    void take_back(std::span<const sequence_tokens<Id>> parts) {
        for (const auto& part : parts)
            models_[part.sequence].take_back(held_[part.sequence]);
    }

    llama_cpp_batch batch_;
    llama_cpp_scoring scoring_;
    std::vector<llama_cpp_model<Id>> models_; ///< [n_seq_max]
    std::vector<std::size_t> held_;           ///< [n_seq_max] tokens before the pass
    std::vector<float> copies_;               ///< [rows][vocabulary] of positions scored alone
};

} // namespace specdec
