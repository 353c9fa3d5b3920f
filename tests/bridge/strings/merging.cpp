// SPDX-License-Identifier: MIT
#include <specdec/bridge/strings/merging.hpp>

#include <vector>

#include <catch2/catch.hpp>

#include <specdec/vocab/ngrams/ngram_cache.hpp>
#include <specdec/vocab/table/intersection.hpp>

#include "support/ids.hpp"
#include "support/tiny_tokenizer.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace {

struct merging_pair {
    tiny_tokenizer<target_id> target{{"a", "b", "ab", "abb", "<end>"}};
    tiny_tokenizer<draft_id> draft{{"a", "b", "bb", "<end>"}};
    id_map map = intersect(draft.table(), target.table());
    byte_order<draft_id> order{draft};
    ngram_cache<lru> cache{{.capacity = 3}};
    merging<ngram_cache<lru>, tiny_tokenizer<target_id>, tiny_tokenizer<draft_id>> f{
        cache, target, draft, map, order};

    void learn(const std::vector<int>& ids, int t) { cache.insert(ids_of(ids), target_id{t}); }
    /// What a whole draft becomes.
    [[nodiscard]] std::vector<int> merged(const std::vector<int>& ids) const {
        auto s = decltype(f)::state_type{};
        for (const int d : ids)
            if (!f.step(s, draft_id{d}))
                break;
        f.finish(s);
        return values_of(s.tokens);
    }
};

} // namespace

TEST_CASE("merging takes the longest n-gram at every place, from the left") {
    merging_pair two;
    CHECK(two.merged({0, 1, 1}) == std::vector{0, 1, 1});
    two.learn({0, 1}, 2);
    CHECK(two.merged({0, 1, 1}) == std::vector{2, 1});
    two.learn({0, 1, 1}, 3);
    CHECK(two.merged({0, 1, 1}) == std::vector{3});
    CHECK(two.merged({0, 0, 1, 0}) == std::vector{0, 2, 0});
    CHECK(two.merged({0, 1, 0, 1, 1}) == std::vector{2, 3});
}

TEST_CASE("merging settles a token as soon as no n-gram can grow from it") {
    merging_pair two;
    two.learn({0, 1}, 2);
    two.learn({0, 1, 1}, 3);
    auto s = decltype(two.f)::state_type{};
    CHECK(two.f.step(s, draft_id{0}));
    CHECK(s.tokens.empty());
    CHECK(two.f.step(s, draft_id{1}));
    CHECK(s.tokens.empty());
    CHECK(two.f.step(s, draft_id{0}));
    CHECK(s.tokens == std::vector{target_id{2}});
    CHECK(s.parts == std::vector<std::size_t>{2});
}

TEST_CASE("merging ends a draft at a token that T lacks and no n-gram takes up") {
    merging_pair two;
    CHECK(two.merged({0, 2, 1}) == std::vector{0});
    two.learn({0, 2}, 3);
    CHECK(two.merged({0, 2, 1}) == std::vector{3, 1});
}

TEST_CASE("merging draws shared tokens, beginnings of n-grams, and what goes on with one") {
    merging_pair two;
    const std::vector<float> row{1, 2, 3, 4};
    const auto allowed = [&](const std::vector<int>& draft) {
        auto s = decltype(two.f)::state_type{};
        for (const int d : draft)
            two.f.step(s, draft_id{d});
        std::vector<float> out(4);
        two.f.prepare(s, row, out);
        std::vector<int> ids;
        for (int d = 0; d < 4; ++d)
            if (out[static_cast<std::size_t>(d)] == row[static_cast<std::size_t>(d)])
                ids.push_back(d);
        return ids;
    };
    CHECK(allowed({}) == std::vector{0, 1});
    two.learn({0, 2}, 3);
    CHECK(allowed({}) == std::vector{0, 1});
    CHECK(allowed({0}) == std::vector{0, 1, 2});
}

TEST_CASE("merging learns what is committed without a direct match, and counts accepted merges") {
    merging_pair two;
    two.f.follow(std::vector{target_id{0}, target_id{2}, target_id{4}}, 0);
    CHECK(two.cache.size() == 1);
    CHECK(two.cache.find(std::vector{draft_id{0}, draft_id{1}}) == target_id{2});
    CHECK(two.cache.counts().tokens == 3);
    CHECK(two.cache.counts().hits == 0);
    two.f.follow(std::vector{target_id{2}}, 1);
    two.f.follow(std::vector{target_id{2}}, 0); // the target's own: no hit
    CHECK(two.cache.counts().hits == 1);
    two.f.follow(std::vector{target_id{3}}, 0); // spelled a + bb: the longest match
    CHECK(two.cache.find(std::vector{draft_id{0}, draft_id{2}}) == target_id{3});
}

TEST_CASE("merging ignores an n-gram that does not spell its token") {
    merging_pair two;
    two.learn({0, 1}, 3);
    CHECK(two.merged({0, 1}) == std::vector{0, 1});
}

TEST_CASE("merging proposes no token for a draft token of other bytes, whatever the map says") {
    const tiny_tokenizer<target_id> target({"a", "b", "ab"});
    const tiny_tokenizer<draft_id> draft({"a", "b"});
    const id_map decreed({0, 2}, {0, -1, 1}, 0, 0); // b is said to be ab
    const byte_order<draft_id> order(draft);
    ngram_cache<lru> cache;
    const merging f(cache, target, draft, decreed, order);
    auto s = decltype(f)::state_type{};
    std::vector<float> out(2);
    f.prepare(s, std::vector<float>{1, 2}, out);
    CHECK(out[0] == 1);
    CHECK(out[1] < 0);
    CHECK(f.step(s, draft_id{0}));
    CHECK_FALSE(f.step(s, draft_id{1}));
    CHECK(s.tokens == std::vector{target_id{0}});
}
