// SPDX-License-Identifier: MIT
#include <specdec/decode/session.hpp>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/process/penalties.hpp>
#include <specdec/process/processed_rows.hpp>

#include "support/archetypes.hpp"
#include "support/decoding.hpp"
#include "support/failing_model.hpp"
#include "support/ids.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace session_tests {

constexpr std::size_t length = 40;
const fixed_length four{4};

/// What an uninterrupted session commits.
template <class B, class V>
std::vector<target_id> undisturbed(const toy_world& world, B bridge, V rule,
                                   float temperature = 1) {
    begun_text begun(world, std::move(bridge), rule, world.settings(temperature));
    auto& [target, draft, drafter, coin, decoder] = begun;
    return play(decoder, target, drafter, fixed_length{4}, coin, length);
}

template <class F>
void for_every_pair(const toy_world& world, F&& f) {
    for_every_rule([&](const char* rule_name, auto rule) {
        for_every_bridge(world, 4, [&](const char* bridge_name, auto bridge) {
            CAPTURE(rule_name, bridge_name);
            f(bridge, rule);
        });
    });
}

TEST_CASE("a prompt must have tokens and leave room for one") {
    toy_world world;
    session decoder(no_bridge{}, exact_match{}, world.settings(0, 5));
    const auto message = [&](std::size_t n) {
        try {
            decoder.start(std::vector<target_id>(n, target_id{1}));
        } catch (const error& e) {
            return std::string(e.what());
        }
        return std::string();
    };
    CHECK(message(0) == "session: prompt: expected at least one token");
    CHECK(message(5) == "session: prompt: expected fewer tokens than the capacity of 5, found 5");
    CHECK(message(4).empty());
    CHECK(decoder.tokens().size() == 4);
    CHECK_FALSE(decoder.full());
}

TEST_CASE("settings out of range are refused at once") {
    toy_world world;
    session_settings bad = world.settings(1);
    bad.draft.top_p = 0;
    CHECK_THROWS_AS((session(no_bridge{}, exact_match{}, bad)), error);
    bad = world.settings(1);
    bad.target.temperature = -1;
    CHECK_THROWS_AS((session(no_bridge{}, exact_match{}, bad)), error);
}

TEST_CASE("sampling parameters that are out of range change nothing") {
    toy_world world;
    session decoder(no_bridge{}, exact_match{}, world.settings(1));
    CHECK_THROWS_AS(decoder.set_sampling({.temperature = 0.5F}, {.top_p = 0}), error);
    CHECK_THROWS_AS(decoder.set_sampling({.temperature = -1}, {}), error);
    CHECK(decoder.settings().target == world.settings(1).target);
    decoder.set_sampling({.temperature = 0.5F}, {.top_p = 0.5F});
    CHECK(decoder.settings().target.temperature == 0.5F);
    CHECK(decoder.settings().draft.top_p == 0.5F);
}

TEST_CASE("a round that was not drafted has the settings' sampling, too") {
    toy_world world;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        target_text_model target = world.target_model();
        philox_coin coin(seed);
        session decoder(no_bridge{}, exact_match{}, world.settings(0));
        decoder.start(world.prompt);
        const auto rows = decoder.score(target);
        const std::span<const float> row = rows[0].values;
        const auto best = std::max_element(row.begin(), row.end()) - row.begin();
        CHECK(decoder.verify(rows, coin).tokens[0].index() == static_cast<std::size_t>(best));
    }
}

TEST_CASE("log-probabilities are those of a plain pass, whatever was processed and cut") {
    toy_world world;
    for_every_pair(world, [&](auto bridge, auto rule) {
        target_text_model target = world.target_model();
        draft_text_model draft = world.draft_model();
        model_drafter drafter(draft);
        philox_coin coin(7);
        session_settings settings = world.settings(0.7F);
        settings.target.top_k = 4;
        settings.log_probabilities = 3;
        const std::size_t size = world.two.target.vocabulary_size();
        session decoder(bridge, rule, settings,
                        processed_rows(size, repetition_penalty<target_id>(size, 1.5F)));
        decoder.start(world.prompt, world.prefix);
        for (int round = 0; round < 6; ++round) {
            const std::vector<target_id> before = copy_of(decoder.tokens());
            const round_result r = decoder.round(target, drafter, four, coin, 20);
            REQUIRE(r.log_probabilities.of_tokens.size() == r.tokens.size());
            std::vector<target_id> text = before;
            text.insert(text.end(), r.tokens.begin(), r.tokens.end() - 1);
            target_text_model plain = world.target_model();
            plain.append(std::span(text).first(before.size() - 1));
            const auto rows = plain.score(std::span(text).subspan(before.size() - 1));
            for (std::size_t i = 0; i < r.tokens.size(); ++i) {
                const std::span<const float> row = rows[i].values;
                double sum = 0;
                for (const float logit : row)
                    sum += std::exp(static_cast<double>(logit));
                const auto log_p = [&](target_id t) {
                    return static_cast<double>(row[t.index()]) - std::log(sum);
                };
                const auto near = [](double a, double b) { return std::abs(a - b) < 1e-5; };
                REQUIRE(near(r.log_probabilities.of_tokens[i], log_p(r.tokens[i])));
                const auto likeliest = r.log_probabilities.likeliest(i);
                REQUIRE(likeliest.size() == 3);
                std::size_t above = 0;
                for (const float logit : row)
                    above += logit > row[likeliest[2].token.index()] ? 1U : 0U;
                REQUIRE(above <= 2);
                for (const auto& [token, logarithm] : likeliest)
                    REQUIRE(near(logarithm, log_p(token)));
            }
            decoder.commit(r.tokens.size());
        }
    });
}

TEST_CASE("a round tells what it proposed and where its tokens came from") {
    toy_world world;
    for_every_pair(world, [&](auto bridge, auto rule) {
        begun_text begun(world, bridge, rule, world.settings(1), 3);
        auto& [target, draft, drafter, coin, decoder] = begun;
        for (int i = 0; i < 20; ++i) {
            const std::size_t before = decoder.tokens().size();
            const round_result r = decoder.round(target, drafter, fixed_length{4}, coin, 10);
            REQUIRE(r.tokens.size() == r.accepted + 1);
            REQUIRE(r.accepted <= r.proposed.size());
            for (std::size_t k = 0; k < r.accepted; ++k) {
                REQUIRE(r.tokens[k] == r.proposed[k]);
                REQUIRE(r.origin(k) == token_origin::accepted);
            }
            REQUIRE((r.last == token_origin::corrected) == (r.accepted < r.proposed.size()));
            REQUIRE(r.origin(r.accepted) == r.last);
            REQUIRE(r.proposed.empty() == (r.reason != no_draft::none));
            REQUIRE(!r.drafted.empty());
            REQUIRE(decoder.tokens().size() == before); // nothing is committed yet
            decoder.commit(r.tokens.size());
            REQUIRE(decoder.tokens().size() == before + r.accepted + 1);
        }
    });
}

TEST_CASE("rooms: a round never decides more than there is room for") {
    toy_world world;
    for_every_pair(world, [&](auto bridge, auto rule) {
        for (std::size_t room = 1; room <= 6; ++room) {
            begun_text begun(world, bridge, rule, world.settings(0), room);
            auto& [target, draft, drafter, coin, decoder] = begun;
            const round_result r = decoder.round(target, drafter, fixed_length{4}, coin, room);
            REQUIRE(r.tokens.size() <= room);
            REQUIRE(r.proposed.size() <= room - 1);
            REQUIRE((r.reason == no_draft::no_room) == (room == 1));
        }
    });
}

TEST_CASE("the capacity is reached to the last token and never passed") {
    toy_world world;
    for_every_pair(world, [&](auto bridge, auto rule) {
        for (std::size_t capacity = 7; capacity < 20; ++capacity) {
            begun_text begun(world, bridge, rule, world.settings(1, capacity), 1);
            auto& [target, draft, drafter, coin, decoder] = begun;
            target = {world.two.target.table(), {.capacity = capacity}};
            while (!decoder.full())
                decoder.commit(
                    decoder.round(target, drafter, fixed_length{4}, coin, 100).tokens.size());
            REQUIRE(decoder.tokens().size() == capacity);
            REQUIRE(target.size() < capacity); // the last token is not fed
        }
    });
}

TEST_CASE("a target with less room than the session is never overfilled") {
    toy_world world;
    for_every_pair(world, [&](auto bridge, auto rule) {
        begun_text begun(world, bridge, rule, world.settings(1), 1);
        auto& [target, draft, drafter, coin, decoder] = begun;
        target = {world.two.target.table(), {.capacity = 20}};
        while (decoder.tokens().size() <= 20)
            decoder.commit(decoder.round(target, drafter, fixed_length{4}, coin, ~std::size_t{0})
                               .tokens.size());
        REQUIRE(decoder.tokens().size() == 21);
    });
}

TEST_CASE("no proposals where max_proposals is 0, at most so many otherwise") {
    toy_world world;
    for (const std::size_t most : {0U, 1U, 3U}) {
        session_settings settings = world.settings(0);
        settings.max_proposals = most;
        begun_text begun(world, world.two.slem(8), exact_match{}, settings, 1);
        auto& [target, draft, drafter, coin, decoder] = begun;
        const round_result r = decoder.round(target, drafter, fixed_length{8}, coin, 50);
        CHECK(r.proposed.size() == most);
    }
}

TEST_CASE("abandoned rounds leave no trace in the text") {
    toy_world world;
    for_every_pair(world, [&](auto bridge, auto rule) {
        const auto expected = undisturbed(world, bridge, rule);
        begun_text begun(world, bridge, rule, world.settings(1));
        auto& [target, draft, drafter, coin, decoder] = begun;
        const std::size_t begin = decoder.tokens().size();
        std::mt19937 random(1);
        while (decoder.tokens().size() - begin < length) {
            const std::size_t room = length - (decoder.tokens().size() - begin);
            switch (random() % 4) {
            case 0:
                decoder.draft(drafter, four, coin, room);
                break;
            case 1:
                (void)decoder.round(target, drafter, fixed_length{4}, coin, room);
                break;
            case 2: // drafted, fed, not verified
                decoder.draft(drafter, four, coin, room);
                if (const auto edit = decoder.target_edit(); true) {
                    target.truncate(edit.truncate_to);
                    (void)target.score(edit.append);
                    decoder.target_fed(edit);
                }
                break;
            default: {
                const auto r = decoder.round(target, drafter, fixed_length{4}, coin, room);
                decoder.commit(r.tokens.size());
            }
            }
        }
        const auto all = decoder.tokens();
        REQUIRE(copy_of(all.subspan(begin)) == expected);
    });
}

TEST_CASE("an engine that only follows target_edit gets the text of round()") {
    toy_world world;
    for_every_pair(world, [&](auto bridge, auto rule) {
        const auto expected = undisturbed(world, bridge, rule);
        begun_text begun(world, bridge, rule, world.settings(1));
        auto& [target, draft, drafter, coin, decoder] = begun; // whose target is not used
        const std::size_t begin = decoder.tokens().size();
        // The engine: a context of ids, and a fresh model for the rows it is asked for.
        std::vector<target_id> context;
        std::size_t fed = 0;
        int rounds = 0;
        while (decoder.tokens().size() - begin < length) {
            decoder.draft(drafter, four, coin, length - (decoder.tokens().size() - begin));
            if (++rounds % 5 == 0) { // a preempted engine
                context.clear();
                decoder.target_lost();
            }
            const auto edit = decoder.target_edit();
            REQUIRE(edit.truncate_to <= context.size());
            REQUIRE(edit.append.size() >= decoder.rows_needed());
            if (rounds % 5 != 0 && rounds > 1)
                REQUIRE(edit.append.size() == decoder.rows_needed()); // nothing is fed twice
            context.resize(edit.truncate_to);
            context.insert(context.end(), edit.append.begin(), edit.append.end());
            fed += edit.append.size();
            decoder.target_fed(edit);
            target_text_model fresh = world.target_model();
            const std::size_t silent = context.size() - decoder.rows_needed();
            fresh.append(std::span<const target_id>(context).first(silent));
            const auto rows = fresh.score(std::span<const target_id>(context).subspan(silent));
            decoder.commit(decoder.verify(rows, coin).tokens.size());
        }
        REQUIRE(copy_of(decoder.tokens().subspan(begin)) == expected);
    });
}

TEST_CASE("the target's context is always what a fresh one would be") {
    toy_world world;
    for_every_pair(world, [&](auto bridge, auto rule) {
        begun_text begun(world, bridge, rule, world.settings(1));
        auto& [target, draft, drafter, coin, decoder] = begun;
        for (int i = 0; i < 15; ++i) {
            decoder.draft(drafter, four, coin, 20);
            const auto edit = decoder.target_edit();
            auto wanted = copy_of(decoder.tokens());
            const std::size_t proposals = decoder.rows_needed() - 1;
            const auto r = decoder.round(target, drafter, fixed_length{4}, coin, 20);
            for (std::size_t k = 0; k < proposals; ++k)
                wanted.push_back(r.proposed[k]);
            REQUIRE(target.held() == wanted);
            REQUIRE(edit.truncate_to < wanted.size());
            decoder.commit(r.tokens.size());
        }
    });
}

TEST_CASE(
    "a target or drafter that fails at any call leaves the session usable, the text unchanged") {
    toy_world world;
    for_every_pair(world, [&](auto bridge, auto rule) {
        const auto expected = undisturbed(world, bridge, rule);
        const auto run = [&](bool target_fails, std::size_t at) {
            failing_model<target_text_model, target_id> target(world.target_model());
            failing_model<draft_text_model, draft_id> draft(world.draft_model());
            model_drafter drafter(draft);
            draft.calls = 0;
            (target_fails ? target.fails_at : draft.fails_at) = at;
            philox_coin coin(7);
            session decoder(bridge, rule, world.settings(1));
            decoder.start(world.prompt, world.prefix);
            const std::size_t begin = decoder.tokens().size();
            bool failed = false;
            while (decoder.tokens().size() - begin < length) {
                const auto before = copy_of(decoder.tokens());
                try {
                    const auto r = decoder.round(target, drafter, fixed_length{4}, coin,
                                                 length - (decoder.tokens().size() - begin));
                    decoder.commit(r.tokens.size());
                } catch (const model_failure&) {
                    failed = true;
                    REQUIRE(copy_of(decoder.tokens()) == before);
                }
            }
            REQUIRE(copy_of(decoder.tokens().subspan(begin)) == expected);
            return failed;
        };
        for (const bool target_fails : {true, false}) {
            std::size_t at = 0;
            while (at < 60 && run(target_fails, at))
                ++at;
            REQUIRE(at > 10); // every call of append, score and truncate had its turn
        }
    });
}

/// A model that writes `bad` into each of its rows.
template <class Model, class Id>
struct broken_model {
    Model model;
    float bad = 0;
    bool everywhere = false;
    std::vector<float> rows{};

    [[nodiscard]] std::size_t size() const { return model.size(); }
    [[nodiscard]] std::size_t capacity() const { return model.capacity(); }
    [[nodiscard]] std::size_t vocabulary_size() const { return model.vocabulary_size(); }
    void append(std::span<const Id> ids) { model.append(ids); }
    void truncate(std::size_t n) { model.truncate(n); }
    logits_rows<Id> score(std::span<const Id> ids) {
        const logits_rows<Id> given = model.score(ids);
        rows.clear();
        for (std::size_t i = 0; i < given.size(); ++i)
            for (std::size_t v = 0; v < given.vocabulary(); ++v)
                rows.push_back(everywhere || v == 5 ? bad : given[i].values[v]);
        return {rows.data(), given.size(), given.vocabulary(), given.vocabulary()};
    }
};

TEST_CASE("a row with NaN or +infinity of either side is refused at every temperature") {
    toy_world world;
    for_every_pair(world, [&](auto bridge, auto rule) {
        for (const bool of_target : {true, false})
            for (const bool everywhere : {true, false})
                for (const float bad : {std::nanf(""), -std::nanf(""), __builtin_inff()})
                    for (const float temperature : {0.0F, 1.0F}) {
                        broken_model<target_text_model, target_id> target{world.target_model()};
                        broken_model<draft_text_model, draft_id> draft{world.draft_model()};
                        (of_target ? target.bad : draft.bad) = bad;
                        (of_target ? draft.bad : target.bad) = -1;
                        (of_target ? target.everywhere : draft.everywhere) = everywhere;
                        model_drafter drafter(draft);
                        philox_coin coin(7);
                        session decoder(bridge, rule, world.settings(temperature));
                        decoder.start(world.prompt, world.prefix);
                        const auto before = copy_of(decoder.tokens());
                        CAPTURE(of_target, everywhere, bad, temperature);
                        CHECK_THROWS_WITH(decoder.round(target, drafter, four, coin, 20),
                                          Catch::Contains(of_target
                                                              ? "logits row: target's values"
                                                              : "logits row: drafter's values"));
                        CHECK(copy_of(decoder.tokens()) == before);
                    }
    });
}

TEST_CASE("a target whose context was touched is fed again from the start") {
    toy_world world;
    const auto expected = undisturbed(world, world.two.slem(4), exact_match{});
    begun_text begun(world, world.two.slem(4), exact_match{}, world.settings(1));
    auto& [target, draft, drafter, coin, decoder] = begun;
    target.append(world.prompt); // somebody else's
    auto tokens = play(decoder, target, drafter, fixed_length{4}, coin, 10);
    target.truncate(3);
    const auto rest = play(decoder, target, drafter, fixed_length{4}, coin, length - 10);
    tokens.insert(tokens.end(), rest.begin(), rest.end());
    CHECK(tokens == expected);
}

TEST_CASE(
    "a second prompt: the same text as in a new session, the common beginning not fed again") {
    toy_world first, second;
    second.prompt = first.two.encode("ab c bb");
    for_every_pair(second, [&](auto bridge, auto rule) {
        const auto expected = undisturbed(second, bridge, rule);
        begun_text begun(first, bridge, rule, first.settings(1));
        auto& [target, draft, drafter, coin, decoder] = begun;
        (void)play(decoder, target, drafter, fixed_length{4}, coin, 10);
        (void)decoder.round(target, drafter, fixed_length{4}, coin, 10); // abandoned
        decoder.start(second.prompt, second.prefix);
        CHECK(decoder.rows_needed() == 1);             // the abandoned draft is gone
        CHECK(decoder.target_edit().truncate_to == 3); // ab, space, c
        REQUIRE(copy_of(decoder.tokens()) == second.prompt);
        REQUIRE(play(decoder, target, drafter, fixed_length{4}, coin, length) == expected);
    });
}

TEST_CASE("statistics add up") {
    toy_world world;
    for_every_pair(world, [&](auto bridge, auto rule) {
        begun_text begun(world, bridge, rule, world.settings(1));
        auto& [target, draft, drafter, coin, decoder] = begun;
        double now = 0;
        std::size_t rounds = 0;
        for (std::size_t i = 0; i < 30; ++i) {
            const auto r = decoder.round(target, drafter, fixed_length{i % 5}, coin, 10,
                                         [&] { return now += 1.0; });
            ++rounds;
            decoder.commit(i % 7 == 0 ? 0 : i % 3 == 0 ? 1 : r.tokens.size());
        }
        const statistics& c = decoder.counts();
        CHECK(c.rounds == rounds);
        CHECK(c.corrected + c.free + c.residual == rounds);
        CHECK(c.accepted + c.corrected + c.free + c.residual == c.committed + c.discarded);
        CHECK(c.committed == decoder.tokens().size() - world.prompt.size());
        CHECK(c.accepted <= c.evaluated);
        CHECK(c.evaluated == c.accepted + c.corrected);
        CHECK(c.evaluated <= c.proposed);
        std::uint64_t evaluated = 0, accepted = 0, without = 0;
        for (const auto n : c.evaluated_at)
            evaluated += n;
        for (const auto n : c.accepted_at)
            accepted += n;
        for (const auto n : c.without_draft)
            without += n;
        CHECK(evaluated == c.evaluated);
        CHECK(accepted == c.accepted);
        CHECK(c.without_draft[static_cast<std::size_t>(no_draft::stop_rule)] == 6);
        CHECK(without == 6);
        CHECK(c.draft_seconds == static_cast<double>(rounds));      // one tick a step
        CHECK(c.target_seconds == 2 * static_cast<double>(rounds)); // fed before drafts, and scored
        CHECK(c.verify_seconds == static_cast<double>(rounds));
    });
}

TEST_CASE("a session runs with nothing but what the concepts promise") {
    const tokenizer_archetype<target_id> target_tokenizer;
    const tokenizer_archetype<draft_id> draft_tokenizer;
    const id_map map = id_map::identity(4, 4);
    const std::vector<target_id> prompt{target_id{0}};
    const auto run = [&](auto bridge, auto rule, auto&& drafter) {
        model_archetype<target_id> target(4);
        coin_archetype coin;
        session decoder(std::move(bridge), rule, {.capacity = 32});
        decoder.start(prompt);
        for (int i = 0; i < 5; ++i)
            decoder.commit(
                decoder.round(target, drafter, stop_rule_archetype(), coin, 4, clock_archetype())
                    .tokens.size());
        CHECK(decoder.tokens().size() > 5);
    };
    model_archetype<draft_id> draft(4);
    run(slem_bridge(target_tokenizer, draft_tokenizer, map, 32, 3), exact_match{},
        drafter_archetype());
    run(slem_bridge(target_tokenizer, draft_tokenizer, map, 32, 3), token_rejection{},
        model_drafter(draft));
    run(make_identity_bridge(4, 4, 32, 3), token_rejection{}, drafter_archetype());
    run(token_bridge<draft_context_archetype, tli_map>(tli_map(map), {}, 3), token_rejection{},
        drafter_archetype());
}

/// What a rule that follows the text is told, and what a bridge is asked.
struct told {
    std::vector<std::string> calls{};
    std::vector<std::uint64_t> asked{};
};

struct following_rule : exact_match {
    explicit following_rule(told& to) : log(&to) {}
    void start(std::span<const target_id> prompt) {
        log->calls.push_back("start " + std::to_string(prompt.size()));
        position = text_offset(widths);
        for (const target_id t : prompt)
            position.pass(t);
    }
    void follow(std::span<const target_id> tokens) {
        log->calls.push_back("follow " + std::to_string(tokens.size()));
        for (const target_id t : tokens)
            position.pass(t);
    }
    [[nodiscard]] text_offset place() const { return position; }

    static constexpr std::uint32_t widths[] = {1}; // every other id moves by 1, too
    told* log;
    text_offset position{};
};
static_assert(FollowsText<following_rule>);

struct asking_bridge : no_bridge {
    explicit asking_bridge(told& to) : log(&to) {}
    template <class D, class Stop, Coin C>
    [[nodiscard]] draft_view<law_type> propose(D&, const Stop&, C&, const draft_request& request) {
        log->asked.push_back(request.place.value());
        return draft_view<law_type>::nothing(no_draft::no_drafter);
    }
    told* log;
};

TEST_CASE("a rule that follows the text hears of starts and commits only, bridges of its place") {
    toy_world world;
    target_text_model target = world.target_model();
    no_drafter nobody;
    philox_coin coin(1);
    told log;
    session decoder(asking_bridge{log}, following_rule{log}, world.settings(1));
    CHECK(log.calls.empty());
    const std::size_t n = world.prompt.size();
    decoder.start(world.prompt);
    (void)decoder.round(target, nobody, fixed_length{}, coin, 9);
    (void)decoder.round(target, nobody, fixed_length{}, coin, 9); // which asks nothing again
    decoder.abandon();
    const std::string begun = "start " + std::to_string(n);
    CHECK(log.calls == std::vector<std::string>{begun});
    (void)decoder.round(target, nobody, fixed_length{}, coin, 9);
    decoder.commit(0);
    (void)decoder.round(target, nobody, fixed_length{}, coin, 9);
    decoder.commit(1);
    (void)decoder.round(target, nobody, fixed_length{}, coin, 9);
    decoder.start(world.prompt);
    (void)decoder.round(target, nobody, fixed_length{}, coin, 9);
    CHECK(log.calls == std::vector<std::string>{begun, "follow 0", "follow 1", begun});
    CHECK(log.asked == std::vector<std::uint64_t>{n, n, n, n + 1, n});
    CHECK_THROWS_AS(decoder.start({}), error);
    CHECK(log.calls.size() == 4);

    // A rule that does not: the place is unknown.
    told other;
    session plain(asking_bridge{other}, exact_match{}, world.settings(1));
    plain.start(world.prompt);
    (void)plain.round(target, nobody, fixed_length{}, coin, 9);
    CHECK(other.asked == std::vector<std::uint64_t>{0});
}

TEST_CASE("only a verified round can be committed, and no more of it than there is") {
    toy_world world;
    begun_text begun(world, world.two.tli(4), token_rejection{}, world.settings(1), 1);
    auto& [target, draft, drafter, coin, decoder] = begun;
    CHECK_THROWS_AS(decoder.commit(0), error);
    decoder.draft(drafter, four, coin, 8);
    CHECK_THROWS_AS(decoder.commit(0), error); // proposals are no tokens yet
    CHECK_THROWS_AS(decoder.commit(1), error);
    const auto rows = decoder.score(target);
    const std::size_t n = decoder.verify(rows, coin).tokens.size();
    CHECK_THROWS_WITH(decoder.verify(rows, coin), Catch::Contains("session: verify")); // once
    CHECK_THROWS_AS(decoder.commit(n + 1), error);
    decoder.commit(n);
    CHECK_THROWS_AS(decoder.commit(1), error); // once
    CHECK(decoder.tokens().size() == world.prompt.size() + n);
    decoder.draft(drafter, four, coin, 8);
    (void)decoder.verify(decoder.score(target), coin);
    decoder.start(world.prompt);
    CHECK_THROWS_AS(decoder.commit(1), error); // it was another text's
}

} // namespace session_tests
