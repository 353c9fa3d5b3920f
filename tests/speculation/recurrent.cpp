// SPDX-License-Identifier: MIT
// Engines whose state cannot be truncated, on both sides, through everything that decodes: texts
// are those of the same networks computed anew before every call.
#include <specdec/speculation/speculation.hpp>

#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/core/model/checkpointed_model.hpp>
#include <specdec/decode/measure_costs.hpp>

#include "support/recurrent_model.hpp"
#include "support/toy_speculation.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace recurrent_speculation_tests {

constexpr std::size_t capacity = 128;
template <class Id>
using checkpointed = checkpointed_model<Id, recurrent_batch<Id>>;

/// A pair of sides, of one kind of models.
template <class Target, class Draft>
speculation pair_of(const toy_pair& words, Target& target, Draft& draft) {
    return speculation(speculation_side<target_id>{.models = target,
                                                   .tokenizer = words.target,
                                                   .ends = {toy_pair::end}},
                       speculation_side<draft_id>{.models = draft,
                                                  .tokenizer = words.draft,
                                                  .bos = toy_pair::bos,
                                                  .begins_with_bos = true,
                                                  .ends = {toy_pair::stop}});
}

struct recurrent_toys {
    toy_pair words{};
    std::size_t sequences, longest_replay;
    recurrent_batch<target_id> target_engine{sequences, words.target.vocabulary_size(), capacity};
    recurrent_batch<draft_id> draft_engine{sequences, words.draft.vocabulary_size(), capacity};
    checkpointed<target_id> target{target_engine, longest_replay};
    checkpointed<draft_id> draft{draft_engine, longest_replay};

    recurrent_toys(std::size_t n, std::size_t replay) : sequences(n), longest_replay(replay) {}
    speculation pair() { return pair_of(words, target, draft); }
    [[nodiscard]] std::size_t fed() const {
        std::size_t all = 0;
        for (const auto& model : draft_engine.models)
            all += model.fed;
        for (const auto& model : target_engine.models)
            all += model.fed;
        return all;
    }
};

TEST_CASE("speculation: texts of engines that cannot be truncated are those of engines that can") {
    toy_pair words;
    batch_of<target_id, recomputed_model<target_id>> target(
        1, recomputed_model<target_id>(words.target.vocabulary_size(), capacity));
    batch_of<draft_id, recomputed_model<draft_id>> draft(
        1, recomputed_model<draft_id>(words.draft.vocabulary_size(), capacity));
    speculation plain = pair_of(words, target, draft);
    const auto a = words.encode("ab c"), b = words.encode("c"), c = words.encode("b a");
    const std::vector<text_request> texts{{.prompt = a, .sequence = 0},
                                          {.prompt = b, .sequence = 1},
                                          {.prompt = c, .sequence = 2},
                                          {.prompt = a, .sequence = 3},
                                          {.prompt = b, .sequence = 4}};
    for (const rule how : {rule::tli, rule::slem, rule::slrs, rule::coupled, rule::lookup}) {
        const decode_results expected = plain.run(texts, fixed(how, 1));
        for (const std::size_t sequences : {1U, 3U})
            for (const std::size_t longest_replay : {0U, 3U, 8U}) {
                CAPTURE(how, sequences, longest_replay);
                recurrent_toys x(sequences, longest_replay);
                speculation pair = x.pair();
                const decode_results now = pair.run(texts, fixed(how, 1));
                REQUIRE(now.texts.size() == expected.texts.size());
                for (std::size_t i = 0; i < texts.size(); ++i)
                    CHECK(now.texts[i].tokens == expected.texts[i].tokens);
                CHECK(now.passes.passes <= expected.passes.passes);
            }
    }
}

TEST_CASE("speculation: no text is fed to them again and again") {
    recurrent_toys x(1, 8);
    speculation pair = x.pair();
    decode_settings s = fixed(rule::tli, 1);
    s.limits.max_tokens = 100;
    const decode_result text = pair.generate("ab c", s);
    const std::size_t rounds = text.counts.rounds;
    // a round: the last token and the draft, on both sides, and at most 8 again on each
    CHECK(x.fed() <= rounds * (4 + 4 + 2 * (8 + 4)) + 20);
}

TEST_CASE("speculation: what a rejection makes such a target be fed again is measured and told") {
    recurrent_toys x(1, 8);
    speculation pair = x.pair();
    one_sequence<target_id, checkpointed<target_id>> target(x.target, 0);
    one_sequence<draft_id, checkpointed<draft_id>> draft(x.draft, 0);
    CHECK(replays_on_reject(target));
    double now = 0;
    const auto clock = [&] { // of passes: a token takes as long as any other
        now += 1e-7;
        return now + 1e-4 * static_cast<double>(x.target_engine.models[0].fed);
    };
    const cost_table costs = measure_costs(target, draft, clock);
    CHECK(costs.replay == Approx(1).margin(0.02)); // a second position costs what one does
    decode_settings s = fixed(rule::tli, 0);
    s.lengths = {.costs = cost_table{{1, 1.2, 1.4}, 0.25, 0.05, 0.2}};
    CHECK(pair.explain(s).find("A rejection costs 0.20 more for each accepted token, which the "
                               "target is fed again. One draft token a round pays where more than "
                               "55 % are accepted.") != std::string::npos);
}

} // namespace recurrent_speculation_tests
