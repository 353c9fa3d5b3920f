// SPDX-License-Identifier: MIT
#pragma once

// Replaces every form of operator new and delete of the program, so that the n-th allocation can
// fail and the bytes held can be read. To be included by one source of a program, and not beside
// count_allocations.hpp.

#include <malloc.h> // malloc_usable_size

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace specdec::testing {

/// Bytes the program holds, as the allocator counts them (what it rounds up to).
inline std::atomic<long> bytes_held = 0;
/// Allocations that succeed before all fail; negative: none fails.
inline std::atomic<long> allocations_left = -1;

inline void* allocate(std::size_t size, std::size_t alignment) noexcept {
    if (allocations_left == 0)
        return nullptr;
    if (allocations_left > 0)
        --allocations_left;
    const std::size_t whole = (size + alignment - 1) / alignment * alignment;
    void* const memory = std::aligned_alloc(alignment, whole == 0 ? alignment : whole);
    bytes_held += static_cast<long>(malloc_usable_size(memory));
    return memory;
}

inline void* allocate_or_throw(std::size_t size, std::size_t alignment) {
    if (void* const memory = allocate(size, alignment))
        return memory;
    throw std::bad_alloc();
}

inline void release(void* memory) noexcept {
    bytes_held -= static_cast<long>(malloc_usable_size(memory));
    std::free(memory);
}

/// Calls attempt() with 0, 1, 2, ... allocations that succeed until it ends without std::bad_alloc;
/// after every failure calls check(), with memory again. Returns the number of failures.
template <class Attempt, class Check>
int fail_every_allocation(Attempt&& attempt, Check&& check) {
    struct disarm {
        ~disarm() { allocations_left = -1; }
    };
    for (int n = 0;; ++n) {
        try {
            const disarm at_the_end;
            allocations_left = n;
            attempt();
            return n;
        } catch (const std::bad_alloc&) {
        }
        check();
    }
}

inline constexpr std::size_t usual = alignof(std::max_align_t);

} // namespace specdec::testing

#define SPECDEC_REPLACED [[gnu::noinline]]
SPECDEC_REPLACED void* operator new(std::size_t n) {
    return specdec::testing::allocate_or_throw(n, specdec::testing::usual);
}
SPECDEC_REPLACED void* operator new[](std::size_t n) {
    return specdec::testing::allocate_or_throw(n, specdec::testing::usual);
}
SPECDEC_REPLACED void* operator new(std::size_t n, std::align_val_t a) {
    return specdec::testing::allocate_or_throw(n, static_cast<std::size_t>(a));
}
SPECDEC_REPLACED void* operator new[](std::size_t n, std::align_val_t a) {
    return specdec::testing::allocate_or_throw(n, static_cast<std::size_t>(a));
}
SPECDEC_REPLACED void* operator new(std::size_t n, const std::nothrow_t&) noexcept {
    return specdec::testing::allocate(n, specdec::testing::usual);
}
SPECDEC_REPLACED void* operator new[](std::size_t n, const std::nothrow_t&) noexcept {
    return specdec::testing::allocate(n, specdec::testing::usual);
}
SPECDEC_REPLACED void operator delete(void* memory) noexcept {
    specdec::testing::release(memory);
}
SPECDEC_REPLACED void operator delete[](void* memory) noexcept {
    specdec::testing::release(memory);
}
SPECDEC_REPLACED void operator delete(void* memory, std::size_t) noexcept {
    specdec::testing::release(memory);
}
SPECDEC_REPLACED void operator delete[](void* memory, std::size_t) noexcept {
    specdec::testing::release(memory);
}
SPECDEC_REPLACED void operator delete(void* memory, std::align_val_t) noexcept {
    specdec::testing::release(memory);
}
SPECDEC_REPLACED void operator delete[](void* memory, std::align_val_t) noexcept {
    specdec::testing::release(memory);
}
SPECDEC_REPLACED void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
    specdec::testing::release(memory);
}
SPECDEC_REPLACED void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept {
    specdec::testing::release(memory);
}
SPECDEC_REPLACED void operator delete(void* memory, const std::nothrow_t&) noexcept {
    specdec::testing::release(memory);
}
SPECDEC_REPLACED void operator delete[](void* memory, const std::nothrow_t&) noexcept {
    specdec::testing::release(memory);
}
#undef SPECDEC_REPLACED
