// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <utility>

#include "support/decoder.hpp"
#include "support/side.hpp"
#include <specdec/vocab/id_map.hpp>

namespace specdec::examples {

/// The drafter's side of a pair, and the way to the target's vocabulary.
struct draft_side : side<draft_id> {
    draft_side(side<draft_id> loaded, id_map to_target)
        : side<draft_id>(std::move(loaded)), map(std::move(to_target)) {}
    id_map map;
};

/// A decoder over any two sides; draft may be null. All rules are compiled there.
[[nodiscard]] std::unique_ptr<decoder>
make_pair_decoder(side<target_id> target, std::unique_ptr<draft_side> draft, cache_settings cache);

} // namespace specdec::examples
