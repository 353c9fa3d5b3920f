// SPDX-License-Identifier: MIT
// What an n-gram costs, and what is lost when memory runs out: nothing.
#include <specdec/vocab/ngrams/ngram_cache.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

#include <specdec/vocab/ngrams/ngram_cache_bytes.hpp>
#include <specdec/vocab/table/vocabulary.hpp>
#include <support/failing_allocations.hpp>
#include <support/vocab_tsv.hpp>

namespace ngram_cache_allocation_tests {

using namespace specdec;
using ids = std::vector<draft_id>;

/// n-grams of 2 to 8 draft tokens, 2.5 on average, tokens and beginnings as unequal as words are.
std::vector<ids> made_up(std::size_t count) {
    std::mt19937_64 bits(1);
    const auto uniform = [&bits] { return static_cast<double>(bits() >> 11) * 0x1p-53; };
    std::vector<ids> ngrams(count);
    for (ids& d : ngrams) {
        do
            d.emplace_back(static_cast<std::int32_t>(std::pow(32000.0, uniform())));
        while (d.size() < 2 || (d.size() < 8 && uniform() < 1 / 3.0));
    }
    return ngrams;
}

/// The spellings of target tokens that the drafter lacks, by longest match; random ones of these.
std::vector<ids> of_pair(const vocabulary& draft, const vocabulary& target, std::size_t count) {
    std::unordered_map<std::string_view, draft_id> pieces;
    std::size_t longest = 0;
    for (std::size_t i = 0; i < draft.size(); ++i)
        if (!draft.text(i).empty()) {
            pieces.emplace(draft.text(i), id_at<draft_id>(i));
            longest = std::max(longest, draft.text(i).size());
        }
    std::mt19937_64 bits(1);
    std::vector<ids> ngrams;
    while (ngrams.size() < count) {
        std::string_view rest = target.text(bits() % target.size());
        ids d;
        while (!rest.empty()) {
            std::size_t n = std::min(longest, rest.size());
            while (n > 0 && !pieces.contains(rest.substr(0, n)))
                --n;
            if (n == 0)
                break;
            d.push_back(pieces.at(rest.substr(0, n)));
            rest.remove_prefix(n);
        }
        if (rest.empty() && d.size() >= 2 && d.size() <= 8)
            ngrams.push_back(d);
    }
    return ngrams;
}

template <class Eviction>
void check_memory(const std::vector<ids>& ngrams, int wanted = 20000) {
    const long before = testing::bytes_held;
    std::optional<ngram_cache<Eviction>> cache(std::in_place);
    std::size_t tokens = 0;
    for (const ids& d : ngrams) {
        if (cache->size() == static_cast<std::size_t>(wanted))
            break;
        if (cache->insert(d, target_id{1}) == ngram_insertion::inserted)
            tokens += d.size();
    }
    const long held = testing::bytes_held - before; // read before Catch allocates
    const std::size_t size = cache->size(), told = cache->memory();
    cache.reset();
    const long left = testing::bytes_held - before;

    REQUIRE(size == static_cast<std::size_t>(wanted));
    const double bytes_each = static_cast<double>(held + long{sizeof *cache}) / wanted;
    INFO(Eviction::name << ": " << static_cast<double>(tokens) / wanted << " tokens and "
                        << bytes_each << " bytes an n-gram");
    CHECK(bytes_each <= 96);
    CHECK(static_cast<std::size_t>(held) >= told);
    CHECK(static_cast<std::size_t>(held) <= told + 4 * 4096); // malloc rounds up to pages
    CHECK(left == 0);
}

template <class Eviction>
std::string state(const ngram_cache<Eviction>& cache) {
    return ngram_cache_codec::write(cache);
}

TEST_CASE("n-gram cache: at most 96 bytes an n-gram at 20,000 n-grams") {
    const std::vector<ids> ngrams = made_up(60000);
    check_memory<no_eviction>(ngrams);
    check_memory<lru>(ngrams);
    check_memory<lfu>(ngrams);
}

TEST_CASE("n-gram cache: at most 96 bytes an n-gram of 4,000 real ones") {
    const std::vector<ids> ngrams = of_pair(test::read_vocabulary("stories512"),
                                            test::read_vocabulary("mistral_v1_part"), 40000);
    check_memory<no_eviction>(ngrams, 4000);
    check_memory<lru>(ngrams, 4000);
    check_memory<lfu>(ngrams, 4000);
}

TEST_CASE("n-gram cache: at most 96 bytes an n-gram of a real pair", "[shared]") {
    if (!test::has_vocabularies())
        return;
    const vocabulary draft = test::read_vocabulary("llama2");
    for (const char* name : {"llama3", "qwen2"}) {
        const std::vector<ids> ngrams = of_pair(draft, test::read_vocabulary(name), 40000);
        check_memory<no_eviction>(ngrams);
        check_memory<lru>(ngrams);
        check_memory<lfu>(ngrams);
    }
}

TEMPLATE_TEST_CASE("n-gram cache: a failing allocation loses nothing and changes nothing", "",
                   no_eviction, lru, lfu) {
    std::vector<ids> ngrams = made_up(400);
    std::stable_sort(ngrams.begin(), ngrams.end(), [](const ids& a, const ids& b) {
        return a.size() < b.size(); // so that the trie grows when the cache is full, too
    });
    for (const std::size_t capacity : {150U, 1000U}) {
        ngram_cache<TestType> cache({.capacity = capacity}), untroubled({.capacity = capacity});
        int failures = 0;
        for (std::size_t i = 0; i < ngrams.size(); ++i) {
            const std::string before = state(cache);
            failures += testing::fail_every_allocation(
                [&] { cache.insert(ngrams[i], id_at<target_id>(i)); },
                [&] {
                    REQUIRE(state(cache) == before);
                    for (const ids& d : ngrams)
                        REQUIRE(cache.find(d) == untroubled.find(d));
                });
            untroubled.insert(ngrams[i], id_at<target_id>(i));
            if (i % 3 == 0) {
                CHECK(testing::fail_every_allocation([&] { cache.use(ngrams[i / 2]); }, [] {}) ==
                      0);
                untroubled.use(ngrams[i / 2]);
            }
            REQUIRE(state(cache) == state(untroubled));
        }
        CHECK(failures > 20);
    }
}

TEST_CASE("n-gram cache: looking up, using and evicting allocate nothing") {
    const std::vector<ids> ngrams = made_up(3000);
    ngram_cache<lfu> cache({.capacity = 300});
    for (const ids& d : ngrams)
        cache.insert(d, target_id{1});
    const auto nothing_fails = [](auto&& work) {
        CHECK(testing::fail_every_allocation(work, [] {}) == 0);
    };
    nothing_fails([&] {
        std::size_t n = 0;
        cache.for_each([&](auto, auto, auto) { ++n; });
        cache.for_each_child(cache.root(), [&](auto, auto) { ++n; });
        for (const ids& d : ngrams)
            n += std::size_t{cache.find(d).valid() && cache.use(d)};
    });
    nothing_fails([&] { cache.set_capacity(10); });
    nothing_fails([&] { cache.clear(); });
}

TEST_CASE("saved n-gram caches: memory that runs out while reading or writing") {
    ngram_cache<lfu> cache;
    for (const ids& d : made_up(200))
        cache.insert(d, target_id{1});
    const std::string bytes = state(cache);
    std::string written;
    CHECK(testing::fail_every_allocation([&] { written = state(cache); }, [] {}) > 2);
    CHECK(written == bytes);
    const std::string source = "s";
    ngram_cache<lfu> other;
    other.insert(std::vector{draft_id{1}, draft_id{2}}, target_id{3});
    const std::string before = state(other);
    const int failures = testing::fail_every_allocation(
        [&] { other = ngram_cache_codec::read<lfu>(bytes, source, {}); },
        [&] { REQUIRE(state(other) == before); });
    CHECK(failures > 2);
    CHECK(state(other) == bytes);
}

} // namespace ngram_cache_allocation_tests
