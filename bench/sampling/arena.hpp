// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <new>
#include <random>
#include <span>
#include <string>
#include <vector>

#include <stdlib.h>
#include <sys/mman.h>

#include "question.hpp"

/// What every benchmark of rows shares: memory far larger than the caches, filled with rows as
/// language models give them, and times in plain reads of one row.
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

/// What questions about rows work on.
struct row_scene {
    explicit row_scene(std::size_t vocabulary) : rows(vocabulary) {}

    arena rows;
    std::size_t next = 0;
};

/// Adds a function of a row as two cases: NAME/cold goes from row to row, NAME/warm takes one row
/// again and again. `reads` is the time in that of the question's first function, the plain read.
template <class Scene, class Function>
void add_of_row(question<Scene>& to, const std::string& name, Function run,
                std::size_t calls = 24) {
    const auto all_calls = [run, calls](Scene& scene, std::size_t step) {
        for (std::size_t call = 0; call < calls; ++call, scene.next += step)
            benchmark::DoNotOptimize(run(scene, scene.next % scene.rows.rows()));
        return calls;
    };
    to.add(name + "/cold", [=](Scene& scene) { return all_calls(scene, 1); }).ratios = {
        {"reads", 0}};
    auto& warm = to.add(name + "/warm", [=](Scene& scene) { return all_calls(scene, 0); });
    warm.before = [=](Scene& scene) { (void)all_calls(scene, 0); };
    warm.ratios = {{"reads", 1}};
}

/// The first function of every question about rows.
template <class Scene>
void add_plain_read(question<Scene>& to) {
    add_of_row(to, "plain_read",
               [](Scene& scene, std::size_t r) { return plain_read(scene.rows.target(r)); });
}

} // namespace bench
