// SPDX-License-Identifier: MIT
// Drafters that learn while they serve: their weights change between every two rounds, and depend
// on all that was seen, discarded tokens too. The law of whole sessions, enumerated, is the
// target's.
#include <specdec/draft/hot_swapped_model.hpp>

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

/// Sessions that go through these rounds, whose drafter has three sets of weights.
template <class WithBridge, class Rule>
played play_learning(const toy_words& two, const WithBridge& with_bridge, const Rule& rule,
                     const std::vector<step>& rounds, std::uint64_t seed, std::size_t& changes) {
    row_tree p(toy_rows(row_kind::random, two.target_size(), seed));
    std::array<row_tree, 3> q{row_tree(toy_rows(row_kind::random, two.draft_size(), seed + 1)),
                              row_tree(toy_rows(row_kind::peaked, two.draft_size(), seed + 2)),
                              row_tree(toy_rows(row_kind::ties, two.draft_size(), seed + 3))};
    std::size_t seen = 0, which = 0;
    const auto make = [&](auto&, const auto& use) {
        auto target = model_of<target_id>(p);
        seen = which = 0;
        draft_model model(two.draft_size(), [&](const std::vector<draft_id>& context) {
            return q[which](std::span(context).subspan(1));
        });
        hot_swapped_model draft(model, [&] {
            which = (which + 1 + seen) % 3;
            return &model;
        });
        model_drafter drafter(draft);
        use(target, drafter);
        changes += draft.changes();
    };
    const auto round = [&](auto& text, std::size_t i) {
        const step now = i < rounds.size() ? rounds[i] : step{.gamma = 0};
        const round_result r = text.round(fixed_length{now.gamma}, now.room);
        seen += r.accepted + r.tokens.back().index();
        commit_as(now.what, text.decoder, r);
    };
    return play(made_world{p, make}, with_bridge, rule, rounds_by{scenario{}, round});
}

template <class WithBridge>
void check_learning(const char* name, const toy_words& two, const WithBridge& with_bridge) {
    law_ledger ledger;
    std::size_t changes = 0;
    std::uint64_t seed = 700;
    for_lossless_rules([&](const auto& rule) {
        for (const auto& rounds : courses()) {
            CAPTURE(name, rule.name, ++seed);
            ledger.check(play_learning(two, with_bridge, rule, rounds, seed, changes));
        }
    });
    CHECK(changes > 0);
    std::printf("learning, %-10s %9zu changes, worst total variation %.1e\n", name, changes,
                ledger.worst);
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
/// where the round is decided; and how often there were so many proposals.
template <class WithBridge, class Rule>
played play_with_head(const toy_words& two, const WithBridge& with_bridge, const Rule& rule,
                      const sampling_parameters& draft, std::uint64_t seed,
                      std::array<std::size_t, 3>& lengths) {
    toy_rows_of rows(two, seed);
    std::size_t which = seed;
    acceptance_head head(toy_embedding{}, shape, parameters_of(which));
    predicted_end stop(head, 0.5, 2);
    const auto round = [&](auto& text, std::size_t i) {
        auto& decoder = text.decoder;
        if (i == 0)
            head = acceptance_head(toy_embedding{}, shape, parameters_of(which = seed));
        decoder.draft(text.drafter, stop, text.coin, 4 - decoder.tokens().size());
        const auto scores = decoder.score(text.target);
        head.take(parameters_of(++which)); // of what was drafted
        const round_result r = decoder.verify(scores, text.coin);
        ++lengths[r.proposed.size()];
        which += r.accepted + r.tokens.back().index();
        stop.learn(outcome_of(r, two.target, two.draft));
        decoder.commit(r.tokens[0].value == 0 ? 1 : r.tokens.size());
    };
    return play(rows.models(), with_bridge, rule,
                rounds_by{scenario{.draft = draft, .max_proposals = 2}, round});
}

template <class WithBridge, class... Rules>
void check_heads(const char* name, const toy_words& two, const WithBridge& with_bridge,
                 const Rules&... rules) {
    law_ledger ledger;
    std::array<std::size_t, 3> lengths{};
    std::uint64_t seed = 800;
    const auto check = [&](const auto& rule) {
        for (const sampling_parameters& draft :
             {sampling_parameters{}, sampling_parameters{.temperature = 0.7F}}) {
            CAPTURE(name, rule.name, ++seed);
            ledger.check(play_with_head(two, with_bridge, rule, draft, seed, lengths));
        }
    };
    (check(rules), ...);
    CHECK(lengths[1] > 0); // the head did choose
    CHECK(lengths[2] > 0);
    std::printf("acceptance head, %-10s worst total variation %.1e\n", name, ledger.worst);
}

TEST_CASE("an acceptance head that changes every round keeps the target's law", "[law]") {
    static const toy_words other({"a", "b", "ab"}, {"b", "ba", "a"});
    check_heads("tli", other, other.tli(), by_rejection, by_block);
    check_heads("slrs", twofold_words(), twofold_words().slrs(0), by_rejection, by_match);
    static const toy_words merged({"a", "b", "ab"}, {"a", "b"});
    check_heads("merge", merged, merged.merge(0, {{{0, 1}, 2}}), by_rejection);
}

} // namespace learning_tests
