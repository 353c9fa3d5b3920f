// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <specdec/core/coin.hpp>
#include <specdec/core/error.hpp>

#include "support/enumeration/enumerate.hpp"
#include "support/enumeration/interval_number.hpp"

namespace specdec {

/// A coin that takes every outcome in turn, as enumerating_coin does, but through the decisions
/// that ship. It hands out a number u of which only an interval is known, at first [0, 1). A
/// comparison with u that the interval leaves open splits it, and both parts are taken in turn. So
/// flip, a law's at(u), and code that reads uniform() (lazy acceptance, lazy thinning) run as with
/// philox_coin: what is proved is what users run.
///
///     enumerate<interval_coin>([&](interval_coin& coin) { ... law[text] += coin.probability(); });
///
/// One site has one u in a text, as with philox_coin. So a site that is drawn twice (a redraft, an
/// abandoned round, two decisions that share a name by mistake) gives dependent outcomes here, too.
/// Models Coin and UniformCoin.
///
/// Parts narrower than `grain` (about what a double of philox_coin tells apart) are left out:
/// rounding makes them where two bounds are equal. Cost: one call for each path; a lazy decision
/// has a path for each place where it may stop. Give rules thinning_limits of a few draws, which
/// change no law: a million draws have paths without end. Errors: specdec::error when the code
/// draws or compares differently after the same outcomes.
class interval_coin {
public:
    static constexpr double grain = 0x1p-50;

    [[nodiscard]] interval_number uniform(draw_site site) {
        return {this, &split, number_at(site)};
    }
    [[nodiscard]] bool flip(draw_site site, double probability) {
        return uniform(site) < probability;
    }
    /// Through law.at(u); of a law whose at() takes doubles only, by its probabilities in the order
    /// of ids.
    template <class L>
    [[nodiscard]] auto pick(draw_site site, const L& law) {
        const interval_number u = uniform(site);
        if constexpr (requires { law.at(u); }) {
            return law.at(u);
        } else {
            using id_type = decltype(law.at(0.0));
            double reached = 0;
            id_type last{};
            for (std::size_t i = 0; i < law.size(); ++i) {
                const double p = law.probability(id_at<id_type>(i));
                if (!(p > 0))
                    continue;
                last = id_at<id_type>(i);
                reached += p;
                if (u < reached)
                    break;
            }
            return last;
        }
    }

    /// The probability of the outcomes so far: of the path, once the code has made its last draw.
    [[nodiscard]] double probability() const {
        double product = 1;
        for (const number& u : numbers_)
            product *= u.last - u.first;
        return product;
    }

private:
    template <class C, class F>
    friend void enumerate(F&& run);

    /// The u of a site: somewhere in [first, last).
    struct number {
        draw_site site;
        double first = 0, last = 1;
    };
    /// One comparison that was open: u < at, with that outcome.
    struct comparison {
        draw_site site;
        double at;
        bool below = true;
    };

    std::size_t number_at(draw_site site) {
        std::size_t i = 0;
        while (i < numbers_.size() && !same(numbers_[i].site, site))
            ++i;
        if (i == numbers_.size())
            numbers_.push_back({site});
        return i;
    }

    static bool split(void* self, std::size_t number, double at) {
        return static_cast<interval_coin*>(self)->below(number, at);
    }
    bool below(std::size_t i, double at) {
        number& u = numbers_[i];
        if (!(at > u.first + grain) || !(at < u.last - grain))
            return !(at < u.last - grain);
        if (depth_ == path_.size())
            path_.push_back({u.site, at});
        else if (!same(path_[depth_].site, u.site) || path_[depth_].at != at)
            throw error("interval coin", "draws",
                        "expected the same comparisons after the same outcomes");
        const bool result = path_[depth_++].below;
        (result ? u.last : u.first) = at;
        return result;
    }

    static bool same(draw_site a, draw_site b) {
        // As one comparison: a path asks it of all its numbers for each that it draws.
        return ((a.position ^ b.position) | (a.attempt ^ b.attempt) | (a.retry ^ b.retry) |
                (static_cast<std::uint64_t>(a.why) ^ static_cast<std::uint64_t>(b.why))) == 0;
    }

    void begin() {
        numbers_.clear();
        depth_ = 0;
    }
    /// Moves to the next path; false when there is none.
    bool advance() {
        if (depth_ != path_.size())
            throw error("interval coin", "draws",
                        "expected the same comparisons after the same outcomes");
        while (!path_.empty() && !path_.back().below)
            path_.pop_back();
        if (path_.empty())
            return false;
        path_.back().below = false;
        return true;
    }

    std::vector<number> numbers_;
    std::vector<comparison> path_;
    std::size_t depth_ = 0;
};

} // namespace specdec
