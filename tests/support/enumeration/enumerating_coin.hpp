// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <vector>

#include <specdec/core/coin.hpp>
#include <specdec/core/error.hpp>

#include "support/enumeration/enumerate.hpp"

namespace specdec {

/// A coin that takes every outcome in turn: the way to compute, instead of estimate, the law of
/// anything that draws through a coin. Made by enumerate(). Models Coin.
///
///     std::map<std::vector<target_id>, double> law;
///     enumerate([&](enumerating_coin& coin) {
///         auto text = one_round(coin, ...);        // your code: a fresh state, the same input
///         law[text] += coin.probability();         // after the last draw
///     });
///     CHECK(total_variation(law, expected) < 1e-12);
///
/// flip visits both outcomes that have probability, pick every id that has. Between two calls the
/// code must differ in nothing but the outcomes. Keep vocabularies and draft lengths tiny: the
/// number of calls is the number of paths. It shows no uniform(), so laws are asked for whole
/// probabilities and lazy decisions are not made: interval_coin makes those. Errors: specdec::error
/// when the code draws differently after the same outcomes, and when it draws twice at one site (a
/// stateless coin would then give dependent outcomes).
class enumerating_coin {
public:
    [[nodiscard]] bool flip(draw_site site, double probability) {
        const double p = probability > 0 ? (probability < 1 ? probability : 1.0) : 0.0;
        return decide(site, 2, [&](std::size_t i) { return i == 0 ? 1 - p : p; }) == 1;
    }

    template <class L>
    [[nodiscard]] auto pick(draw_site site, const L& law) {
        using id_type = decltype(law.at(0.0));
        return id_at<id_type>(decide(site, law.size(), [&](std::size_t i) {
            return static_cast<double>(law.probability(id_at<id_type>(i)));
        }));
    }

    /// The probability of the outcomes so far: of the path, once the code has made its last draw.
    [[nodiscard]] double probability() const { return probability_; }

private:
    template <class C, class F>
    friend void enumerate(F&& run);

    struct outcome {
        std::size_t value;
        double probability;
        friend bool operator==(const outcome&, const outcome&) = default;
    };
    struct decision {
        draw_site site;
        std::vector<outcome> outcomes;
        std::size_t taken = 0;
    };

    template <class F>
    std::size_t decide(draw_site site, std::size_t count, F&& probability_of) {
        for (std::size_t i = 0; i < depth_; ++i)
            if (same(path_[i].site, site))
                throw error("enumerating coin", "site", "expected at most one draw at each site");
        const bool first = depth_ == path_.size();
        if (first)
            path_.push_back({site, {}});
        decision& d = path_[depth_++];
        bool as_before = same(d.site, site);
        std::size_t n = 0; // outcomes that have probability
        for (std::size_t i = 0; i < count && as_before; ++i)
            if (const double p = probability_of(i); p > 0) {
                if (first)
                    d.outcomes.push_back({i, p});
                else
                    as_before = n < d.outcomes.size() && d.outcomes[n] == outcome{i, p};
                ++n;
            }
        if (d.outcomes.empty())
            throw error("enumerating coin", "law", "expected an id with positive probability");
        if (!as_before || n != d.outcomes.size())
            throw error("enumerating coin", "draws",
                        "expected the same draws after the same outcomes");
        probability_ *= d.outcomes[d.taken].probability;
        return d.outcomes[d.taken].value;
    }

    static bool same(draw_site a, draw_site b) {
        return a.position == b.position && a.why == b.why && a.attempt == b.attempt &&
               a.retry == b.retry;
    }

    void begin() {
        depth_ = 0;
        probability_ = 1;
    }

    /// Moves to the next path; false when there is none.
    bool advance() {
        if (depth_ != path_.size())
            throw error("enumerating coin", "draws",
                        "expected the same draws after the same outcomes");
        while (!path_.empty() && ++path_.back().taken == path_.back().outcomes.size())
            path_.pop_back();
        return !path_.empty();
    }

    std::vector<decision> path_;
    std::size_t depth_ = 0;
    double probability_ = 1;
};

/// enumerate with an enumerating_coin.
template <class F>
void enumerate(F&& run) {
    enumerate<enumerating_coin>(run);
}

} // namespace specdec
