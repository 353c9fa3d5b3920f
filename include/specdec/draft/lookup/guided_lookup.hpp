// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

#include <specdec/draft/lookup/lookup_hit.hpp>

namespace specdec {

/// Knows what may follow in a text, and corrects what a lookup found (forced_text).
///
///     g.start(), g.follow(bytes)   as TextLookup
///     g.guide(most, out)           out: what was found, at most so many bytes, or nothing; after
///                                  the call what of it may follow, and what has to follow behind
///
/// Only start and follow change what is known of the text.
template <class G>
concept TextGuide = requires(G& g, std::string_view bytes, std::size_t most, lookup_hit& out) {
    g.start();
    g.follow(bytes);
    g.guide(most, out);
};

/// A lookup under a grammar: forced bytes come before looked-up ones, because a certain byte beats
/// a guess, and looked-up bytes that the grammar refuses are dropped. Lookup: a TextLookup, or an
/// optional of one; without it, only forced text is found. Models TextLookup. Complexity and
/// allocation: those of both.
template <class Lookup, TextGuide Guide>
class guided_lookup {
public:
    guided_lookup(Lookup lookup, Guide guide)
        : lookup_(std::move(lookup)), guide_(std::move(guide)) {}

    void start() {
        with_lookup(lookup_, [](auto& l) { l.start(); });
        guide_.start();
    }
    void follow(std::string_view bytes) {
        with_lookup(lookup_, [&](auto& l) { l.follow(bytes); });
        guide_.follow(bytes);
    }
    void find(std::size_t most, lookup_hit& out) {
        out.clear();
        with_lookup(lookup_, [&](auto& l) { l.find(most, out); });
        guide_.guide(most, out);
    }

private:
    Lookup lookup_;
    Guide guide_;
};

} // namespace specdec
