// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

/// What a pass over several sequences is given.
namespace specdec::reference {

/// New tokens of one sequence.
struct sequence_part {
    std::size_t sequence = 0;
    std::span<const std::int32_t> ids;
};

/// A token on its way through the layers: where it stands in which sequence.
struct token_place {
    std::int32_t id = 0;
    std::size_t sequence = 0;
    std::size_t position = 0;
};

} // namespace specdec::reference
