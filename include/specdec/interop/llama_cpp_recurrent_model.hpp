// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm> // std::copy_n
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <llama.h>

#include <specdec/core/concepts.hpp>
#include <specdec/core/error.hpp>
#include <specdec/interop/llama_cpp_batch.hpp>
#include <specdec/interop/llama_cpp_model.hpp>

namespace specdec {

/// One sequence of a llama_context whose memory cannot forget its last tokens (Mamba, RWKV, and
/// hybrids of these with attention), with a checkpoint of its state (CheckpointingModelOf<Id>):
///
///     llama_cpp_recurrent_model<target_id> engine(context);
///     checkpointed_model<target_id, llama_cpp_recurrent_model<target_id>> target(engine);
///
/// A checkpoint is what llama_state_seq_get_data_ext says of the recurrent part; a hybrid's
/// attention part is cut where the checkpoint was. Any other model will do, too. What
/// llama_cpp_model says of contexts, sequences and rows holds here, but for one thing: a decode
/// that fails may leave part of its tokens in the state, which is cleared then, and
/// checkpointed_model feeds it again.
///
/// Allocation: at construction, at the first checkpoints, and where rows are copied. Errors,
/// specdec::error: as llama_cpp_model, and a state that llama.cpp does not give or take back.
template <class Id>
class llama_cpp_recurrent_model {
public:
    /// Precondition: context is not null. `servers`: those that hold layers of it, or null.
    explicit llama_cpp_recurrent_model(llama_context* context, llama_seq_id sequence = 0,
                                       llama_cpp_scoring scoring = llama_cpp_scoring::together,
                                       llama_cpp_servers* servers = nullptr)
        : context_(context), memory_(llama_get_memory(context)), sequence_(sequence),
          scoring_(scoring), vocabulary_(static_cast<std::size_t>(llama_vocab_n_tokens(
                                 llama_model_get_vocab(llama_get_model(context))))),
          batch_(context, servers), state_(std::make_shared<std::vector<std::uint8_t>>()) {
        if (memory_ == nullptr)
            throw error("llama_get_memory", "memory", "expected a context with one");
        if (static_cast<std::uint32_t>(sequence) >= llama_n_seq_max(context)) // or negative
            throw error("llama_context", "sequence " + std::to_string(sequence),
                        "expected one below n_seq_max = " +
                            std::to_string(llama_n_seq_max(context)));
    }

    [[nodiscard]] std::size_t size() const {
        return static_cast<std::size_t>(llama_memory_seq_pos_max(memory_, sequence_) + 1);
    }
    [[nodiscard]] std::size_t capacity() const { return llama_n_ctx_seq(context_); }
    [[nodiscard]] std::size_t vocabulary_size() const { return vocabulary_; }

    void append(std::span<const Id> ids) {
        feed(ids, batch_.capacity(), false, [](std::size_t, std::size_t) {});
    }

    [[nodiscard]] logits_rows<Id> score(std::span<const Id> ids) {
        const std::size_t piece = scoring_ == llama_cpp_scoring::alone ? 1 : batch_.capacity();
        if (ids.size() <= piece) {
            feed(ids, piece, true, [](std::size_t, std::size_t) {});
            return {ids.empty() ? nullptr : batch_.logits(), ids.size(), vocabulary_, vocabulary_};
        }
        if (rows_.size() < ids.size() * vocabulary_)
            rows_.resize(ids.size() * vocabulary_);
        feed(ids, piece, true, [this](std::size_t first, std::size_t n) {
            std::copy_n(batch_.logits(), n * vocabulary_, rows_.data() + first * vocabulary_);
        });
        return {rows_.data(), ids.size(), vocabulary_, vocabulary_};
    }

    void clear() { llama_memory_seq_rm(memory_, sequence_, -1, -1); }

    void checkpoint() {
        const std::size_t length = batch_.reach([context = context_, sequence = sequence_] {
            return llama_state_seq_get_size_ext(context, sequence,
                                                LLAMA_STATE_SEQ_FLAGS_PARTIAL_ONLY);
        });
        state_->resize(length);
        const std::size_t got =
            batch_.reach([context = context_, sequence = sequence_, state = state_] {
                return llama_state_seq_get_data_ext(context, state->data(), state->size(), sequence,
                                                    LLAMA_STATE_SEQ_FLAGS_PARTIAL_ONLY);
            });
        if (got == 0)
            throw error("llama_state_seq_get_data_ext", "state", "expected one");
        remembered_ = size();
    }

    void restore() {
        if (remembered_ > 0) {
            const std::size_t read = batch_.reach([context = context_, sequence = sequence_,
                                                   state = state_] {
                return llama_state_seq_set_data_ext(context, state->data(), state->size(), sequence,
                                                    LLAMA_STATE_SEQ_FLAGS_PARTIAL_ONLY);
            });
            if (read == 0)
                throw error("llama_state_seq_set_data_ext", "state", "expected it to be read");
        }
        if (!llama_memory_seq_rm(memory_, sequence_, static_cast<llama_pos>(remembered_), -1))
            throw error("llama_memory_seq_rm", "position " + std::to_string(remembered_),
                        "expected a memory without the tokens behind it");
    }

private:
    /// Decodes ids in pieces; done(first, n) after each. All, or nothing is left.
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
        } catch (...) {
            clear();
            throw;
        }
    }

    llama_context* context_;
    llama_memory_t memory_;
    llama_seq_id sequence_;
    llama_cpp_scoring scoring_;
    std::size_t vocabulary_;
    llama_cpp_batch batch_;
    std::vector<float> rows_;                          ///< copies, where one decode made not all
    std::shared_ptr<std::vector<std::uint8_t>> state_; ///< the remembered one
    std::size_t remembered_ = 0;                       ///< tokens that it has seen
};

} // namespace specdec
