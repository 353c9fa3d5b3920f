// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>

#include <specdec/core/coin.hpp>
#include <specdec/core/law.hpp>
#include <specdec/core/proposal.hpp>
#include <specdec/core/token_id.hpp>
#include <specdec/sampling/law/position_of.hpp>
#include <specdec/sampling/lazy_flip.hpp>

namespace specdec {

/// The law of a proposal where two speak: a drafter, whose proposal it views with the law that it
/// was drawn from, or a lookup, which gives one token for certain. Drawing from it gives the token
/// that the drafter has drawn: a proposal is drawn once. Models LawOf<target_id>, and whatever else
/// Inner models. Complexity: a branch more than Inner's. Allocates nothing.
template <LawOf<target_id> Inner>
class mixed_distribution {
public:
    using id_type = target_id;

    explicit mixed_distribution(const proposal<Inner>& drawn) : drawn_(&drawn) {}
    explicit mixed_distribution(target_id found) : found_(found) {}

    [[nodiscard]] std::size_t size() const {
        return drawn_ != nullptr ? drawn_->law().size() : found_.index() + 1;
    }
    [[nodiscard]] double probability(target_id t) const {
        return drawn_ != nullptr ? drawn_->law().probability(t) : t == found_ ? 1.0 : 0.0;
    }
    template <UnitNumber U>
    [[nodiscard]] target_id at(U u) const {
        return drawn_ != nullptr ? drawn_->law().at(u) : found_;
    }
    template <Coin C>
    [[nodiscard]] target_id draw(C&, draw_site) const {
        return drawn_ != nullptr ? drawn_->token() : found_;
    }

    /// Whether an invalid token ends a draft is the drafter's law's to say.
    [[nodiscard]] bool ends_drafts() const
        requires EndsDrafts<Inner>
    {
        return drawn_ == nullptr || drawn_->law().ends_drafts();
    }
    [[nodiscard]] law_flip flips_by() const
        requires SaysFlip<Inner>
    {
        return drawn_ != nullptr ? drawn_->law().flips_by() : law_flip::ratio;
    }
    [[nodiscard]] bool subtracts_at_once() const
        requires SaysFlip<Inner>
    {
        return drawn_ != nullptr && drawn_->law().subtracts_at_once();
    }

    void probabilities(std::size_t first, std::span<double> values) const
        requires FillsProbabilities<Inner>
    {
        if (drawn_ != nullptr)
            return drawn_->law().probabilities(first, values);
        for (double& value : values)
            value = 0;
        if (found_.index() - first < values.size())
            values[found_.index() - first] = 1;
    }
    /// row[t] -= probability(t) for every t.
    void subtract_from(std::span<double> row) const
        requires SubtractsFrom<Inner>
    {
        if (drawn_ != nullptr)
            return drawn_->law().subtract_from(row);
        row[found_.index()] -= 1;
    }

    /// As ComparableLaw and KeepingLaw.
    template <class B>
        requires(ComparableLaw<Inner, target_id> || SaysFlip<Inner>)
    [[nodiscard]] bool below(target_id t, B bound) const {
        return drawn_ != nullptr ? drawn_->law().below(t, bound) : bound > probability(t);
    }
    template <UnitNumber U>
        requires(KeepingLaw<Inner, target_id> || SaysFlip<Inner>)
    [[nodiscard]] bool keeps(target_id t, double p, U u) const {
        return drawn_ != nullptr ? drawn_->law().keeps(t, p, u) : u < p;
    }

private:
    const proposal<Inner>* drawn_ = nullptr; // none: found
    target_id found_;
};

} // namespace specdec
