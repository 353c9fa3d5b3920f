// SPDX-License-Identifier: MIT
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>

namespace specdec {

/// Marks: how a round knows that its draft law is still the one that it drew from.
///
/// A draft's law q, and where the draft ends, depend on more than the context: on weights, lists of
/// tokens, thresholds, tables, costs, caches. Bridges that look at drafts which were not drawn
/// (SLRS, n-gram merge) ask for q and for ends again while they decide. An answer that had changed
/// since the draw would cost the target's law. So whatever q or a stop rule reads is either state
/// that a round takes at its draft and keeps to its decision, or it has a mark:
///
///     m.version()   another number whenever an answer to the same question may be another one
///
/// A round takes the marks with its first row. It refuses to be decided, loudly, when one of them
/// has changed. Drafters, stop rules and acceptance predictors must have a mark; models, heads,
/// choices of exits and caches have one where their answers can change. Whatever is made of several
/// parts has the sum of their marks: counts of changes only grow, so no two changes cancel.
using law_version = std::uint64_t;

/// A part that has a mark, or with a Sequence one for each of its sequences.
template <class M, class... Sequence>
concept Versioned = requires(const M& m, Sequence... s) {
    { m.version(s...) } -> std::convertible_to<law_version>;
};

/// The mark of a part that may have none, since its answers never change. Of sequence s, for parts
/// that hold several. A member version() that is no mark does not compile.
template <class M, class... Sequence>
[[nodiscard]] constexpr law_version version_of(const M& m, Sequence... s) {
    constexpr bool other = !Versioned<M, Sequence...> && requires(M& x) { x.version(s...); };
    static_assert(!other, "version: expected a member `law_version version() const`");
    if constexpr (Versioned<M, Sequence...>)
        return m.version(s...);
    else if constexpr (sizeof...(s) > 0)
        return version_of(m);
    else
        return 0;
}

/// The mark of answers that are a function of these numbers: another one for other numbers.
template <class... Numbers>
[[nodiscard]] constexpr law_version version_of_values(Numbers... numbers) {
    law_version mark = 0;
    ((mark =
          (mark ^ std::bit_cast<law_version>(static_cast<double>(numbers))) * 0x9E3779B97F4A7C15U,
      mark ^= mark >> 29U),
     ...);
    return mark;
}

} // namespace specdec
