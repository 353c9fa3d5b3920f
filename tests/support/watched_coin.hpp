// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include <specdec/sampling/coin/philox_coin.hpp>

namespace specdec::testing {

/// A coin that remembers the sites it is asked at.
template <class Inner = philox_coin>
struct watched_coin {
    Inner coin{1};
    std::vector<draw_site> picked{}, flipped{};

    bool flip(draw_site site, double p) {
        flipped.push_back(site);
        return coin.flip(site, p);
    }
    template <class L>
    auto pick(draw_site site, const L& law) {
        picked.push_back(site);
        return coin.pick(site, law);
    }
    /// Of the ids that it picked.
    [[nodiscard]] std::vector<std::uint64_t> places() const {
        std::vector<std::uint64_t> all;
        for (const draw_site& site : picked)
            all.push_back(site.place);
        return all;
    }
};

} // namespace specdec::testing
