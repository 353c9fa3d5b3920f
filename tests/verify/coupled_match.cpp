// SPDX-License-Identifier: MIT
#include <specdec/verify/coupled_match.hpp>

#include <vector>

#include <catch2/catch.hpp>

#include <specdec/sampling/coin/coupled_coin.hpp>
#include <specdec/verify/token_rejection.hpp>

#include "support/toy_pair.hpp"
#include "support/watched_coin.hpp"
#include "support/watched_laws.hpp"

using namespace specdec;
using namespace specdec::testing;

using certain_proposal = proposal<one_hot_law<target_id>>;
using law_function = softmax_law<target_id> (*)(std::size_t);
static_assert(Verifier<coupled_match, one_hot_law<target_id>, law_function, philox_coin>);
static_assert(FollowsText<coupled_match>);
static_assert(!std::is_constructible_v<coupled_match, text_keys>); // gone before use
static_assert(!FollowsText<exact_match>);
static_assert(!FollowsText<token_rejection>);

namespace coupled_match_tests {

constexpr std::uint64_t begin = 11; // position of the round
constexpr std::size_t length = 4;

const toy_pair two;
const text_keys keys(two.target, two.map);

std::uint64_t width(target_id t) {
    return t.valid() ? text_width(two.target.bytes(t)) : 1;
}

/// What the target itself says from a place on.
std::vector<target_id> own_tokens(watched_laws laws, const coupled_coin& coin,
                                  std::uint64_t place) {
    std::vector<target_id> tokens;
    for (std::size_t i = 0; i <= length; ++i) {
        tokens.push_back(coin.pick({0, purpose::target, 0, place}, laws(i)));
        place += width(tokens.back());
    }
    return tokens;
}

verdict verify(const coupled_match& rule, watched_laws& laws,
               const std::vector<certain_proposal>& draft, watched_coin<coupled_coin>& coin) {
    return rule(laws, std::span<const certain_proposal>(draft), coin, begin);
}

TEST_CASE("coupled match counts the places of what is committed, from the start of each text") {
    coupled_match rule(keys);
    CHECK(rule.place().value() == 0);
    rule.start(two.encode("ab c"));
    CHECK(rule.place().value() == 4);
    const std::vector more{toy_pair::mark, target_id{8}}; // a control token and abc
    rule.follow(more);
    CHECK(rule.place().value() == 8);
    rule.follow({});
    CHECK(rule.place().value() == 8);
    rule.start(two.encode("a"));
    CHECK(rule.place().value() == 1);
    text_offset copy = rule.place(); // goes on counting by itself
    copy.pass(target_id{8});
    CHECK(copy.value() == 4);
    CHECK(rule.place().value() == 1);
}

TEST_CASE("coupled match draws each token at the place where the one before it ends") {
    for (std::uint64_t seed = 0; seed < 40; ++seed)
        for (std::size_t agreeing = 0; agreeing <= length; ++agreeing) {
            coupled_match rule(keys);
            rule.start(two.encode("ab c"));
            watched_laws laws(random_rows(length + 1, 9, seed));
            watched_coin<coupled_coin> coin{coupled_coin(keys, seed)};
            const auto own = own_tokens(laws, coin.coin, 4);
            std::vector<certain_proposal> draft;
            for (std::size_t i = 0; i < length; ++i)
                draft.push_back(certain(i < agreeing ? own[i] : target_id{(own[i].value + 1) % 9}));
            const verdict v = verify(rule, laws, draft, coin);
            const bool all = agreeing == length;
            CHECK(v.accepted == agreeing);
            CHECK(v.evaluated == (all ? length : agreeing + 1));
            CHECK(v.origin == (all ? token_origin::free : token_origin::corrected));
            CHECK(v.next == own[agreeing]);
            CHECK(laws.asked == first_places(agreeing + 1));
            CHECK(coin.flipped.empty());
            REQUIRE(coin.picked.size() == agreeing + 1);
            std::uint64_t place = 4;
            for (std::size_t i = 0; i <= agreeing; ++i) {
                CHECK(coin.picked[i].position == begin + i);
                CHECK(coin.picked[i].why == purpose::target);
                CHECK(coin.picked[i].attempt == 0);
                CHECK(coin.picked[i].place == place);
                place += width(own[i]);
            }
            CHECK(rule.place().value() == 4); // a verdict is not a commit
        }
}

TEST_CASE("under another coin coupled match is exact match") {
    coupled_match rule(keys);
    rule.start(two.encode("b"));
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        watched_laws laws(random_rows(length + 1, 9, seed)), same = laws;
        philox_coin coin(seed);
        std::vector<certain_proposal> draft;
        for (std::size_t i = 0; i < seed % 5; ++i)
            draft.push_back(certain(target_id{static_cast<std::int32_t>((seed + 3 * i) % 9)}));
        const std::span<const certain_proposal> proposals(draft);
        const verdict a = rule(laws, proposals, coin, begin);
        const verdict b = exact_match{}(same, proposals, coin, begin);
        CHECK(a.accepted == b.accepted);
        CHECK(a.evaluated == b.evaluated);
        CHECK(a.next == b.next);
        CHECK(a.origin == b.origin);
    }
}

TEST_CASE("coupled match: a proposal that left the vocabulary is replaced") {
    coupled_match rule(keys);
    rule.start(two.encode("b"));
    watched_laws laws(random_rows(length + 1, 9, 8));
    watched_coin<coupled_coin> coin{coupled_coin(keys, 8)};
    const auto own = own_tokens(laws, coin.coin, 1);
    const verdict v = verify(rule, laws, {certain(target_id{})}, coin);
    CHECK(v.accepted == 0);
    CHECK(v.next == own[0]);
    CHECK(v.origin == token_origin::corrected);
}

} // namespace coupled_match_tests
