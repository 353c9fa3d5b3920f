// SPDX-License-Identifier: MIT
#pragma once

// Replaces every form of operator new and delete of the program, so that allocations can be
// counted. To be included by one source of a program. (Every form: sanitizers check that the pairs
// match.)

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace specdec::testing {

inline std::atomic<long> allocations = 0;

inline void* counted(std::size_t size, std::size_t alignment) noexcept {
    ++allocations;
    const std::size_t whole = (size + alignment - 1) / alignment * alignment;
    return std::aligned_alloc(alignment, whole == 0 ? alignment : whole);
}

inline void* counted_or_throw(std::size_t size, std::size_t alignment) {
    if (void* const memory = counted(size, alignment))
        return memory;
    throw std::bad_alloc();
}

inline constexpr std::size_t usual = alignof(std::max_align_t);

} // namespace specdec::testing

#define SPECDEC_COUNTED [[gnu::noinline]]
SPECDEC_COUNTED void* operator new(std::size_t n) {
    return specdec::testing::counted_or_throw(n, specdec::testing::usual);
}
SPECDEC_COUNTED void* operator new[](std::size_t n) {
    return specdec::testing::counted_or_throw(n, specdec::testing::usual);
}
SPECDEC_COUNTED void* operator new(std::size_t n, std::align_val_t a) {
    return specdec::testing::counted_or_throw(n, static_cast<std::size_t>(a));
}
SPECDEC_COUNTED void* operator new[](std::size_t n, std::align_val_t a) {
    return specdec::testing::counted_or_throw(n, static_cast<std::size_t>(a));
}
SPECDEC_COUNTED void* operator new(std::size_t n, const std::nothrow_t&) noexcept {
    return specdec::testing::counted(n, specdec::testing::usual);
}
SPECDEC_COUNTED void* operator new[](std::size_t n, const std::nothrow_t&) noexcept {
    return specdec::testing::counted(n, specdec::testing::usual);
}
SPECDEC_COUNTED void operator delete(void* memory) noexcept {
    std::free(memory);
}
SPECDEC_COUNTED void operator delete[](void* memory) noexcept {
    std::free(memory);
}
SPECDEC_COUNTED void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}
SPECDEC_COUNTED void operator delete[](void* memory, std::size_t) noexcept {
    std::free(memory);
}
SPECDEC_COUNTED void operator delete(void* memory, std::align_val_t) noexcept {
    std::free(memory);
}
SPECDEC_COUNTED void operator delete[](void* memory, std::align_val_t) noexcept {
    std::free(memory);
}
SPECDEC_COUNTED void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
    std::free(memory);
}
SPECDEC_COUNTED void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept {
    std::free(memory);
}
SPECDEC_COUNTED void operator delete(void* memory, const std::nothrow_t&) noexcept {
    std::free(memory);
}
SPECDEC_COUNTED void operator delete[](void* memory, const std::nothrow_t&) noexcept {
    std::free(memory);
}
#undef SPECDEC_COUNTED
