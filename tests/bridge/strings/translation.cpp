// SPDX-License-Identifier: MIT
#include <specdec/bridge/strings/translation.hpp>

#include <catch2/catch.hpp>

#include <specdec/bridge/strings/merging.hpp>
#include <specdec/bridge/strings/retokenising.hpp>
#include <specdec/vocab/ngrams/ngram_cache.hpp>

#include "law/bridge_cases.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace {

using retokenised = retokenising<target_words, draft_words>;

struct never_ends : retokenised {
    void step(state_type&, draft_id) const {}
};

struct says_no_text : retokenised {
    struct state_type {
        std::vector<target_id> tokens;
    };
};

} // namespace

TEST_CASE("translations: the library's own, and what is none") {
    STATIC_REQUIRE(Translation<retokenised>);
    STATIC_REQUIRE(Translation<merging<ngram_cache<no_eviction>, target_words, draft_words>>);
    STATIC_REQUIRE_FALSE(Translation<never_ends>);
    STATIC_REQUIRE_FALSE(Translation<says_no_text>);
    STATIC_REQUIRE_FALSE(Translation<int>);
}
