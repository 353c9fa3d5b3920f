// SPDX-License-Identifier: MIT
// Question: what does the n-gram cache cost a draft token while a draft is scanned, and what does
// learning cost, at 20,000 n-grams?  bench_vocab [--ngrams N]
//   scan     random drafts back to back: the cache in the processor's caches, as far as it fits
//   4_MB     of reading before every draft of 8 tokens;  128_MB: as a model's
//   insert   a new n-gram that evicts one;  use: an accepted merge
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "question.hpp"
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

/// Drafts of two kinds: tokens as unequal as in text, and any of the vocabulary.
ids drafts_of(bool as_text) {
    ids all(drafts * draft_length);
    for (draft_id& d : all)
        d = as_text ? token() : draft_id{static_cast<std::int32_t>(bits() % 32000)};
    return all;
}

template <class Eviction>
struct scene {
    ngram_cache<Eviction> cache, changing;
    ids text;
    std::vector<ids> news = std::vector<ids>(drafts), held;
    std::vector<std::uint64_t> other; ///< what else is read
    std::size_t next = 0;

    scene(std::size_t size, bool as_text)
        : cache({.capacity = size}), changing(cache), text(drafts_of(as_text)) {
        while (cache.size() < size)
            cache.insert(ngram(), target_id{1});
        for (ids& d : news)
            d = ngram();
        cache.for_each([this](std::span<const draft_id> d, target_id, std::uint32_t) {
            held.emplace_back(d.begin(), d.end());
        });
        std::shuffle(held.begin(), held.end(), bits);
        held.resize(std::min(held.size(), drafts));
    }
    std::size_t scan_next() {
        next = (next + 1) % drafts;
        benchmark::DoNotOptimize(
            scan(cache, std::span(text).subspan(next * draft_length, draft_length)));
        return draft_length;
    }
};

template <class Eviction>
void add_questions(std::size_t size, bool as_text) {
    using scene = ::scene<Eviction>;
    const std::string name = "ngram_cache/ngrams:" + std::to_string(size) + "/" +
                             std::string(Eviction::name) +
                             (as_text ? "/drafts_as_text/" : "/any_drafts/");
    bench::question<scene> cached(
        name + "cached", {.repetitions = 9, .unit = benchmark::kNanosecond}, size, as_text);
    cached.add("scan", [](scene& s) {
        for (std::size_t i = 0; i < drafts; ++i)
            s.scan_next();
        return drafts * draft_length;
    });
    const auto change = [](scene& s) { s.changing = s.cache; };
    cached
        .add("use",
             [](scene& s) {
                 for (const ids& d : s.held)
                     s.changing.use(d);
                 return s.held.size();
             })
        .before = change;
    cached
        .add("insert",
             [](scene& s) {
                 for (const ids& d : s.news)
                     s.changing.insert(d, target_id{1});
                 return s.news.size();
             })
        .before = change;
    cached.count([](scene& s, std::size_t, const auto&) -> benchmark::UserCounters {
        return {{"bytes_per_ngram",
                 static_cast<double>(s.cache.memory()) / static_cast<double>(s.cache.size())}};
    });

    // One draft at a time, between other work; the median, for a host that has other guests.
    bench::question<scene> between(
        name + "after_reading",
        {.repetitions = 300, .unit = benchmark::kNanosecond, .reported = bench::statistic::median},
        size, as_text);
    for (const std::size_t megabytes : {4U, 128U})
        between.add(std::to_string(megabytes) + "_MB", [](scene& s) { return s.scan_next(); })
            .before = [megabytes](scene& s) {
            s.other.resize(128U << 17, 1);
            const auto begin = s.other.begin();
            benchmark::DoNotOptimize(std::accumulate(
                begin, begin + static_cast<std::ptrdiff_t>(megabytes << 17), std::uint64_t{0}));
        };
}

const bench::registration here([] {
    const std::size_t size = bench::command_line().number("--ngrams", 20000);
    add_questions<no_eviction>(size, true);
    add_questions<lru>(size, true);
    add_questions<lfu>(size, true);
    add_questions<lfu>(size, false);
});

} // namespace
