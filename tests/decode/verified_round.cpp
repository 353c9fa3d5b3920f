// SPDX-License-Identifier: MIT
#include <specdec/decode/verified_round.hpp>

#include <vector>

#include <catch2/catch.hpp>

#include <specdec/bridge/identity.hpp>
#include <specdec/bridge/no_bridge.hpp>
#include <specdec/bridge/slem.hpp>
#include <specdec/decode/session.hpp>
#include <specdec/draft/model_drafter.hpp>
#include <specdec/draft/no_drafter.hpp>
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

namespace verified_round_tests {

template <class Id>
toy_model<Id> model_of_three() {
    return toy_model<Id>(3, [](const std::vector<Id>& context) {
        const auto n = static_cast<float>(context.size());
        return std::vector<float>{n, 1, context.back().value == 0 ? 2.0F : 0.5F};
    });
}

TEST_CASE("a verified round shows what was drafted, decided and scored") {
    auto target = model_of_three<target_id>();
    auto model = model_of_three<draft_id>();
    model_drafter drafter(model);
    const philox_coin coin(3);
    const sampling_parameters warm{.temperature = 0.8F};
    session decoder(make_identity_bridge(3, 3, 64, 4), token_rejection{},
                    session_settings{.target = warm, .capacity = 64});
    decoder.start(ids_of<target_id>({0, 2}), ids_of({1}));
    std::size_t drafted = 0;
    for (int i = 0; i < 8; ++i) {
        const fixed_length stop{static_cast<std::size_t>(i % 3)};
        decoder.draft(drafter, stop, coin, 8);
        const auto rows = decoder.score(target);
        CHECK(decoder.verified(rows).tokens.empty()); // not verified yet
        const round_result r = decoder.verify(rows, coin);
        const auto round = decoder.verified(rows);
        CHECK(round.text.size() == decoder.tokens().size());
        CHECK(round.tokens.data() == r.tokens.data());
        CHECK(round.tokens.size() == r.tokens.size());
        CHECK(round.drafted.size() == r.drafted.size());
        CHECK(round.steps.data() == r.steps.data());
        CHECK(round.accepted == r.accepted);
        CHECK(round.evaluated >= r.accepted);
        CHECK(round.evaluated <= r.accepted + 1);
        CHECK(round.proposals.size() == stop.length);
        CHECK(round.rows.size() == stop.length + 1);
        CHECK(round.sampling.temperature == warm.temperature);
        CHECK(round.context.size() == (stop.length == 0 ? 0 : 1 + round.text.size()));
        for (std::size_t k = 0; k < round.accepted; ++k)
            CHECK(round.proposals[k].token() == round.tokens[k]);
        drafted += round.drafted.size();
        decoder.commit(r.tokens.size() - (i % 2 == 1 && r.tokens.size() > 1 ? 1 : 0));
    }
    CHECK(drafted == 7);
}

TEST_CASE("bridges show the drafter's context, where they have one") {
    static_assert(!ShowsContext<no_bridge>);
    CHECK(context_of(no_bridge{}).empty());
    const tiny_tokenizer<target_id> words({"a", "b", "ab"});
    const tiny_tokenizer<draft_id> pieces({"a", "b"});
    const id_map map = intersect(pieces, words);
    slem_bridge bridge(words, pieces, map, 16, 2);
    bridge.start({});
    bridge.follow(ids_of<target_id>({2, 0}));
    CHECK(context_of(bridge).size() == 3);
}

} // namespace verified_round_tests
