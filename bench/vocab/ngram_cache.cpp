// SPDX-License-Identifier: MIT
// Question: what does the n-gram cache cost a draft token while a draft is scanned, and what does
// learning cost, at 20,000 n-grams?  bench_vocab_ngram_cache [N-GRAMS]
//   warm     random drafts back to back: the cache in the processor's caches, as far as it fits
//   L2 cold  4 MB of reading before every draft of 8 tokens;  cold: 128 MB, as a model's
//   insert   a new n-gram that evicts one;  use: an accepted merge
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <span>
#include <vector>

#include "take_turns.hpp"
#include <specdec/vocab/ngrams/ngram_cache.hpp>

namespace {

using namespace specdec;
using ids = std::vector<draft_id>;

std::mt19937_64 bits(1);

double uniform() {
    return static_cast<double>(bits() >> 11) * 0x1p-53;
}
/// Tokens as unequal as words are, of a vocabulary of 32,000.
draft_id token() {
    return draft_id{static_cast<std::int32_t>(std::pow(32000.0, uniform()))};
}
/// 2 to 8 tokens, 2.5 on average.
ids ngram() {
    ids d{token(), token()};
    while (d.size() < 8 && uniform() < 1 / 3.0)
        d.push_back(token());
    return d;
}

/// As a merging bridge scans: the longest match at every place. Returns the tokens merged.
template <class Cache>
std::size_t scan(const Cache& cache, std::span<const draft_id> draft) {
    std::size_t merged = 0;
    for (std::size_t i = 0; i < draft.size();) {
        std::size_t longest = 1;
        auto at = cache.root();
        for (std::size_t k = i; k < draft.size(); ++k) {
            at = cache.step(at, draft[k]);
            if (at == Cache::node::none)
                break;
            if (cache.target(at).valid())
                longest = k + 1 - i;
        }
        merged += longest > 1 ? longest : 0;
        i += longest;
    }
    return merged;
}

constexpr std::size_t draft_length = 8, drafts = 4096;

template <class Eviction>
void measure(std::size_t size, const ids& text, const char* kind) {
    ngram_cache<Eviction> cache({.capacity = size});
    while (cache.size() < size)
        cache.insert(ngram(), target_id{1});
    const double memory = static_cast<double>(cache.memory()) / static_cast<double>(size);
    std::vector<ids> news(drafts), held;
    for (ids& d : news)
        d = ngram();
    cache.for_each([&held](std::span<const draft_id> d, target_id, std::uint32_t) {
        held.emplace_back(d.begin(), d.end());
    });
    std::shuffle(held.begin(), held.end(), bits);
    held.resize(std::min(held.size(), drafts));

    volatile std::size_t sink = 0;
    auto changing = cache;
    const auto each_draft = [&](const auto& f) {
        for (std::size_t i = 0; i < drafts; ++i)
            f(std::span(text).subspan(i * draft_length, draft_length));
    };
    std::vector<bench::timed_case> cases;
    cases.push_back({"warm", [&] { each_draft([&](auto d) { sink = sink + scan(cache, d); }); }});
    cases.push_back({"copy", [&] { changing = cache; }});
    cases.push_back({"use", [&] {
                         changing = cache;
                         for (const ids& d : held)
                             changing.use(d);
                     }});
    cases.push_back({"insert", [&] {
                         changing = cache;
                         for (const ids& d : news)
                             changing.insert(d, target_id{1});
                     }});
    bench::take_turns(cases, 9);

    // One draft at a time, between other work; the median, for a host that has other guests.
    const auto behind = [&](std::size_t megabytes) {
        const std::vector<std::uint64_t> other(megabytes << 17, 1);
        std::vector<double> seconds;
        for (std::size_t i = 0; i < 300; ++i) {
            std::uint64_t sum = 0;
            for (const std::uint64_t word : other)
                sum += word;
            sink = sink + static_cast<std::size_t>(sum);
            const auto begin = std::chrono::steady_clock::now();
            sink = sink + scan(cache, std::span(text).subspan(i * draft_length, draft_length));
            const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
            seconds.push_back(took.count() / draft_length);
        }
        std::nth_element(seconds.begin(), seconds.begin() + 150, seconds.end());
        return 1e9 * seconds[150];
    };
    const double behind_4 = behind(4), behind_128 = behind(128);

    const double n = drafts;
    std::printf("%-5s %-8s %10.1f %10.1f %10.1f %12.1f %12.1f %14.1f\n", Eviction::name.data(),
                kind, 1e9 * cases[0].seconds / (n * draft_length), behind_4, behind_128,
                1e9 * (cases[2].seconds - cases[1].seconds) / static_cast<double>(held.size()),
                1e9 * (cases[3].seconds - cases[1].seconds) / n, memory);
}

} // namespace

int main(int argc, char** argv) {
    const std::size_t size =
        argc > 1 ? static_cast<std::size_t>(std::strtoul(argv[1], nullptr, 10)) : 20000;
    // Drafts of two kinds: tokens as unequal as in text, and any of the vocabulary.
    ids likely(drafts * draft_length), any(drafts * draft_length);
    for (draft_id& d : likely)
        d = token();
    for (draft_id& d : any)
        d = draft_id{static_cast<std::int32_t>(bits() % 32000)};
    std::printf(
        "%zu n-grams; ns a draft token: warm, L2 cold, cold; ns: use, insert; bytes an n-gram\n",
        size);
    std::printf("%-5s %-8s %10s %10s %10s %12s %12s %14s\n", "", "drafts", "warm", "L2 cold",
                "cold", "use", "insert", "bytes");
    measure<no_eviction>(size, likely, "as text");
    measure<lru>(size, likely, "as text");
    measure<lfu>(size, likely, "as text");
    measure<lfu>(size, any, "any");
}
