// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include <llama.h>

#include <specdec/core/error.hpp>

namespace specdec {

/// A llama_batch of up to n_batch tokens and its llama_decode. Borrows the context. Allocates at
/// construction only. Errors: specdec::error that names the call, what came back and what it means.
class llama_cpp_batch {
public:
    explicit llama_cpp_batch(llama_context* context)
        : context_(context), batch_(new llama_batch(llama_batch_init(
                                 static_cast<std::int32_t>(llama_n_batch(context)), 0, 1))) {}

    [[nodiscard]] std::size_t capacity() const { return llama_n_batch(context_); }

    void clear() { batch_->n_tokens = 0; }
    /// Precondition: fewer than capacity() tokens since clear().
    void add(llama_token token, std::size_t position, llama_seq_id sequence, bool row) {
        const std::int32_t i = batch_->n_tokens++;
        batch_->token[i] = token;
        batch_->pos[i] = static_cast<llama_pos>(position);
        batch_->n_seq_id[i] = 1;
        batch_->seq_id[i][0] = sequence;
        batch_->logits[i] = row ? 1 : 0;
    }

    void decode() {
        const std::int32_t code = llama_decode(context_, *batch_);
        if (code == 0)
            return;
        const char* what = code == 1    ? ": no free cells in the context's memory for the batch"
                           : code == 2  ? ": the abort callback ended it"
                           : code == -1 ? ": an invalid batch, such as an id that is no token"
                                        : ": llama.cpp failed (see its log)";
        throw error("llama_decode", "returned", std::to_string(code) + what);
    }

    /// The rows that the latest decode made, [rows][vocabulary], in the order of add().
    [[nodiscard]] const float* logits() const {
        const float* rows = llama_get_logits(context_);
        if (rows == nullptr)
            throw error("llama_get_logits", "rows", "expected a context that computes logits");
        return rows;
    }

private:
    struct free_batch {
        void operator()(llama_batch* batch) const {
            llama_batch_free(*batch);
            delete batch;
        }
    };

    llama_context* context_;
    std::unique_ptr<llama_batch, free_batch> batch_;
};

} // namespace specdec
