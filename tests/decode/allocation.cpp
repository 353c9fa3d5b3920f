// SPDX-License-Identifier: MIT
// No allocation a round: operator new is counted over rounds of every bridge and rule, with models
// and tokenizers that do not allocate themselves.
#include <specdec/decode/session.hpp>

#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/bridge/tree/slem_tree_bridge.hpp>
#include <specdec/bridge/tree/tree_bridge.hpp>
#include <specdec/core/model/one_sequence.hpp>
#include <specdec/core/model/row_batching_model.hpp>
#include <specdec/decode/batch.hpp>
#include <specdec/decode/text_run.hpp>
#include <specdec/draft/block_model.hpp>
#include <specdec/draft/costs/cost_model.hpp>
#include <specdec/draft/lookup/forced_text.hpp>
#include <specdec/draft/lookup/guided_lookup.hpp>
#include <specdec/draft/lookup/lookup_memory.hpp>
#include <specdec/draft/processed_drafter.hpp>
#include <specdec/draft/profitable_length.hpp>
#include <specdec/draft/tree/beam_tree.hpp>
#include <specdec/draft/tree/fixed_tree.hpp>
#include <specdec/draft/tree/profitable_tree.hpp>
#include <specdec/draft/windowed_drafter.hpp>
#include <specdec/head/adaptive/adaptive_model.hpp>
#include <specdec/head/features/feature_model.hpp>
#include <specdec/head/features/feature_recorder.hpp>
#include <specdec/head/headed_model.hpp>
#include <specdec/head/listing_model.hpp>
#include <specdec/head/routed_head.hpp>
#include <specdec/head/trimmed_head.hpp>
#include <specdec/process/penalties.hpp>
#include <specdec/process/processed_rows.hpp>
#include <specdec/sampling/coin/coupled_coin.hpp>
#include <specdec/source/lookup_or_draft.hpp>
#include <specdec/source/lookup_source.hpp>
#include <specdec/source/recycled_source.hpp>
#include <specdec/source/recycled_tree_source.hpp>
#include <specdec/verify/coupled_match.hpp>
#include <specdec/verify/tree/recursive_rejection.hpp>
#include <specdec/verify/tree/traversal_verification.hpp>
#include <specdec/verify/tree/tree_exact_match.hpp>
#include <specdec/vocab/table/intersection.hpp>

#include "support/batch_of.hpp"
#include "support/count_allocations.hpp"
#include "support/decoding.hpp"
#include "support/ids.hpp"
#include "support/quiet_tree_model.hpp"
#include "support/toy_block_model.hpp"
#include "support/toy_head.hpp"
#include "support/toys/piece_tokenizer.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace {

// Moved, not copied, bridges keep what they reserved. Scratch of the tokenizers grows for a while.
constexpr int warm_up = 300;
constexpr std::size_t capacity = 4096;

/// Allocations of 50 rounds behind so many others. Where buffers grow until the dearest decision
/// has been met (grows), in the same text again.
template <class T, class B, class V, class D, class C>
long allocations_before(T& target, const toy_world& world, B bridge, V rule, D& drafter,
                        const sampling_parameters& parameters, C coin, bool grows = false,
                        int behind = warm_up) {
    session_settings settings = world.settings(1, capacity);
    settings.target = settings.draft = parameters;
    session decoder(std::move(bridge), rule, settings);
    long before = 0;
    for (int text = 0; text < (grows ? 2 : 1); ++text) {
        decoder.start(world.prompt, world.prefix);
        for (int round = 0; round < behind + 50; ++round) {
            if (round == behind)
                before = allocations;
            const auto r = decoder.round(target, drafter, fixed_length{4}, coin, 100);
            decoder.commit(r.tokens.size());
        }
    }
    return allocations - before;
}
template <class B, class V, class D, class C>
long allocations_of(const toy_world& world, B bridge, V rule, D& drafter,
                    const sampling_parameters& parameters, C coin, bool grows = false,
                    int behind = warm_up) {
    target_text_model target = world.target_model();
    return allocations_before(target, world, std::move(bridge), rule, drafter, parameters, coin,
                              grows, behind);
}

/// The toy pair's drafter, its rows being hidden states, which a head of ones leaves as they are.
hidden_states states_of(const logits_rows<draft_id>& rows) {
    const float* const first = rows[0].values.data();
    const std::size_t width = rows.vocabulary();
    const std::size_t stride =
        rows.size() > 1 ? static_cast<std::size_t>(rows[1].values.data() - first) : width;
    return {first, rows.size(), width, stride};
}
struct hidden_text_model : draft_text_model {
    explicit hidden_text_model(const toy_world& world) : draft_text_model(world.draft_model()) {}

    [[nodiscard]] hidden_states hidden(std::span<const draft_id> ids) {
        return states_of(score(ids));
    }
};

/// Features that say nothing.
constexpr float zeros[256] = {};
hidden_states nothing_said(std::size_t n) {
    return {zeros, n, 1, 1};
}
struct shown_target : target_text_model {
    explicit shown_target(const toy_world& world) : target_text_model(world.target_model()) {}
    void append(std::span<const target_id> ids) {
        target_text_model::append(ids);
        latest = ids.size();
    }
    [[nodiscard]] logits_rows<target_id> score(std::span<const target_id> ids) {
        latest = ids.size();
        return target_text_model::score(ids);
    }
    [[nodiscard]] static std::size_t feature_width() { return 1; }
    [[nodiscard]] hidden_states features() const { return nothing_said(latest); }
    std::size_t latest = 0;
};
/// A body that looks at its tokens alone.
struct text_body {
    text_model<draft_id> text;
    [[nodiscard]] static std::size_t sequences() { return 1; }
    [[nodiscard]] std::size_t size(std::size_t) const { return text.size(); }
    [[nodiscard]] std::size_t capacity() const { return text.capacity(); }
    [[nodiscard]] std::size_t vocabulary_size() const { return text.vocabulary_size(); }
    [[nodiscard]] static std::size_t feature_width() { return 1; }
    [[nodiscard]] static std::size_t own_width() { return 1; }
    [[nodiscard]] std::size_t width() const { return text.vocabulary_size(); }
    void truncate(std::size_t, std::size_t n) { text.truncate(n); }
    [[nodiscard]] body_output read(std::size_t, std::span<const draft_id> ids, body_input) {
        const logits_rows<draft_id> rows = text.score(ids);
        return {states_of(rows), nothing_said(ids.size())};
    }
};

} // namespace

TEST_CASE("a drafter's context that is copied into its bridge has room again when a text begins") {
    toy_world world{.capacity = capacity};
    const words_context context(world.two.target, world.two.draft, world.two.map, capacity);
    const shared_context same(9, capacity);
    const auto grown = [&](auto bridge, auto& drafter) { // from the first rounds on
        return allocations_of(world, std::move(bridge), token_rejection{}, drafter, {},
                              philox_coin(1), false, 1);
    };
    draft_text_model draft = world.draft_model();
    model_drafter drafter(draft);
    CHECK(grown(token_bridge(tli_map(world.two.map), context, 4), drafter) ==
          grown(token_bridge(
                    tli_map(world.two.map),
                    words_context(world.two.target, world.two.draft, world.two.map, capacity), 4),
                drafter));
    text_model<draft_id> equal(world.two.target.table(), {.seed = 2, .capacity = capacity});
    model_drafter equal_drafter(equal);
    CHECK(grown(token_bridge(identity_map(9, 9), same, 4), equal_drafter) ==
          grown(make_identity_bridge(9, 9, capacity, 4), equal_drafter));
}

TEST_CASE("the counter counts") {
    const long before = allocations;
    void* const memory = ::operator new(100); // a call, which no optimiser may leave out
    CHECK(allocations == before + 1);
    ::operator delete(memory);
}

TEST_CASE("a round allocates nothing, whatever the bridge and the rule", "[computes]") {
    toy_world world{.capacity = capacity};
    const text_keys keys(world.two.target, world.two.map);
    for (const sampling_parameters& parameters :
         {sampling_parameters{}, sampling_parameters{.temperature = 0},
          sampling_parameters{.temperature = 0.8F, .top_k = 4, .top_p = 0.9F, .min_p = 0.01F}}) {
        const auto check = [&](const char* rule_name, auto rule, auto coin) {
            no_drafter none;
            CHECK(allocations_of(world, no_bridge{}, rule, none, parameters, coin) == 0);
            for_every_bridge(world, 4, [&](const char* name, auto bridge) {
                draft_text_model draft = world.draft_model();
                model_drafter drafter(draft);
                CAPTURE(rule_name, name, parameters.temperature);
                constexpr bool grows = std::is_same_v<decltype(bridge), words_slrs>;
                CHECK(allocations_of(world, std::move(bridge), rule, drafter, parameters, coin,
                                     grows) == 0);
            });
            text_model<draft_id> same(world.two.target.table(), {.seed = 2, .capacity = capacity});
            model_drafter drafter(same);
            CHECK(allocations_of(world, make_identity_bridge(9, 9, capacity, 4), rule, drafter,
                                 parameters, coin) == 0);
        };
        for_every_rule(
            [&](const char* rule_name, auto rule) { check(rule_name, rule, philox_coin(1)); });
        check("coupled match", coupled_match(keys), coupled_coin(keys, 1));
    }
}

TEST_CASE("not even the first rounds of a text allocate, where buffers can be bounded") {
    toy_world world{.capacity = capacity};
    for_every_bridge(world, 4, [&](const char* name, auto bridge) {
        if constexpr (!std::is_same_v<decltype(bridge), words_slrs>) {
            draft_text_model draft = world.draft_model();
            model_drafter drafter(draft);
            CAPTURE(name);
            CHECK(allocations_of(world, std::move(bridge), exact_match{}, drafter, {},
                                 philox_coin(2), false, 1) == 0);
        }
    });
}

TEST_CASE("rounds that look up text allocate nothing, not even the first ones") {
    toy_world world{.capacity = capacity};
    lookup_memory memory;
    acceptance_table table;
    const cost_table costs{{1, 1, 1, 1, 1}, 0, 0};
    no_drafter none;
    for (lookup_memory* const shared : {static_cast<lookup_memory*>(nullptr), &memory})
        for (const bool automatic : {false, true}) {
            lookup_limits limits{.max_draft = 8};
            if (automatic)
                limits.length = lookup_length(table, costs);
            lookup_source bridge(make_default_lookup(capacity, lookup_hit_bytes(8), shared),
                                 world.two.target, limits);
            CHECK(allocations_of(world, std::move(bridge), exact_match{}, none, {}, philox_coin(4),
                                 false, 1) == 0);
        }
}

/// Behind every two bytes a space, an a and a b.
struct ab_behind_two {
    using state_type = std::size_t;
    [[nodiscard]] static std::size_t begin() { return 0; }
    static bool step(std::size_t& at, char byte) {
        const bool fits = at < 2 || byte == " ab"[at - 2];
        at = (at + 1) % 5;
        return fits;
    }
    [[nodiscard]] static bool complete(std::size_t) { return false; }
};

TEST_CASE("looking for forced text allocates nothing, not even the first time") {
    toy_world world{.capacity = capacity};
    const auto& words = world.two.target;
    const std::vector<target_id> two = encoded(words, "cb"), forced = encoded(words, " ab");
    lookup_hit_tokens alone(forced_text(ab_behind_two{}, 0), words, 8);
    lookup_hit_tokens guided(
        guided_lookup(make_default_lookup(capacity, lookup_hit_bytes(8), nullptr),
                      forced_text(ab_behind_two{}, 0)),
        words, 8);
    const auto check = [&](auto& found) {
        found.start();
        const long before = allocations;
        std::size_t tokens = 0;
        for (int round = 0; round < 50; ++round) {
            found.follow(two);
            tokens += found.find(fixed_length{8}) ? found.ids().size() : 0;
            found.follow(forced);
        }
        CHECK(allocations == before);
        CHECK(tokens >= 50 * forced.size());
    };
    check(alone);
    check(guided);
}

TEST_CASE("lengths whose costs follow the rounds allocate nothing, not even in the first one") {
    acceptance_table table;
    cost_model costs({.pass = {1, 1.2}, .draft = 0.1});
    profitable_length lengths(table, costs.measured());
    lengths.follow(costs.now(), true); // where a text begins
    const long before = allocations;
    for (std::size_t i = 0; i < 20; ++i) {
        lengths.follow(costs.now(), true);
        costs.learn({.pass = 1 + 0.2 * static_cast<double>(i % 2),
                     .positions = 1 + i % 2,
                     .rest = {.forwards = static_cast<double>(i % 2)}},
                    {0.01, 0.001});
    }
    CHECK(allocations == before);
}

TEST_CASE("rounds of a drafter beside which is looked up allocate nothing") {
    toy_world world{.capacity = capacity};
    acceptance_table table;
    const cost_table costs{{1, 1.05, 1.1, 1.15, 1.2, 1.25, 1.3, 1.35, 1.4}, 0.1, 0};
    draft_text_model draft = world.draft_model();
    model_drafter drafter(draft);
    auto bridge = world.two.tli(4, capacity);
    using words = std::remove_cvref_t<decltype(world.two.target)>;
    CHECK(allocations_of(world,
                         lookup_or_draft<decltype(bridge), default_lookup, words>(
                             std::move(bridge),
                             lookup_with<default_lookup, words, lookup_turns>{
                                 {make_default_lookup(capacity, lookup_hit_bytes(8), nullptr),
                                  world.two.target, 8},
                                 lookup_turns(table, costs, costs)},
                             4),
                         exact_match{}, drafter, {}, philox_coin(4)) == 0);
}

TEST_CASE("rounds of a block drafter allocate nothing, within a block and beyond it") {
    toy_world world{.capacity = capacity};
    for (const std::size_t places : {3U, 4U}) {
        distilled_model engine(world.draft_model(), places);
        block_model draft(engine);
        model_drafter drafter(draft);
        CHECK(allocations_of(world, world.two.tli(4, capacity), token_rejection{}, drafter, {},
                             philox_coin(4)) == 0);
    }
}

TEST_CASE("rounds of recycled tokens allocate nothing, not even the first ones") {
    toy_world world{.capacity = capacity};
    no_drafter none;
    successor_table table(world.two.target.vocabulary_size(), 4);
    CHECK(allocations_of(world, recycled_source(table, 4), exact_match{}, none, {}, philox_coin(4),
                         false, 1) == 0);

    using model = quiet_tree_model<target_id>;
    model target(1);
    successor_table successors(model::vocabulary, 4);
    const profitable_tree paying(cost_table{}, {.beam = {.beam = 3, .width = 3, .depth = 3}});
    const philox_coin coin(3);
    session text(recycled_tree_source(successors, {.max_nodes = 8, .max_drafted = 32}),
                 tree_exact_match{}, session_settings{.capacity = 512});
    text.start(std::vector{target_id{1}});
    const long before = allocations;
    while (!text.full()) {
        const round_result r = text.round(target, none, paying, coin, 100);
        text.commit(r.tokens.size(), none);
    }
    CHECK(allocations == before);
    CHECK(text.counts().proposed > 0);
}

TEST_CASE("rounds of a text longer than the drafter's context allocate nothing") {
    toy_world world{.capacity = capacity};
    for_every_bridge(world, 4, [&](const char* name, auto bridge) {
        draft_text_model draft(world.two.draft.table(), {.seed = 2, .capacity = 64});
        model_drafter whole(draft);
        windowed_drafter drafter(whole);
        CAPTURE(name);
        constexpr bool grows = std::is_same_v<decltype(bridge), words_slrs>;
        CHECK(allocations_of(world, std::move(bridge), token_rejection{}, drafter, {},
                             philox_coin(1), grows) == 0);
        CHECK(drafter.dropped() > 64);
    });
}

TEST_CASE("rounds of drafters whose heads compute a part of the vocabulary allocate nothing") {
    toy_world world{.capacity = capacity};
    hidden_text_model model(world);
    const std::size_t size = model.vocabulary_size();
    toy_head<draft_id> head = toy_head<draft_id>::unit(size);
    const token_list<draft_id> list(ids_of({2, 4, 5, 6, 7, 8}), size); // without a
    // From the second round of a text on: heads have all they need since their construction.
    const auto allocations_with = [&](auto& drafter) {
        return allocations_of(world, world.two.tli(4, capacity), block_verification{}, drafter, {},
                              philox_coin(1), false, 1);
    };
    for (const head_rows from : {head_rows::gathered, head_rows::copied}) {
        CAPTURE(from == head_rows::copied);
        trimmed_head few(head, list, from);
        headed_model trimmed(model, few);
        model_drafter drafter(trimmed);
        CHECK(allocations_with(drafter) == 0);

        adaptive_token_list<draft_id> hot(list);
        adaptive_model following(trimmed, few, hot);
        model_drafter adaptive(following);
        CHECK(allocations_with(adaptive) == 0);
        CHECK(hot.contains(draft_id{1})); // a token of the head was replaced

        toy_router router{3, size};
        routed_head likely(head, router, token_groups<draft_id>::equal_parts(list, 3), 2, from);
        headed_model routed(model, likely);
        model_drafter routed_drafter(routed);
        CHECK(allocations_with(routed_drafter) == 0);
    }
}

TEST_CASE("rounds of drafters that list allocate nothing, not even the first ones") {
    toy_world world{.capacity = capacity};
    hidden_text_model model(world);
    const std::size_t size = model.vocabulary_size();
    toy_head<draft_id> head = toy_head<draft_id>::unit(size);
    const token_list<draft_id> list(ids_of({2, 4, 5, 6, 7, 8}), size); // without a
    toy_router router{3, size};
    for_every_rule([&](const char* rule_name, auto rule) {
        for (const sampling_parameters& sampling :
             {sampling_parameters{}, sampling_parameters{.temperature = 0},
              sampling_parameters{.temperature = 0.8F, .top_k = 4, .top_p = 0.9F}}) {
            CAPTURE(rule_name, sampling.temperature);
            const auto check = [&](auto& drafter) {
                CHECK(allocations_of(world,
                                     tli_bridge<target_words, draft_words, draft_list_store>(
                                         tli_map(world.two.map),
                                         words_context(world.two.target, world.two.draft,
                                                       world.two.map, capacity),
                                         4, list.size()),
                                     rule, drafter, {}, philox_coin(1), false, 1) == 0);
            };
            trimmed_head few(head, list);
            listing_model trimmed(model, few, sampling);
            adaptive_token_list<draft_id> hot(list);
            adaptive_model following(trimmed, few, hot);
            model_drafter adaptive(following);
            check(adaptive);
            routed_head likely(head, router, token_groups<draft_id>::equal_parts(list, 3), 2);
            listing_model routed(model, likely, sampling);
            model_drafter routed_drafter(routed);
            check(routed_drafter);
        }
    });
}

TEST_CASE("rounds of drafters that read features allocate nothing") {
    toy_world world{.capacity = capacity};
    world.prefix.clear();
    for (const bool trim : {false, true}) {
        shown_target shown(world);
        const std::size_t size = shown.vocabulary_size();
        feature_records records(1, shown.capacity(), 1);
        feature_recorder target(shown, records);
        text_body body{{world.two.target.table(), {.seed = 2, .capacity = capacity}}};
        feature_model read(body, records);
        toy_head<draft_id> head = toy_head<draft_id>::unit(size);
        std::vector<draft_id> kept;
        for (std::size_t v = trim ? 2 : 0; v < size; ++v)
            kept.push_back(id_at<draft_id>(v));
        trimmed_head some(head, token_list<draft_id>(kept, size));
        headed_model rows(read, some);
        one_sequence<draft_id, decltype(rows)> draft(rows, 0);
        model_drafter drafter(draft);
        CHECK(allocations_before(target, world, make_identity_bridge(size, size, capacity, 4),
                                 token_rejection{}, drafter, {}, philox_coin(1), false, 1) == 0);
        CHECK(records[0].size() > 60);
    }
}

TEST_CASE("bridges that look at drafts that were not drawn grow to the nodes of a round") {
    toy_world world{.capacity = capacity};
    constexpr std::size_t length = 4, nodes = 1 + 64; // length / min_draft_probability
    begun_text begun(world, world.two.slrs(length, capacity), token_rejection{},
                     world.settings(1, capacity));
    auto& [target, draft, drafter, coin, decoder] = begun;
    const long before = allocations;
    for (std::uint64_t text = 0; text < 4; ++text) {
        coin = philox_coin(text);
        decoder.start(world.prompt, world.prefix);
        for (int round = 0; round < warm_up; ++round)
            decoder.commit(
                decoder.round(target, drafter, fixed_length{length}, coin, 100).tokens.size());
    }
    CHECK(allocations - before < static_cast<long>(12 * nodes));
}

TEST_CASE("a round of several texts allocates nothing, also where they draft together") {
    toy_world world{.capacity = capacity};
    using drafters = batch_of<draft_id, draft_text_model>;
    using gathered = row_batching_model<draft_id, drafters>;
    using model = one_sequence<draft_id, gathered>;
    struct text {
        model draft;
        model_drafter<model> drafter{draft};
        session<decltype(world.two.tli(4, capacity)), token_rejection> decoder;
        fixed_length stop{4};
        philox_coin coin;
        silent_reader reader{};
        text_run<decltype(decoder), decltype(drafter), fixed_length, philox_coin,
                 tiny_tokenizer<target_id>, silent_reader>
            run;
        text(const toy_world& w, gathered& rows, std::size_t i)
            : draft(rows, i),
              decoder(w.two.tli(4, capacity), token_rejection{}, w.settings(1, capacity)), coin(i),
              run(decoder, drafter, stop, coin, w.two.target, {capacity, {}}, reader) {
            decoder.start(w.prompt, w.prefix);
        }
    };
    for (const bool together : {true, false}) {
        drafters models(2, world.draft_model());
        gathered rows(models);
        text first(world, rows, 0), second(world, rows, 1);
        batch_of<target_id, target_text_model> target(2, world.target_model());
        batch<decltype(target), decltype(first.run)> side_by_side(target, {}, together);
        side_by_side.join(first.run);
        side_by_side.join(second.run);
        for (int round = 0; round < warm_up; ++round)
            REQUIRE(side_by_side.round());
        const long before = allocations;
        for (int round = 0; round < 50; ++round)
            REQUIRE(side_by_side.round());
        CHECK(allocations == before);
    }
}

TEST_CASE("processors and log-probabilities allocate nothing") {
    toy_world world{.capacity = capacity};
    const auto penalties = [&]<class Id>(std::size_t n, Id) {
        return chain(repetition_penalty<Id>(n, 1.1F),
                     occurrence_penalty<Id>(n, 3, {.presence = 1}));
    };
    target_text_model target = world.target_model();
    draft_text_model draft = world.draft_model();
    model_drafter plain(draft);
    processed_drafter drafter(plain, penalties(draft.vocabulary_size(), draft_id{}));
    session_settings settings = world.settings(1, capacity);
    settings.log_probabilities = 3;
    const std::size_t size = target.vocabulary_size();
    session decoder(world.two.tli(4, capacity), block_verification{}, settings,
                    processed_rows(size, penalties(size, target_id{})));
    decoder.start(world.prompt, world.prefix);
    philox_coin coin(1);
    long before = 0;
    for (int round = 0; round < warm_up + 50; ++round) {
        if (round == warm_up)
            before = allocations;
        decoder.commit(decoder.round(target, drafter, fixed_length{4}, coin, 100).tokens.size());
    }
    CHECK(allocations == before);
}

TEST_CASE("abandoned rounds allocate nothing") {
    toy_world world{.capacity = capacity};
    begun_text begun(world, world.two.slem(4, capacity), exact_match{}, world.settings(1, capacity),
                     1);
    auto& [target, draft, drafter, coin, decoder] = begun;
    long before = 0;
    for (int round = 0; round < 2 * warm_up; ++round) {
        if (round == 2 * warm_up - 50)
            before = allocations;
        (void)decoder.round(target, drafter, fixed_length{4}, coin, 100);
        if (round % 2 == 0)
            decoder.commit(1);
    }
    CHECK(allocations - before == 0);
}

TEST_CASE("rounds of trees allocate nothing, not even the first ones") {
    using model = quiet_tree_model<target_id>;
    const fixed_tree wide = fixed_tree::of_widths(std::vector<std::size_t>{3, 2, 2});
    const eagle2_tree best{{.beam = 3, .width = 3, .depth = 3}};
    const auto check = [&](const auto& rule, const auto& shape, sibling_draw siblings,
                           auto commit) {
        model target(1);
        quiet_tree_model<draft_id> draft(2);
        model_drafter drafter(draft);
        const philox_coin coin(3);
        session text(
            identity_tree_bridge(identity_map(model::vocabulary, model::vocabulary),
                                 shared_context(model::vocabulary, capacity),
                                 {.max_nodes = 24, .siblings = siblings, .max_drafted = 32}),
            rule, session_settings{.capacity = 512, .log_probabilities = 2});
        text.start(std::vector{target_id{1}});
        const long before = allocations;
        while (!text.full()) {
            const round_result r = text.round(target, drafter, shape, coin, 100);
            commit(text, r.tokens.size(), drafter);
        }
        CHECK(allocations == before);
        CHECK(text.counts().tokens_per_target_call() > 1.2);
    };
    const auto keep = [](auto& text, std::size_t n, auto& drafter) { text.commit(n, drafter); };
    const auto forget = [](auto& text, std::size_t n, auto&) { text.commit(n); };
    for (const sibling_draw siblings :
         {sibling_draw::independent, sibling_draw::without_replacement, sibling_draw::likeliest}) {
        check(recursive_rejection{}, wide, siblings, keep);
        check(traversal_verification{}, wide, siblings, keep);
        check(traversal_verification{}, wide, siblings, forget);
        check(tree_exact_match{}, beam_tree{}, siblings, keep);
    }
    check(traversal_verification{}, best, sibling_draw::likeliest, keep);
}

TEST_CASE("rounds of trees of text allocate nothing once their buffers have grown", "[computes]") {
    using model = quiet_tree_model<target_id>;
    const piece_tokenizer<target_id> words({"a", "b", "c", "d", "ab", "cd", "abc", "da", "bc", "dd",
                                            "aa", "bb", "cc", "ca", "db", "abcd"});
    const piece_tokenizer<draft_id> pieces({"d", "c", "b", "a", "ba", "dc", "cab", "ad", "ac", "bd",
                                            "aaa", "bbb", "ccc", "ddd", "ab", "cd"});
    const id_map map = intersect(pieces.table(), words.table());
    const auto check = [&](const auto& shape, sibling_draw siblings, std::size_t most) {
        model target(1);
        quiet_tree_model<draft_id> draft(2);
        model_drafter drafter(draft);
        const philox_coin coin(3);
        session text(slem_tree_bridge(words, pieces, map, 512,
                                      {.max_nodes = 12, .siblings = siblings, .max_drafted = 32}),
                     tree_exact_match{}, session_settings{.capacity = 512});
        text.start(std::vector{target_id{1}});
        long before = 0;
        for (int round = 0; !text.full(); ++round) {
            if (round == 60)
                before = allocations;
            const round_result r = text.round(target, drafter, shape, coin, 100);
            text.commit(r.tokens.size() < most ? r.tokens.size() : most, drafter);
        }
        CHECK(allocations == before);
        CHECK(text.counts().rounds > 100);
        CHECK(text.counts().proposed > text.counts().rounds);
    };
    const eagle2_tree best{{.beam = 3, .width = 3, .depth = 3}};
    check(best, sibling_draw::likeliest, 8);
    check(best, sibling_draw::likeliest, 1);
    check(beam_tree{}, sibling_draw::without_replacement, 8);
}
