// SPDX-License-Identifier: MIT
#include <specdec/learn/acceptance/acceptance_labels.hpp>

#include <vector>

#include <catch2/catch.hpp>

#include <specdec/bridge/identity.hpp>
#include <specdec/bridge/slem.hpp>
#include <specdec/decode/outcome_of.hpp>
#include <specdec/decode/session.hpp>
#include <specdec/draft/model_drafter.hpp>
#include <specdec/draft/stop_rule.hpp>
#include <specdec/sampling/coin/philox_coin.hpp>
#include <specdec/verify/exact_match.hpp>
#include <specdec/verify/token_rejection.hpp>
#include <specdec/vocab/table/intersection.hpp>

#include "support/ids.hpp"
#include "support/tiny_tokenizer.hpp"
#include "support/toy_model.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace acceptance_labels_tests {

const tiny_tokenizer<target_id> target_words({"a", "b", "c"});
const tiny_tokenizer<draft_id> draft_words({"a", "b", "c"});

/// Rows that depend on how many tokens there are.
template <class Id>
toy_model<Id> model_of_three(float slope) {
    return toy_model<Id>(3, [=](const std::vector<Id>& context) {
        const auto n = static_cast<float>(context.size() % 4);
        return std::vector<float>{slope * n, 1, -slope};
    });
}

/// Rounds of a session: look(round, outcome).
template <class Bridge, class Rule, class Look>
void each_round(Bridge bridge, const Rule& rule, const Look& look) {
    auto target = model_of_three<target_id>(0.7F);
    auto model = model_of_three<draft_id>(-0.4F);
    model_drafter drafter(model);
    const philox_coin coin(5);
    const fixed_length stop{3};
    session decoder(std::move(bridge), rule,
                    session_settings{.target = {.temperature = 0.7F}, .capacity = 256});
    decoder.start(ids_of<target_id>({0}));
    for (int i = 0; i < 40; ++i) {
        decoder.draft(drafter, stop, coin, 8);
        const auto rows = decoder.score(target);
        const round_result r = decoder.verify(rows, coin);
        look(decoder.verified(rows), outcome_of(r, target_words, draft_words));
        decoder.commit(r.tokens.size());
    }
}

TEST_CASE("token for token: min(1, p / q) of what was decided on") {
    std::size_t rejected = 0, soft = 0;
    each_round(
        make_identity_bridge(3, 3, 256, 4), token_rejection{},
        [&](const auto& round, const draft_outcome& o) {
            std::vector<float> labels(3, -1.0F);
            const std::size_t n = acceptance_labels(round, o, labels);
            CHECK(n == round.evaluated);
            for (std::size_t i = 0; i < n; ++i) {
                const target_id t = round.proposals[i].token();
                const double p = make_law(round.rows[i], {.temperature = 0.7F}).probability(t),
                             q = round.proposals[i].probability();
                CHECK(static_cast<double>(labels[i]) == Approx(p < q ? p / q : 1.0));
                soft += labels[i] < 1 && i < round.accepted ? 1U : 0U;
            }
            if (round.accepted < n) {
                CHECK(labels[round.accepted] < 1); // whatever is rejected had p < q
                ++rejected;
            }
            for (std::size_t i = n; i < labels.size(); ++i)
                CHECK(labels[i] == -1);
        });
    CHECK(rejected > 5);
    CHECK(soft > 5);
}

TEST_CASE("other bridges: kept or rejected") {
    const id_map map = intersect(draft_words, target_words);
    std::size_t rejected = 0, kept = 0;
    each_round(slem_bridge(target_words, draft_words, map, 256, 4), exact_match{},
               [&](const auto& round, const draft_outcome& o) {
                   std::vector<float> labels(3, -1.0F);
                   const std::size_t n = acceptance_labels(round, o, labels);
                   CHECK(n == o.kept + (o.rejected ? 1U : 0U));
                   for (std::size_t i = 0; i < n; ++i)
                       CHECK(labels[i] == (i < o.kept ? 1.0F : 0.0F));
                   kept += o.kept;
                   rejected += o.rejected ? 1U : 0U;
                   CHECK_THROWS_AS(acceptance_labels(round, o, std::span(labels).first(2)), error);
               });
    CHECK(kept > 5);
    CHECK(rejected > 5);
}

} // namespace acceptance_labels_tests
