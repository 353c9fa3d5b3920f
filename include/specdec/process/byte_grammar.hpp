// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>

namespace specdec {

/// An automaton over bytes that says which texts are allowed.
///
///     g.begin()              the state before the first byte: a small value
///     g.step(state, byte)    moves the state past one more byte; false: no text begins so
///     g.complete(state)      whether the text may end here
template <class G>
concept ByteGrammar = std::copyable<typename G::state_type> &&
                      requires(const G& g, typename G::state_type& state, char byte) {
                          { g.begin() } -> std::convertible_to<typename G::state_type>;
                          { g.step(state, byte) } -> std::convertible_to<bool>;
                          { g.complete(state) } -> std::convertible_to<bool>;
                      };

/// A byte that has to follow, or none.
struct forced_byte {
    bool any = false;
    char byte = 0;
};

/// The byte that has to follow in a state: the only one that the grammar allows there, if the text
/// may not end. Complexity: at most 256 steps of the grammar, each with a copy of the state; it
/// stops at the second byte that is allowed. Allocates nothing itself.
template <ByteGrammar G>
[[nodiscard]] constexpr forced_byte find_forced_byte(const G& grammar,
                                                     const typename G::state_type& state) {
    forced_byte found;
    if (grammar.complete(state))
        return found;
    for (unsigned byte = 0; byte < 256; ++byte) {
        auto next = state;
        if (!grammar.step(next, static_cast<char>(byte)))
            continue;
        if (found.any)
            return {};
        found = {true, static_cast<char>(byte)};
    }
    return found;
}

} // namespace specdec
