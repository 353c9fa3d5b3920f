// SPDX-License-Identifier: MIT
#include <specdec/verify/tree/coupled_tree_match.hpp>

#include <type_traits>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/bridge/no_bridge.hpp>
#include <specdec/bridge/tree/tree_bridge.hpp>
#include <specdec/decode/session.hpp>
#include <specdec/draft/model_drafter.hpp>
#include <specdec/draft/no_drafter.hpp>
#include <specdec/draft/stop_rule.hpp>
#include <specdec/draft/tree/fixed_tree.hpp>
#include <specdec/sampling/coin/coupled_coin.hpp>
#include <specdec/vocab/table/intersection.hpp>

#include "support/tiny_tokenizer.hpp"
#include "support/toy_rows.hpp"
#include "support/toy_tree_model.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace coupled_tree_match_tests {

static_assert(FollowsText<coupled_tree_match>);
static_assert(!std::is_constructible_v<coupled_tree_match, text_keys>); // gone before use

const tiny_tokenizer<target_id> target_words({"a", "b", "c", "ab", "ca"});
const tiny_tokenizer<draft_id> draft_words({"a", "b", "c", "ab", "ca"});
const id_map ids = intersect(draft_words.table(), target_words.table());
const text_keys keys(target_words, ids);
constexpr std::size_t capacity = 80;
const std::vector prompt{target_id{0}, target_id{2}};

template <class Id>
toy_tree_model<Id> model(std::uint64_t seed) {
    return {5, [seed](const std::vector<Id>& context) {
                const sequence last{context.back().value};
                std::vector<float> row = toy_rows(row_kind::random, 5, 7)(last);
                const std::vector<float> own = toy_rows(row_kind::random, 5, seed)(last);
                for (std::size_t v = 0; v < 5; ++v)
                    row[v] += 0.5F * own[v];
                return row;
            }};
}

std::vector<target_id> alone(std::uint64_t seed) {
    auto target = model<target_id>(1);
    no_drafter none;
    const coupled_coin coin(keys, seed);
    session text(no_bridge{}, coupled_match(keys), session_settings{.capacity = capacity});
    text.start(prompt);
    while (!text.full())
        text.commit(text.round(target, none, fixed_length{0}, coin, 1).tokens.size());
    return {text.tokens().begin(), text.tokens().end()};
}

/// Tokens a call; the text must be the target's alone.
double with_tree(std::uint64_t seed, const std::vector<std::size_t>& widths, sibling_draw how) {
    auto target = model<target_id>(1);
    auto draft = model<draft_id>(2);
    model_drafter drafter(draft);
    const coupled_coin coin(keys, seed);
    session text(
        identity_tree_bridge(identity_map(5, 5), shared_context(5, capacity), {.siblings = how}),
        coupled_tree_match(keys), session_settings{.capacity = capacity});
    text.start(prompt);
    const fixed_tree shape = fixed_tree::of_widths(widths);
    while (!text.full()) {
        const round_result r = text.round(target, drafter, shape, coin, capacity);
        text.commit(r.tokens.size(), drafter);
    }
    CHECK(std::vector(text.tokens().begin(), text.tokens().end()) == alone(seed));
    return text.counts().tokens_per_target_call();
}

TEST_CASE("a coupled tree gives the seed's text, and its siblings are the race's next ones") {
    double chain = 0, one = 0, wide = 0;
    for (std::uint64_t seed = 1; seed <= 30; ++seed) {
        chain += with_tree(seed, {1, 1}, sibling_draw::without_replacement);
        one += with_tree(seed, {2, 2}, sibling_draw::independent); // the same token twice
        wide += with_tree(seed, {2, 2}, sibling_draw::without_replacement);
    }
    CHECK(one == Approx(chain));
    CHECK(wide > 1.1 * chain);
}

} // namespace coupled_tree_match_tests
