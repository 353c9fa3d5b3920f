// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include <specdec/sampling/coin/philox_coin.hpp>

namespace specdec::testing {

/// A coin that remembers the places and the numbers of the sites it draws an id at.
struct place_watch {
    philox_coin coin{1};
    std::vector<std::uint64_t> places{};
    std::vector<std::uint32_t> attempts{};

    bool flip(draw_site site, double p) { return coin.flip(site, p); }
    template <class L>
    auto pick(draw_site site, const L& law) {
        places.push_back(site.place);
        attempts.push_back(site.attempt);
        return coin.pick(site, law);
    }
};

} // namespace specdec::testing
