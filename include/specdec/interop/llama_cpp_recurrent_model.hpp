// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <llama.h>

#include <specdec/core/error.hpp>
#include <specdec/interop/llama_cpp_sequence.hpp>

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
        : sequence_(context, sequence, scoring, servers),
          state_(std::make_shared<std::vector<std::uint8_t>>()),
          next_(std::make_shared<std::vector<std::uint8_t>>()) {}

    [[nodiscard]] std::size_t size() const { return sequence_.size(); }
    [[nodiscard]] std::size_t capacity() const { return sequence_.capacity(); }
    [[nodiscard]] std::size_t vocabulary_size() const { return sequence_.vocabulary_size(); }

    void append(std::span<const Id> ids) {
        // A state that was fed in one piece differs a little, and replays must not.
        const std::size_t piece = sequence_.scoring() == llama_cpp_scoring::alone ? 1 : ids.size();
        for (; !ids.empty(); ids = ids.subspan(piece))
            sequence_.append(ids.first(piece), [this](std::size_t) { clear(); });
    }
    [[nodiscard]] logits_rows<Id> score(std::span<const Id> ids) {
        return sequence_.score(ids, [this](std::size_t) { clear(); });
    }

    void clear() { (void)sequence_.remove_from(0); }

    void checkpoint() {
        const std::size_t length = sequence_.batch().reach(
            [context = sequence_.context(), sequence = sequence_.sequence()] {
                return llama_state_seq_get_size_ext(context, sequence,
                                                    LLAMA_STATE_SEQ_FLAGS_PARTIAL_ONLY);
            });
        next_->resize(length);
        const std::size_t got = sequence_.batch().reach(
            [context = sequence_.context(), sequence = sequence_.sequence(), state = next_] {
                return llama_state_seq_get_data_ext(context, state->data(), state->size(), sequence,
                                                    LLAMA_STATE_SEQ_FLAGS_PARTIAL_ONLY);
            });
        if (got == 0)
            throw error("llama_state_seq_get_data_ext", "state",
                        "expected a state of the sequence, found none");
        state_.swap(next_);
        remembered_ = size();
    }

    void restore() {
        if (remembered_ > 0) {
            const std::size_t read = sequence_.batch().reach(
                [context = sequence_.context(), sequence = sequence_.sequence(), state = state_] {
                    return llama_state_seq_set_data_ext(context, state->data(), state->size(),
                                                        sequence,
                                                        LLAMA_STATE_SEQ_FLAGS_PARTIAL_ONLY);
                });
            if (read == 0)
                throw error("llama_state_seq_set_data_ext", "state",
                            "expected llama.cpp to read all of it");
        }
        if (!sequence_.remove_from(remembered_))
            throw error("llama_memory_seq_rm", "position " + std::to_string(remembered_),
                        "expected a memory without the tokens after it");
    }

private:
    llama_cpp_sequence<Id> sequence_;
    std::shared_ptr<std::vector<std::uint8_t>> state_; ///< the remembered one
    std::shared_ptr<std::vector<std::uint8_t>> next_;  ///< one that is not whole yet
    std::size_t remembered_ = 0;                       ///< tokens that it has seen
};

} // namespace specdec
