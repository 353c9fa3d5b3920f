// SPDX-License-Identifier: MIT
// Rejection sampling of bare tokens: without q there is nothing to divide by.
// build error: no match(ing function)? for call
#include <cstddef>
#include <span>

#include <specdec/sampling/coin/philox_coin.hpp>
#include <specdec/verify/token_rejection.hpp>

int main() {
    using namespace specdec;
    philox_coin coin(1);
    const target_id draft[1] = {target_id{0}};
    const auto law_at = [](std::size_t) { return one_hot_law<target_id>(target_id{0}); };
    const verdict v = token_rejection{}(law_at, std::span<const target_id>(draft), coin, 0);
    return v.next.value;
}
