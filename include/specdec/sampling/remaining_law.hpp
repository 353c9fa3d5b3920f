// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include <specdec/core/coin.hpp>
#include <specdec/core/contract.hpp>
#include <specdec/sampling/law/floating_point.hpp>
#include <specdec/sampling/residual.hpp>

namespace specdec {

/// What is left of a law p behind proposals that were rejected: at first p itself, and with each of
/// them norm(max(scale * P - q, 0)), P what was left before. Where that is nothing (P = q up to
/// rounding), p again. Models LawOf. Borrows p and a row of p.size() numbers. Complexity:
/// subtract is one pass over both laws, or less where q.subtract_from(row) is; at(u) is a pass of
/// the row, before the first subtract that of p. Allocates nothing.
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
        const U target = u * mass_;
        double reached = 0;
        std::size_t last = 0;
        for (std::size_t i = 0; i < size(); ++i) {
            if (!(row_[i] > 0))
                continue;
            last = i;
            reached += row_[i];
            if (target < reached)
                break;
        }
        return id_at<id_type>(last); // past the end only by rounding: the last id with mass
    }

    /// A proposal from q was rejected, where P was to be met with probability `scale`. Returns the
    /// sum of max(scale * P - q, 0).
    template <class Q>
    double subtract(const Q& q, double scale = 1) {
        SPECDEC_PRECONDITION(row_.size() >= size());
        const std::span<double> row = row_.first(size());
        probabilities(0, row);
        for (double& value : row)
            value *= scale;
        if constexpr (requires { q.subtract_from(row); }) {
            q.subtract_from(row);
        } else {
            constexpr std::size_t chunk = 256;
            double of_q[chunk];
            for (std::size_t first = 0; first < row.size(); first += chunk) {
                const std::size_t n = row.size() - first < chunk ? row.size() - first : chunk;
                fill_probabilities(q, first, std::span(of_q, n));
                for (std::size_t j = 0; j < n; ++j)
                    row[first + j] -= of_q[j];
            }
        }
        double sums[4] = {}; // chains of additions
        for (std::size_t i = 0; i < row.size(); ++i) {
            row[i] = row[i] > 0 ? row[i] : 0.0;
            sums[i % 4] += row[i];
        }
        mass_ = (sums[0] + sums[1]) + (sums[2] + sums[3]);
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
