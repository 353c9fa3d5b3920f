// SPDX-License-Identifier: MIT
#include <specdec/vocab/ngrams/child_index.hpp>

#include <catch2/catch.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "support/property/any.hpp"
#include "support/property/check_property.hpp"

namespace {

using namespace specdec;
using child_key = child_index::child_key;

TEST_CASE("child index: an empty one finds nothing") {
    const auto no_key = [](std::uint32_t) -> child_key { return {0, draft_id{0}}; };
    CHECK(child_index().find({0, draft_id{1}}, no_key) == child_index::none);
    CHECK(child_index().room() == 0);
    CHECK(child_index(5).find({0, draft_id{1}}, no_key) == child_index::none);
    CHECK(child_index(5).room() == 5);
    CHECK(child_index(5).memory() == 5 * 8);
}

/// Adds keys that are not there and removes those that are, as long as there is room; a std::map
/// says what must be found.
void require_as_a_map(std::uint32_t room,
                      const std::vector<std::pair<std::size_t, std::size_t>>& uses) {
    child_index index(room);
    std::vector<child_key> keys(room + 1);
    const auto key_of = [&keys](std::uint32_t node) { return keys[node]; };
    std::map<std::pair<std::uint32_t, draft_id>, std::uint32_t> expected;
    std::vector<std::uint32_t> free;
    for (std::uint32_t node = 1; node <= room; ++node)
        free.push_back(node);
    for (const auto& [parent, token] : uses) {
        const child_key key{static_cast<std::uint32_t>(parent), id_at<draft_id>(token)};
        const auto held = expected.find({key.parent, key.token});
        const std::uint32_t node = held == expected.end() ? child_index::none : held->second;
        RC_ASSERT(index.find(key, key_of) == node);
        if (node != child_index::none) {
            index.remove(node, key_of);
            expected.erase(held);
            free.push_back(node);
        } else if (!free.empty()) {
            keys[free.back()] = key;
            index.add(key, free.back());
            expected[{key.parent, key.token}] = free.back();
            free.pop_back();
        }
        for (const auto& [k, n] : expected)
            RC_ASSERT(index.find({k.first, k.second}, key_of) == n);
    }
    index.clear();
    for (const auto& [k, n] : expected)
        RC_ASSERT(index.find({k.first, k.second}, key_of) == child_index::none);
}

TEST_CASE("child index: as a std::map, whatever is added and removed") {
    const property_report report = check_property(
        [] { // little room: entries wrap around the end
            require_as_a_map(*any_of(std::vector<std::uint32_t>{1, 2, 7, 30}),
                             *up_to(300, rc::gen::pair(any_in(0, 11), any_in(0, 12))));
        },
        {.cases = 300});
    INFO(report.text);
    CHECK(report.holds);
}

} // namespace
