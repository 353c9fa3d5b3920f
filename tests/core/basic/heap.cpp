// SPDX-License-Identifier: MIT
#include <specdec/core/basic/heap.hpp>

#include <algorithm>
#include <functional>
#include <memory>
#include <vector>

#include <catch2/catch.hpp>

#include "support/holds.hpp"

using namespace specdec;
using namespace specdec::testing;

TEST_CASE("pops give the greatest of what was pushed, in any mixture of both") {
    require_holds([] {
        std::vector<std::size_t> heap, expected;                    // sorted
        for (const std::size_t item : *up_to(100, any_in(0, 29))) { // 20 and more: a pop
            if (item < 20) {
                heap_push(heap, item, std::less<>());
                expected.insert(std::upper_bound(expected.begin(), expected.end(), item), item);
            } else if (!heap.empty()) {
                RC_ASSERT(heap_pop(heap, std::less<>()) == expected.back());
                expected.pop_back();
            }
            RC_ASSERT(heap.size() == expected.size());
        }
        for (; !expected.empty(); expected.pop_back())
            RC_ASSERT(heap_pop(heap, std::less<>()) == expected.back());
        RC_ASSERT(heap.empty());
    });
}

TEST_CASE("sorts ascending by the order it is given") {
    require_holds([] {
        std::vector<std::size_t> items = *up_to(70, any_in(0, 35)), expected = items;
        std::sort(expected.begin(), expected.end());
        heap_sort(items, std::less<>());
        RC_ASSERT(items == expected);
        std::reverse(expected.begin(), expected.end());
        heap_sort(items, std::greater<>());
        RC_ASSERT(items == expected);
    });
}

TEST_CASE("items need to be moved only") {
    const auto less = [](const auto& a, const auto& b) { return *a < *b; };
    std::vector<std::unique_ptr<int>> heap;
    for (const int i : {3, 1, 2})
        heap_push(heap, std::make_unique<int>(i), less);
    CHECK(*heap_pop(heap, less) == 3);
    heap_push(heap, std::make_unique<int>(0), less);
    heap_sort(heap, less);
    for (std::size_t i = 0; i < 3; ++i)
        CHECK(*heap[i] == static_cast<int>(i));
}
