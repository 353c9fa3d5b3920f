// SPDX-License-Identifier: MIT
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

#include <specdec/core/basic/builtins.hpp>
#include <specdec/sampling/coin/philox.hpp>
#include <specdec/sampling/coin/race_kernels.hpp>
#include <specdec/sampling/residual.hpp>

namespace specdec {

/// Independent Exp(1) variables, one for every 32-bit key, named by a Philox key and a place: the
/// noise of one draw. A variable is -log(1 - v), v uniform with 64 bits. The upper 32 are a cheap
/// hash (race_kernels::upper, its three words made by Philox for the place), so that a vocabulary
/// is screened in one vector loop; the lower 32, needed for the few ids that may win, are Philox's
/// own. Different keys never have equal upper bits, as independent ones would by a chance of 2^-32.
class race_noise {
public:
    race_noise(philox4x64::key_type key, std::uint64_t place) : key_(key), place_(place) {
        const auto w = philox4x64::block(key, {place, 0, 0, for_words});
        words_ = {static_cast<std::uint32_t>(w[0]), static_cast<std::uint32_t>(w[0] >> 32),
                  static_cast<std::uint32_t>(w[1])};
    }

    [[nodiscard]] const race_kernels::noise_words& words() const { return words_; }

    /// A variable with law Exp(1). It is at least v, on which the screening relies.
    [[nodiscard]] double exponential(std::uint32_t key) const {
        const std::uint64_t lower = philox4x64::block(key_, {place_, key, 0, for_key})[0] >> 32;
        const double v = static_cast<double>(race_kernels::upper(key, words_)) * 0x1p-32 +
                         (static_cast<double>(lower) + 0.5) * 0x1p-64;
        return -builtin::log1p(-v);
    }

private:
    // The last word of a counter; philox_coin's own decisions have 0 there.
    static constexpr std::uint64_t for_words = 1, for_key = 2;

    philox4x64::key_type key_;
    std::uint64_t place_;
    race_kernels::noise_words words_;
};

/// A law that knows its likeliest id, top(), and does what fill_weights does, weights_above().
template <class L>
concept RacingLaw = requires(const L& law, std::span<float> weights) {
    { law.top() } -> std::same_as<decltype(law.at(0.0))>;
    { law.weights_above(std::size_t{}, weights) } -> std::same_as<double>;
};

/// weights[j] * unit is at least the probability of the id at position first + j (less 2^-24 of it)
/// and little more; returns unit.
template <class L>
double fill_weights(const L& law, std::size_t first, std::span<float> weights) {
    if constexpr (RacingLaw<L>) {
        return law.weights_above(first, weights);
    } else {
        double p[race_kernels::block];
        fill_probabilities(law, first, std::span(p, weights.size()));
        for (std::size_t j = 0; j < weights.size(); ++j)
            weights[j] = static_cast<float>(p[j]);
        return 1;
    }
}

/// The winner of the exponential race: the id with mass whose E(key) / p(id) is least, E the noise;
/// the lowest id among equals. It is drawn from the law: P[winner = i] = p(i). With g = -log E it
/// is the Gumbel maximum, argmax of log p(i) + g(i).
///
/// Two laws p, q that race on the same noise have the same winner with probability
/// sum over i of 1 / sum over j of max(p(j) / p(i), q(j) / q(i)) >= (1 - TV) / (1 + TV)
/// (Daliri, Musco, Suresh 2024).
///
/// Shapes: keys [law.size()] or longer, all different. Complexity: one evaluation of the law and
/// one hash of each key; a logarithm for the few that may win. The winner is a property of law and
/// noise alone: of no block, thread or instruction set. Allocates nothing.
template <class L>
[[nodiscard]] auto race_winner(const L& law, std::span<const std::uint32_t> keys,
                               const race_noise& noise) {
    using id_type = decltype(law.at(0.0));
    constexpr std::size_t block = race_kernels::block, group = race_kernels::group;
    id_type winner{};
    double least = builtin::infinity;
    const auto run = [&](id_type id) {
        const double p = law.probability(id);
        if (!(p > 0))
            return;
        const double time = noise.exponential(keys[id.index()]) / p;
        if (!winner.valid() || time < least || (time == least && id < winner)) {
            winner = id;
            least = time;
        }
    };
    if constexpr (RacingLaw<L>) { // a good start: few others come in below it
        if (law.probability(law.top()) >= 1)
            return law.top();
        run(law.top());
    }
    float weights[block];
    std::uint32_t last_keys[block];
    for (std::size_t first = 0; first < law.size(); first += block) {
        const std::size_t n = law.size() - first < block ? law.size() - first : block;
        const double unit = fill_weights(law, first, std::span(weights, n));
        const std::uint32_t* block_keys = keys.data() + first;
        if (n < block) {
            for (std::size_t j = 0; j < block; ++j) {
                last_keys[j] = j < n ? block_keys[j] : 0U;
                weights[j] = j < n ? weights[j] : 0.0F;
            }
            block_keys = last_keys;
        }
        // 24 bits of v against p * least; a little more for what float rounds.
        const auto limit = static_cast<float>(least * unit * (0x1p24 + 0x1p4));
        std::uint32_t groups = race_kernels::best()(block_keys, weights, noise.words(), limit);
        for (; groups != 0; groups &= groups - 1) {
            const std::size_t begin = group * static_cast<std::size_t>(std::countr_zero(groups));
            for (std::size_t j = begin; j < n && j < begin + group; ++j)
                if (race_kernels::passes(block_keys[j], weights[j], noise.words(), limit))
                    run(id_at<id_type>(first + j));
        }
    }
    return winner;
}

} // namespace specdec
