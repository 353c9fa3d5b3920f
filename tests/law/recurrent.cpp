// SPDX-License-Identifier: MIT
// Targets and drafters that cannot be truncated: the law of sessions of several rounds, of which
// some are thrown away and others committed in part, is the target's from scratch.
#include <specdec/core/model/checkpointed_model.hpp>

#include <cstddef>
#include <cstdio>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/core/model/one_sequence.hpp>
#include <specdec/decode/batch.hpp>
#include <specdec/decode/generate.hpp>
#include <specdec/decode/text_run.hpp>
#include <specdec/sampling/coin/philox_coin.hpp>

#include "support/recurrent_model.hpp"
#include "toy_bridges.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace recurrent_law_tests {

constexpr std::size_t length = 3;

/// The target's rows, each of a state that has seen prompt and text and nothing else.
row_tree from_scratch(const toy_words& two, const sequence& prompt) {
    return row_tree([&two, prompt](const sequence& text) {
        sequence tokens = prompt;
        tokens.insert(tokens.end(), text.begin(), text.end());
        recurrent_model<target_id> model(two.target_size());
        const auto last = model.score(ids_of<target_id>(tokens))[tokens.size() - 1].values;
        return std::vector<float>(last.begin(), last.end());
    });
}

/// Rounds of `gamma` drafts: the first is thrown away and drafted again, of the second one token is
/// committed; the third drafts one, for more would be many paths with the same edits.
template <class WithBridge>
played play_recurrent(const WithBridge& with_bridge, const toy_words& two, std::size_t gamma,
                      std::size_t longest_replay) {
    row_tree p = from_scratch(two, {0});
    const auto make = [&](auto&, const auto& use) {
        recurrent_model<target_id> target_engine(two.target_size());
        recurrent_model<draft_id> draft_engine(two.draft_size());
        checkpointed_model<target_id, recurrent_model<target_id>> target(target_engine,
                                                                         longest_replay);
        checkpointed_model<draft_id, recurrent_model<draft_id>> draft(draft_engine, longest_replay);
        model_drafter drafter(draft);
        use(target, drafter);
    };
    const step nothing{.gamma = gamma, .what = then::nothing},
        part{.gamma = gamma, .what = then::part};
    return play(made_world{p, make}, with_bridge, by_rejection,
                scenario{.steps = {nothing, part, {.gamma = 1}},
                         .length = length,
                         .draft = {.top_k = 2}, // of three: a tenth of the paths
                         .start = {.max_draft = gamma}});
}

/// Two texts in a batch, both models with a state for each. They share the coin, so that what one
/// draws tells of the other, and each has its own law all the same: the larger deviation of both.
template <class WithBridge>
double deviation_in_a_batch(const WithBridge& with_bridge, const toy_words& two, std::size_t gamma,
                            std::size_t longest_replay) {
    using targets = checkpointed_model<target_id, recurrent_batch<target_id>>;
    using drafts = checkpointed_model<draft_id, recurrent_batch<draft_id>>;
    const pair_law law = on_every_path([&](interval_coin& coin) {
        recurrent_batch<target_id> target_engine(2, two.target_size());
        recurrent_batch<draft_id> draft_engine(2, two.draft_size());
        targets target(target_engine, longest_replay);
        drafts draft(draft_engine, longest_replay);
        one_sequence<draft_id, drafts> one(draft, 0), other(draft, 1);
        model_drafter drafter(one), beside(other);
        silent_reader reader;
        const fixed_length stop{gamma};
        std::pair<sequence, sequence> texts;
        with_bridge(gamma, [&](auto bridge) {
            with_bridge(gamma, [&](auto bridge_beside) {
                session first(std::move(bridge), by_rejection, session_settings{.capacity = 16});
                session second(std::move(bridge_beside), by_rejection,
                               session_settings{.capacity = 16});
                first.start(std::vector{target_id{0}}, std::vector{draft_id{0}});
                second.start(std::vector{target_id{0}, target_id{1}}, std::vector{draft_id{0}});
                const generation_limits limits{.max_tokens = length};
                text_run a(first, drafter, stop, coin, two.target, limits, reader);
                text_run b(second, beside, stop, coin, two.target, limits, reader);
                batch<targets, decltype(a)> both(target);
                both.join(a);
                both.join(b);
                while (both.round()) {
                }
                texts = {values_of(first.tokens().subspan(1)),
                         values_of(second.tokens().subspan(2))};
            });
        });
        return texts;
    });
    joint_law laws[2];
    for (const auto& [texts, probability] : law) {
        laws[0][texts.first] += probability;
        laws[1][texts.second] += probability;
    }
    row_tree alone = from_scratch(two, {0}), beside = from_scratch(two, {0, 1});
    const double a = total_variation(laws[0], target_alone(alone, length)),
                 b = total_variation(laws[1], target_alone(beside, length));
    return a > b ? a : b;
}

template <class WithBridge>
void check_recurrent(const char* name, const WithBridge& with_bridge, const toy_words& two,
                     std::size_t most) {
    law_ledger ledger;
    for (const std::size_t longest_replay : {0U, 8U})
        for (std::size_t gamma = 1; gamma <= most; ++gamma) {
            CAPTURE(longest_replay, gamma);
            ledger.check(play_recurrent(with_bridge, two, gamma, longest_replay));
        }
    std::printf("recurrent, %-8s total variation %.1e\n", name, ledger.worst);
}

TEST_CASE("models that cannot be truncated have the target's law", "[law]") {
    const toy_words two({"b", "a"}, {"a", "b", "bb"});
    check_recurrent("tli", two.tli(), two, 2);
    check_recurrent("slrs", two.slrs(0), two, 1);
}

/// The first text ends behind a state that the second one does not begin with.
TEST_CASE("a second text of models that cannot be truncated has the target's law", "[law]") {
    const toy_words two({"b", "a"}, {"a", "b", "bb"});
    row_tree p = from_scratch(two, {0, 1});
    for (const std::size_t longest_replay : {0U, 8U}) {
        const joint_law law = on_every_path([&](interval_coin& coin) {
            recurrent_model<target_id> target_engine(two.target_size());
            recurrent_model<draft_id> draft_engine(two.draft_size());
            checkpointed_model<target_id, recurrent_model<target_id>> target(target_engine,
                                                                             longest_replay);
            checkpointed_model<draft_id, recurrent_model<draft_id>> draft(draft_engine,
                                                                          longest_replay);
            model_drafter drafter(draft);
            sequence text;
            two.tli()(std::size_t{2}, [&](auto bridge) {
                session decoder(std::move(bridge), by_rejection, session_settings{.capacity = 16});
                const philox_coin first(1);
                decoder.start(ids_of<target_id>({0, 1, 1, 0}), std::vector{draft_id{0}});
                for (int i = 0; i < 2; ++i)
                    decoder.commit(
                        decoder.round(target, drafter, fixed_length{2}, first, 8).tokens.size());
                decoder.start(ids_of<target_id>({0, 1}), std::vector{draft_id{0}});
                while (decoder.tokens().size() < 2 + length)
                    decoder.commit(
                        decoder.round(target, drafter, fixed_length{1}, coin, 2).tokens.size());
                text = values_of(decoder.tokens().subspan(2, length));
            });
            return text;
        });
        CAPTURE(longest_replay);
        CHECK(total_variation(law, target_alone(p, length)) < 1e-12);
    }
}

TEST_CASE("texts of one batch of models that cannot be truncated have the target's law", "[law]") {
    const toy_words two({"b", "a"}, {"a", "b", "bb"});
    double worst = 0;
    for (const std::size_t longest_replay : {0U, 8U})
        for (const std::size_t gamma : {1U, 2U}) {
            CAPTURE(longest_replay, gamma);
            const double tv = deviation_in_a_batch(two.tli(), two, gamma, longest_replay);
            CHECK(tv < 1e-12);
            worst = tv > worst ? tv : worst;
        }
    std::printf("recurrent, batch    total variation %.1e\n", worst);
}

} // namespace recurrent_law_tests
