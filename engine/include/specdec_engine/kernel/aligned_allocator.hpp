// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <new>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h> // madvise
#endif

namespace specdec::engine {

/// Memory in whole cache lines, so that no vector load straddles two; large blocks ask for huge
/// pages, without which walking 269 MB of weights misses the TLB every 4 KB.
template <class T>
struct aligned_allocator {
    using value_type = T;
    static constexpr std::size_t line = 64;
    static constexpr std::size_t huge_page = std::size_t{2} << 20;

    aligned_allocator() = default;
    template <class U>
    constexpr aligned_allocator(const aligned_allocator<U>&) noexcept {}

    [[nodiscard]] T* allocate(std::size_t n) {
        if (n > static_cast<std::size_t>(-1) / 2 / sizeof(T))
            throw std::bad_array_new_length();
        void* memory = ::operator new(n * sizeof(T), alignment(n));
#if defined(__linux__)
        if (n * sizeof(T) >= huge_page)
            ::madvise(memory, n * sizeof(T), MADV_HUGEPAGE); // a hint
#endif
        return static_cast<T*>(memory);
    }
    void deallocate(T* memory, std::size_t n) noexcept { ::operator delete(memory, alignment(n)); }

    template <class U>
    friend bool operator==(const aligned_allocator&, const aligned_allocator<U>&) {
        return true;
    }

private:
    static std::align_val_t alignment(std::size_t n) {
        return std::align_val_t{n * sizeof(T) >= huge_page ? huge_page : line};
    }
};

template <class T>
using aligned_vector = std::vector<T, aligned_allocator<T>>;

} // namespace specdec::engine
