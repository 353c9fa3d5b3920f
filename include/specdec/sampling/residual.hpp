// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include <specdec/core/coin.hpp>
#include <specdec/core/error.hpp>
#include <specdec/core/law.hpp>
#include <specdec/sampling/law/block_of.hpp>
#include <specdec/sampling/law/floating_point.hpp>
#include <specdec/sampling/lazy_flip.hpp>

namespace specdec {

/// values[j] = probability of the id at position first + j: in one call if the law has it, else one
/// by one.
template <class L>
void fill_probabilities(const L& law, std::size_t first, std::span<double> values) {
    if constexpr (FillsProbabilities<L>) {
        law.probabilities(first, values);
    } else {
        using id_type = decltype(law.at(0.0));
        for (std::size_t j = 0; j < values.size(); ++j)
            values[j] = law.probability(id_at<id_type>(first + j));
    }
}

/// Whether a law is subtracted from a row at once: it does not have its probabilities in the order
/// of the ids (TLI's siblings). A law of a type that may be either says it.
template <class L>
[[nodiscard]] constexpr bool subtracts_at_once([[maybe_unused]] const L& law) {
    if constexpr (SaysFlip<L>)
        return law.subtracts_at_once();
    else
        return SubtractsFrom<L> && !FillsProbabilities<L>;
}

/// The law of the token that replaces a rejected proposal: norm(max(scale * p - q, 0)), with p the
/// target's and q the draft's law over the same ids. Scale 1: Timor et al. (2025), Alg. 5, line 12;
/// scale P_i in [0, 1]: the residual of block verification (Sun et al. 2025). Where scale * p <= q
/// everywhere (p = q up to rounding) it is p. A view of both laws. Models LawOf. Complexity: one
/// evaluation of p and q to construct, of one block for at(u). Allocates nothing.
template <class P, class Q>
class residual_law {
public:
    using id_type = decltype(std::declval<const P&>().at(0.0));

    residual_law(const P& p, const Q& q, double scale = 1) : p_(&p), q_(&q), scale_(scale) {
        block_ = (p.size() / block_limit + 16) / 16 * 16;
        blocks_ = (p.size() + block_ - 1) / block_;
        double reached = 0;
        for (std::size_t b = 0; b < blocks_; ++b) {
            visit(b, [&](std::size_t, std::span<const double> excess) {
                double even = 0, odd = 0; // two chains of additions
                for (std::size_t j = 0; j + 1 < excess.size(); j += 2) {
                    even += excess[j];
                    odd += excess[j + 1];
                }
                reached += even + odd + (excess.size() % 2 != 0 ? excess.back() : 0.0);
                return false;
            });
            ends_[b] = reached;
        }
    }

    [[nodiscard]] std::size_t size() const { return p_->size(); }
    /// Sum of max(scale * p - q, 0); at scale 1 the probability that a proposal from q is rejected.
    [[nodiscard]] double mass() const { return blocks_ > 0 ? ends_[blocks_ - 1] : 0.0; }

    [[nodiscard]] double probability(id_type id) const {
        if (!(mass() > 0))
            return p_->probability(id);
        const double excess = scale_ * p_->probability(id) - q_->probability(id);
        return excess > 0 ? excess / mass() : 0.0;
    }

    template <UnitNumber U>
    [[nodiscard]] id_type at(U u) const {
        if (!(mass() > 0))
            return p_->at(u);
        const U target = u * mass();
        const std::size_t block = block_of(target, std::span(ends_).first(blocks_));
        double reached = block > 0 ? ends_[block - 1] : 0.0;
        std::size_t last = 0;
        visit(block, [&](std::size_t first, std::span<const double> excess) {
            for (std::size_t j = 0; j < excess.size(); ++j) {
                if (!(excess[j] > 0))
                    continue;
                last = first + j;
                reached += excess[j];
                if (target < reached)
                    return true;
            }
            return false;
        });
        return id_at<id_type>(last);
    }

private:
    static constexpr std::size_t block_limit = 128;

    /// Calls f(first, max(scale * p - q, 0) of first, first + 1, ...) for parts of a block until it
    /// returns true.
    template <class F>
    void visit(std::size_t block, F&& f) const {
        const std::size_t begin = block * block_;
        const std::size_t end = size() - begin < block_ ? size() : begin + block_;
        constexpr std::size_t chunk = 256;
        double p[chunk], q[chunk];
        for (std::size_t first = begin; first < end; first += chunk) {
            const std::size_t n = end - first < chunk ? end - first : chunk;
            fill_probabilities(*p_, first, std::span(p, n));
            fill_probabilities(*q_, first, std::span(q, n));
            for (std::size_t j = 0; j < n; ++j) {
                const double excess = scale_ * p[j] - q[j];
                p[j] = excess > 0 ? excess : 0.0; // a maximum, not a branch
            }
            if (f(first, std::span<const double>(p, n)))
                return;
        }
    }

    const P* p_;
    const Q* q_;
    double scale_;
    std::size_t block_ = 16;
    std::size_t blocks_ = 0;
    std::array<double, block_limit> ends_; ///< excess of the blocks up to and with b
};

/// How many draws by thinning are made before the residual is summed exactly. Affects speed only.
struct thinning_limits {
    /// The most draws if the draft's distribution tells probabilities. `draws` times the places of
    /// a round is less than 2^29.
    std::uint32_t draws = 32;
    /// The most draws if the draft's distribution can only be compared (ComparableLaw), so that its
    /// sums take long. A residual of mass m is needed with probability m and outlasts the draws
    /// with probability (1 - m)^lazy_draws: by default both happen with at most 3.5e-7.
    std::uint32_t lazy_draws = 1U << 20;
};

/// Requires that the draws of a round that thins at so many places have sites of their own. Errors:
/// specdec::error. Rules call it before they decide.
inline void validate(const thinning_limits& limits, std::size_t places) {
    constexpr std::uint64_t most = 1U << 29;
    if (!(std::uint64_t{limits.draws} * places < most))
        fail("thinning", "draws", "expected less than 2^29, times the places of the round");
    if (!(limits.lazy_draws < most))
        fail("thinning", "lazy_draws", "expected less than 2^29");
}

/// Draws from norm(max(p - q, 0)) by thinning: draw t ~ p, keep it with probability
/// 1 - min(1, q(t) / p(t)), else again; after so many draws from residual_law. Exactly the
/// normalised residual, for any limits. Expected draws 1 / mass, and a proposal is rejected with
/// probability mass: one draw a position, whatever p and q are. Sites: of the round,
/// purpose::residual, attempts 0 .. 2 * draws (lazy_draws for a ComparableLaw q under a
/// UniformCoin, here and above). Pre: limits that validate() takes; called after a rejection, so
/// that the residual has mass; draws from p if it rounds to none. Complexity: a draw costs p.at(u)
/// and one probability of each. Allocates nothing.
template <class P, class Q, Coin C>
[[nodiscard]] auto draw_residual(const P& p, const Q& q, C& coin, round_name round,
                                 thinning_limits limits = {}) {
    using id_type = decltype(p.at(0.0));
    const bool lazy = UniformCoin<C> && flips_by<id_type>(q) != law_flip::ratio;
    const std::uint32_t most = lazy ? limits.lazy_draws : limits.draws;
    for (std::uint32_t attempt = 0; attempt < most; ++attempt) {
        const id_type t = coin.pick(round.site(purpose::residual, 2 * attempt), p);
        if (flip_excess(coin, round.site(purpose::residual, 2 * attempt + 1), p.probability(t), q,
                        t))
            return t;
    }
    return coin.pick(round.site(purpose::residual, 2 * most), residual_law<P, Q>(p, q));
}

} // namespace specdec
