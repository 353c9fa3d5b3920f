// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm> // std::min, std::copy_n
#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include <specdec/head/lm_head.hpp>
#include <specdec_engine/kernel/aligned_allocator.hpp>
#include <specdec_engine/kernel/panels.hpp>
#include <specdec_engine/team/thread_pool.hpp>
#include <specdec_engine/transformer/transformer.hpp>

#include "row_kernel.hpp"

namespace specdec::engine {

/// A copy of a transformer's LM head in BF16 with each row in one piece, so any list of rows can be
/// gathered and lists change at no cost. Models LmHeadOf<Id>. Products differ from those of panels
/// by rounding; a row's product is bit for bit the same beside any other rows. It uses the
/// transformer's threads. Allocates at construction, and when there are more hidden states than
/// ever before. Not for two threads at once.
template <class Id>
class row_head {
public:
    explicit row_head(const transformer& of, isa instructions = isa::avx512_bf16)
        : rows_(of.vocabulary_size()), width_(of.config().dimension),
          length_(round_up(width_, row_multiple)), values_(rows_ * length_),
          kernel_(row_kernel_for(usable(instructions))), team_(of.team()) {
        of.with_pass([&](const auto& pass) {
            std::vector<float> line(width_);
            for (std::size_t r = 0; r < rows_; ++r) {
                pass.weights().head.read_row(r, line);
                for (std::size_t k = 0; k < width_; ++k)
                    values_[r * length_ + k] = round_to_bf16(line[k]);
            }
        });
    }

    [[nodiscard]] std::size_t vocabulary_size() const { return rows_; }
    [[nodiscard]] std::size_t width() const { return width_; }

    void multiply(const hidden_states& x, scores_out out) { multiply(x, 0, rows_, out); }
    void multiply(const hidden_states& x, std::size_t first, std::size_t n, scores_out out) {
        multiply_rows(x, n, out, [first](std::size_t k) { return first + k; });
    }
    void multiply(const hidden_states& x, std::span<const Id> ids, scores_out out) {
        multiply_rows(x, ids.size(), out, [ids](std::size_t k) { return ids[k].index(); });
    }

private:
    /// Products of n rows, the k-th of which is row(k).
    template <class Row>
    void multiply_rows(const hidden_states& x, std::size_t n, scores_out out, const Row& row) {
        if (n == 0)
            return;
        if (input_.size() < x.size() * length_)
            input_.resize(x.size() * length_);
        for (std::size_t i = 0; i < x.size(); ++i)
            std::copy_n(x[i].values.data(), width_, &input_[i * length_]);
        const auto four = [&](std::size_t k) {
            std::array<const bf16_bits*, rows_at_once> at;
            for (std::size_t r = 0; r < rows_at_once; ++r)
                at[r] = &values_[row(std::min(k + r, n - 1)) * length_];
            return at;
        };
        const bool alone =
            n * length_ * sizeof(bf16_bits) < forward_pass<bf16_bits>::one_thread_bytes;
        const std::size_t groups = (n + rows_at_once - 1) / rows_at_once;
        team_->run(groups, alone ? groups : 4, [&](pool_share s) {
            for (std::size_t g = s.begin; g < s.end; ++g) {
                const std::size_t k = g * rows_at_once;
                const auto now = four(k), next = four(std::min(k + rows_ahead, n - 1));
                float y[rows_at_once];
                for (std::size_t i = 0; i < x.size(); ++i) {
                    kernel_(now.data(), next.data(), length_, &input_[i * length_], y);
                    std::copy_n(y, std::min(rows_at_once, n - k), out.row(i, n).data() + k);
                }
            }
        });
    }

    std::size_t rows_, width_, length_;
    aligned_vector<bf16_bits> values_; ///< [rows][length]
    row_kernel kernel_;
    std::shared_ptr<thread_pool> team_;
    aligned_vector<float> input_; ///< [states][length]
};

} // namespace specdec::engine
