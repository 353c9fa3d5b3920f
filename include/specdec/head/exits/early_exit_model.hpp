// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <specdec/core/basic/builtins.hpp>
#include <specdec/core/basic/on_throw.hpp>
#include <specdec/core/error.hpp>
#include <specdec/core/law_version.hpp>
#include <specdec/core/model/wrapped_model.hpp>
#include <specdec/core/require.hpp>
#include <specdec/core/rows.hpp>
#include <specdec/core/token_id.hpp>
#include <specdec/head/exits/exit_model.hpp>

namespace specdec {

/// A drafter's model of several depths: each row is that of the first exit that is chosen. Paper:
/// S2D (Kavehzadeh et al. 2024), Alg. 1 and section 3.3. Lossless with every bridge and verifier: a
/// row depends on the context alone (with sampled_token_exit: given its draws). If no exit is
/// chosen, the row allows no token, which ends a draft.
///
/// Models BatchModelOf<draft_id>. Borrows both. Memory: `rows` rows and a byte for each token of
/// the capacity, allocated at construction; a call that needs more rows allocates. Cost of a row:
/// the layers up to the chosen exit, once, and the head's product for each exit that is tried.
/// Appended tokens cost nothing until a row needs them. Errors: specdec::error if model and choice
/// disagree, and for rows of another shape than asked for.
template <ExitModelOf<draft_id> Model, ExitChoice Choice>
class early_exit_model : public wrapped_model<early_exit_model<Model, Choice>, draft_id, Model> {
    using base = wrapped_model<early_exit_model<Model, Choice>, draft_id, Model>;
    using base::wrapped;

public:
    using base::size, base::truncate, base::vocabulary_size;
    /// What exit_of() returns if no exit was chosen, or no row was asked for.
    static constexpr std::size_t none = 255;

    early_exit_model(Model& model, Choice& choice, std::size_t rows = 16)
        : base(model), choice_(choice), counts_(model.exits()),
          spoke_(model.sequences(), std::vector<std::uint8_t>(model.capacity(), none)) {
        choice.check(model.exits(), model.sequences());
        if (model.exits() >= none)
            fail("early exit model", "exits", "expected fewer than 255");
        reserve(rows);
        for (std::size_t s = 0; s < model.sequences(); ++s)
            model.truncate(s, 0);
    }

    [[nodiscard]] static constexpr bool lazy_append() { return true; }

    void append(std::size_t s, std::span<const draft_id> ids) {
        const std::size_t first = size(s);
        base::append(s, ids);
        for (std::size_t i = first; i < first + ids.size(); ++i)
            spoke_[s][i] = none;
    }
    [[nodiscard]] logits_rows<draft_id> score(std::span<const sequence_tokens<draft_id>> parts) {
        const std::size_t n = count_tokens(parts);
        std::size_t held = 0;
        reserve(n);
        on_throw guard([&] {
            while (held-- > 0)
                truncate(parts[held].sequence, size(parts[held].sequence) - parts[held].ids.size());
        });
        for (; held < parts.size(); ++held)
            append(parts[held].sequence, parts[held].ids);
        float* out = rows_.data();
        for (const auto& [s, ids] : parts) {
            settle(s, size(s) - ids.size(), ids.size(), out);
            out += ids.size() * vocabulary_size();
        }
        guard.done();
        return {rows_.data(), n, vocabulary_size(), vocabulary_size()};
    }
    [[nodiscard]] law_version version(std::size_t s) const {
        return base::version(s) + version_of(choice_);
    }

    /// The exit that gave the last row asked for behind token i of sequence s.
    [[nodiscard]] std::size_t exit_of(std::size_t s, std::size_t i) const { return spoke_[s][i]; }
    /// How many rows each exit gave; ended(): how many rows no exit gave.
    [[nodiscard]] std::span<const std::uint64_t> counts() const { return counts_; }
    [[nodiscard]] std::uint64_t ended() const { return ended_; }

private:
    void reserve(std::size_t rows) {
        if (rows_.size() < rows * vocabulary_size())
            rows_.resize(rows * vocabulary_size());
    }

    /// Makes the rows behind tokens first .. first + n - 1. Each exit is asked for the tokens that
    /// have no row yet, neighbours in one call.
    void settle(std::size_t s, std::size_t first, std::size_t n, float* out) {
        std::size_t open = n;
        for (std::size_t e = 0; e < wrapped().exits() && open > 0; ++e)
            for (std::size_t i = 0; choice_.asks(e) && i < n;) {
                std::size_t end = i;
                while (end < n && spoke_[s][first + end] == none)
                    ++end;
                if (end > i)
                    open -= ask(s, e, first + i, end - i, out + i * vocabulary_size());
                i = end + 1;
            }
        for (std::size_t i = 0; i < n; ++i)
            if (spoke_[s][first + i] == none) {
                for (std::size_t v = 0; v < vocabulary_size(); ++v)
                    out[i * vocabulary_size() + v] = -builtin::infinity;
                ++ended_;
            }
    }
    /// Asks exit e for n rows. Returns for how many it is chosen.
    std::size_t ask(std::size_t s, std::size_t e, std::size_t first, std::size_t n, float* out) {
        const logits_rows<draft_id> rows = wrapped().exit_rows(s, e, first, n);
        require_rows(rows, n, vocabulary_size(), "early exit model");
        std::size_t settled = 0;
        for (std::size_t i = 0; i < n; ++i) {
            const std::span<float> row{out + i * vocabulary_size(), vocabulary_size()};
            for (std::size_t v = 0; v < row.size(); ++v)
                row[v] = rows[i].values[v];
            if (!choice_.speaks(s, first + i + 1, e, row))
                continue;
            spoke_[s][first + i] = static_cast<std::uint8_t>(e);
            ++counts_[e];
            ++settled;
        }
        return settled;
    }

    Choice& choice_;
    std::vector<float> rows_; // [rows, vocabulary]
    std::vector<std::uint64_t> counts_;
    std::uint64_t ended_ = 0;
    std::vector<std::vector<std::uint8_t>> spoke_; // [sequences, capacity]
};

} // namespace specdec
