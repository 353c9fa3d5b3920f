// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>

#include <specdec/core/token_id.hpp>
#include <specdec/draft/counted/successor_counts.hpp>

namespace specdec {

/// What was mixed into a row from one source, and what the row gave it before: kept until the token
/// is known that came there.
struct counted_saying {
    static constexpr std::size_t width = successor_counts::width;
    std::size_t cell = 0;             ///< of count_shares
    double lambda = 0;                ///< that it was mixed with; 0: nothing was
    std::array<draft_id, width> id{}; ///< the successors
    std::array<double, width> c{};    ///< of the counts; 0: there is none
    std::array<double, width> q{};    ///< of the row
};

/// How far counts are believed: learnt from what came, for either source (all texts, this text), by
/// the tokens they stand behind, by how often these were seen, and whether one thing followed or
/// several.
///
///     lambda = (5 lambda_0 + sum of r) / (5 + number of r),   lambda_0 = 0.1, 0.2, 0.4, 0.6 behind
///                                                             1, 2, 3, 4 and more tokens
///     r = lambda c(d) / (lambda c(d) + (1 - lambda) q(d))     for each d that came
///
/// r is the chance that d came from the counts: deleted interpolation (Jelinek and Mercer 1980) by
/// expectation maximisation, step by step. Of 128 that came, half are forgotten, so that another
/// kind of text is soon believed as far as it deserves. O(1), 0.9 kB.
class count_shares {
public:
    enum source : std::size_t { of_all_texts, of_this_text };

    count_shares() { forget(); }
    void forget() {
        for (std::size_t i = 0; i < cells_.size(); ++i) {
            constexpr double usual[] = {0.1, 0.2, 0.4, 0.6};
            const std::size_t order = i / kinds % successor_counts::orders.size();
            cells_[i] = {prior * usual[order < 4 ? order : 3], prior};
        }
    }

    [[nodiscard]] static std::size_t cell_of(source from, const successor_counts::found& seen) {
        std::size_t order = 0, several = 0;
        while (successor_counts::orders[order] < seen.order)
            ++order;
        for (const successor_counts::successor& s : seen.successors)
            several += s.weight > 0 ? 1 : 0;
        // Once, two or three times, oftener.
        const std::size_t often = seen.weight < 1.4 ? 0 : seen.weight < 2.7 ? 1 : 2;
        return ((from * successor_counts::orders.size() + order) * 3 + often) * 2 +
               (several > 1 ? 1 : 0);
    }
    [[nodiscard]] double of(std::size_t at) const { return cells_[at].sum / cells_[at].n; }

    void learn(const counted_saying& said, draft_id came) {
        if (!(said.lambda > 0))
            return;
        cell& x = cells_[said.cell];
        for (std::size_t k = 0; k < counted_saying::width; ++k)
            if (said.c[k] > 0 && said.id[k] == came) {
                const double counted = said.lambda * said.c[k];
                x.sum += counted / (counted + (1 - said.lambda) * said.q[k] + least_q);
            }
        x.n += 1;
        if (x.n > most)
            x = {x.sum / 2, x.n / 2};
    }

private:
    static constexpr double prior = 5, most = 128, least_q = 1e-4;
    static constexpr std::size_t kinds = 6; // of an order: how often, and whether one or several
    struct cell {
        double sum = 0, n = 1;
    };
    std::array<cell, 2 * successor_counts::orders.size() * kinds> cells_;
};

} // namespace specdec
