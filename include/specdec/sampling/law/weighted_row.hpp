// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include <specdec/core/basic/builtins.hpp>
#include <specdec/core/coin.hpp>
#include <specdec/core/require.hpp>
#include <specdec/sampling/law/block_of.hpp>
#include <specdec/sampling/law/cutoff.hpp>
#include <specdec/sampling/law/parameters.hpp>
#include <specdec/sampling/law/row_kernels.hpp>

namespace specdec {

/// The softmax of a row of logits in the form that costs one read of the row: weights
/// w(i) = exp(l(i) / T - r) for some reference r near the maximum, recomputed whenever they are
/// needed (always by the same kernel, so always the same bits), and their sums over at most 128
/// blocks of at least 256 logits, in double. What softmax_law is made of; ids are plain positions
/// here. Shapes: row [V]. Errors, complexity, allocation: as softmax_law.
class weighted_row {
public:
    /// side: whose row it is, for errors.
    weighted_row(std::span<const float> row, const sampling_parameters& parameters,
                 const char* side = nullptr)
        : row_(row), block_(larger(least_block, (row.size() / block_limit + 16) / 16 * 16)),
          blocks_((row.size() + block_ - 1) / block_), greedy_(parameters.temperature == 0) {
        validate(parameters);
        if (greedy_)
            choose_maximum(side);
        else
            weigh(parameters, side);
    }

    [[nodiscard]] std::size_t size() const { return row_.size(); }
    [[nodiscard]] double log_sum_exp() const { return log_sum_exp_; }

    [[nodiscard]] std::size_t top() const {
        std::size_t i = top_block_ * block_;
        while (row_[i] != maximum_)
            ++i;
        return i;
    }

    [[nodiscard]] double probability(std::size_t i) const {
        double p = 0;
        if (i < size())
            probabilities(i, {&p, 1});
        return p;
    }

    /// values[j] = probability(first + j).
    void probabilities(std::size_t first, std::span<double> values) const {
        constexpr std::size_t chunk = 256;
        float weights[chunk];
        const std::size_t inside = first < size() ? smaller(size() - first, values.size()) : 0;
        for (std::size_t done = 0; done < inside && !greedy_; done += chunk) {
            const std::size_t n = smaller(inside - done, chunk);
            row_kernels::best().weigh(&row_[first + done], weights, n, exponent_);
            for (std::size_t j = 0; j < n; ++j)
                values[done + j] = static_cast<double>(weights[j]) * unit_;
        }
        for (std::size_t j = greedy_ ? 0 : inside; j < values.size(); ++j)
            values[j] = 0;
        if (greedy_ && top() - first < inside)
            values[top() - first] = 1;
    }

    /// weights[j] * result = probability(first + j), in float; from_above: or up to 6.2 % more,
    /// what a screening loop wants. Pre: temperature above 0, all inside the row.
    double weights(std::size_t first, std::span<float> weights, bool from_above = false) const {
        const auto weigh = from_above ? row_kernels::best().weigh_above : row_kernels::best().weigh;
        weigh(&row_[first], weights.data(), weights.size(), exponent_);
        return unit_;
    }

    [[nodiscard]] double log_probability(std::size_t i) const {
        if (greedy_)
            return i == top() ? 0 : -builtin::infinity;
        if (i >= size() || row_[i] < exponent_.lowest)
            return -builtin::infinity;
        const double above =
            static_cast<double>(row_[i]) - static_cast<double>(exponent_.reference);
        return above / temperature_ - builtin::log(mass());
    }

    template <UnitNumber U>
    [[nodiscard]] std::size_t at(U u) const {
        if (greedy_)
            return top();
        const U target = u * mass();
        const std::size_t b = block_of(target, std::span(ends_).first(blocks_));
        return b * block_ + find_in(block(b), target - (b > 0 ? ends_[b - 1] : 0.0));
    }

private:
    static constexpr std::size_t block_limit = 128;
    static constexpr std::size_t least_block = 256; // sums of shorter ones cost more than they save
    static constexpr float infinity = row_kernels::infinity;
    using block_maxima = std::array<float, block_limit>;

    [[nodiscard]] static std::size_t smaller(std::size_t a, std::size_t b) { return a < b ? a : b; }
    [[nodiscard]] static std::size_t larger(std::size_t a, std::size_t b) { return a < b ? b : a; }

    [[nodiscard]] double mass() const { return ends_[blocks_ - 1]; }

    [[nodiscard]] std::span<const float> block(std::size_t b) const {
        return row_.subspan(b * block_, smaller(size() - b * block_, block_));
    }

    /// The maximum and its first block.
    void choose_maximum(const char* side) {
        block_maxima maxima;
        const bool numbers =
            row_kernels::best().block_maxima(row_.data(), size(), block_, maxima.data());
        for (std::size_t b = 0; b < blocks_; ++b)
            raise_maximum(b, maxima[b]);
        require_logits(numbers && maximum_ > -infinity && maximum_ < infinity, side);
        log_sum_exp_ = static_cast<double>(maximum_);
    }

    void raise_maximum(std::size_t b, float block_maximum) {
        if (block_maximum > maximum_) {
            maximum_ = block_maximum;
            top_block_ = b;
        }
    }

    void weigh(const sampling_parameters& parameters, const char* side) {
        temperature_ = static_cast<double>(parameters.temperature);
        exponent_.scale = row_kernels::make_scale(temperature_);
        // The reference need not be the maximum, which is known only after a read of the row: some
        // logits from the front tell roughly where it is.
        const float seen = row_kernels::best().maximum(row_.data(), smaller(size(), 1024));
        block_maxima maxima;
        if (!(seen > -infinity && seen < infinity) ||
            !sum_blocks(seen + 16 / exponent_.scale, maxima)) {
            choose_maximum(side);
            sum_blocks(maximum_, maxima);
        }
        require_logits(
            maximum_ > -infinity && maximum_ < infinity && mass() > 0 && mass() < 0x1p126, side);
        log_sum_exp_ =
            static_cast<double>(exponent_.reference) / temperature_ + builtin::log(mass());
        cut(parameters, maxima);
        unit_ = 1 / mass();
    }

    /// The weights' sums for a reference; false when the row turns out to lie too far above it.
    bool sum_blocks(float reference, block_maxima& maxima) {
        exponent_ = row_kernels::make_exponent(reference, exponent_.scale);
        maximum_ = -infinity;
        double reached = 0;
        for (std::size_t b = 0; b < blocks_; ++b) {
            reached +=
                row_kernels::best().sum(block(b).data(), block(b).size(), exponent_, maxima[b]);
            ends_[b] = reached;
            raise_maximum(b, maxima[b]);
            if ((maximum_ - reference) * exponent_.scale > 32)
                return false;
        }
        return true;
    }

    /// Raises `lowest` to what top_k, top_p and min_p keep, and sums again.
    void cut(const sampling_parameters& parameters, const block_maxima& maxima) {
        float lowest = exponent_.lowest;
        const auto raise = [&](float logit) { lowest = logit > lowest ? logit : lowest; };
        const bool has_top_k = parameters.top_k > 0 && parameters.top_k < size();
        if (has_top_k || parameters.top_p < 1) {
            const cutoff_search search(row_, exponent_, maximum_);
            double left = mass();
            if (has_top_k) {
                const cutoff kept = search.of_count(parameters.top_k);
                raise(kept.logit);
                left = kept.mass;
            }
            if (parameters.top_p < 1)
                raise(search.of_mass(left * static_cast<double>(parameters.top_p)).logit);
        }
        if (parameters.min_p > 0)
            raise(static_cast<float>(static_cast<double>(maximum_) +
                                     temperature_ *
                                         builtin::log(static_cast<double>(parameters.min_p))));
        if (!(lowest > exponent_.lowest))
            return;
        exponent_.lowest = lowest;
        double reached = 0;
        float unused = 0;
        for (std::size_t b = 0; b < blocks_; ++b) {
            if (!(maxima[b] < lowest))
                reached +=
                    row_kernels::best().sum(block(b).data(), block(b).size(), exponent_, unused);
            ends_[b] = reached;
        }
    }

    /// The position in a block, of positive weight, whose share of the weight holds `target`.
    template <UnitNumber U>
    [[nodiscard]] std::size_t find_in(std::span<const float> logits, U target) const {
        constexpr std::size_t chunk = 256, group = 16;
        float weights[chunk];
        for (std::size_t first = 0; first < logits.size(); first += chunk) {
            const std::size_t n = smaller(logits.size() - first, chunk);
            row_kernels::best().weigh(&logits[first], weights, n, exponent_);
            for (std::size_t i = n; i % group != 0; ++i)
                weights[i] = 0;
            for (std::size_t g = 0; g < n; g += group) {
                double sums[4] = {};
                for (std::size_t i = 0; i < group; ++i)
                    sums[i % 4] += static_cast<double>(weights[g + i]);
                const double sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
                if (target < sum)
                    return first + g + find_in_group(&weights[g], group, target);
                target = target - sum;
            }
        }
        std::size_t i = logits.size(); // only by rounding: the last position with weight
        while (logits[i - 1] < exponent_.lowest)
            --i;
        return i - 1;
    }

    template <UnitNumber U>
    [[nodiscard]] static std::size_t find_in_group(const float* weights, std::size_t n, U target) {
        std::size_t found = 0;
        for (std::size_t i = 0; i < n && !(target < 0); ++i)
            if (weights[i] > 0) {
                found = i;
                target = target - static_cast<double>(weights[i]);
            }
        return found;
    }

    std::span<const float> row_;
    std::size_t block_;
    std::size_t blocks_;
    row_kernels::exponent exponent_;
    float maximum_ = -infinity;
    std::size_t top_block_ = 0; ///< the first block that holds the maximum
    double temperature_ = 0;
    double log_sum_exp_ = 0;
    double unit_ = 1; ///< 1 / mass
    bool greedy_;
    std::array<double, block_limit> ends_; ///< weight of the blocks up to and with b
};

} // namespace specdec
