// SPDX-License-Identifier: MIT
#include <specdec/source/recycled_source.hpp>

#include <vector>

#include <catch2/catch.hpp>

#include <specdec/decode/session.hpp>
#include <specdec/draft/no_drafter.hpp>
#include <specdec/draft/stop_rule.hpp>
#include <specdec/sampling/coin/philox_coin.hpp>
#include <specdec/verify/exact_match.hpp>

#include "support/ids.hpp"
#include "support/script_drafter.hpp"
#include "support/toy_model.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace recycled_source_tests {

static_assert(Bridge<recycled_source, no_drafter, fixed_length, philox_coin>);

/// 0 -> 1 -> 2 -> 3 -> 0 ...
struct fixture {
    successor_table table{4, 2};
    no_drafter nobody{};
    philox_coin coin{1};
    fixed_length stop{8};

    void learn(int t) {
        std::vector<float> row(4);
        row[static_cast<std::size_t>((t + 1) % 4)] = 5;
        table.learn(target_id{t}, {row});
    }
    auto propose(recycled_source& bridge, std::size_t room = 8,
                 const std::vector<target_id>& ends = {}) {
        return bridge.propose(nobody, stop, coin,
                              {.round = 5, .max_proposals = room, .end_ids = ends});
    }
};

/// A session on a target that counts as the fixture does.
struct begun_session {
    fixture f{};
    toy_model<target_id> target{4, [](const std::vector<target_id>& context) {
                                    std::vector<float> row(4);
                                    row[static_cast<std::size_t>((context.back().value + 1) % 4)] =
                                        50;
                                    return row;
                                }};
    session<recycled_source, exact_match> decoder{
        recycled_source(f.table, 4), exact_match{}, {.capacity = 64}};
    begun_session() { decoder.start(std::vector{target_id{0}}); }
};

TEST_CASE("recycled bridge: successor by successor, as far as they are known") {
    fixture f;
    recycled_source bridge(f.table, 6);
    bridge.start({});
    const std::vector<target_id> text{target_id{2}, target_id{0}};
    bridge.follow(text);
    CHECK(f.propose(bridge).reason == no_draft::nothing_found);
    f.learn(0);
    f.learn(1);
    CHECK(tokens_of(f.propose(bridge)) == ids_of<target_id>({1, 2}));
    f.learn(2);
    f.learn(3);
    const auto all = f.propose(bridge);
    CHECK(tokens_of(all) == ids_of<target_id>({1, 2, 3, 0, 1, 2}));
    CHECK(all.proposals[0].probability() == 1);
    CHECK(tokens_of(f.propose(bridge, 3)) == ids_of<target_id>({1, 2, 3}));
    CHECK(tokens_of(f.propose(bridge, 8, {target_id{2}})) == ids_of<target_id>({1, 2}));
    f.stop.length = 0;
    CHECK(f.propose(bridge).reason == no_draft::stop_rule);
    f.stop.length = 2;
    CHECK(tokens_of(f.propose(bridge)) == ids_of<target_id>({1, 2}));
    CHECK(f.propose(bridge, 0).reason == no_draft::no_room);
    bridge.start({});
    f.stop.length = 8;
    CHECK(f.propose(bridge).reason == no_draft::nothing_found);
}

TEST_CASE("recycled bridge: lengths by what comes true") {
    fixture f;
    for (int t = 0; t < 4; ++t)
        f.learn(t);
    acceptance_table table;
    const cost_table costs{{1, 1.1, 1.2, 1.3, 1.4, 1.5}, 0, 0};
    recycled_source bridge(f.table, 6, lookup_length(table, costs));
    bridge.start({});
    bridge.follow(std::vector{target_id{0}});
    for (int i = 0; i < 60; ++i) { // nothing comes true
        (void)f.propose(bridge);
        bridge.follow(std::vector{target_id{0}});
    }
    CHECK(f.propose(bridge).reason == no_draft::stop_rule);
    for (int i = 0; i < 200; ++i) { // all of it does
        (void)f.propose(bridge);
        bridge.follow(ids_of<target_id>({1, 2, 3, 0}));
    }
    CHECK(f.propose(bridge).proposals.size() == 6);
}

TEST_CASE("recycled bridge: a session gives it the rows of each round") {
    begun_session begun;
    auto& [f, target, decoder] = begun;
    std::vector<std::size_t> proposed;
    for (int i = 0; i < 6; ++i) {
        const round_result r = decoder.round(target, f.nobody, f.stop, f.coin, 8);
        proposed.push_back(r.proposed.size());
        CHECK(r.accepted == r.proposed.size());
        decoder.commit(r.tokens.size());
    }
    CHECK(proposed == std::vector<std::size_t>{0, 0, 0, 0, 4, 4});
    CHECK(decoder.counts().accepted == 8);
    CHECK(decoder.counts().looked_up == 0);
}

TEST_CASE(
    "recycled bridge: rows teach once their round is committed, and none of an abandoned one") {
    begun_session begun;
    auto& [f, target, decoder] = begun;
    (void)decoder.round(target, f.nobody, f.stop, f.coin, 8);
    CHECK(f.table.of(target_id{0}).empty());
    decoder.abandon();
    (void)decoder.round(target, f.nobody, f.stop, f.coin, 8);
    CHECK(f.table.of(target_id{0}).empty());
    decoder.commit(1);
    CHECK(f.table.of(target_id{0}).size() == 2);
}

} // namespace recycled_source_tests
