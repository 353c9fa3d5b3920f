// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm> // std::max
#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <specdec/core/contract.hpp>
#include <specdec/core/error.hpp>
#include <specdec/core/require.hpp>
#include <specdec/core/rows.hpp>
#include <specdec_engine/drafter/exit_pass.hpp>
#include <specdec_engine/load.hpp>
#include <specdec_engine/transformer/transformer.hpp>

namespace specdec::engine {

/// Settings of a model with exits.
struct exit_options {
    std::size_t sequences = 1;
    /// Tokens of each sequence; 0: the transformer's.
    std::size_t capacity = 0;
    /// Rows that exit_rows() can return without allocating.
    std::size_t rows = 16;
    /// The layers behind which it may stop, rising to all of them; empty: what its config.json says
    /// ("specdec_exits": [2, 4, 6]).
    std::vector<std::size_t> exits = {};
};

/// A transformer with exits as a specdec::ExitModelOf<Id>. All exits share the model's head, and
/// the norm before it unless the checkpoint has one for each exit but the last
/// (exits.0.norm.weight, exits.1.norm.weight, ...). It shares weights, threads and precision with
/// the transformer that it is made of, which may be destroyed; the context is its own. Each row is
/// bit for bit that of a model of the exit's layers alone. Not for two threads at once.
template <class Id>
class exit_model {
public:
    /// Errors: specdec::error where the exits are none of the model's, or it has none, and for a
    /// capacity beyond a sliding window.
    explicit exit_model(const transformer& of, const exit_options& options = {})
        : vocabulary_size_(of.vocabulary_size()),
          capacity_(options.capacity > 0 ? options.capacity : of.capacity()),
          trained_context_(of.config().trained_context),
          depths_(options.exits.empty() ? of.config().exits : options.exits),
          stride_(round_up(of.config().vocabulary_size, panel_rows)) {
        if (depths_.empty())
            throw error("model with exits", "specdec_exits",
                        "expected the layers after which it may stop, in its config.json");
        check_exits(depths_, of.config().layers, "model with exits");
        check_capacity(of.config(), capacity_, "model with exits");
        of.with_pass([&]<class Format>(const forward_pass<Format>& pass) {
            if (!pass.weights().exit_norms.empty() && depths_ != of.config().exits)
                throw error("model with exits", "exits",
                            "expected the exits of the checkpoint, which has a norm for each");
            pass_ = std::make_unique<any_pass>(
                std::in_place_type<exit_pass<Format>>, pass.shared_weights(), depths_,
                std::max<std::size_t>(options.sequences, 1), capacity_, of.team(),
                pass.instructions(), pass.cache());
        });
        sequences_ = std::max<std::size_t>(options.sequences, 1);
        logits_.resize(std::max<std::size_t>(options.rows, 1) * stride_);
    }

    [[nodiscard]] std::size_t exits() const { return depths_.size(); }
    /// Layers of each exit.
    [[nodiscard]] std::span<const std::size_t> depths() const { return depths_; }
    [[nodiscard]] std::size_t sequences() const { return sequences_; }
    [[nodiscard]] std::size_t size(std::size_t s) const {
        return visit([s](const auto& pass) { return pass.size(s); });
    }
    [[nodiscard]] std::size_t capacity() const { return capacity_; }
    [[nodiscard]] std::size_t vocabulary_size() const { return vocabulary_size_; }
    static constexpr model_traits traits{.trained_context = true};
    [[nodiscard]] std::size_t trained_context() const { return trained_context_; }
    /// Bytes of weights that a row reads whose layers all run: those of the exit, and the head.
    [[nodiscard]] std::size_t row_bytes(std::size_t exit) const {
        return visit([exit](const auto& pass) {
            return pass.bytes_before(exit) + pass.weights().head.bytes();
        });
    }

    /// Runs nothing. Errors, before anything changes: specdec::error where the context is too short
    /// or an id or the sequence is none of the model's.
    void append(std::size_t s, std::span<const Id> ids) {
        require_sequence(s, sequences_, "model with exits");
        if (ids.size() > capacity_ - size(s))
            throw error("model with exits", "length",
                        "expected at most " + std::to_string(capacity_) + " tokens, found " +
                            std::to_string(size(s) + ids.size()));
        require_ids(ids, vocabulary_size_, "model with exits", "tokens");
        std::visit(
            [&](auto& pass) {
                for (const Id id : ids)
                    pass.hold(s, id.value);
            },
            *pass_);
    }
    /// Precondition: the exit and the tokens are there. Allocates where there are more rows than
    /// ever before. A row behind a token whose layers have run beyond the exit is made anew, and
    /// all behind it.
    [[nodiscard]] logits_rows<Id> exit_rows(std::size_t s, std::size_t exit, std::size_t first,
                                            std::size_t n) {
        SPECDEC_PRECONDITION(exit < exits() && first + n <= size(s));
        if (logits_.size() < n * stride_)
            logits_.resize(n * stride_);
        std::visit([&](auto& pass) { pass.rows(s, exit, first, n, logits_.data(), stride_); },
                   *pass_);
        return {logits_.data(), n, vocabulary_size_, stride_};
    }
    /// Precondition: n <= size(s).
    void truncate(std::size_t s, std::size_t n) {
        SPECDEC_PRECONDITION(n <= size(s));
        std::visit([&](auto& pass) { pass.truncate(s, n); }, *pass_);
    }

private:
    using any_pass = std::variant<exit_pass<float>, exit_pass<bf16_bits>, exit_pass<quantised>>;

    template <class Use>
    auto visit(const Use& use) const {
        return std::visit(use, std::as_const(*pass_));
    }

    std::size_t vocabulary_size_, capacity_, trained_context_, sequences_ = 1;
    std::vector<std::size_t> depths_; ///< [exits]
    std::size_t stride_;              ///< of a row
    std::unique_ptr<any_pass> pass_;
    aligned_vector<float> logits_; ///< [rows, stride]
};

/// Loads a model with exits. Errors: specdec::error naming the file and the field or tensor.
template <class Id>
[[nodiscard]] exit_model<Id> load_exit_model(const std::filesystem::path& path,
                                             const load_options& load = {},
                                             const exit_options& options = {}) {
    return exit_model<Id>(load_transformer(path, load), options);
}

} // namespace specdec::engine
