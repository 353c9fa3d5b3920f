// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits> // std::invoke_result_t
#include <utility>

#include <llama.h>

#include <specdec/core/error.hpp>
#include <specdec/interop/llama_cpp_servers.hpp>

namespace specdec {

/// A llama_batch of up to n_batch tokens and its llama_decode; through `servers`, where layers are
/// on other machines (null: none are). Borrows the context and them. Allocates at construction
/// only, or, with servers, a little a call. Errors: specdec::error that names the call, what came
/// back and what it means.
class llama_cpp_batch {
public:
    /// most_shared: the most sequences that a token is part of.
    explicit llama_cpp_batch(llama_context* context, llama_cpp_servers* servers = nullptr,
                             std::uint32_t most_shared = 1)
        : context_(context), servers_(servers),
          batch_(new llama_batch(llama_batch_init(static_cast<std::int32_t>(llama_n_batch(context)),
                                                  0, static_cast<std::int32_t>(most_shared))),
                 free_batch{}) {}

    [[nodiscard]] std::size_t capacity() const { return llama_n_batch(context_); }

    void clear() { batch_->n_tokens = 0; }
    /// `sequence` is the one whose tokens it looks at. Precondition: fewer than capacity() tokens
    /// since clear().
    void add(llama_token token, std::size_t position, llama_seq_id sequence, bool row) {
        const std::int32_t i = batch_->n_tokens++;
        batch_->token[i] = token;
        batch_->pos[i] = static_cast<llama_pos>(position);
        batch_->n_seq_id[i] = 1;
        batch_->seq_id[i][0] = sequence;
        batch_->logits[i] = row ? 1 : 0;
    }

    /// The token added last is part of this sequence, too.
    void share(llama_seq_id sequence) {
        const std::int32_t i = batch_->n_tokens - 1;
        batch_->seq_id[i][batch_->n_seq_id[i]++] = sequence;
    }

    void decode() {
        const std::int32_t code = reach([context = context_, batch = batch_] {
            const std::int32_t result = llama_decode(context, *batch);
            llama_synchronize(context);
            return result;
        });
        if (code == 0)
            return;
        const char* what = code == 1    ? ": no free cells in the context's memory for the batch"
                           : code == 2  ? ": the abort callback ended it"
                           : code == -1 ? ": an invalid batch, such as an id that is no token"
                                        : ": llama.cpp failed (see its log)";
        throw error("llama_decode", "returned", "expected 0, found " + std::to_string(code) + what);
    }

    /// The rows that the latest decode made, [rows][vocabulary], in the order of add().
    [[nodiscard]] const float* logits() const {
        const float* rows = reach([context = context_] { return llama_get_logits(context); });
        if (rows == nullptr)
            throw error("llama_get_logits", "rows", "expected a context that computes logits");
        return rows;
    }

    /// What f() returns, where it has to wait for servers with their help.
    template <class F>
    std::invoke_result_t<F&> reach(F f) const {
        return servers_ == nullptr ? f() : servers_->call(std::move(f));
    }

private:
    struct free_batch {
        void operator()(llama_batch* batch) const {
            llama_batch_free(*batch);
            delete batch;
        }
    };

    llama_context* context_;
    llama_cpp_servers* servers_;
    std::shared_ptr<llama_batch> batch_; ///< a call that is left behind may read it yet
};

} // namespace specdec
