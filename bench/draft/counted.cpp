// SPDX-License-Identifier: MIT
// What counts of texts cost: a token that is learnt, and a row of 49,152 logits that is mixed, in
// which all of the copy, the sum and two lookups are.
#include <cstddef>
#include <span>
#include <vector>

#include <benchmark/benchmark.h>

#include <specdec/draft/counted/cache_mixture_model.hpp>

namespace {

using namespace specdec;

/// The same row behind every context.
struct one_row {
    std::vector<float> row = std::vector<float>(49152);
    std::size_t held = 0;

    one_row() {
        for (std::size_t i = 0; i < row.size(); ++i)
            row[i] = static_cast<float>(i * 7919 % 1000) / 100;
    }
    [[nodiscard]] std::size_t size() const { return held; }
    [[nodiscard]] std::size_t capacity() const { return 4096; }
    [[nodiscard]] std::size_t vocabulary_size() const { return row.size(); }
    void append(std::span<const draft_id> ids) { held += ids.size(); }
    void truncate(std::size_t n) { held = n; }
    [[nodiscard]] logits_rows<draft_id> score(std::span<const draft_id>) {
        ++held;
        return {row.data(), 1, row.size(), row.size()};
    }
};

std::vector<draft_id> text_of(std::size_t n) {
    std::vector<draft_id> text;
    for (std::size_t i = 0; i < n; ++i)
        text.push_back(id_at<draft_id>(i * i % 977)); // again and again, behind any order
    return text;
}

void learn(benchmark::State& state) {
    successor_counts counts;
    const std::vector<draft_id> text = text_of(4096);
    std::size_t at = 8;
    for (auto _ : state) {
        counts.learn(std::span(text).first(at), text[at]);
        at = at + 1 < text.size() ? at + 1 : 8;
    }
}
BENCHMARK(learn);

void row(benchmark::State& state) {
    one_row model;
    successor_counts said;
    cache_mixture_model counted(model, {.shared = &said});
    const std::vector<draft_id> text = text_of(3000);
    counted.begin_draft_round(text.size());
    counted.append(text);
    for (auto _ : state) {
        counted.truncate(text.size() - 1);
        benchmark::DoNotOptimize(counted.score(std::span(text).last(1)));
    }
}
BENCHMARK(row)->Unit(benchmark::kMicrosecond);

} // namespace
