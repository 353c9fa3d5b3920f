// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <specdec_engine/file/config.hpp>
#include <specdec_engine/kernel/aligned_allocator.hpp>
#include <specdec_engine/kernel/numbers.hpp>
#include <specdec_engine/kernel/panels.hpp>

namespace specdec::engine {

/// What low-rank adapters add to the product of one packed matrix W (LoRA; Hu et al., arXiv
/// 2106.09685; OmniDraft, 3.2):
///
///     y = W x + B (A x)
///
/// Rows of B stand where W has them (packed_rows), and alpha / r is part of B. Adapters of several
/// projections of one matrix stand one behind the other in the rank.
class low_rank {
public:
    /// The rank is padded with zeros to so many numbers.
    static constexpr std::size_t lanes = 8;

    low_rank() = default;
    /// Zeros.
    low_rank(std::size_t rank, std::size_t inputs, std::size_t rows)
        : rank_(round_up(rank, lanes)), rows_(round_up(rows, panel_rows)), a_(inputs * rank_),
          b_(rank_ * rows_) {}

    [[nodiscard]] bool empty() const { return rank_ == 0; }
    [[nodiscard]] std::size_t rank() const { return rank_; }
    [[nodiscard]] std::size_t bytes() const { return (a_.size() + b_.size()) * sizeof(float); }
    [[nodiscard]] float& a(std::size_t k, std::size_t input) { return a_[input * rank_ + k]; }
    [[nodiscard]] float& b(std::size_t row, std::size_t k) { return b_[k * rows_ + row]; }

    /// low = A x.
    template <class Stored>
    void reduce(std::span<const Stored> x, float* low) const {
        for (std::size_t k = 0; k < rank_; ++k)
            low[k] = 0;
        for (std::size_t j = 0; j < x.size(); ++j) {
            const float value = widen(x[j]);
            const float* const row = &a_[j * rank_];
            for (std::size_t k = 0; k < rank_; ++k)
                low[k] += row[k] * value;
        }
    }
    /// y += B low, of the panel of rows that begins with this one.
    void add(const float* low, std::size_t row, float* y) const {
        for (std::size_t k = 0; k < rank_; ++k) {
            const float* const column = &b_[k * rows_ + row];
            for (std::size_t r = 0; r < panel_rows; ++r)
                y[r] += column[r] * low[k];
        }
    }

private:
    std::size_t rank_ = 0, rows_ = 0;
    aligned_vector<float> a_; ///< [inputs, rank]
    aligned_vector<float> b_; ///< [rank, rows]
};

/// Those of a block's packed matrices (block_weights); empty where there is none.
struct block_adapters {
    low_rank qkv, output, gate_up, down;
};

/// Those of a model, as a forward pass adds them (transformer::set_key): not merged, so several may
/// share one set of weights. Immutable once a transformer has them.
struct model_adapters {
    model_config config; ///< of the model that they belong to
    std::vector<block_adapters> blocks;

    [[nodiscard]] std::size_t bytes() const {
        std::size_t sum = 0;
        for (const block_adapters& b : blocks)
            sum += b.qkv.bytes() + b.output.bytes() + b.gate_up.bytes() + b.down.bytes();
        return sum;
    }
    /// The largest rank of a packed matrix.
    [[nodiscard]] std::size_t rank() const {
        std::size_t most = 0;
        for (const block_adapters& b : blocks)
            for (const low_rank* const m : {&b.qkv, &b.output, &b.gate_up, &b.down})
                most = m->rank() > most ? m->rank() : most;
        return most;
    }
};

/// The adapters of a pass's positions, one block at a time.
class adapted_positions {
public:
    /// So many positions a pass, and adapters of that rank at most. Allocates.
    void reserve(std::size_t positions, std::size_t rank) {
        if (rank > stride_)
            stride_ = rank;
        low_.resize(positions * stride_);
        of_.resize(positions);
    }

    /// Before a block: of(c), the adapters of position c < n in it, or null.
    template <class Of>
    void begin(std::size_t n, const Of& of) {
        any_ = false;
        for (std::size_t c = 0; c < n && c < of_.size(); ++c) {
            of_[c] = of(c);
            any_ = any_ || of_[c] != nullptr;
        }
    }
    /// Whether any position has some of this matrix.
    [[nodiscard]] bool any(low_rank block_adapters::*matrix, std::size_t n) const {
        for (std::size_t c = 0; any_ && c < n; ++c)
            if (has(matrix, c))
                return true;
        return false;
    }
    [[nodiscard]] bool has(low_rank block_adapters::*matrix, std::size_t c) const {
        return any_ && of_[c] != nullptr && !(of_[c]->*matrix).empty();
    }
    /// Before the product: what this position's matrix reads. Precondition: has().
    template <class Stored>
    void reduce(low_rank block_adapters::*matrix, std::size_t c, std::span<const Stored> x) {
        (of_[c]->*matrix).reduce(x, &low_[c * stride_]);
    }
    /// A panel of its outputs, the first of which is `row`.
    void add(low_rank block_adapters::*matrix, std::size_t c, std::size_t row, float* y) const {
        if (has(matrix, c))
            (of_[c]->*matrix).add(&low_[c * stride_], row, y);
    }

private:
    std::size_t stride_ = 0;
    bool any_ = false;
    std::vector<const block_adapters*> of_; ///< [positions]
    aligned_vector<float> low_;             ///< [positions, stride]: A x
};

} // namespace specdec::engine
