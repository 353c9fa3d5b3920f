// SPDX-License-Identifier: MIT
#include <specdec/bridge/nested_tli.hpp>

#include <cmath>
#include <map>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/draft/stop_rule.hpp>
#include <specdec/sampling/coin/philox_coin.hpp>
#include <specdec/vocab/spelling/split_tokens.hpp>

#include "greedy_requests.hpp"
#include "support/enumeration/enumerating_coin.hpp"
#include "support/ids.hpp"
#include "support/script_drafter.hpp"
#include "support/watched_coin.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace {

using bridge_type = nested_tli_bridge<target_words, draft_words>;

/// toy_pair: target 1 a, 2 b, 3 c, 4 space; draft 1 a, 2 space, 3 ba, 4 c, 5 b, 6 stop, 7 " a",
/// 8 ca, 9 a.
struct nested_fixture {
    toy_pair two;
    token_pieces pieces = split_tokens(two.target, two.draft, two.map);
    script_drafter drafter{10, {draft_id{3}, draft_id{5}, draft_id{8}, draft_id{1}}};
    philox_coin coin{1};
    bridge_type bridge = make(4);

    nested_fixture() { restart(bridge); }
    [[nodiscard]] bridge_type make(std::size_t max_draft, std::size_t max_proposals = 16) const {
        return {pieces, words_context(two.target, two.draft, two.map, 64), max_draft,
                max_proposals};
    }
    void restart(bridge_type& b) const {
        b.start(std::vector{toy_pair::bos});
        b.follow(two.encode("abc"));
    }
    auto propose(std::size_t room, std::size_t length = 8) {
        return bridge.propose(drafter, fixed_length{length}, coin, {4, room, greedy, ends});
    }
};

} // namespace

// What is borrowed has a name: a temporary would be gone before use.
static_assert(std::is_constructible_v<bridge_type, token_pieces&, words_context, std::size_t>);
static_assert(!std::is_constructible_v<bridge_type, token_pieces, words_context, std::size_t>);

TEST_CASE("a draft token of the drafter's own is proposed piece by piece") {
    nested_fixture f;
    const auto draft = f.propose(16);
    CHECK(draft.reason == no_draft::none);
    CHECK(tokens_of(draft) == ids_of<target_id>({2, 1, 2, 3, 1, 1})); // b a | b | c a | a
    CHECK(copy_of(draft.draft_tokens) == ids_of<draft_id>({3, 5, 8, 1}));
    CHECK(f.drafter.pushed == ids_of<draft_id>({3, 5, 8, 1}));
    CHECK(f.drafter.rows == 4);
    CHECK(f.drafter.context.front() == toy_pair::bos);
    CHECK(f.drafter.unchanged == 0);
}

TEST_CASE("room may end inside a draft token, which is then undetermined") {
    nested_fixture f;
    CHECK(tokens_of(f.propose(1)) == ids_of<target_id>({2}));
    CHECK(copy_of(f.propose(1).draft_tokens) == ids_of<draft_id>({-1}));
    CHECK(f.drafter.pushed.empty());
    const auto four = f.propose(4);
    CHECK(tokens_of(four) == ids_of<target_id>({2, 1, 2, 3}));
    CHECK(copy_of(four.draft_tokens) == ids_of<draft_id>({3, 5, -1}));
    CHECK(f.propose(16, 3).proposals.size() == 5);
    CHECK(f.propose(16, 2).draft_tokens.size() == 2);

    bridge_type small = f.make(2, 3);
    f.restart(small);
    const auto propose = [&](bridge_type& b) {
        return b.propose(f.drafter, fixed_length{8}, f.coin, {4, 16, greedy, ends});
    };
    CHECK(tokens_of(propose(small)) == ids_of<target_id>({2, 1, 2}));
    bridge_type shorter = f.make(4, 2);
    f.restart(shorter);
    CHECK(tokens_of(propose(shorter)) == ids_of<target_id>({2, 1}));
    CHECK(copy_of(propose(shorter).draft_tokens) == ids_of<draft_id>({3}));
}

TEST_CASE("an end token is the last proposal, whole or inside a draft token") {
    nested_fixture f;
    f.drafter = script_drafter(10, {draft_id{1}, toy_pair::stop, draft_id{5}});
    CHECK(tokens_of(f.propose(8)) == std::vector{target_id{1}, toy_pair::end});
    CHECK(f.drafter.rows == 2);
    f.drafter = script_drafter(10, {draft_id{3}});
    const std::vector<target_id> b{target_id{2}};
    const auto draft = f.bridge.propose(f.drafter, fixed_length{8}, f.coin, {4, 8, greedy, b});
    CHECK(tokens_of(draft) == ids_of<target_id>({2}));
    CHECK(copy_of(draft.draft_tokens) == ids_of<draft_id>({-1}));
}

TEST_CASE("nested TLI: every reason for an empty draft") {
    nested_fixture f;
    const auto reason = [](const auto& draft) {
        CHECK(draft.proposals.empty());
        CHECK(draft.draft_tokens.empty());
        return draft.reason;
    };
    const draft_request request{4, 8, greedy, ends};
    CHECK(reason(f.propose(0)) == no_draft::no_room);
    CHECK(reason(f.propose(4, 0)) == no_draft::stop_rule);
    CHECK(f.drafter.syncs == 0);

    script_drafter full(10, {draft_id{3}}, 7);
    CHECK(reason(f.bridge.propose(full, fixed_length{}, f.coin, request)) ==
          no_draft::drafter_full);
    CHECK(full.syncs == 0);

    script_drafter control(10, {toy_pair::bos}); // no pieces
    control.forbid_others = true;
    CHECK(reason(f.bridge.propose(control, fixed_length{}, f.coin, request)) ==
          no_draft::nothing_shared);

    bridge_type none = f.make(0);
    f.restart(none);
    CHECK(reason(none.propose(f.drafter, fixed_length{}, f.coin, request)) == no_draft::no_room);

    f.bridge.start({});
    CHECK(reason(f.propose(4)) == no_draft::nothing_to_say);

    const draft_words other{{"x", "y"}};
    const id_map nothing = intersect(other.table(), f.two.target.table());
    const token_pieces empty(nothing, {0, 0}, {});
    bridge_type apart(empty, words_context(f.two.target, other, nothing, 64), 4);
    script_drafter xy(2, {draft_id{0}});
    apart.start(std::vector{draft_id{0}});
    CHECK(reason(apart.propose(xy, fixed_length{}, f.coin, request)) == no_draft::nothing_shared);

    script_drafter wide(11, {draft_id{0}});
    f.restart(f.bridge);
    CHECK_THROWS_WITH(f.bridge.propose(wide, fixed_length{}, f.coin, request),
                      Catch::Contains("nested tli bridge: drafter's row: expected 10"));
}

TEST_CASE("the laws of the pieces and the reveals have together the law of the draft token") {
    nested_fixture f;
    // Row: the script's token 2, the others 0; <bos> has no pieces, two draft tokens are a.
    const double z = std::exp(2.0) + 8;
    std::map<std::vector<target_id>, double> law;
    std::map<int, double> tokens;
    enumerate([&](enumerating_coin& coin) {
        bridge_type bridge = f.make(1);
        f.restart(bridge);
        const auto draft = bridge.propose(f.drafter, fixed_length{}, coin, {4, 8, {}, ends});
        REQUIRE(draft.draft_tokens.size() == 1);
        law[tokens_of(draft)] += coin.probability();
        tokens[draft.draft_tokens[0].value] += coin.probability();
        double product = 1; // the ratio's denominator is what the piece was drawn with
        for (const auto& x : draft.proposals)
            product *= x.probability();
        REQUIRE(product >= coin.probability() - 1e-12);
        for (const auto& x : draft.proposals) {
            double sum = 0, by_block[9] = {}, by_tail[4] = {};
            x.law().probabilities(0, by_block);
            x.law().probabilities(5, by_tail);
            for (std::size_t t = 0; t < 9; ++t) {
                sum += x.law().probability(id_at<target_id>(t));
                REQUIRE(by_block[t] == Approx(x.law().probability(id_at<target_id>(t))));
                REQUIRE((t < 5 || by_tail[t - 5] == by_block[t]));
            }
            REQUIRE(sum == Approx(1).epsilon(1e-12));
            REQUIRE(x.law().probability(target_id{}) == 0);
            REQUIRE(x.law().probability(target_id{9}) == 0);
        }
    });
    CHECK(law.size() == 8);
    CHECK(law.at(ids_of<target_id>({2, 1})) == Approx(std::exp(2.0) / z).epsilon(1e-5));
    CHECK(law.at(ids_of<target_id>({1})) == Approx(2 / z).epsilon(1e-5));
    CHECK(law.at(ids_of<target_id>({3, 1})) == Approx(1 / z).epsilon(1e-5));
    CHECK(law.at(ids_of<target_id>({2})) == Approx(1 / z).epsilon(1e-5));
    CHECK(tokens.count(9) == 0); // the canonical a stands for both
    CHECK(tokens.count(0) == 0);
    CHECK(tokens.at(1) == Approx(2 / z).epsilon(1e-5));
}

TEST_CASE("at(u) of a nested law gives every id its share of [0, 1)") {
    const target_words target{{"a", "b", "c"}};
    const draft_words draft{{"ab", "a", "aab", "aac", "aaca", "acb", "b", "ab"}};
    const id_map map = intersect(draft.table(), target.table());
    const token_pieces table = split_tokens(target, draft, map);
    const std::vector<float> logits{1, 2, 0.5F, -1, 0, 1.5F, -__builtin_inff(), 0.25F};
    std::vector<float> row(table.size());
    table.gather(logits, row);
    const weighted_row q(row, {});
    const piece_range a = table.longer(table.with_next(table.all(), target_id{0}));
    const piece_range aa = table.longer(table.with_next(a, target_id{0}));
    for (const piece_range range : {table.all(), a, aa}) {
        const double mass = range.depth == 0 ? 1.0 : nested_law::sum(q, range);
        const nested_law law(q, table, range, mass);
        constexpr int n = 60000;
        double share[3] = {};
        for (int i = 0; i < n; ++i)
            share[law.at((i + 0.5) / n).index()] += 1.0 / n;
        for (std::size_t t = 0; t < 3; ++t)
            CHECK(share[t] == Approx(law.probability(id_at<target_id>(t))).margin(1e-4));
        CHECK(law.probability(law.at(0.0)) > 0);
        CHECK(law.probability(law.at(0x1.fffffffffffffp-1)) > 0);
    }
}

TEST_CASE("the stop rule is told the probability of the draft token, not of its last piece") {
    nested_fixture f;
    struct watching {
        std::vector<double>* told;
        [[nodiscard]] law_version version() const { return 0; }
        bool more(const draft_progress& now) const {
            if (now.drafted > 0)
                told->push_back(now.last);
            return now.drafted < 2;
        }
    };
    std::vector<double> told;
    const double z = std::exp(2.0) + 8;
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        philox_coin coin(seed);
        told.clear();
        const auto draft = f.bridge.propose(f.drafter, watching{&told}, coin, {4, 16, {}, {}});
        const draft_id first = draft.draft_tokens[0], script = draft_id{3};
        const double weight = first == script ? std::exp(2.0) : first == draft_id{1} ? 2.0 : 1.0;
        REQUIRE(told.at(0) == Approx(weight / z).epsilon(1e-5));
    }
}

TEST_CASE("nested TLI: every piece is drawn at its own place in the text, and its own site") {
    nested_fixture f;
    f.drafter = script_drafter(10, {draft_id{3}, draft_id{8}}); // b a, c a
    const std::vector<std::uint32_t> widths{1, 10, 200, 3000};
    text_offset place(widths);
    place.pass(target_id{3});
    watched_coin<> coin; // picks the pieces, reveals by flips
    (void)f.bridge.propose(f.drafter, fixed_length{2}, coin, {4, 16, greedy, ends, place});
    REQUIRE(coin.picked.size() == 4);
    const std::vector<std::uint64_t> places{3000, 3200, 3210, 6210};
    for (std::uint32_t i = 0; i < 4; ++i) {
        CHECK(coin.picked[i].place == places[i]);
        CHECK(coin.picked[i].position == 4);
        CHECK(coin.picked[i].attempt == 2 * i);
        CHECK(coin.flipped[i].attempt == 2 * i + 1);
        CHECK(coin.picked[i].why == purpose::draft);
    }
}
