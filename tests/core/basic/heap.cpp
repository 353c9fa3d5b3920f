// SPDX-License-Identifier: MIT
#include <specdec/core/basic/heap.hpp>

#include <algorithm>
#include <functional>
#include <memory>
#include <random>

#include <catch2/catch.hpp>

using namespace specdec;

TEST_CASE("pops give the greatest of what was pushed, in any mixture of both") {
    std::mt19937 random(1);
    for (unsigned run = 0; run < 200; ++run) {
        std::vector<int> heap, expected; // sorted
        for (unsigned step = 0; step < 100; ++step) {
            if (heap.empty() || random() % 3 != 0) {
                const int item = static_cast<int>(random() % 20);
                heap_push(heap, item, std::less<>());
                expected.insert(std::upper_bound(expected.begin(), expected.end(), item), item);
            } else {
                REQUIRE(heap_pop(heap, std::less<>()) == expected.back());
                expected.pop_back();
            }
            REQUIRE(heap.size() == expected.size());
        }
        for (; !expected.empty(); expected.pop_back())
            REQUIRE(heap_pop(heap, std::less<>()) == expected.back());
        REQUIRE(heap.empty());
    }
}

TEST_CASE("sorts ascending by the order it is given") {
    std::mt19937 random(2);
    for (unsigned size = 0; size < 70; ++size) {
        std::vector<unsigned> items(size);
        for (unsigned& item : items)
            item = static_cast<unsigned>(random()) % (size / 2 + 1);
        std::vector<unsigned> expected = items;
        std::sort(expected.begin(), expected.end());
        heap_sort(items, std::less<>());
        REQUIRE(items == expected);
        std::reverse(expected.begin(), expected.end());
        heap_sort(items, std::greater<>());
        REQUIRE(items == expected);
    }
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
