// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace specdec {

/// A text that is expected to follow another, byte by byte.
struct lookup_hit {
    std::string bytes;
    /// [bytes] that the byte follows if those before it do: a guess below 1, or 1 if it is forced
    std::vector<float> chances;
    std::size_t match = 0; ///< bytes at the end of the text that were found again

    void reserve(std::size_t most) {
        bytes.reserve(most);
        chances.reserve(most);
    }
    void clear() {
        bytes.clear();
        chances.clear();
        match = 0;
    }
    void push(char byte, double chance) {
        bytes.push_back(byte);
        chances.push_back(static_cast<float>(chance));
    }
    /// Drops all but the first n bytes.
    void cut(std::size_t n) {
        bytes.resize(n);
        chances.resize(n);
    }
    /// Bytes that are expected to come true: the sum of the chances of all its beginnings
    /// (SuffixDecoding's score).
    [[nodiscard]] double expected() const {
        double reached = 1, sum = 0;
        for (const float chance : chances)
            sum += reached *= static_cast<double>(chance);
        return sum;
    }
};

/// Looks up what followed before where a text ended so.
///
///     l.start()            another text begins
///     l.follow(bytes)      the text goes on: any bytes, cut anywhere. A zero byte stands for what
///                          is no text (a control token): nothing goes on across it
///     l.find(most, out)    what is expected to follow, at most so many bytes; nothing: empty
///
/// Only start and follow change what is known of this text, whatever find does. What find gives may
/// depend on other texts that were committed. Allocates nothing once `out` has room.
template <class L>
concept TextLookup = requires(L& l, std::string_view bytes, std::size_t most, lookup_hit& out) {
    l.start();
    l.follow(bytes);
    l.find(most, out);
};

/// f of a lookup that may be missing.
template <class Lookup, class F>
void with_lookup(Lookup& lookup, const F& f) {
    f(lookup);
}
template <class Lookup, class F>
void with_lookup(std::optional<Lookup>& lookup, const F& f) {
    if (lookup)
        f(*lookup);
}

/// The byte that stands for what is no text.
inline constexpr char no_text = '\0';

/// A first guess of the chance that a byte follows again behind `match` bytes that stood before:
/// what tells one match from another. What it is worth is learnt (lookup_length).
[[nodiscard]] constexpr double repeat_chance(std::size_t match) {
    const auto n = static_cast<double>(match);
    return (n + 0.2) / (n + 1.2);
}

/// What follows is not looked at behind a text that comes true with less than this chance.
inline constexpr double least_chance = 0.02;

} // namespace specdec
