// SPDX-License-Identifier: MIT
#include <specdec/vocab/ngrams/ngram_cache.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <specdec/core/error.hpp>

#include "support/holds.hpp"

namespace ngram_cache_tests {

using namespace specdec;
using ids = std::vector<draft_id>;

ids of(const std::vector<std::int32_t>& values) {
    ids result;
    for (const std::int32_t v : values)
        result.emplace_back(v);
    return result;
}

template <class Cache>
std::vector<std::string> listed(const Cache& cache) {
    std::vector<std::string> lines;
    cache.for_each([&](std::span<const draft_id> d, target_id t, std::uint32_t frequency) {
        std::string line;
        for (const draft_id id : d)
            line += std::to_string(id.value) + " ";
        lines.push_back(line + "> " + std::to_string(t.value) + " x" + std::to_string(frequency));
    });
    return lines;
}

using lines = std::vector<std::string>;

TEST_CASE("n-gram cache: nested n-grams on one path are told apart while scanning") {
    ngram_cache cache;
    using node = decltype(cache)::node;
    CHECK(cache.step(cache.root(), draft_id{1}) == node::none);
    CHECK(cache.longest() == 0);
    CHECK(cache.insert(of({1, 2}), target_id{10}) == ngram_insertion::inserted);
    CHECK(cache.insert(of({1, 2, 3, 4}), target_id{20}) == ngram_insertion::inserted);
    CHECK(cache.insert(of({1, 2, 9}), target_id{30}) == ngram_insertion::inserted);
    CHECK(cache.insert(of({2, 1}), target_id{10}) == ngram_insertion::inserted);
    CHECK(cache.size() == 4);
    CHECK(cache.longest() == 4);

    std::vector<std::int32_t> targets;
    node at = cache.root();
    for (const std::int32_t d : {1, 2, 3, 4}) {
        at = cache.step(at, draft_id{d});
        REQUIRE(at != node::none);
        targets.push_back(cache.target(at).value);
    }
    CHECK(targets == std::vector<std::int32_t>{-1, 10, -1, 20});
    CHECK(cache.step(at, draft_id{5}) == node::none);
    CHECK(!cache.target(cache.root()).valid());

    CHECK(cache.find(of({1, 2, 9})) == target_id{30});
    CHECK(!cache.find(of({1, 2, 3})).valid());
    CHECK(!cache.find(of({9})).valid());
    CHECK(!cache.find({}).valid());

    std::vector<std::int32_t> children;
    const node two = cache.step(cache.step(cache.root(), draft_id{1}), draft_id{2});
    cache.for_each_child(two, [&](draft_id d, node child) {
        children.push_back(d.value);
        CHECK(child == cache.step(two, d));
    });
    CHECK(children == std::vector<std::int32_t>{3, 9});
    CHECK(listed(cache) == lines{"1 2 > 10 x1", "1 2 3 4 > 20 x1", "1 2 9 > 30 x1", "2 1 > 10 x1"});
}

TEST_CASE("n-gram cache: what insert says, and what it leaves as it was") {
    ngram_cache<no_eviction> cache({.capacity = 2, .longest = 3});
    CHECK(cache.insert({}, target_id{1}) == ngram_insertion::unfit);
    CHECK(cache.insert(of({1}), target_id{1}) == ngram_insertion::unfit);
    CHECK(cache.insert(of({1, 2, 3, 4}), target_id{1}) == ngram_insertion::unfit);
    CHECK(cache.insert(of({1, 2, 3}), target_id{1}) == ngram_insertion::inserted);
    CHECK(cache.insert(of({1, 2, 3}), target_id{1}) == ngram_insertion::known);
    CHECK(cache.insert(of({1, 2, 3}), target_id{2}) == ngram_insertion::conflict);
    CHECK(cache.insert(of({1, 2}), target_id{2}) == ngram_insertion::inserted);
    CHECK(cache.insert(of({2, 1}), target_id{2}) == ngram_insertion::full);
    CHECK(listed(cache) == lines{"1 2 > 2 x1", "1 2 3 > 1 x2"});
    CHECK(cache.counts().inserts == 2);
    CHECK(cache.counts().hits == 0);
    CHECK(cache.counts().evictions == 0);
    CHECK(cache.frequency(of({1, 2, 3})) == 2);
    CHECK(cache.frequency(of({1, 2, 4})) == 0);
    static_assert(noexcept(cache.use({})));

    ngram_cache<lru> nothing({.capacity = 0});
    CHECK(nothing.insert(of({1, 2}), target_id{1}) == ngram_insertion::full);
    CHECK_THROWS_WITH(ngram_cache<lru>({.longest = 1}), "n-gram cache: longest: expected 2 to 64");
    CHECK_THROWS_WITH(ngram_cache<lru>({.longest = 65}), "n-gram cache: longest: expected 2 to 64");
    CHECK_THROWS_AS(ngram_cache<lru>({.capacity = 0xffffffffu}), error);
}

TEST_CASE("n-gram cache: a capacity made smaller evicts what is too much") {
    ngram_cache<lfu> cache;
    for (std::int32_t i = 0; i < 8; ++i)
        for (std::int32_t k = 0; k <= i; ++k)
            cache.insert(of({i, i}), target_id{i});
    cache.set_capacity(2);
    CHECK(listed(cache) == lines{"6 6 > 6 x7", "7 7 > 7 x8"});
    CHECK(cache.counts().evictions == 6);
    cache.insert(of({1, 2, 3}), target_id{9});
    CHECK(cache.size() == 2);

    ngram_cache<no_eviction> keeps;
    keeps.insert(of({1, 2}), target_id{9});
    keeps.set_capacity(0);
    CHECK(keeps.size() == 1);
    CHECK(keeps.capacity() == 1);
}

TEST_CASE("n-gram cache: clear() forgets all but the settings") {
    ngram_cache<lfu> cache({.capacity = 5, .longest = 4, .draft_fingerprint = 7});
    const auto fill = [&cache] {
        for (std::int32_t i = 0; i < 20; ++i)
            cache.insert(of({i % 3, i % 7, i % 4}), target_id{i % 7});
        cache.use(of({0, 5, 3}));
        cache.count_tokens(100);
    };
    fill();
    const lines before = listed(cache);
    cache.clear();
    CHECK(cache.size() == 0);
    CHECK(cache.longest() == 0);
    CHECK(listed(cache).empty());
    CHECK(!cache.find(of({1, 1, 1})).valid());
    CHECK(cache.counts().inserts + cache.counts().evictions + cache.counts().tokens == 0);
    CHECK(cache.settings().draft_fingerprint == 7);
    CHECK(cache.capacity() == 5);
    fill();
    CHECK(listed(cache) == before);
}

/// The cache by search in a std::map.
class naive_cache {
public:
    struct entry {
        std::int32_t target;
        std::uint32_t frequency;
        std::size_t time;
    };
    naive_cache(std::size_t capacity, std::size_t longest, bool evicts, bool by_frequency)
        : capacity_(capacity), longest_(longest), evicts_(evicts), by_frequency_(by_frequency) {}

    ngram_insertion insert(const ids& d, target_id t) {
        if (d.size() < 2 || d.size() > longest_)
            return ngram_insertion::unfit;
        if (const auto found = held.find(d); found != held.end()) {
            if (found->second.target != t.value)
                return ngram_insertion::conflict;
            touch(found->second);
            return ngram_insertion::known;
        }
        if (held.size() >= capacity_) {
            if (!evicts_)
                return ngram_insertion::full;
            held.erase(std::min_element(held.begin(), held.end(), [this](auto& a, auto& b) {
                const entry &x = a.second, &y = b.second;
                if (by_frequency_ && x.frequency != y.frequency)
                    return x.frequency < y.frequency;
                return x.time < y.time;
            }));
            ++evictions;
        }
        held[d] = {t.value, 1, ++now_};
        ++inserts;
        return ngram_insertion::inserted;
    }
    bool use(const ids& d) {
        const auto found = held.find(d);
        if (found == held.end())
            return false;
        touch(found->second);
        ++hits;
        return true;
    }

    std::map<ids, entry> held;
    std::size_t hits = 0, inserts = 0, evictions = 0;

private:
    void touch(entry& e) {
        ++e.frequency;
        e.time = ++now_;
    }
    std::size_t capacity_, longest_;
    bool evicts_, by_frequency_;
    std::size_t now_ = 0;
};

/// Every node leads somewhere: nothing of what was evicted is left in the trie.
template <class Cache>
bool all_lead_somewhere(const Cache& cache, typename Cache::node at) {
    bool leaf = true, below = true;
    cache.for_each_child(at, [&](draft_id, typename Cache::node child) {
        leaf = false;
        below = below && all_lead_somewhere(cache, child);
    });
    return below && (at == cache.root() || !leaf || cache.target(at).valid());
}

TEMPLATE_TEST_CASE("n-gram cache: does what a naive one does, whatever the use", "", no_eviction,
                   lru, lfu) {
    std::size_t evictions = 0;
    // Three letters: n-grams nest and share beginnings all the time. A third is asked for, the rest
    // inserted, an eighth of it with another target token.
    const auto uses = up_to(600, rc::gen::pair(up_to(6, any_in(0, 2)), any_in(0, 11)));
    const auto follow = [&](std::size_t capacity, const auto& drawn) {
        ngram_cache<TestType> cache({.capacity = capacity, .longest = 5});
        naive_cache naive(capacity, 5, TestType::evicts, TestType::by_frequency);
        for (const auto& [letters, what] : drawn) {
            ids d;
            for (const std::size_t letter : letters)
                d.push_back(id_at<draft_id>(letter));
            if (what > 3) {
                const target_id t{what == 4 ? 1 : 0};
                RC_ASSERT(cache.insert(d, t) == naive.insert(d, t));
            } else {
                RC_ASSERT(cache.use(d) == naive.use(d));
            }
            RC_ASSERT(cache.size() == naive.held.size());
            const auto found = naive.held.find(d);
            const bool holds = found != naive.held.end();
            RC_ASSERT(cache.find(d).value == (holds ? found->second.target : -1));
            RC_ASSERT(cache.frequency(d) == (holds ? found->second.frequency : 0U));
            std::size_t longest = 0, seen = 0;
            cache.for_each([&](std::span<const draft_id> n, target_id t, std::uint32_t f) {
                const auto at = naive.held.find(ids(n.begin(), n.end()));
                seen += at != naive.held.end() && at->second.target == t.value &&
                        at->second.frequency == f;
                longest = std::max(longest, n.size());
            });
            RC_ASSERT(seen == cache.size());
            RC_ASSERT(longest == cache.longest());
        }
        RC_ASSERT(cache.counts().hits == naive.hits);
        RC_ASSERT(cache.counts().inserts == naive.inserts);
        RC_ASSERT(cache.counts().evictions == naive.evictions);
        RC_ASSERT(all_lead_somewhere(cache, cache.root()));
        evictions += naive.evictions;
    };
    for (const std::size_t capacity : {1U, 3U, 12U, 60U})
        testing::require_holds([&] { follow(capacity, *uses); }, {.cases = 60});
    CHECK((evictions > 4000) == TestType::evicts);
}

TEST_CASE("n-gram cache: any number of threads may read it") {
    ngram_cache<lfu> filled;
    for (std::int32_t i = 0; i < 500; ++i)
        filled.insert(of({i % 50, i, i % 3}), target_id{i});
    const ngram_cache<lfu>& cache = filled;
    std::vector<std::size_t> found(4, 0);
    std::vector<std::thread> readers;
    for (std::size_t& n : found)
        readers.emplace_back([&cache, &n] {
            for (std::int32_t i = 0; i < 500; ++i)
                n += static_cast<std::size_t>(cache.find(of({i % 50, i, i % 3})).value == i);
            cache.for_each([&n](auto, auto, std::uint32_t frequency) { n += frequency; });
            n += cache.longest();
        });
    for (std::thread& reader : readers)
        reader.join();
    CHECK(found == std::vector<std::size_t>(4, 1003));
}

TEST_CASE("n-gram cache: a copy is a cache of its own") {
    ngram_cache<lfu> cache({.capacity = 4});
    for (std::int32_t i = 0; i < 6; ++i)
        cache.insert(of({i, 1, i}), target_id{i});
    ngram_cache<lfu> copy = cache;
    const lines before = listed(cache);
    copy.insert(of({9, 9}), target_id{9});
    copy.insert(of({9, 9, 9}), target_id{9});
    CHECK(listed(cache) == before);
    CHECK(copy.size() == 4);
    cache.insert(of({9, 9}), target_id{9});
    cache.insert(of({9, 9, 9}), target_id{9});
    CHECK(listed(cache) == listed(copy));
    const ngram_cache<lfu> moved = std::move(copy);
    CHECK(listed(moved) == listed(cache));

    // One that keeps the memory of what it held before.
    const auto fill = [](ngram_cache<lfu>& c) {
        for (std::int32_t i = 0; i < 3000; ++i)
            c.insert(of({i, i + 1, i + 2}), target_id{i});
    };
    ngram_cache<lfu> large, small;
    fill(large);
    small.insert(of({1, 2}), target_id{9});
    large = small;
    CHECK(listed(large) == lines{"1 2 > 9 x1"});
    fill(large);
    fill(small);
    CHECK(listed(large) == listed(small));
}

TEST_CASE("n-gram cache: what alters its answers is counted as a change, what does not is not") {
    ngram_cache<lru> cache({.capacity = 2});
    const std::vector ab{draft_id{0}, draft_id{1}}, bc{draft_id{1}, draft_id{2}},
        ca{draft_id{2}, draft_id{0}}, one{draft_id{0}};
    std::uint64_t last = cache.changes();
    const auto changed = [&] {
        const bool is = cache.changes() != last;
        CHECK(cache.changes() >= last); // no count comes back
        last = cache.changes();
        return is;
    };
    cache.insert(ab, target_id{0});
    CHECK(changed());
    cache.insert(ab, target_id{0}); // known
    cache.insert(ab, target_id{1}); // conflict
    cache.insert(one, target_id{1});
    cache.use(ab);
    cache.use(bc);
    cache.count_tokens(3);
    cache.set_capacity(2);
    (void)cache.find(ab);
    CHECK_FALSE(changed());
    cache.insert(bc, target_id{1});
    CHECK(changed());
    cache.insert(ca, target_id{2}); // in the place of another
    CHECK(changed());
    cache.set_capacity(1);
    CHECK(changed());
    cache.clear();
    CHECK(changed());

    ngram_cache<lru> other;
    for (const auto& ngram : {ab, bc, ca, std::vector{draft_id{5}, draft_id{5}}})
        other.insert(ngram, target_id{0});
    while (other.changes() <= last)
        other.clear();
    cache = other;
    CHECK(changed());
    cache = std::move(other);
    CHECK(changed());
    cache = ngram_cache<lru>{};
    CHECK(changed());
}

} // namespace ngram_cache_tests
