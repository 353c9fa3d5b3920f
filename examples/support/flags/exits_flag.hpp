// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

#include <specdec/head/exits/exit_thresholds.hpp>

namespace specdec::examples {

/// Which exits of a drafter speak, as `--exits` says it.
struct exits_choice {
    std::string asked; ///< empty: nothing was said, the whole drafter drafts
    exit_thresholds thresholds;
    bool drawn = false; ///< they are compared with the drawn token's probability, not the row's
};

/// Reads `fixed:N`, the N-th exit from 1 on, or thresholds of the exits between commas, each from 0
/// to 1, `drawn:` before them or not. Errors: specdec::error that names the flag.
[[nodiscard]] exits_choice exits_of(const std::string& asked);

/// What the flag's help says of its values.
inline constexpr std::string_view exits_help =
    "where a drafter of the CPU engine with exits (\"specdec_exits\") stops: 0.7,0.6, the "
    "confidence from which its first and second exit are used (the last one needs none), "
    "drawn:0.7,0.6, the same with the probability of the token that temperature 1 draws, or "
    "fixed:N, always the N-th (default: the whole drafter)";

} // namespace specdec::examples
