// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cmath> // std::abs, std::fma
#include <cstddef>
#include <cstdint>
#include <cstring> // std::memcpy
#include <limits>

#include <specdec_engine/kernel/numbers.hpp>

/// Units of eight matrix tiles, of up to 16 rows of 64 bytes (Intel's AMX: Intel 64 and IA-32
/// Architectures Software Developer's Manual, volume 2, TDPBF16PS). A unit has
///
///     configure(shapes)            rows and bytes a row of each tile; all are zero then
///     zero<T>(), load<T>(from, stride), store<T>(to, stride)    rows `stride` bytes apart
///     dot_bf16<C, A, B>()          C[m][n] += A[m][k] B[k][n], floats, of pairs of BF16
///
/// where B's row k holds the pair of each of its columns side by side.
namespace specdec::engine {

struct tile_shape {
    std::uint8_t rows = 0;
    std::uint16_t bytes = 0; ///< of a row
};
using tile_shapes = std::array<tile_shape, 8>;

/// The arithmetic of such a unit as its documentation says it, in portable code: of dot_bf16 the
/// first values of the pairs are summed, and the second ones, from zero on, in the order of k, each
/// step rounded once (to nearest, ties to even); then both sums are added, and that to C.
/// Subnormal numbers that go in count as zero, and those that come out become zero.
class portable_tiles {
public:
    void configure(const tile_shapes& shapes) {
        shapes_ = shapes;
        std::memset(tiles_, 0, sizeof tiles_);
    }
    template <std::size_t T>
    void zero() {
        std::memset(tiles_[T], 0, sizeof tiles_[T]);
    }
    template <std::size_t T>
    void load(const void* from, std::size_t stride) {
        zero<T>();
        for (std::size_t r = 0; r < shapes_[T].rows; ++r)
            std::memcpy(tiles_[T][r], static_cast<const std::byte*>(from) + r * stride,
                        shapes_[T].bytes);
    }
    template <std::size_t T>
    void store(void* to, std::size_t stride) const {
        for (std::size_t r = 0; r < shapes_[T].rows; ++r)
            std::memcpy(static_cast<std::byte*>(to) + r * stride, tiles_[T][r], shapes_[T].bytes);
    }
    template <std::size_t C, std::size_t A, std::size_t B>
    void dot_bf16() {
        for (std::size_t m = 0; m < shapes_[C].rows; ++m)
            for (std::size_t n = 0; n < shapes_[C].bytes / 4U; ++n) {
                float even = 0.0F, odd = 0.0F;
                for (std::size_t k = 0; k < shapes_[A].bytes / 4U; ++k) {
                    bf16_bits a[2], b[2];
                    std::memcpy(a, tiles_[A][m] + 4 * k, sizeof a);
                    std::memcpy(b, tiles_[B][k] + 4 * n, sizeof b);
                    even = flushed(std::fma(flushed(widen(a[0])), flushed(widen(b[0])), even));
                    odd = flushed(std::fma(flushed(widen(a[1])), flushed(widen(b[1])), odd));
                }
                float c;
                std::memcpy(&c, tiles_[C][m] + 4 * n, sizeof c);
                c = flushed(flushed(c) + flushed(even + odd));
                std::memcpy(tiles_[C][m] + 4 * n, &c, sizeof c);
            }
    }

private:
    static float flushed(float x) {
        return std::abs(x) < std::numeric_limits<float>::min() ? std::copysign(0.0F, x) : x;
    }

    tile_shapes shapes_{};
    std::byte tiles_[8][16][64] = {};
};

#if defined(__x86_64__)

/// The processor's (isa::amx; see detail::tiles_permitted), which has one unit a thread: its state
/// is given back at the end. Instructions are written out, for compilers' functions for them tell
/// nothing of the memory they read and write.
class hardware_tiles {
public:
    hardware_tiles() = default;
    hardware_tiles(const hardware_tiles&) = delete;
    hardware_tiles& operator=(const hardware_tiles&) = delete;
    ~hardware_tiles() { asm volatile("tilerelease"); }

    void configure(const tile_shapes& shapes) {
        struct alignas(64) {
            std::uint8_t palette = 1, start = 0, reserved[14] = {};
            std::uint16_t bytes[16] = {};
            std::uint8_t rows[16] = {};
        } config;
        static_assert(sizeof config == 64);
        for (std::size_t t = 0; t < shapes.size(); ++t) {
            config.bytes[t] = shapes[t].bytes;
            config.rows[t] = shapes[t].rows;
        }
        asm volatile("ldtilecfg %0" : : "m"(config));
    }
    template <std::size_t T>
    void zero() {
        asm volatile("tilezero %%tmm%c0" : : "i"(T));
    }
    template <std::size_t T>
    void load(const void* from, std::size_t stride) {
        asm volatile("tileloadd (%1,%2,1), %%tmm%c0" : : "i"(T), "r"(from), "r"(stride) : "memory");
    }
    template <std::size_t T>
    void store(void* to, std::size_t stride) const {
        asm volatile("tilestored %%tmm%c0, (%1,%2,1)" : : "i"(T), "r"(to), "r"(stride) : "memory");
    }
    template <std::size_t C, std::size_t A, std::size_t B>
    void dot_bf16() {
        asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(C), "i"(A), "i"(B));
    }
};

#endif

} // namespace specdec::engine
