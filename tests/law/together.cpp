// SPDX-License-Identifier: MIT
// Two texts whose drafts are drawn in lockstep, from rows of common passes, have together the law
// of the target alone, twice: enumerated through batch, whatever the bridge and whatever the rows
// are made of: of the texts' tokens, or of the target's features and the body's own. (Another row
// is another draft and no other law, so each row is compared with the one from scratch.)
#include <specdec/decode/draft_in_lockstep.hpp>

#include <cstdint>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/core/model/one_sequence.hpp>
#include <specdec/core/model/row_batching_model.hpp>
#include <specdec/decode/batch.hpp>
#include <specdec/decode/text_run.hpp>
#include <specdec/draft/block_model.hpp>
#include <specdec/draft/lookup/suffix_lookup.hpp>
#include <specdec/head/features/feature_model.hpp>
#include <specdec/head/features/feature_recorder.hpp>
#include <specdec/head/full_head.hpp>
#include <specdec/head/headed_model.hpp>
#include <specdec/source/lookup_or_draft.hpp>
#include <specdec/verify/block_verification.hpp>
#include <specdec/verify/exact_match.hpp>
#include <specdec/verify/token_rejection.hpp>

#include "session_law.hpp"
#include "support/batch_of.hpp"
#include "support/course/course_text.hpp"
#include "support/toy_block_model.hpp"
#include "support/toy_features.hpp"
#include "support/toy_head.hpp"
#include "toy_bridges.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace together_tests {

using letters_of = toy_words::target_words;

/// Rows of toys, behind a prompt. As every pair of models: use(target, drafters' rows).
struct toy_pair {
    static constexpr bool reads_features = false;
    row_tree& p;
    row_tree& q;
    std::vector<target_id> begin;
    std::size_t fails_at = ~std::size_t{0}; ///< the pass of the drafters that throws

    template <class Use>
    void operator()(const Use& use) const {
        batch_of<target_id, toy_model<target_id>> target(2,
                                                         model_behind<target_id>(p, begin.size()));
        batch_of<draft_id, toy_model<draft_id>> models(2, model_of<draft_id>(q));
        models.fails_at = fails_at;
        use(target, models);
    }
    [[nodiscard]] std::vector<target_id> prompt(std::size_t) const { return begin; }
    [[nodiscard]] static std::vector<draft_id> prefix() { return {draft_id{0}}; }
    /// The drafter's row behind these tokens, in a round that began behind so many of them.
    [[nodiscard]] std::vector<float> row_behind(const sequence& held, std::size_t) const {
        return q(sequence(held.begin() + 1, held.end()));
    }
};

/// The last of the drafter's models, which counts passes and can fail.
template <class Model>
struct failing : Model {
    std::size_t passes = 0, fails_at;
    failing(const Model& model, std::size_t n) : Model(model), fails_at(n) {}
    [[nodiscard]] auto score(std::span<const sequence_tokens<draft_id>> parts) {
        if (passes++ == fails_at)
            fail("pair", "pass", "told to fail");
        return Model::score(parts);
    }
};

/// Toys whose drafters give two places in a pass.
struct block_pair : toy_pair {
    template <class Use>
    void operator()(const Use& use) const {
        batch_of<target_id, toy_model<target_id>> target(2,
                                                         model_behind<target_id>(p, begin.size()));
        toy_block_models engine(2, {q({}).size(),
                                    [this](std::span<const draft_id> context) -> const auto& {
                                        return q(context.subspan(1));
                                    },
                                    2});
        block_model blocks(engine);
        failing<decltype(blocks)> models(blocks, fails_at);
        use(target, models);
    }
    [[nodiscard]] std::vector<float> row_behind(sequence held, std::size_t round) const {
        if (held.size() > round && (held.size() - round) % 2 == 1)
            held.back() = toy_block_model::mask().value;
        return q(sequence(held.begin() + 1, held.end()));
    }
};

/// A drafter that reads features, with places of both texts in one pass; prompts of two tokens.
/// Length: of a window; 0: none.
template <std::size_t Length = 0>
struct feature_pair {
    static constexpr bool reads_features = true;
    static constexpr window_settings window{.length = Length, .block = 1, .room = 1};
    row_tree& p;
    row_tree& q;                  ///< none is read: the body's rows are functions of its places
    std::vector<target_id> begin; ///< none is read
    std::size_t fails_at = ~std::size_t{0};

    template <class Use>
    void operator()(const Use& use) const {
        const std::size_t vocabulary = p({}).size();
        toy_feature_targets plain(2, model_behind<target_id, toy_feature_target>(p, 2));
        feature_records records(2, plain.capacity(), toy_feature_width);
        feature_recorder target(plain, records);
        toy_body body(vocabulary, 2, 16);
        feature_model features(body, records, window);
        auto unit = toy_head<draft_id>::unit(vocabulary);
        full_head<draft_id, toy_head<draft_id>> head(unit);
        headed_model headed(features, head);
        failing<decltype(headed)> models(headed, fails_at);
        use(target, models);
    }
    [[nodiscard]] std::vector<target_id> prompt(std::size_t text) const {
        return {id_at<target_id>(1 - text), id_at<target_id>(text)};
    }
    [[nodiscard]] static std::vector<draft_id> prefix() { return {}; }
    [[nodiscard]] std::vector<float> row_behind(const sequence& held, std::size_t round) const {
        const std::size_t vocabulary = p({}).size();
        const context_window of =
            Length > 0 ? context_window(window, 17, "test") : context_window();
        return toy_body::state_of(toy_body::places_of(held, round, vocabulary, 0, of), vocabulary);
    }
};

/// A text's sequence of the drafters' model, whose rows are compared with those from scratch.
template <class Gathered, class Models>
struct checked_seat : one_sequence<draft_id, Gathered> {
    using base = one_sequence<draft_id, Gathered>;
    Models models;
    sequence held{};
    std::size_t round = 0;

    checked_seat(Gathered& rows, std::size_t number, const Models& pair)
        : base(rows, number), models(pair) {}
    void begin_draft_round(std::size_t n) {
        base::begin_draft_round(n);
        held.resize(base::size());
        round = n;
    }
    void append(std::span<const draft_id> ids) {
        base::append(ids);
        take(ids);
    }
    [[nodiscard]] auto score(std::span<const draft_id> ids) {
        const auto rows = base::score(ids);
        take(ids);
        const auto last = rows[rows.size() - 1].values;
        if (std::vector<float>(last.begin(), last.end()) != models.row_behind(held, round))
            throw "the row is not the one from scratch";
        return rows;
    }
    void truncate(std::size_t n) {
        base::truncate(n);
        held.resize(n);
    }
    void take(std::span<const draft_id> ids) {
        for (const draft_id id : ids)
            held.push_back(id.value);
    }
};

template <class B, class V, class Gathered, class Models>
struct drafted_text {
    using seat = checked_seat<Gathered, Models>;
    seat model;
    model_drafter<seat> drafter{model};
    session<B, V> decoder;
    confidence stop;
    coin_of_text<interval_coin> coin;
    generation_limits limits;
    silent_reader reader{};
    std::size_t prompt;
    using run_type = text_run<session<B, V>, model_drafter<seat>, confidence,
                              coin_of_text<interval_coin>, letters_of, silent_reader>;
    run_type run;

    drafted_text(const toy_words& two, const Models& models, Gathered& rows, B bridge, V rule,
                 interval_coin& random, std::uint64_t number, std::size_t length)
        : model(rows, number, models), decoder(std::move(bridge), rule, {.capacity = 16}),
          stop{0.3, length > 2 ? 2U : 1U}, coin{&random, number}, limits{length, {}},
          prompt(models.prompt(number).size()),
          run(decoder, drafter, stop, coin, two.target, limits, reader) {
        decoder.start(models.prompt(number), models.prefix());
    }
    /// Undrafted.
    template <class Target>
    void finish(Target& target, std::size_t number) {
        one_sequence<target_id, Target> own(target, number);
        while (decoder.tokens().size() < prompt + limits.max_tokens)
            decoder.commit(decoder.round(own, drafter, fixed_length{0}, coin, 1).tokens.size());
    }
    [[nodiscard]] sequence tokens() const {
        return values_of(decoder.tokens().subspan(prompt, limits.max_tokens));
    }
};

/// What happens while both draft.
enum class course {
    side_by_side,
    given_up, ///< the longer draft was begun before, and given up behind its first row
    failing,  ///< a common pass throws, and all draft again
    joining,  ///< the second text joins behind the first one's round
    partial,  ///< at first a round of which one text keeps a token and the other none
};

/// Of text 1.
template <class Run, class Target>
void give_up_a_draft(Run& run, Target& target) {
    one_sequence<target_id, Target> own(target, 1);
    (void)run.prepare(own);
    if (!run.begin_draft(target.capacity()))
        return;
    if (const draft_step step = run.request_row(); step.gatherer != nullptr) {
        step.gatherer->pass();
        run.draw();
        (void)run.request_row();
    }
}

/// A round of both without a batch, which would keep all of it: at most n tokens of the first's.
template <class Text, class Target>
void commit_of_both(Text& a, std::size_t n, Text& b, std::size_t m, Target& target) {
    struct drafting {
        decltype(&a.run) run;
        draft_step step{};
    };
    one_sequence<target_id, Target> first(target, 0), second(target, 1);
    (void)a.decoder.prepare(first);
    (void)b.decoder.prepare(second);
    drafting both[]{{&a.run}, {&b.run}};
    for (const drafting& x : both)
        (void)x.run->begin_draft(target.capacity());
    no_clock clock;
    draft_in_lockstep(
        std::span<drafting>(both), [](const drafting&, const auto& act) { act(); }, clock);
    const std::size_t of_a = a.decoder.verify(a.decoder.score(first), a.coin).tokens.size();
    const std::size_t of_b = b.decoder.verify(b.decoder.score(second), b.coin).tokens.size();
    a.decoder.commit(n < of_a ? n : of_a);
    b.decoder.commit(m < of_b ? m : of_b);
}

template <class Models, class WithBridge, class V>
std::size_t check_pair(const char* name, const toy_words& two, const WithBridge& with_bridge,
                       V rule, std::size_t length_of_a = 2, std::size_t length_of_b = 3,
                       const char* prompt = "b") {
    std::uint64_t seed = 0;
    std::size_t looked_up = 0;
    const std::vector<target_id> begin = encoded(two.target, prompt);
    for (const course how : {course::side_by_side, course::given_up, course::failing,
                             course::joining, course::partial}) {
        if (how == course::partial && !Models::reads_features)
            continue; // tests/law/partial_commits.cpp
        row_tree p(toy_rows(row_kind::random, two.target_size(), 900 + seed)),
            q(toy_rows(seed % 2 == 0 ? row_kind::random : row_kind::ties, two.draft_size(),
                       950 + seed));
        ++seed;
        const std::size_t of_b = how == course::partial ? length_of_a : length_of_b;
        std::size_t common = 0, failed = 0;
        const pair_law law = on_every_path([&](interval_coin& coin) {
            std::pair<sequence, sequence> texts;
            const Models pair{p, q, begin, how == course::failing ? 1 : ~std::size_t{0}};
            const auto play = [&](auto bridge, auto& target, auto& models) {
                row_batching_model<draft_id, std::remove_reference_t<decltype(models)>> rows(
                    models);
                using one = drafted_text<decltype(bridge), V, decltype(rows), Models>;
                one a(two, pair, rows, bridge, rule, coin, 0, length_of_a);
                one b(two, pair, rows, bridge, rule, coin, 1, of_b);
                batch<std::remove_reference_t<decltype(target)>, typename one::run_type> both(
                    target);
                if (how == course::partial) {
                    commit_of_both(a, 1, b, 0, target);
                    commit_of_both(a, 2, b, 1, target);
                    a.finish(target, 0);
                    b.finish(target, 1);
                    texts = {a.tokens(), b.tokens()};
                    return;
                }
                both.join(a.run);
                if (how == course::joining)
                    (void)both.round();
                both.join(b.run);
                if (how == course::given_up)
                    give_up_a_draft(b.run, target);
                for (bool more = true; more;) {
                    try {
                        more = both.round();
                    } catch (const error&) {
                        ++failed;
                    }
                }
                texts = {a.tokens(), b.tokens()};
                const std::size_t drafted =
                    a.decoder.counts().draft_tokens + b.decoder.counts().draft_tokens;
                common += drafted > models.passes ? 1U : 0U;
                looked_up += a.decoder.counts().looked_up + b.decoder.counts().looked_up;
            };
            with_bridge(std::size_t{2}, [&](auto bridge) {
                pair([&](auto& target, auto& models) { play(bridge, target, models); });
            });
            return texts;
        });
        CAPTURE(name, static_cast<int>(how));
        CHECK(total_variation(law, both_alone(p, length_of_a, of_b)) < exact);
        CHECK((common > 0 || how != course::side_by_side));
        CHECK((failed > 0) == (how == course::failing));
    }
    return looked_up;
}

TEST_CASE("two texts that draft together have together the target's law", "[law]") {
    static const toy_words same({"b", "a"}, {"b", "a"}), two({"b", "a"}, {"a", "b", "bb"}),
        pieces({"b", "a"}, {"b", "a", "bb"}), cached({"a", "b", "aa"}, {"a", "b"});
    (void)check_pair<toy_pair>("identity", same, same.identity(), by_rejection);
    (void)check_pair<toy_pair>("identity, block", same, same.identity(), by_block);
    (void)check_pair<toy_pair>("tli", two, two.tli(), by_rejection);
    (void)check_pair<toy_pair>("union", two, two.union_of(), by_rejection);
    (void)check_pair<toy_pair>("nested", pieces, pieces.nested(), by_rejection);
    (void)check_pair<toy_pair>("slem", two, two.slem(), by_match);
    (void)check_pair<toy_pair>("slrs", two, two.slrs(0.02), by_rejection);
    (void)check_pair<toy_pair>("merge", cached, cached.merge(0, {{{0, 0}, 2}}), by_rejection);
    (void)check_pair<toy_pair>("spelling", two, two.spelling(), by_match);
}

TEST_CASE("two texts that draft together, or look up in one index, have the target's law",
          "[law]") {
    static const toy_words same({"a", "b", "ab"}, {"a", "b", "ab"});
    const cost_table costs{{1, 1.1, 1.2, 1.3}, 0.1, 0};
    const auto beside = [&](const auto& with_bridge) {
        return [&](std::size_t n, const auto& use) {
            byte_index index({.bytes = 1024, .short_ends = true});
            acceptance_table table;
            with_bridge(n, [&](auto bridge) {
                using lookup_type = suffix_lookup<byte_index&>;
                use(lookup_or_draft<decltype(bridge), lookup_type, letters_of, interval_number>(
                    std::move(bridge),
                    lookup_with<lookup_type, letters_of, lookup_turns>{
                        {shared_suffixes(index), same.target, 2},
                        lookup_turns(table, costs, costs)},
                    16));
            });
        };
    };
    const auto check = [&](const char* name, const auto& with_bridge, const auto& rule) {
        CHECK(check_pair<toy_pair>(name, same, beside(with_bridge), rule, 2, 3, "bbabb") > 100);
    };
    check("identity, lookup", same.identity(), by_rejection);
    check("slem, lookup", same.slem(), by_match);
}

TEST_CASE("two texts whose drafters make blocks in common passes have the target's law", "[law]") {
    static const toy_words same({"b", "a"}, {"b", "a"}), two({"b", "a"}, {"a", "b", "bb"});
    (void)check_pair<block_pair>("blocks, identity", same, same.identity(), by_rejection);
    (void)check_pair<block_pair>("blocks, identity, block", same, same.identity(), by_block);
    (void)check_pair<block_pair>("blocks, slem", two, two.slem(), by_match);
    (void)check_pair<block_pair>("blocks, slrs", two, two.slrs(0.02), by_rejection);
}

TEST_CASE("two texts whose drafters read features in common passes have the target's law",
          "[law]") {
    static const toy_words same({"b", "a"}, {"b", "a"});
    (void)check_pair<feature_pair<>>("features", same, same.identity(), by_rejection);
    (void)check_pair<feature_pair<>>("features, block", same, same.identity(), by_block);
    (void)check_pair<feature_pair<>>("features, exact", same, same.identity(), by_match);
    (void)check_pair<feature_pair<>>("features, slrs", same, same.slrs(0.02), by_rejection);
    (void)check_pair<feature_pair<>>("features, longer", same, same.identity(), by_rejection, 2, 4);
    (void)check_pair<feature_pair<>>("features, both longer", same, same.identity(), by_match, 3,
                                     4);
    (void)check_pair<feature_pair<3>>("features, window", same, same.identity(), by_rejection);
    (void)check_pair<feature_pair<3>>("features, window, longer", same, same.identity(), by_match,
                                      2, 4);
}

} // namespace together_tests
