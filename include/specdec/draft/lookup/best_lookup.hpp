// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include <specdec/draft/lookup/found_text.hpp>

namespace specdec {

namespace best_lookup_detail {

/// f of a lookup that may be missing.
template <class Lookup, class F>
void with(Lookup& l, const F& f) {
    f(l);
}
template <class Lookup, class F>
void with(std::optional<Lookup>& l, const F& f) {
    if (l)
        f(*l);
}

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
        for_each([](auto& l) { l.start(); });
    }
    void follow(std::string_view bytes) {
        for_each([&](auto& l) { l.follow(bytes); });
    }
    void find(std::size_t most, found_text& out) {
        out.clear();
        double best = 0;
        for_each([&](auto& l) {
            l.find(most, other_);
            if (const double now = other_.expected(); now > best) {
                best = now;
                std::swap(other_, out);
            }
        });
    }

private:
    template <class F>
    void for_each(const F& f) {
        std::apply([&](auto&... l) { (best_lookup_detail::with(l, f), ...); }, lookups_);
    }

    std::tuple<Lookups...> lookups_;
    found_text other_; // scratch
};

} // namespace specdec
