// SPDX-License-Identifier: MIT
#include <specdec/vocab/ngrams/child_index.hpp>

#include <catch2/catch.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <utility>
#include <vector>

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

TEST_CASE("child index: as a std::map, full and over long random use") {
    std::mt19937_64 bits(1);
    for (const std::uint32_t room : {1u, 2u, 7u, 100u}) { // small: entries wrap around the end
        child_index index(room);
        std::vector<child_key> keys(room + 1);
        const auto key_of = [&keys](std::uint32_t node) { return keys[node]; };
        std::map<std::pair<std::uint32_t, draft_id>, std::uint32_t> expected;
        std::vector<std::uint32_t> free;
        for (std::uint32_t node = 1; node <= room; ++node)
            free.push_back(node);
        for (int i = 0; i < 30000; ++i) {
            const child_key key{static_cast<std::uint32_t>(bits() % 12),
                                draft_id{static_cast<std::int32_t>(bits() % 13)}};
            const auto held = expected.find({key.parent, key.token});
            const std::uint32_t node = held == expected.end() ? child_index::none : held->second;
            REQUIRE(index.find(key, key_of) == node);
            if (node != child_index::none) {
                index.remove(node, key_of);
                expected.erase(held);
                free.push_back(node);
            } else if (!free.empty()) {
                const std::uint32_t next = free.back();
                free.pop_back();
                keys[next] = key;
                index.add(key, next);
                expected[{key.parent, key.token}] = next;
            }
            if (i % 100 == 0)
                for (const auto& [k, n] : expected)
                    REQUIRE(index.find({k.first, k.second}, key_of) == n);
        }
        index.clear();
        for (const auto& [k, n] : expected)
            REQUIRE(index.find({k.first, k.second}, key_of) == child_index::none);
    }
}

} // namespace
