// SPDX-License-Identifier: MIT
// Bridges whose laws are sums that are compared, not finished: rounds with the production coin
// against the law of the same round, enumerated. Seeds are fixed, so the outcome is too.
#include <specdec/sampling/coin/philox_coin.hpp>

#include <cmath>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/verify/token_rejection.hpp>

#include "toy_bridges.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace {

constexpr std::size_t rounds = 250'000;

/// The chi-square that `cells` - 1 degrees of freedom exceed once in a thousand (Wilson, Hilferty).
double critical(std::size_t cells) {
    const double df = static_cast<double>(cells - 1), part = 2 / (9 * df);
    return df * std::pow(1 - part + 3.09 * std::sqrt(part), 3);
}

struct sampled_case {
    row_tree& p;
    row_tree& q;
    std::size_t gamma; ///< draft tokens
    std::size_t room;  ///< target tokens that the round may commit
};

template <class Bridge, Coin C>
sequence one_round(session<Bridge, token_rejection>& decoder, const sampled_case& c, C& coin) {
    auto target = model_of<target_id>(c.p);
    auto draft = model_of<draft_id>(c.q);
    model_drafter drafter(draft);
    decoder.target_lost();
    decoder.start(std::vector{target_id{0}}, std::vector{draft_id{0}});
    return values_of(decoder.round(target, drafter, fixed_length{c.gamma}, coin, c.room).tokens);
}

template <class WithBridge>
joint_law enumerated(const WithBridge& with_bridge, const sampled_case& c) {
    return on_every_path([&](interval_coin& coin) {
        sequence text;
        with_bridge(c.gamma, [&](auto bridge) {
            session decoder(std::move(bridge), token_rejection{.thinning = {1, 1}},
                            session_settings{.capacity = 16});
            text = one_round(decoder, c, coin);
        });
        return text;
    });
}

/// Outcomes of which few are expected are one cell.
template <class WithBridge>
void check_sampled_rounds(const WithBridge& with_bridge, const sampled_case& c) {
    const joint_law law = enumerated(with_bridge, c);
    joint_law counts;
    with_bridge(c.gamma, [&](auto bridge) {
        session decoder(std::move(bridge), token_rejection{}, session_settings{.capacity = 16});
        for (std::size_t i = 0; i < rounds; ++i) {
            philox_coin coin(11, i);
            counts[one_round(decoder, c, coin)] += 1;
        }
    });
    struct cell {
        double seen = 0, expected = 0;
    } few;
    double chi_square = 0;
    std::size_t cells = 0;
    const auto add = [&](cell x) {
        chi_square += (x.seen - x.expected) * (x.seen - x.expected) / x.expected;
        ++cells;
    };
    for (const auto& [text, probability] : law) {
        const cell x{counts[text], probability * static_cast<double>(rounds)};
        if (x.expected >= 20)
            add(x);
        else
            few = {few.seen + x.seen, few.expected + x.expected};
    }
    if (few.expected > 0)
        add(few);
    for (const auto& [text, count] : counts)
        REQUIRE(law.count(text) == 1);
    CAPTURE(cells);
    CHECK(chi_square < critical(cells));
}

} // namespace

TEST_CASE("slrs: a draft token that is two tokens of the target, sampled", "[law]") {
    // Here the first token once came out .578, .000, .422.
    const toy_words two({"a", "b", "c"}, {"a", "b", "c", "bb"});
    row_tree p(same_rows({0.4F, 0.3F, 0.3F})), q(same_rows({0.1F, 0.3F, 0.1F, 0.5F}));
    const sampled_case c{p, q, 4, 2};
    joint_law first;
    for (const auto& [text, probability] : enumerated(two.slrs(0.02), c))
        first[{text[0]}] += probability;
    CHECK(total_variation(first, target_alone(p, 1)) < 1e-12);
    check_sampled_rounds(two.slrs(0.02), c);
}

TEST_CASE("slrs: overlapping spellings, sampled", "[law]") {
    const toy_words two({"a", "b", "ab", "ba"}, {"b", "a", "ba", "ab"});
    row_tree p(toy_rows(row_kind::random, 4, 31)), q(toy_rows(row_kind::random, 4, 32));
    check_sampled_rounds(two.slrs(0), {p, q, 2, 3});
}

TEST_CASE("merge: overlapping n-grams, sampled", "[law]") {
    const toy_words two({"a", "b", "ab", "ba"}, {"b", "a"});
    row_tree p(toy_rows(row_kind::random, 4, 33)), q(toy_rows(row_kind::random, 2, 34));
    check_sampled_rounds(two.merge(0, {{{1, 0}, 2}, {{0, 1}, 3}}), {p, q, 2, 3});
}
