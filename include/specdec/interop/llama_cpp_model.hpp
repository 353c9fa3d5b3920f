// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include <llama.h>

#include <specdec/core/error.hpp>
#include <specdec/interop/llama_cpp_sequence.hpp>

namespace specdec {

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
        : sequence_(context, sequence, scoring, servers),
          window_(llama_model_n_swa(llama_get_model(context))) {
        const llama_model* model = llama_get_model(context);
        if (llama_model_is_recurrent(model) || llama_model_is_hybrid(model))
            throw error(
                "llama_memory_seq_rm", "memory",
                "expected a memory that can forget its last tokens; the state of a recurrent or "
                "hybrid model cannot");
    }

    [[nodiscard]] std::size_t size() const { return sequence_.size(); }
    /// The tokens of the context, so sessions may take turns with this model. Who uses the sequence
    /// beside it calls truncate(0) first: if others left as many tokens, nobody could tell.
    [[nodiscard]] held_tokens<Id> held() const { return sequence_.held(); }
    [[nodiscard]] std::size_t capacity() const { return sequence_.capacity(); }
    [[nodiscard]] std::size_t vocabulary_size() const { return sequence_.vocabulary_size(); }

    void append(std::span<const Id> ids) {
        sequence_.append(ids, [this](std::size_t held) { take_back(held); });
    }
    [[nodiscard]] logits_rows<Id> score(std::span<const Id> ids) {
        return sequence_.score(ids, [this](std::size_t held) { take_back(held); });
    }

    /// A decode for several sequences has fed these.
    void fed(std::span<const Id> ids) { sequence_.fed(ids); }

    /// Precondition: n <= size().
    void truncate(std::size_t n) {
        if (!can_keep(n))
            throw error("llama_memory_seq_rm", "position " + std::to_string(n),
                        "expected the " + std::to_string(window_) +
                            " positions before it, which the sliding window needs; they were "
                            "overwritten (make the context with swa_full)");
        if (!sequence_.remove_from(n))
            throw error("llama_memory_seq_rm", "position " + std::to_string(n),
                        "expected a memory that can forget its last tokens");
    }

    /// After a decode that failed: what was held before it, or nothing where that is gone.
    void take_back(std::size_t held) {
        if (!can_keep(held) || !sequence_.remove_from(held))
            sequence_.remove_from(0);
    }

    [[nodiscard]] llama_context* context() const { return sequence_.context(); }
    [[nodiscard]] llama_seq_id sequence() const { return sequence_.sequence(); }

private:
    /// Whether the positions that the row behind n tokens looks at are all there.
    [[nodiscard]] bool can_keep(std::size_t n) const {
        const llama_pos oldest = static_cast<llama_pos>(n) - window_;
        return n == 0 || window_ == 0 || oldest <= 0 ||
               llama_memory_seq_pos_min(sequence_.memory(), sequence()) <= oldest;
    }

    llama_cpp_sequence<Id> sequence_;
    llama_pos window_; ///< 0: attention over everything
};

} // namespace specdec
