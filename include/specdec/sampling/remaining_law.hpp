// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include <specdec/core/coin.hpp>
#include <specdec/core/contract.hpp>
#include <specdec/core/law.hpp>
#include <specdec/sampling/law/floating_point.hpp>
#include <specdec/sampling/law/position_of.hpp>
#include <specdec/sampling/residual.hpp>

namespace specdec {

/// What is left of a law p behind proposals that were rejected: at first p itself, and with each of
/// them norm(max(scale * P - q, 0)), P what was left before. Where that is nothing (P = q up to
/// rounding), p again. Models LawOf. Borrows p and a row of p.size() numbers. Complexity: subtract
/// is one pass over both laws (q by q.subtract_from(row) where it has no probabilities(first,
/// values)); at(u) is a pass of the row, before the first subtract that of p. Allocates nothing.
template <class P>
class remaining_law {
public:
    using id_type = decltype(std::declval<const P&>().at(0.0));

    remaining_law(const P& p, std::span<double> row) : p_(&p), row_(row) {}

    [[nodiscard]] std::size_t size() const { return p_->size(); }
    [[nodiscard]] double probability(id_type id) const {
        if (!reduced_)
            return p_->probability(id);
        return id.index() < size() ? row_[id.index()] / mass_ : 0.0;
    }
    void probabilities(std::size_t first, std::span<double> values) const {
        if (!reduced_)
            return fill_probabilities(*p_, first, values);
        for (std::size_t j = 0; j < values.size(); ++j)
            values[j] = row_[first + j] / mass_;
    }
    template <UnitNumber U>
    [[nodiscard]] id_type at(U u) const {
        if (!reduced_)
            return p_->at(u);
        return id_at<id_type>(
            position_of(u * mass_, size(), [&](std::size_t first, std::span<double> values) {
                for (std::size_t j = 0; j < values.size(); ++j)
                    values[j] = row_[first + j];
            }));
    }

    /// A proposal from q was rejected, where P was to be met with probability `scale`. Returns the
    /// sum of max(scale * P - q, 0).
    template <class Q>
    double subtract(const Q& q, double scale = 1) {
        SPECDEC_PRECONDITION(row_.size() >= size());
        constexpr std::size_t chunk = 256;
        const double unit = reduced_ ? scale / mass_ : scale;
        double of_q[chunk];
        mass_ = 0;
        const auto visit = [&](auto&& f) {
            for (std::size_t first = 0; first < size(); first += chunk)
                f(first, row_.subspan(first, size() - first < chunk ? size() - first : chunk));
        };
        const auto scaled = [&](std::size_t first, std::span<double> row) {
            if (!reduced_)
                fill_probabilities(*p_, first, row);
            for (double& value : row)
                value *= unit;
        };
        const auto clamp = [&](std::size_t, std::span<double> row) {
            for (double& value : row)
                value = value > 0 ? value : 0.0; // a maximum, not a branch
            mass_ += chained_sum(row);
        };
        const auto all_at_once = [&](const auto& law) { // not in the order of ids
            visit(scaled);
            law.subtract_from(row_.first(size()));
            visit(clamp);
        };
        const auto in_order = [&](const auto& law) {
            visit([&](std::size_t first, std::span<double> row) {
                scaled(first, row);
                fill_probabilities(law, first, std::span(of_q, row.size()));
                for (std::size_t j = 0; j < row.size(); ++j)
                    row[j] -= of_q[j];
                clamp(first, row);
            });
        };
        if constexpr (SaysFlip<Q>)
            subtracts_at_once(q) ? all_at_once(q) : in_order(q);
        else if constexpr (SubtractsFrom<Q> && !FillsProbabilities<Q>)
            all_at_once(q);
        else
            in_order(q);
        reduced_ = mass_ > 0;
        return mass_;
    }

private:
    const P* p_;
    std::span<double> row_; // max(..), while reduced
    double mass_ = 1;
    bool reduced_ = false;
};

} // namespace specdec
