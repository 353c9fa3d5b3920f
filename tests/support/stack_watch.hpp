// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <specdec/core/basic/builtins.hpp>

namespace specdec::testing {

/// Where a rule that recurses has the stack when it asks for a law.
struct stack_watch {
/// Whether frames are the program's own: a sanitizer widens them, and the plain branches cannot
/// keep a compiler from joining them.
#if defined __SANITIZE_ADDRESS__ || !SPECDEC_GNU_EXTENSIONS
    static constexpr bool works = false;
#elif defined __has_feature
    static constexpr bool works = !__has_feature(address_sanitizer);
#else
    static constexpr bool works = true;
#endif
    std::vector<std::uintptr_t> places;

    void pass() {
        const char here = 0;
        places.push_back(reinterpret_cast<std::uintptr_t>(&here));
    }
    /// Bytes of a level: the last has no frame like the others'. Pre: four levels.
    [[nodiscard]] std::size_t a_level() const {
        const std::uintptr_t first = places[1], last = places[places.size() - 2];
        return (first > last ? first - last : last - first) / (places.size() - 3);
    }
};

} // namespace specdec::testing
