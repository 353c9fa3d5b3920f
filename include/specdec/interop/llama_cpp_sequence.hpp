// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm> // std::copy_n
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <llama.h>

#include <specdec/core/error.hpp>
#include <specdec/core/model/context_tracker.hpp>
#include <specdec/core/rows.hpp>
#include <specdec/interop/llama_cpp_batch.hpp>

namespace specdec {

/// How llama.cpp computes the rows of a score: its logits depend a little on how many positions
/// share a llama_decode.
enum class llama_cpp_scoring {
    together, ///< all positions in one decode: fast
    alone,    ///< one decode a position: a drafter cannot change a row, nor therefore greedy text
};

/// One sequence of a llama_context, which is fed in pieces of at most n_batch ids: what models have
/// in common, whatever their memory can forget. Each call is told what to do if a decode fails:
/// failed(held), with the tokens that the sequence held before. Rows are llama.cpp's own buffer, or
/// a copy where one decode did not make them all. Borrows context and servers. Errors:
/// specdec::error for a context without a memory, a sequence outside n_seq_max, more tokens than
/// the context holds; and as llama_cpp_batch.
template <class Id>
class llama_cpp_sequence {
public:
    llama_cpp_sequence(llama_context* context, llama_seq_id sequence, llama_cpp_scoring scoring,
                       llama_cpp_servers* servers)
        : context_(context), memory_(llama_get_memory(context)), sequence_(sequence),
          scoring_(scoring), vocabulary_(static_cast<std::size_t>(llama_vocab_n_tokens(
                                 llama_model_get_vocab(llama_get_model(context))))),
          batch_(context, servers) {
        if (memory_ == nullptr)
            throw error("llama_get_memory", "memory", "expected a context with a memory");
        if (static_cast<std::uint32_t>(sequence) >= llama_n_seq_max(context)) // or negative
            throw error("llama_context", "sequence " + std::to_string(sequence),
                        "expected a sequence below n_seq_max = " +
                            std::to_string(llama_n_seq_max(context)));
    }

    [[nodiscard]] llama_context* context() const { return context_; }
    [[nodiscard]] llama_memory_t memory() const { return memory_; }
    [[nodiscard]] llama_seq_id sequence() const { return sequence_; }
    [[nodiscard]] const llama_cpp_batch& batch() const { return batch_; }
    [[nodiscard]] llama_cpp_scoring scoring() const { return scoring_; }

    [[nodiscard]] std::size_t size() const {
        return static_cast<std::size_t>(llama_memory_seq_pos_max(memory_, sequence_) + 1);
    }
    /// Its tokens, as they were fed through here, or by a decode of its owner's.
    [[nodiscard]] held_tokens<Id> held() const { return mirror_.held(); }
    void fed(std::span<const Id> ids) { mirror_.fed(ids); }
    [[nodiscard]] std::size_t capacity() const { return llama_n_ctx_seq(context_); }
    [[nodiscard]] std::size_t vocabulary_size() const { return vocabulary_; }

    template <class Failed>
    void append(std::span<const Id> ids, const Failed& failed) {
        feed(ids, batch_.capacity(), false, failed, [](std::size_t, std::size_t) {});
    }

    template <class Failed>
    [[nodiscard]] logits_rows<Id> score(std::span<const Id> ids, const Failed& failed) {
        const std::size_t piece = scoring_ == llama_cpp_scoring::alone ? 1 : batch_.capacity();
        if (ids.size() <= piece) {
            feed(ids, piece, true, failed, [](std::size_t, std::size_t) {});
            return {ids.empty() ? nullptr : batch_.logits(), ids.size(), vocabulary_, vocabulary_};
        }
        if (rows_.size() < ids.size() * vocabulary_)
            rows_.resize(ids.size() * vocabulary_);
        feed(ids, piece, true, failed, [this](std::size_t first, std::size_t n) {
            std::copy_n(batch_.logits(), n * vocabulary_, rows_.data() + first * vocabulary_);
        });
        return {rows_.data(), ids.size(), vocabulary_, vocabulary_};
    }

    /// Whether the memory could forget the tokens from the n-th on.
    bool remove_from(std::size_t n) {
        if (!llama_memory_seq_rm(memory_, sequence_, static_cast<llama_pos>(n), -1))
            return false;
        mirror_.truncated(n);
        return true;
    }

private:
    /// Decodes ids in pieces; done(first, n) after each.
    template <class Failed, class Done>
    void feed(std::span<const Id> ids, std::size_t piece, bool rows, const Failed& failed,
              const Done& done) {
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
            failed(held);
            throw;
        }
    }

    llama_context* context_;
    llama_memory_t memory_;
    llama_seq_id sequence_;
    llama_cpp_scoring scoring_;
    std::size_t vocabulary_;
    llama_cpp_batch batch_;
    std::vector<float> rows_; ///< copies, where one decode did not make them all
    context_tracker<Id> mirror_;
};

} // namespace specdec
