// SPDX-License-Identifier: MIT
// Sessions whose drafts are trees.
#include <specdec/decode/session.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/bridge/identity.hpp>
#include <specdec/bridge/tree/tree_bridge.hpp>
#include <specdec/decode/generate.hpp>
#include <specdec/draft/model_drafter.hpp>
#include <specdec/draft/no_drafter.hpp>
#include <specdec/draft/stop_rule.hpp>
#include <specdec/draft/tree/beam_tree.hpp>
#include <specdec/draft/tree/fixed_tree.hpp>
#include <specdec/sampling/coin/philox_coin.hpp>
#include <specdec/verify/exact_match.hpp>
#include <specdec/verify/token_rejection.hpp>
#include <specdec/verify/tree/recursive_rejection.hpp>
#include <specdec/verify/tree/traversal_verification.hpp>
#include <specdec/verify/tree/tree_exact_match.hpp>

#include "support/toy_rows.hpp"
#include "support/toy_tree_model.hpp"
#include "support/toys/piece_tokenizer.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace session_of_trees_tests {

constexpr std::size_t vocabulary = 6;

/// Rows that depend on the last two tokens; those of target and drafter differ by a part.
template <class Id>
toy_tree_model<Id> model(std::uint64_t seed, std::size_t capacity = 256) {
    return {vocabulary,
            [seed](const std::vector<Id>& context) {
                sequence last;
                for (std::size_t i = context.size() < 2 ? 0 : context.size() - 2;
                     i < context.size(); ++i)
                    last.push_back(context[i].value);
                std::vector<float> row = toy_rows(row_kind::random, vocabulary, 7)(last);
                const std::vector<float> own = toy_rows(row_kind::random, vocabulary, seed)(last);
                for (std::size_t v = 0; v < vocabulary; ++v)
                    row[v] += 0.4F * own[v];
                return row;
            },
            capacity};
}

constexpr std::size_t capacity = 64;
const std::vector prompt{target_id{0}, target_id{3}};

identity_tree_bridge tree_bridge_of(sibling_draw siblings, std::size_t nodes = 16) {
    return {identity_map(vocabulary, vocabulary),
            shared_context(vocabulary, capacity),
            {.max_nodes = nodes, .siblings = siblings}};
}

using text = std::vector<target_id>;

template <class Rule>
text chain_text(const Rule& rule, std::uint64_t seed) {
    auto target = model<target_id>(1);
    auto draft = model<draft_id>(2);
    model_drafter drafter(draft);
    const philox_coin coin(seed);
    session decoder(make_identity_bridge(vocabulary, vocabulary, capacity, 8), rule,
                    session_settings{.capacity = capacity});
    decoder.start(prompt);
    while (!decoder.full()) {
        const round_result r = decoder.round(target, drafter, fixed_length{3}, coin, capacity);
        decoder.commit(r.tokens.size());
    }
    return {decoder.tokens().begin(), decoder.tokens().end()};
}

/// keeps: whether the drafter keeps the paths.
template <class Rule, class Shape>
text tree_text(const Rule& rule, const Shape& shape, sibling_draw siblings, std::uint64_t seed,
               bool keeps = true, statistics* counts = nullptr) {
    auto target = model<target_id>(1);
    auto draft = model<draft_id>(2);
    model_drafter drafter(draft);
    const philox_coin coin(seed);
    session decoder(tree_bridge_of(siblings), rule, session_settings{.capacity = capacity});
    decoder.start(std::vector(5, target_id{2})); // another text, whose round is wasted
    (void)decoder.round(target, drafter, shape, coin, capacity);
    decoder.commit(0);
    decoder.start(prompt);
    while (!decoder.full()) {
        const round_result r = decoder.round(target, drafter, shape, coin, capacity);
        if (keeps)
            decoder.commit(r.tokens.size(), drafter);
        else
            decoder.commit(r.tokens.size());
    }
    if (counts != nullptr)
        *counts = decoder.counts();
    return {decoder.tokens().begin(), decoder.tokens().end()};
}

TEST_CASE("on a chain tree rules draw what chain rules draw") {
    const fixed_tree chain = fixed_tree::chain(3);
    for (std::uint64_t seed = 1; seed <= 40; ++seed)
        for (const sibling_draw siblings :
             {sibling_draw::independent, sibling_draw::without_replacement}) {
            CAPTURE(seed);
            CHECK(tree_text(recursive_rejection{}, chain, siblings, seed) ==
                  chain_text(token_rejection{}, seed));
            CHECK(tree_text(traversal_verification{}, chain, siblings, seed) ==
                  chain_text(block_verification{}, seed));
            CHECK(tree_text(tree_exact_match{}, chain, siblings, seed) ==
                  chain_text(exact_match{}, seed));
        }
}

TEST_CASE("exact match gives a seed's text whatever the tree") {
    const fixed_tree wide = fixed_tree::of_widths(std::vector<std::size_t>{3, 2, 1});
    for (std::uint64_t seed = 1; seed <= 20; ++seed)
        for (const sibling_draw siblings : {sibling_draw::independent, sibling_draw::likeliest,
                                            sibling_draw::without_replacement}) {
            CHECK(tree_text(tree_exact_match{}, wide, siblings, seed) ==
                  chain_text(exact_match{}, seed));
            CHECK(tree_text(tree_exact_match{}, beam_tree{}, siblings, seed) ==
                  chain_text(exact_match{}, seed));
        }
}

TEST_CASE("a text is the same whether the drafter keeps paths or is fed again") {
    const fixed_tree wide = fixed_tree::of_widths(std::vector<std::size_t>{3, 2, 1});
    for (std::uint64_t seed = 1; seed <= 20; ++seed)
        for (const auto& rule : {traversal_verification{}})
            CHECK(tree_text(rule, wide, sibling_draw::without_replacement, seed) ==
                  tree_text(rule, wide, sibling_draw::without_replacement, seed, false));
}

/// A model whose next keep_path fails.
template <class Id>
struct brittle : toy_tree_model<Id> {
    bool fails = false;
    void keep_path(std::span<const std::size_t> nodes) {
        if (std::exchange(fails, false))
            throw error("keep_path");
        toy_tree_model<Id>::keep_path(nodes);
    }
};

TEST_CASE("a path that a model did not keep is kept by the next call, and nothing is lost") {
    const fixed_tree shape = fixed_tree::of_widths(std::vector<std::size_t>{3, 1});
    const auto siblings = sibling_draw::without_replacement;
    brittle<target_id> target{model<target_id>(1)};
    brittle<draft_id> draft{model<draft_id>(2)};
    model_drafter drafter(draft);
    const philox_coin coin(3);
    session decoder(tree_bridge_of(siblings), recursive_rejection{},
                    session_settings{.capacity = capacity});
    decoder.start(prompt);
    int failures = 0;
    const auto again = [&](const auto& step) {
        for (int tries = 0; tries < 3; ++tries)
            try {
                return step();
            } catch (const error&) {
                ++failures;
            }
        FAIL("it fails once");
    };
    while (!decoder.full()) {
        const std::size_t n = decoder.round(target, drafter, shape, coin, capacity).tokens.size();
        const std::size_t all = decoder.tokens().size() + n;
        draft.fails = true;
        again([&] { decoder.commit(n, drafter); });
        draft.fails = false; // where nothing of it was kept
        REQUIRE(decoder.tokens().size() == all);
        target.fails = true;
        again([&] { (void)decoder.prepare(target); });
        REQUIRE(target.held().size() == all - 1);
    }
    CHECK(failures > 30);
    CHECK(text(decoder.tokens().begin(), decoder.tokens().end()) ==
          tree_text(recursive_rejection{}, shape, siblings, 3));
}

struct begun_text {
    toy_tree_model<target_id> target = model<target_id>(1);
    toy_tree_model<draft_id> draft = model<draft_id>(2);
    model_drafter<toy_tree_model<draft_id>> drafter{draft};
    philox_coin coin{3};
    session<identity_tree_bridge, recursive_rejection> decoder{
        tree_bridge_of(sibling_draw::without_replacement), {}, {.capacity = capacity}};

    begun_text() { decoder.start(prompt); }
};

TEST_CASE("a round of trees is decided once") {
    const fixed_tree shape = fixed_tree::of_widths(std::vector<std::size_t>{2, 1});
    begun_text begun;
    auto& [target, draft, drafter, coin, decoder] = begun;
    decoder.draft(drafter, shape, coin, {capacity, capacity});
    const auto rows = decoder.score(target);
    const std::size_t n = decoder.verify(rows, coin).tokens.size();
    CHECK_THROWS_WITH(decoder.verify(rows, coin), Catch::Contains("session: verify"));
    decoder.commit(n);
    CHECK(decoder.tokens().size() == prompt.size() + n);
}

TEST_CASE("what is kept of a tree is not fed again") {
    begun_text begun;
    auto& [target, draft, drafter, coin, decoder] = begun;
    const fixed_tree shape = fixed_tree::of_widths(std::vector<std::size_t>{3, 1});
    while (!decoder.full()) {
        const std::size_t fed = target.fed, passes = draft.calls + draft.trees;
        const bool first = target.size() == 0;
        const round_result r = decoder.round(target, drafter, shape, coin, capacity);
        const std::size_t nodes = r.tree == nullptr ? 0 : r.tree->size();
        CHECK(target.fed == fed + nodes + (first ? prompt.size() : 1));
        CHECK(draft.calls + draft.trees <= passes + 2); // a pass a level
        decoder.commit(r.tokens.size(), drafter);
        if (!decoder.full())
            (void)decoder.prepare(target);
        CHECK(decoder.nodes_to_keep().empty() != decoder.full());
        if (!decoder.full())
            CHECK(target.size() == decoder.tokens().size() - 1);
    }
    const statistics& counts = decoder.counts();
    CHECK(counts.committed == capacity - prompt.size());
    CHECK(counts.accepted + counts.corrected + counts.free == counts.committed);
    CHECK(counts.tokens_per_target_call() > 1.3);
}

TEST_CASE("an engine that does the pass itself is told what to do") {
    auto target = model<target_id>(1), twin = model<target_id>(1);
    auto draft = model<draft_id>(2), twin_draft = model<draft_id>(2);
    model_drafter drafter(draft), twin_drafter(twin_draft);
    const philox_coin coin(5);
    const fixed_tree shape = fixed_tree::of_widths(std::vector<std::size_t>{2, 2});
    const session_settings settings{.capacity = capacity};
    session by_hand(tree_bridge_of(sibling_draw::independent), recursive_rejection{}, settings);
    session by_model(tree_bridge_of(sibling_draw::independent), recursive_rejection{}, settings);
    by_hand.start(prompt);
    by_model.start(prompt);
    while (!by_model.full()) {
        by_hand.draft(drafter, shape, coin, {capacity, 16});
        target.keep_path(by_hand.nodes_to_keep());
        const context_edit<target_id> edit = by_hand.target_edit();
        target.truncate(edit.truncate_to);
        if (!edit.append.empty())
            target.append(edit.append);
        const auto rows = target.score_tree(edit.nodes, edit.parents);
        by_hand.target_fed(edit);
        const round_result r = by_hand.verify(rows, coin);
        const round_result same = by_model.round(twin, twin_drafter, shape, coin, capacity);
        const std::size_t n = r.tokens.size();
        REQUIRE(text(r.tokens.begin(), r.tokens.end()) ==
                text(same.tokens.begin(), same.tokens.end()));
        by_hand.commit(n, drafter);
        by_model.commit(n, twin_drafter);
        REQUIRE(target.held() == twin.held());
    }
}

TEST_CASE("room bounds depth, the target's context bounds nodes") {
    auto target = model<target_id>(1, 6);
    auto draft = model<draft_id>(2);
    model_drafter drafter(draft);
    const philox_coin coin(1);
    const fixed_tree shape = fixed_tree::of_widths(std::vector<std::size_t>{4, 2});
    session decoder(tree_bridge_of(sibling_draw::independent), recursive_rejection{},
                    session_settings{.capacity = capacity});
    decoder.start(prompt);
    round_result r = decoder.round(target, drafter, shape, coin, 2);
    CHECK(r.tree->size() == 4); // six places, two for the prompt
    CHECK(r.tokens.size() <= 2);
    decoder.commit(1, drafter);
    r = decoder.round(target, drafter, shape, coin, 8);
    CHECK(r.tree->size() == 3);
    decoder.abandon(); // else the round keeps its draft
    r = decoder.round(target, drafter, shape, coin, 1);
    CHECK(r.tree == nullptr);
    CHECK(r.reason == no_draft::no_room);
    CHECK(r.tokens.size() == 1);
}

TEST_CASE("a session of trees refuses what it cannot do") {
    auto target = model<target_id>(1);
    auto draft = model<draft_id>(2);
    model_drafter drafter(draft);
    const philox_coin coin(1);
    session decoder(tree_bridge_of(sibling_draw::independent), recursive_rejection{},
                    session_settings{.capacity = capacity});
    CHECK_THROWS_AS(decoder.start({}), error);
    decoder.start(prompt);
    CHECK_THROWS_AS(decoder.commit(1), error);
    const fixed_tree shape = fixed_tree::of_widths(std::vector<std::size_t>{2});
    const round_result r = decoder.round(target, drafter, shape, coin, 8);
    CHECK_THROWS_AS(decoder.commit(r.tokens.size() + 1), error);
    CHECK_THROWS_AS(decoder.commit(r.tokens.size() + 1, drafter), error);
    decoder.draft(drafter, shape, coin, {8, 16});
    const std::vector<float> few(vocabulary * 2);
    CHECK_THROWS_AS(
        decoder.verify(logits_rows<target_id>(few.data(), 2, vocabulary, vocabulary), coin), error);
    CHECK_THROWS_AS(tree_bridge_of(sibling_draw::independent, 0), error);
}

TEST_CASE("a session of trees tells log-probabilities along the path") {
    auto target = model<target_id>(1);
    auto draft = model<draft_id>(2);
    model_drafter drafter(draft);
    const philox_coin coin(9);
    session decoder(tree_bridge_of(sibling_draw::without_replacement), traversal_verification{},
                    session_settings{.capacity = capacity, .log_probabilities = 1});
    decoder.start(prompt);
    const fixed_tree shape = fixed_tree::of_widths(std::vector<std::size_t>{3, 2});
    for (int round = 0; round < 10; ++round) {
        const round_result r = decoder.round(target, drafter, shape, coin, 8);
        std::vector<target_id> context(decoder.tokens().begin(), decoder.tokens().end());
        auto alone = model<target_id>(1);
        REQUIRE(r.log_probabilities.of_tokens.size() == r.tokens.size());
        for (std::size_t i = 0; i < r.tokens.size(); ++i) {
            alone.truncate(0);
            const auto rows = alone.score(context);
            const auto p = make_law(rows[rows.size() - 1], {});
            CHECK(r.log_probabilities.of_tokens[i] ==
                  Approx(__builtin_log(p.probability(r.tokens[i]))).epsilon(1e-5));
            context.push_back(r.tokens[i]);
        }
        decoder.commit(r.tokens.size(), drafter);
    }
}

TEST_CASE("the drafter's passes over trees are counted, of committed rounds") {
    for (const tree_settings& settings :
         {tree_settings{}, tree_settings{.max_nodes = 3, .max_drafted = 12}}) {
        auto target = model<target_id>(1);
        auto draft = model<draft_id>(2);
        model_drafter drafter(draft);
        const philox_coin coin(1);
        tree_settings likeliest = settings;
        likeliest.siblings = sibling_draw::likeliest;
        session decoder(identity_tree_bridge(identity_map(vocabulary, vocabulary),
                                             shared_context(vocabulary, capacity), likeliest),
                        tree_exact_match{}, session_settings{.capacity = capacity});
        decoder.start(prompt);
        const eagle2_tree shape{{.beam = 2, .width = 2, .depth = 3}};
        for (std::size_t round = 1; round <= 5; ++round) {
            const round_result r = decoder.round(target, drafter, shape, coin, capacity);
            CHECK(decoder.counts().tree_passes == 3 * (round - 1));
            decoder.commit(r.tokens.size(), drafter);
            CHECK(decoder.counts().tree_passes == 3 * round); // levels, also of nodes not chosen
        }
        CHECK(draft.calls + draft.trees == 15);
    }
}

TEST_CASE("generate takes a session of trees, and its text is that of its rounds") {
    const fixed_tree shape = fixed_tree::of_widths(std::vector<std::size_t>{2, 2});
    const piece_tokenizer<target_id> letters({"a", "b", "c", "d", "e", "f"});
    begun_text begun;
    auto& [target, draft, drafter, coin, decoder] = begun;
    std::string written;
    const finish_reason why =
        generate(decoder, target, drafter, shape, coin, letters, {.max_tokens = 30},
                 text_reader([&](std::string_view bytes, token_origin) { written += bytes; }));
    CHECK(why == finish_reason::max_tokens);
    CHECK(decoder.tokens().size() == prompt.size() + 30);
    CHECK(decoder.counts().accepted > 0);
    // The last rounds have less room, and draw otherwise.
    std::string expected;
    const text rounds =
        tree_text(recursive_rejection{}, shape, sibling_draw::without_replacement, 3);
    for (std::size_t i = prompt.size(); i < prompt.size() + 24; ++i)
        expected += letters.bytes(rounds[i]);
    CHECK(written.substr(0, 24) == expected);
}

} // namespace session_of_trees_tests
