// SPDX-License-Identifier: MIT
// Targets and drafters that cannot be truncated: the law of sessions of several rounds, of which
// some are thrown away and others committed in part, is the target's from scratch.
#include <specdec/core/model/checkpointed_model.hpp>

#include <cstdio>
#include <vector>

#include <catch2/catch.hpp>

#include "support/recurrent_model.hpp"
#include "toy_bridges.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace recurrent_law_tests {

constexpr std::size_t length = 3;

/// Rounds of `gamma` drafts; the first is thrown away and drafted again, of the second one token is
/// committed.
template <class WithBridge, class Rule>
double deviation(const WithBridge& with_bridge, const Rule& rule, const toy_words& two,
                 std::size_t gamma, std::size_t longest_replay) {
    joint_law law;
    enumerate<interval_coin>([&](interval_coin& coin) {
        recurrent_model<target_id> target_engine(two.target_size());
        recurrent_model<draft_id> draft_engine(two.draft_size());
        checkpointed_model<target_id, recurrent_model<target_id>> target(target_engine,
                                                                         longest_replay);
        checkpointed_model<draft_id, recurrent_model<draft_id>> draft(draft_engine, longest_replay);
        model_drafter drafter(draft);
        with_bridge(gamma, [&](auto bridge) {
            session decoder(std::move(bridge), rule, session_settings{.capacity = 16});
            decoder.start(std::vector{target_id{0}}, std::vector{draft_id{0}});
            sequence text;
            for (int round = 0; text.size() < length; ++round) {
                const round_result r = decoder.round(target, drafter, fixed_length{gamma}, coin, 8);
                const std::size_t n = round == 0 ? 0 : round == 1 ? 1 : r.tokens.size();
                for (std::size_t i = 0; i < n; ++i)
                    text.push_back(r.tokens[i].value);
                decoder.commit(n);
            }
            text.resize(length);
            law[text] += coin.probability();
        });
    });
    row_tree from_scratch([&two](const sequence& text) {
        std::vector<target_id> tokens{target_id{0}};
        for (const int t : text)
            tokens.push_back(target_id{t});
        recurrent_model<target_id> model(two.target_size());
        const auto rows = model.score(tokens);
        const auto last = rows[tokens.size() - 1].values;
        return std::vector<float>(last.begin(), last.end());
    });
    return total_variation(law, target_alone(from_scratch, length));
}

template <class WithBridge>
void check_recurrent(const char* name, const WithBridge& with_bridge, const toy_words& two,
                     std::size_t most) {
    double worst = 0;
    for (const std::size_t longest_replay : {0U, 8U})
        for (std::size_t gamma = 1; gamma <= most; ++gamma) {
            const double tv = deviation(with_bridge, token_rejection{.thinning = {1, 1}}, two,
                                        gamma, longest_replay);
            CAPTURE(longest_replay, gamma);
            CHECK(tv < 1e-12);
            worst = tv > worst ? tv : worst;
        }
    std::printf("recurrent, %-8s total variation %.1e\n", name, worst);
}

TEST_CASE("models that cannot be truncated have the target's law", "[law]") {
    const toy_words two({"b", "a"}, {"a", "b", "bb"});
    check_recurrent("tli", two.tli(), two, 2);
    check_recurrent("slrs", two.slrs(0), two, 1);
}

} // namespace recurrent_law_tests
