// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm> // std::copy
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <llama.h>

#include <specdec/core/concepts.hpp>
#include <specdec/core/error.hpp>
#include <specdec/core/model/context_mirror.hpp>
#include <specdec/interop/llama_cpp_batch.hpp>

namespace specdec {

/// How llama.cpp computes the rows of a score: its logits depend a little on how many positions
/// share a llama_decode.
enum class llama_cpp_scoring {
    together, ///< all positions in one decode: fast
    alone,    ///< one decode a position: a drafter cannot change a row, nor therefore greedy text
};

/// One sequence of a llama_context as a ModelOf<Id>.
///
/// The context is borrowed: it outlives this object, has causal attention, no backend samplers and
/// n_outputs_max, if set, at least the rows of a score.
/// Several sequences may live in one context, each with a model object of its own. What the
/// sequence holds is asked of llama.cpp, never recorded here: an engine may clear or fill the
/// memory itself in between, and size() follows.
///
/// - score(ids) returns llama.cpp's own buffer: nothing is copied. The rows live until the next
///   llama_decode of the context, so until the next call on ANY sequence of it. Copied are only the
///   rows of more than n_batch ids (several decodes) and those of llama_cpp_scoring::alone.
/// - append and score feed more than n_batch ids in pieces.
/// - Allocation: a batch of n_batch tokens at construction; a copy of rows where one is made.
///
/// Errors, specdec::error that names the call:
/// - a server's death, see llama_cpp_servers: size() is then as before;
/// - at construction: a memory that cannot forget its last tokens (recurrent and hybrid models),
///   no memory at all, a sequence outside n_seq_max;
/// - append, score: more tokens than the context holds; llama_decode's code and what it means.
///   size() is then as before, also when an abort callback ended the decode half-way. (Without
///   swa_full a long prompt that failed may have pushed the sliding window on: then it is 0.);
/// - truncate: what a sliding window needs was overwritten (contexts made without swa_full).
template <class Id>
class llama_cpp_model {
public:
    /// Precondition: context is not null. `servers`: those that hold layers of it, or null.
    explicit llama_cpp_model(llama_context* context, llama_seq_id sequence = 0,
                             llama_cpp_scoring scoring = llama_cpp_scoring::together,
                             llama_cpp_servers* servers = nullptr)
        : context_(context), memory_(llama_get_memory(context)), sequence_(sequence),
          scoring_(scoring), window_(llama_model_n_swa(llama_get_model(context))),
          vocabulary_(static_cast<std::size_t>(
              llama_vocab_n_tokens(llama_model_get_vocab(llama_get_model(context))))),
          batch_(context, servers) {
        const llama_model* model = llama_get_model(context);
        if (memory_ == nullptr)
            throw error("llama_get_memory", "memory", "expected a context with one");
        if (llama_model_is_recurrent(model) || llama_model_is_hybrid(model))
            throw error("llama_memory_seq_rm", "memory",
                        "expected one that can forget its last tokens; the state of a recurrent or "
                        "hybrid model cannot");
        if (static_cast<std::uint32_t>(sequence) >= llama_n_seq_max(context)) // or negative
            throw error("llama_context", "sequence " + std::to_string(sequence),
                        "expected one below n_seq_max = " +
                            std::to_string(llama_n_seq_max(context)));
    }

    [[nodiscard]] std::size_t size() const {
        return static_cast<std::size_t>(llama_memory_seq_pos_max(memory_, sequence_) + 1);
    }
    /// The tokens of the context, so sessions may take turns with this model. If others used the
    /// sequence, they are not size() many.
    [[nodiscard]] std::span<const Id> held() const { return mirror_.held(); }
    [[nodiscard]] std::size_t capacity() const { return llama_n_ctx_seq(context_); }
    [[nodiscard]] std::size_t vocabulary_size() const { return vocabulary_; }

    void append(std::span<const Id> ids) {
        feed(ids, llama_n_batch(context_), false, [](std::size_t, std::size_t) {});
    }

    [[nodiscard]] logits_rows<Id> score(std::span<const Id> ids) {
        const std::size_t piece =
            scoring_ == llama_cpp_scoring::alone ? 1 : std::size_t{llama_n_batch(context_)};
        if (ids.size() <= piece) {
            feed(ids, piece, true, [](std::size_t, std::size_t) {});
            return {ids.empty() ? nullptr : batch_.logits(), ids.size(), vocabulary_, vocabulary_};
        }
        if (rows_.size() < ids.size() * vocabulary_)
            rows_.resize(ids.size() * vocabulary_);
        feed(ids, piece, true, [this](std::size_t first, std::size_t n) {
            const float* row = batch_.logits();
            std::copy(row, row + n * vocabulary_, rows_.data() + first * vocabulary_);
        });
        return {rows_.data(), ids.size(), vocabulary_, vocabulary_};
    }

    /// Precondition: n <= size().
    void truncate(std::size_t n) {
        if (!can_keep(n))
            throw error("llama_memory_seq_rm", "position " + std::to_string(n),
                        "expected the " + std::to_string(window_) +
                            " positions before it, which the sliding window needs; they were "
                            "overwritten (make the context with swa_full)");
        if (!remove_from(n))
            throw error("llama_memory_seq_rm", "position " + std::to_string(n),
                        "expected a memory that can forget its last tokens");
        mirror_.truncated(n);
    }

    /// After a decode that failed: what was held before it, or nothing where that is gone.
    void take_back(std::size_t held) {
        if (!can_keep(held) || !remove_from(held))
            remove_from(0);
    }

    [[nodiscard]] llama_context* context() const { return context_; }
    [[nodiscard]] llama_seq_id sequence() const { return sequence_; }

private:
    /// Decodes ids in pieces; done(first, n) after each. All or nothing.
    template <class Done>
    void feed(std::span<const Id> ids, std::size_t piece, bool rows, const Done& done) {
        const std::size_t held = size();
        if (ids.size() > capacity() - held)
            throw error("llama_context", "n_ctx",
                        "expected room for " + std::to_string(ids.size()) + " tokens, " +
                            std::to_string(held) + " of " + std::to_string(capacity()) +
                            " are held");
        try {
            for (std::size_t first = 0; first < ids.size(); first += piece) {
                const std::size_t left = ids.size() - first;
                const std::size_t n = left < piece ? left : piece;
                batch_.clear();
                for (std::size_t i = first; i < first + n; ++i)
                    batch_.add(ids[i].value, held + i, sequence_, rows);
                batch_.decode();
                done(first, n);
            }
            mirror_.fed(ids);
        } catch (...) { // llama.cpp itself throws, too: std::bad_alloc
            take_back(held);
            throw;
        }
    }

    /// Whether the positions that the row behind n tokens looks at are all there.
    [[nodiscard]] bool can_keep(std::size_t n) const {
        const llama_pos oldest = static_cast<llama_pos>(n) - window_;
        return n == 0 || window_ == 0 || oldest <= 0 ||
               llama_memory_seq_pos_min(memory_, sequence_) <= oldest;
    }
    bool remove_from(std::size_t n) {
        return llama_memory_seq_rm(memory_, sequence_, static_cast<llama_pos>(n), -1);
    }

    llama_context* context_;
    llama_memory_t memory_;
    llama_seq_id sequence_;
    llama_cpp_scoring scoring_;
    llama_pos window_; ///< 0: attention over everything
    std::size_t vocabulary_;
    llama_cpp_batch batch_;
    std::vector<float> rows_; ///< copies, where one decode did not make them all
    context_mirror<Id> mirror_;
};

} // namespace specdec
