// SPDX-License-Identifier: MIT
// The n-gram merge with its exact law: the output law by the whole probabilities of its laws,
// enumerated (the lazy decisions that ship: sessions_lazy.cpp).
#include <specdec/bridge/ngram_merge.hpp>

#include <vector>

#include <catch2/catch.hpp>

#include <specdec/vocab/ngrams/ngram_cache.hpp>

#include "bridge_cases.hpp"
#include "support/ids.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace {

using cache_type = ngram_cache<no_eviction>;
using ids = std::vector<int>;

struct ngram {
    ids draft;
    int target;
};

void check_merge(const target_words& target, const draft_words& draft,
                 const std::vector<ngram>& ngrams, std::size_t longest_draft = 3) {
    const id_map map = intersect(draft.table(), target.table());
    const byte_order<draft_id> order(draft);
    cache_type cache;
    for (const ngram& n : ngrams)
        REQUIRE(cache.insert(ids_of(n.draft), target_id{n.target}) == ngram_insertion::inserted);
    const auto make = [&](std::size_t gamma) {
        return make_ngram_merge_bridge(cache, target, draft, map, order, 16, {gamma, 0});
    };
    check_rounds_of<enumerating_coin>(rejection, make, target.vocabulary_size(),
                                      draft.vocabulary_size(), longest_draft);
    check_rounds_of<enumerating_coin>(exact_match{}, make, target.vocabulary_size(),
                                      draft.vocabulary_size(), 2);
}

} // namespace

TEST_CASE("merge: nested n-grams on one prefix", "[law]") {
    check_merge(target_words{{"a", "b", "ab", "abb"}}, draft_words{{"a", "b"}},
                {{{0, 1}, 2}, {{0, 1, 1}, 3}}, 4);
}

TEST_CASE("merge: overlapping n-grams of up to four draft tokens", "[law]") {
    check_merge(target_words{{"a", "b", "ba", "abba"}}, draft_words{{"a", "b"}},
                {{{1, 0}, 2}, {{0, 1, 1, 0}, 3}}, 4);
}

TEST_CASE("merge: several n-grams begin alike, and one token is spelled in two ways", "[law]") {
    check_merge(target_words{{"a", "b", "aab", "aaaa"}}, draft_words{{"a", "b", "aa"}},
                {{{0, 0, 1}, 2}, {{2, 1}, 2}, {{2, 2}, 3}, {{0, 0, 0, 0}, 3}});
}

TEST_CASE("merge: an empty cache is token-level intersection", "[law]") {
    check_merge(target_words{{"a", "b", "ab"}}, draft_words{{"b", "ba", "a"}}, {});
}

TEST_CASE("merge: control tokens, duplicates, and an n-gram that does not spell its token",
          "[law]") {
    check_merge(target_words{{"a", "ab", "b", "<end>"}}, draft_words{{"b", "a", "<end>", "a"}},
                {{{1, 0}, 1}, {{3, 0}, 1}, {{0, 1}, 1}});
}
