// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

/// Binary heaps over vectors, the greatest first, for the layers that do not include <algorithm>
/// (which would double the cost of the umbrella header).
namespace specdec {

namespace detail {

/// Lets heap[at] sink to its place among the first `size` items.
template <class T, class Less>
void sink(std::vector<T>& heap, std::size_t at, std::size_t size, const Less& less) {
    for (std::size_t child = 2 * at + 1; child < size; child = 2 * at + 1) {
        if (child + 1 < size && less(heap[child], heap[child + 1]))
            ++child;
        if (!less(heap[at], heap[child]))
            return;
        std::swap(heap[at], heap[child]);
        at = child;
    }
}

} // namespace detail

/// Adds an item. O(log n).
template <class T, class Less>
void heap_push(std::vector<T>& heap, T item, const Less& less) {
    heap.push_back(std::move(item));
    for (std::size_t at = heap.size() - 1; at > 0;) {
        const std::size_t parent = (at - 1) / 2;
        if (!less(heap[parent], heap[at]))
            return;
        std::swap(heap[parent], heap[at]);
        at = parent;
    }
}

/// Takes the greatest item out. Pre: not empty. O(log n).
template <class T, class Less>
[[nodiscard]] T heap_pop(std::vector<T>& heap, const Less& less) {
    std::swap(heap.front(), heap.back());
    T greatest = std::move(heap.back());
    heap.pop_back();
    detail::sink(heap, 0, heap.size(), less);
    return greatest;
}

/// Sorts ascending. O(n log n), in place.
template <class T, class Less>
void heap_sort(std::vector<T>& items, const Less& less) {
    for (std::size_t i = items.size() / 2; i-- > 0;)
        detail::sink(items, i, items.size(), less);
    for (std::size_t left = items.size(); left > 1;) {
        std::swap(items[0], items[--left]);
        detail::sink(items, 0, left, less);
    }
}

} // namespace specdec
