// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>

#include <specdec/core/coin.hpp>
#include <specdec/core/law.hpp>
#include <specdec/core/proposal.hpp>
#include <specdec/core/token_id.hpp>
#include <specdec/sampling/lazy_flip.hpp>
#include <specdec/sampling/residual.hpp>

namespace specdec {

/// The distribution of a proposal, of any type: what a verifier asks of q, as function pointers. So
/// one verifier is compiled for all sources of proposals. A view of a proposal and of the
/// distribution that it was drawn from; drawing from it gives the token that was drawn. U: the
/// number that the coin decides by.
///
/// Models LawOf<target_id>. A decision is made as the distribution itself makes it (law_flip), so
/// verifiers decide the same, to the bit. Complexity: an indirect call more than that of the
/// distribution. Allocates nothing.
template <UnitNumber U = double>
class any_distribution {
public:
    using id_type = target_id;

    template <LawOf<target_id> Law>
    explicit any_distribution(const proposal<Law>& drawn)
        : law_(&drawn.law()), drawn_(drawn.token()), calls_(&calls_of<Law>) {}

    [[nodiscard]] std::size_t size() const { return calls_->size(law_); }
    [[nodiscard]] double probability(target_id t) const { return calls_->probability(law_, t); }
    [[nodiscard]] target_id at(double u) const { return calls_->at(law_, u); }
    template <Coin C>
    [[nodiscard]] target_id draw(C&, draw_site) const {
        return drawn_;
    }
    void probabilities(std::size_t first, std::span<double> values) const {
        calls_->probabilities(law_, first, values);
    }
    /// row[t] -= probability(t) for every t. Precondition: subtracts_at_once().
    void subtract_from(std::span<double> row) const { calls_->subtract_from(law_, row); }
    /// As ComparableLaw and KeepingLaw. Precondition: flips_by() says so.
    [[nodiscard]] bool below(target_id t, U bound) const { return calls_->below(law_, t, bound); }
    [[nodiscard]] bool keeps(target_id t, double p, U u) const {
        return calls_->keeps(law_, t, p, u);
    }

    // What the distribution's type says, told at run time:
    [[nodiscard]] law_flip flips_by() const { return calls_->flip; }
    [[nodiscard]] bool subtracts_at_once() const { return calls_->subtract_from != nullptr; }
    [[nodiscard]] bool ends_drafts() const { return calls_->ends; }

private:
    struct calls {
        std::size_t (*size)(const void*) = nullptr;
        double (*probability)(const void*, target_id) = nullptr;
        target_id (*at)(const void*, double) = nullptr;
        void (*probabilities)(const void*, std::size_t, std::span<double>) = nullptr;
        void (*subtract_from)(const void*, std::span<double>) = nullptr;
        bool (*below)(const void*, target_id, U) = nullptr;
        bool (*keeps)(const void*, target_id, double, U) = nullptr;
        law_flip flip = law_flip::ratio;
        bool ends = false;
    };

    template <class Law>
    [[nodiscard]] static constexpr calls make_calls() {
        calls c;
        c.size = [](const void* q) { return std::size_t{of<Law>(q).size()}; };
        c.probability = [](const void* q, target_id t) {
            return double{of<Law>(q).probability(t)};
        };
        c.at = [](const void* q, double u) { return of<Law>(q).at(u); };
        c.probabilities = [](const void* q, std::size_t first, std::span<double> values) {
            fill_probabilities(of<Law>(q), first, values);
        };
        if constexpr (SubtractsFrom<Law> && !FillsProbabilities<Law>)
            c.subtract_from = [](const void* q, std::span<double> row) {
                of<Law>(q).subtract_from(row);
            };
        if constexpr (ComparableLaw<Law, target_id>) {
            c.flip = law_flip::comparison;
            c.below = [](const void* q, target_id t, U bound) {
                return of<Law>(q).below(t, bound);
            };
        }
        if constexpr (KeepingLaw<Law, target_id>) {
            c.flip = law_flip::keeping;
            c.keeps = [](const void* q, target_id t, double p, U u) {
                return of<Law>(q).keeps(t, p, u);
            };
        }
        c.ends = EndsDrafts<Law>;
        return c;
    }
    template <class Law>
    [[nodiscard]] static const Law& of(const void* law) {
        return *static_cast<const Law*>(law);
    }
    template <class Law>
    static constexpr calls calls_of = make_calls<Law>();

    const void* law_;
    target_id drawn_;
    const calls* calls_;
};

} // namespace specdec
