// SPDX-License-Identifier: MIT
// Drafters that learn while they serve: their weights change between every two rounds, and hang on
// all that was seen, discarded tokens too. The law of whole sessions, enumerated, is the target's.
#include <specdec/draft/changing_model.hpp>

#include <array>
#include <cmath>
#include <cstdio>
#include <vector>

#include <specdec/decode/outcome_of.hpp>
#include <specdec/draft/predicted_end.hpp>
#include <specdec/learn/acceptance/acceptance_head.hpp>

#include "toy_bridges.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace learning_tests {

using draft_model = toy_model<draft_id>;

/// Rounds with partial commits, thrown away, drafted again.
std::vector<std::vector<step>> courses() {
    const step one{.gamma = 1}, two{.gamma = 2};
    return {{{.gamma = 2, .what = then::part}, one},
            {{.gamma = 1, .what = then::nothing}, one},
            {{.gamma = 1, .what = then::abandon}, two}};
}

/// The law of the first `length` tokens of sessions that go through these rounds.
template <class WithBridge, class Rule>
double deviation(const toy_words& two, const WithBridge& with_bridge, const Rule& rule,
                 const std::vector<step>& rounds, std::uint64_t seed, std::size_t& changes) {
    const std::size_t length = 2;
    row_tree p(toy_rows(row_kind::random, two.target_size(), seed));
    std::array<row_tree, 3> q{row_tree(toy_rows(row_kind::random, two.draft_size(), seed + 1)),
                              row_tree(toy_rows(row_kind::peaked, two.draft_size(), seed + 2)),
                              row_tree(toy_rows(row_kind::ties, two.draft_size(), seed + 3))};
    joint_law law;
    enumerate<interval_coin>([&](interval_coin& coin) {
        auto target = model_of<target_id>(p, two.target_size());
        std::size_t seen = 0, which = 0;
        draft_model model(two.draft_size(), [&](const std::vector<draft_id>& context) {
            sequence behind;
            for (std::size_t i = 1; i < context.size(); ++i)
                behind.push_back(context[i].value);
            return q[which](behind);
        });
        changing_model draft(model, [&] {
            which = (which + 1 + seen) % 3;
            return &model;
        });
        model_drafter drafter(draft);
        with_bridge(std::size_t{2}, [&](auto bridge) {
            play(law, session(std::move(bridge), rule, session_settings{.capacity = 16}), coin,
                 length, [&](auto& decoder, std::size_t i) {
                     const step now = i < rounds.size() ? rounds[i] : step{.gamma = 0};
                     const round_result r =
                         decoder.round(target, drafter, fixed_length{now.gamma}, coin, now.room);
                     seen += r.accepted + r.tokens.back().index();
                     commit_as(now.what, decoder, r);
                 });
            changes += draft.changes();
        });
    });
    return total_variation(law, target_alone(p, length));
}

template <class WithBridge>
void check_learning(const char* name, const toy_words& two, const WithBridge& with_bridge) {
    double worst = 0;
    std::size_t changes = 0;
    std::uint64_t seed = 700;
    const auto check = [&](const auto& rule) {
        for (const auto& rounds : courses()) {
            const double tv = deviation(two, with_bridge, rule, rounds, ++seed, changes);
            CAPTURE(name, rule_name(rule), seed);
            CHECK(tv < 1e-12);
            worst = tv > worst ? tv : worst;
        }
    };
    check(token_rejection{.thinning = {1, 1}});
    check(block_verification{.thinning = {1, 1}});
    check(exact_match{});
    CHECK(changes > 0);
    std::printf("learning, %-10s %9zu changes, worst total variation %.1e\n", name, changes, worst);
}

TEST_CASE("weights that change between rounds: identity and tli keep the target's law", "[law]") {
    static const toy_words same({"a", "b"}, {"a", "b"}), other({"a", "b", "ab"}, {"b", "ba", "a"});
    check_learning("identity", same, same.identity());
    check_learning("tli", other, other.tli());
}

TEST_CASE("weights that change between rounds: slrs and merge keep the target's law", "[law]") {
    check_learning("slrs", twofold_words(), twofold_words().slrs(0));
    static const toy_words merged({"a", "b", "ab"}, {"a", "b"});
    check_learning("merge", merged, merged.merge(0, {{{0, 1}, 2}}));
}

/// Embeddings and parameters of a head, other ones for every number.
struct toy_embedding {
    [[nodiscard]] std::span<const float> operator()(draft_id d) const {
        static constexpr float rows[] = {1, 0.5F, -1, 2, 0.5F, -1, -2, 1};
        return std::span(rows).subspan(2 * d.index(), 2);
    }
};
constexpr acceptance_shape shape{.embedding = 2, .width = 1};

std::vector<float> parameters_of(std::size_t which) {
    std::vector<float> p(shape.parameters());
    for (std::size_t i = 0; i < p.size(); ++i)
        p[i] = static_cast<float>(std::sin(static_cast<double>(1 + i + 40 * which)));
    return p;
}

/// Rounds whose lengths an acceptance head chooses, which is taught after every draft and changes
/// where the round is decided; the law of the text, and how often there were so many proposals.
template <class WithBridge, class Rule>
double deviation_with_head(const toy_words& two, const WithBridge& with_bridge, const Rule& rule,
                           const sampling_parameters& draft, std::uint64_t seed,
                           std::array<std::size_t, 3>& lengths) {
    const std::size_t length = 2;
    row_tree p(toy_rows(row_kind::random, two.target_size(), seed));
    row_tree q(toy_rows(row_kind::random, two.draft_size(), seed + 1));
    joint_law law;
    enumerate<interval_coin>([&](interval_coin& coin) {
        auto target = model_of<target_id>(p, two.target_size());
        auto model = model_of<draft_id>(q, two.draft_size());
        model_drafter drafter(model);
        std::size_t which = seed;
        acceptance_head head(toy_embedding{}, shape, parameters_of(which));
        predicted_end stop(head, 0.5, 2);
        with_bridge(std::size_t{2}, [&](auto bridge) {
            play(law,
                 session(std::move(bridge), rule,
                         session_settings{.draft = draft, .capacity = 16, .max_proposals = 2}),
                 coin, length, [&](auto& decoder, std::size_t) {
                     decoder.draft(drafter, stop, coin, length + 2 - decoder.tokens().size());
                     const auto rows = decoder.score(target);
                     head.take(parameters_of(++which)); // of what was drafted
                     const round_result r = decoder.verify(rows, coin);
                     ++lengths[r.proposed.size()];
                     which += r.accepted + r.tokens.back().index();
                     stop.learn(outcome_of(r, two.target, two.draft));
                     decoder.commit(r.tokens[0].value == 0 ? 1 : r.tokens.size());
                 });
        });
    });
    return total_variation(law, target_alone(p, length));
}

template <class WithBridge, class... Rules>
void check_heads(const char* name, const toy_words& two, const WithBridge& with_bridge,
                 const Rules&... rules) {
    double worst = 0;
    std::array<std::size_t, 3> lengths{};
    std::uint64_t seed = 800;
    const auto check = [&](const auto& rule) {
        for (const sampling_parameters& draft :
             {sampling_parameters{}, sampling_parameters{.temperature = 0.7F}}) {
            const double tv = deviation_with_head(two, with_bridge, rule, draft, ++seed, lengths);
            CAPTURE(name, rule_name(rule), seed);
            CHECK(tv < 1e-12);
            worst = tv > worst ? tv : worst;
        }
    };
    (check(rules), ...);
    CHECK(lengths[1] > 0); // the head did choose
    CHECK(lengths[2] > 0);
    std::printf("acceptance head, %-10s worst total variation %.1e\n", name, worst);
}

TEST_CASE("an acceptance head that changes every round keeps the target's law", "[law]") {
    const token_rejection rejection{.thinning = {1, 1}};
    static const toy_words other({"a", "b", "ab"}, {"b", "ba", "a"});
    check_heads("tli", other, other.tli(), rejection, block_verification{.thinning = {1, 1}});
    check_heads("slrs", twofold_words(), twofold_words().slrs(0), rejection, exact_match{});
    static const toy_words merged({"a", "b", "ab"}, {"a", "b"});
    check_heads("merge", merged, merged.merge(0, {{{0, 1}, 2}}), rejection);
}

} // namespace learning_tests
