// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>

#include <specdec/core/coin.hpp>
#include <specdec/core/text_offset.hpp>

namespace specdec {

/// A coin that adds the place in the text to each site, for rules that draw the tokens of a text in
/// order: each begins where the last one ended. Borrows the coin.
template <class C>
struct placed_coin {
    C& coin;
    text_offset place;

    bool flip(draw_site site, double probability) { return coin.flip(site, probability); }
    template <class L>
    auto pick(draw_site site, const L& law) {
        site.place = place.value();
        const auto token = coin.pick(site, law);
        if constexpr (std::same_as<decltype(token), const target_id>)
            place.pass(token);
        return token;
    }
};

} // namespace specdec
