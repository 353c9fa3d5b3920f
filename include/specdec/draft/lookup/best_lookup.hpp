// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string_view>
#include <utility>

#include <specdec/draft/lookup/lookup_hit.hpp>

namespace specdec {

namespace best_lookup_detail {

/// Several lookups, one after the other. (A tuple's header is too dear.)
template <class... Lookups>
struct chain {
    template <class F>
    void each(const F&) {}
};
template <class First, class... Rest>
struct chain<First, Rest...> {
    First first;
    chain<Rest...> rest;

    explicit chain(First one, Rest... others) : first(std::move(one)), rest(std::move(others)...) {}
    template <class F>
    void each(const F& f) {
        with_lookup(first, f);
        rest.each(f);
    }
};

} // namespace best_lookup_detail

/// Several lookups of one text, the best of which speaks: the one that expects the most bytes to
/// come true, the first of equals (SuffixDecoding's choice between its trees). Lookups: each a
/// TextLookup, or an optional of one. Models TextLookup.
template <class... Lookups>
class best_lookup {
public:
    explicit best_lookup(std::size_t most, Lookups... lookups) : lookups_(std::move(lookups)...) {
        other_.reserve(most);
    }

    void start() {
        lookups_.each([](auto& l) { l.start(); });
    }
    void follow(std::string_view bytes) {
        lookups_.each([&](auto& l) { l.follow(bytes); });
    }
    void find(std::size_t most, lookup_hit& out) {
        out.clear();
        double best = 0;
        lookups_.each([&](auto& l) {
            l.find(most, other_);
            if (const double now = other_.expected(); now > best) {
                best = now;
                std::swap(other_, out);
            }
        });
    }

private:
    best_lookup_detail::chain<Lookups...> lookups_;
    lookup_hit other_; // scratch
};

} // namespace specdec
