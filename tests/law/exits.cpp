// SPDX-License-Identifier: MIT
// Drafters with several exits, by the confidence of the row and of the drawn token: the law of
// whole sessions, enumerated, is the target's. The law of a draft is Algorithm 1's of S2D.
#include <specdec/head/exits/early_exit_model.hpp>

#include <cstdio>
#include <map>
#include <span>
#include <vector>

#include <specdec/core/model/one_sequence.hpp>
#include <specdec/head/exits/confidence_exit.hpp>
#include <specdec/head/exits/sampled_token_exit.hpp>

#include "support/toy_exits.hpp"
#include "toy_bridges.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace exits_tests {

/// Rows of three exits that differ.
struct exit_trees {
    row_tree of[3];
    exit_trees(std::size_t vocabulary, std::uint64_t seed)
        : of{row_tree(toy_rows(row_kind::random, vocabulary, seed)),
             row_tree(toy_rows(row_kind::ties, vocabulary, seed + 1)),
             row_tree(toy_rows(row_kind::random, vocabulary, seed + 2))} {}
    [[nodiscard]] toy_exits model(std::size_t vocabulary) {
        return {vocabulary, 3,
                [this](std::size_t e, const sequence& prefix) { return of[e](prefix); }};
    }
};

auto by_the_row(const std::vector<double>& tau) {
    return [=](interval_coin&, const sampling_parameters&) {
        return confidence_exit(exit_thresholds(tau));
    };
}
auto by_the_token(const std::vector<double>& tau) {
    return [=](interval_coin& coin, const sampling_parameters& sampling) {
        return sampled_token_exit<interval_coin>(exit_thresholds(tau), sampling,
                                                 std::span(&coin, 1));
    };
}

/// make_choice(coin, parameters of the draft) makes the choice of exits, anew for each path. `few`:
/// scenarios of one or two rounds only.
template <class MakeChoice>
void check_exits(const char* name, const toy_words& two, const auto& with_bridge,
                 const MakeChoice& make_choice, bool few) {
    std::uint64_t seed = 700;
    const target_id end = id_at<target_id>(two.target_size() - 1);
    std::vector<scenario> all = few ? short_scenarios(end) : every_scenario(end);
    constexpr sampling_parameters greedy{.temperature = 0};
    const std::vector<step> rounds{{.gamma = 2}, {.gamma = 1}};
    all.push_back({"greedy on both sides", rounds, 3, greedy, greedy});
    all.push_back({"a greedy target", rounds, 3, greedy});
    law_ledger ledger;
    check_under_rules(ledger, name, all, [&](const auto& rule, const scenario& s) {
        seed += 3;
        row_tree p(toy_rows(row_kind::random, two.target_size(), seed));
        exit_trees q(two.draft_size(), seed + 1);
        const auto make = [&](interval_coin& coin, const auto& use) {
            auto target = model_of<target_id>(p);
            toy_exits model = q.model(two.draft_size());
            auto choice = make_choice(coin, s.draft);
            early_exit_model sorted(model, choice);
            one_sequence<draft_id, decltype(sorted)> draft(sorted, 0);
            model_drafter drafter(draft);
            use(target, drafter);
        };
        return play(made_world{p, make}, with_bridge, rule, s);
    });
    std::printf("exits, %-28s worst total variation %.1e\n", name, ledger.worst);
}

const toy_words& letters() {
    static const toy_words two({"a", "b"}, {"b", "a"});
    return two;
}
/// Asks for rows of drafts that were not drawn, and for those of the last round.
const toy_words& spellings() {
    static const toy_words two({"a", "b", "aa"}, {"a", "b"});
    return two;
}

TEST_CASE("exits chosen by the row's confidence: the law of the target", "[law]") {
    const auto choice = by_the_row({0.6, 0.5});
    check_exits("row, identity", letters(), letters().identity(), choice, false);
    check_exits("row, tli", permuted_words(), permuted_words().tli(), choice, true);
    check_exits("row, the last may end, tli", letters(), letters().tli(),
                by_the_row({0.7, 0.6, 0.6}), false);
    check_exits("row, slrs", spellings(), spellings().slrs(0), choice, true);
    check_exits("row, merge", spellings(), spellings().merge(0, {{{0, 0}, 2}}), choice, true);
}

TEST_CASE("exits chosen by the drawn token's probability: the law of the target", "[law]") {
    const auto choice = by_the_token({0.55, 0.5});
    check_exits("token, identity", letters(), letters().identity(), choice, false);
    check_exits("token, tli", permuted_words(), permuted_words().tli(), by_the_token({0.4, 0.3}),
                true);
    check_exits("token, the last may end, tli", letters(), letters().tli(),
                by_the_token({0.6, 0.5, 0.3}), false);
    check_exits("token, slrs", spellings(), spellings().slrs(0), choice, true);
    check_exits("token, merge", spellings(), spellings().merge(0, {{{0, 0}, 2}}), choice, true);
}

/// The law of the token behind one, and of the exit that spoke, as the choice draws them.
using exit_and_token = std::map<std::pair<std::size_t, int>, double>;

TEST_CASE("the law of exit and token is that of Algorithm 1, which draws and drops", "[law]") {
    const std::vector<double> tau{0.4, 0.3, 0.2};
    for (const sampling_parameters& sampling :
         {sampling_parameters{}, {.temperature = 0.7F}, {.temperature = 1.5F, .top_k = 3}})
        for (std::uint64_t seed = 1; seed < 20; ++seed) {
            exit_trees trees(5, seed);
            exit_and_token wanted;
            double left = 1;
            for (std::size_t e = 0; e < 3; ++e) {
                double passed = 0;
                const std::vector<float>& logits = trees.of[e]({});
                const softmax_law<draft_id> law(logits_row<draft_id>{logits}, sampling);
                for (int v = 0; v < 5; ++v)
                    if (const double q = law.probability(draft_id{v}); q >= tau[e])
                        passed += wanted[{e, v}] = left * q, passed += q - left * q;
                left *= 1 - passed;
            }
            wanted[{99, -1}] = left;
            const exit_and_token found = on_every_path([&](interval_coin& coin) {
                toy_exits model = trees.model(5);
                sampled_token_exit<interval_coin> choice(exit_thresholds(tau), sampling,
                                                         std::span(&coin, 1));
                early_exit_model draft(model, choice);
                const draft_id first[] = {draft_id{0}};
                const sequence_tokens<draft_id> part{0, first};
                const logits_row<draft_id> row = draft.score(std::span(&part, 1))[0];
                if (!any_allowed(row.values))
                    return std::pair<std::size_t, int>{99, -1};
                const auto law = make_law(row, sampling);
                return std::pair{draft.exit_of(0, 0), coin.pick({0, purpose::draft}, law).value};
            });
            CAPTURE(seed, sampling.temperature);
            CHECK(total_variation(found, wanted) < 1e-12);
        }
}

} // namespace exits_tests
