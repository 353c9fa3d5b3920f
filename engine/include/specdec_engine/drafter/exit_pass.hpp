// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm> // std::copy_n, std::min
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <specdec_engine/team/thread_pool.hpp>
#include <specdec_engine/transformer/batch.hpp>
#include <specdec_engine/transformer/blocks.hpp>
#include <specdec_engine/transformer/weights.hpp>

namespace specdec::engine {

/// The forward pass of a transformer that may stop behind some of its layers, with one KV cache for
/// all depths (S2D, section 3.3). For a sequence of n tokens the layers up to exit e have run for
/// the first run[e] tokens,
///
///     n >= run[0] >= run[1] >= ...
///
/// and the residual stream of each token is kept as its last layer left it. For a row of exit e the
/// missing layers run first, in batches, for all tokens up to that row: tokens of a prompt, and
/// tokens that stopped at a shallower exit.
///
/// Every token goes through the same operations in the same order as in a model of these layers
/// alone: bit for bit the same rows. Memory: beside the blocks' a residual for each token of the
/// capacity. Allocates in the constructor only.
template <NumberFormat Format>
class exit_pass {
public:
    static constexpr std::size_t chunk = transformer_blocks<Format>::chunk;

    /// `exits`: as check_exits wants them. `capacity`: tokens of each of the `sequences`.
    exit_pass(std::shared_ptr<const model_weights<Format>> weights, std::vector<std::size_t> exits,
              std::size_t sequences, std::size_t capacity, std::shared_ptr<thread_pool> team,
              isa instructions, cache_type cache)
        : weights_(std::move(weights)), exits_(std::move(exits)),
          blocks_(weights_->config, sequences, capacity, std::move(team), instructions, cache),
          texts_(sequences) {
        for (text& t : texts_) {
            t.ids.reserve(capacity);
            t.run.resize(exits_.size());
            t.residual.resize(capacity * dimension());
        }
    }

    [[nodiscard]] const model_weights<Format>& weights() const { return *weights_; }
    [[nodiscard]] std::size_t exits() const { return exits_.size(); }
    [[nodiscard]] std::size_t size(std::size_t s) const { return texts_[s].ids.size(); }
    /// Bytes of matrices that the layers before exit e have.
    [[nodiscard]] std::size_t bytes_before(std::size_t e) const {
        const std::size_t blocks = weights_->forward_bytes() - weights_->head.bytes();
        return blocks / weights_->config.layers * exits_[e];
    }

    /// Runs nothing. Precondition: room for it.
    void hold(std::size_t s, std::int32_t id) { texts_[s].ids.push_back(id); }
    void truncate(std::size_t s, std::size_t n) {
        texts_[s].ids.resize(n);
        forget_behind(texts_[s], n);
    }

    /// The logits of exit e behind tokens first .. first + n - 1, `stride` apart. Precondition:
    /// they are held.
    void rows(std::size_t s, std::size_t e, std::size_t first, std::size_t n, float* out,
              std::size_t stride) {
        text& t = texts_[s];
        const bool last = e + 1 == exits();
        if (t.run[last ? e : e + 1] > first) // their residuals have gone on: once more
            forget_behind(t, first);
        run_to(s, e, first + n, first);
        const aligned_vector<float>& norm =
            last || weights_->exit_norms.empty() ? weights_->final_norm : weights_->exit_norms[e];
        while (n > 0) {
            const std::size_t some = std::min(n, chunk);
            for (std::size_t c = 0; c < some; ++c)
                std::copy_n(residual(t, first + c), dimension(), blocks_.residual(c).begin());
            blocks_.begin(weights_->head.bytes(), some);
            blocks_.multiply_all(
                weights_->head, some,
                [&](pool_share share) { return blocks_.normed(share, norm, some); }, out, stride);
            first += some;
            n -= some;
            out += some * stride;
        }
    }

private:
    struct text {
        std::vector<std::int32_t> ids;
        std::vector<std::size_t> run;   ///< [exits] tokens whose layers before the exit have run
        aligned_vector<float> residual; ///< [capacity, dimension]
    };

    [[nodiscard]] std::size_t dimension() const { return weights_->config.dimension; }
    [[nodiscard]] float* residual(text& t, std::size_t i) { return &t.residual[i * dimension()]; }
    static void forget_behind(text& t, std::size_t n) {
        for (std::size_t& run : t.run)
            run = std::min(run, n);
    }

    /// Runs the layers before exit e for the first `end` tokens, of which rows are wanted from
    /// `wanted` on: nobody reads what the model's last block adds to the others.
    void run_to(std::size_t s, std::size_t e, std::size_t end, std::size_t wanted) {
        text& t = texts_[s];
        if (t.run[e] >= end)
            return;
        if (e > 0)
            run_to(s, e - 1, end, 0);
        while (t.run[e] < end) {
            const std::size_t n = std::min(end - t.run[e], chunk);
            run_some(s, e, n, e + 1 < exits() || t.run[e] + n > wanted);
            t.run[e] += n;
        }
    }
    /// The layers between exit e - 1 and exit e for the next n tokens.
    void run_some(std::size_t s, std::size_t e, std::size_t n, bool whole) {
        text& t = texts_[s];
        std::array<token_place, chunk> places;
        for (std::size_t c = 0; c < n; ++c) {
            const std::size_t i = t.run[e] + c;
            places[c] = {t.ids[i], s, i};
            if (e == 0)
                weights_->embed(static_cast<std::size_t>(t.ids[i]), blocks_.residual(c));
            else
                std::copy_n(residual(t, i), dimension(), blocks_.residual(c).begin());
        }
        const std::size_t begin = e == 0 ? 0 : exits_[e - 1];
        blocks_.begin(bytes_before(e) - (e == 0 ? 0 : bytes_before(e - 1)), n);
        for (std::size_t layer = begin; layer < exits_[e]; ++layer)
            blocks_.run(layer, weights_->blocks[layer], {places.data(), n},
                        whole || layer + 1 < exits_[e]);
        for (std::size_t c = 0; c < n; ++c)
            std::copy_n(blocks_.residual(c).begin(), dimension(), residual(t, t.run[e] + c));
    }

    std::shared_ptr<const model_weights<Format>> weights_;
    std::vector<std::size_t> exits_;
    transformer_blocks<Format> blocks_;
    std::vector<text> texts_; ///< [sequences]
};

} // namespace specdec::engine
