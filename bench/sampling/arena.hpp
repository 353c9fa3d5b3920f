// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <functional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include <stdlib.h>
#include <sys/mman.h>

/// What every bench of rows shares: memory far larger than the caches, filled with rows as language
/// models give them, and a table of times as ratios to a plain read of one row.
namespace bench {

inline double seconds() {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration<double>(now).count();
}

using vector_16 __attribute__((vector_size(64), aligned(4), may_alias)) = float;

#ifdef __x86_64__
#define SPECDEC_BENCH_WIDE __attribute__((target("avx512f"), noinline))
SPECDEC_BENCH_WIDE inline float read_wide(std::span<const float> row) {
    vector_16 sums[8] = {};
    std::size_t i = 0;
    for (; i + 128 <= row.size(); i += 128)
        for (std::size_t k = 0; k < 8; ++k)
            sums[k] += *reinterpret_cast<const vector_16*>(&row[i + 16 * k]);
    for (std::size_t k = 1; k < 8; ++k)
        sums[0] += sums[k];
    float sum = 0;
    for (; i < row.size(); ++i)
        sum += row[i];
    for (std::size_t k = 0; k < 16; ++k)
        sum += sums[0][k];
    return sum;
}
#endif

__attribute__((noinline)) inline float read_portable(std::span<const float> row) {
    float sums[32] = {};
    std::size_t i = 0;
    for (; i + 32 <= row.size(); i += 32)
        for (std::size_t k = 0; k < 32; ++k)
            sums[k] += row[i + k];
    float sum = 0;
    for (; i < row.size(); ++i)
        sum += row[i];
    for (const float s : sums)
        sum += s;
    return sum;
}

/// The fastest plain read of a row this CPU can do: the unit of every ratio.
inline float plain_read(std::span<const float> row) {
#ifdef __x86_64__
    static const bool wide = __builtin_cpu_supports("avx512f");
    if (wide)
        return read_wide(row);
#endif
    return read_portable(row);
}

/// Pairs of rows (target and draft) of `vocabulary` logits that fill 2 * 160 MiB of huge pages.
/// Target logits are normal(0, 2.5) with six peaks, draft logits the target's with noise.
class arena {
public:
    explicit arena(std::size_t vocabulary) : vocabulary_(vocabulary), rows_(half / vocabulary) {
        void* memory = nullptr;
        if (posix_memalign(&memory, std::size_t{2} << 20, 2 * half * sizeof(float)) != 0)
            throw std::bad_alloc();
        madvise(memory, 2 * half * sizeof(float), MADV_HUGEPAGE);
        data_ = static_cast<float*>(memory);
        std::mt19937 random(1);
        std::normal_distribution<float> normal;
        std::vector<float> bulk(1 << 20), noise(1 << 20);
        for (std::size_t i = 0; i < bulk.size(); ++i) {
            bulk[i] = 2.5F * normal(random);
            noise[i] = 0.6F * normal(random);
        }
        for (std::size_t r = 0; r < rows_; ++r) {
            float* target = data_ + r * vocabulary_;
            const std::size_t shift = random();
            for (std::size_t i = 0; i < vocabulary_; ++i)
                target[i] = bulk[(i + shift) % bulk.size()];
            for (int peak = 0; peak < 6; ++peak)
                target[random() % vocabulary_] = 11 + 1.5F * normal(random);
            for (std::size_t i = 0; i < vocabulary_; ++i)
                data_[half + r * vocabulary_ + i] =
                    target[i] + noise[(i + 7 * shift) % noise.size()];
        }
    }
    ~arena() { free(data_); }
    arena(const arena&) = delete;
    arena& operator=(const arena&) = delete;

    std::size_t rows() const { return rows_; }
    std::span<const float> target(std::size_t r) const {
        return {data_ + r * vocabulary_, vocabulary_};
    }
    std::span<const float> draft(std::size_t r) const {
        return {data_ + half + r * vocabulary_, vocabulary_};
    }

private:
    static constexpr std::size_t half = std::size_t{40} << 20;
    std::size_t vocabulary_;
    std::size_t rows_;
    float* data_ = nullptr;
};

/// Times functions of a row, warm (one row again and again) and cold (row after row), each the
/// minimum of 11 repetitions that take turns, and prints them as ratios to the first function
/// added.
class table {
public:
    explicit table(std::size_t rows) : rows_(rows) {}

    void add(const std::string& name, std::function<double(std::size_t row)> run,
             std::size_t calls = 24) {
        lines_.push_back({name, std::move(run), calls, 1e9, 1e9});
    }

    void print(const char* title) {
        for (int repetition = 0; repetition < 11; ++repetition)
            for (timed& l : lines_) {
                l.cold = std::min(l.cold, time(l, [&] { return next_++ % rows_; }));
                (void)time(l, [&] { return next_; });
                l.warm = std::min(l.warm, time(l, [&] { return next_ % rows_; }));
            }
        std::printf("%s\n%-34s %10s %8s %10s %8s\n", title, "", "warm us", "x read", "cold us",
                    "x read");
        for (const timed& l : lines_)
            std::printf("%-34s %10.1f %8.2f %10.1f %8.2f\n", l.name.c_str(), l.warm * 1e6,
                        l.warm / lines_[0].warm, l.cold * 1e6, l.cold / lines_[0].cold);
        std::printf("\n");
    }

    double cold(std::size_t line) const { return lines_[line].cold; }

private:
    struct timed {
        std::string name;
        std::function<double(std::size_t)> run;
        std::size_t calls;
        double warm, cold;
    };

    template <class Next>
    double time(const timed& l, Next next) {
        const double start = seconds();
        for (std::size_t call = 0; call < l.calls; ++call)
            sink_ = sink_ + l.run(next() % rows_);
        return (seconds() - start) / static_cast<double>(l.calls);
    }

    std::size_t rows_;
    std::size_t next_ = 0;
    std::vector<timed> lines_;
    volatile double sink_ = 0;
};

} // namespace bench
