// SPDX-License-Identifier: MIT
#include <specdec/learn/feature_lessons.hpp>

#include <cstddef>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/bridge/identity.hpp>
#include <specdec/decode/generate.hpp>
#include <specdec/decode/session.hpp>
#include <specdec/draft/model_drafter.hpp>
#include <specdec/draft/stop_rule.hpp>
#include <specdec/head/features/feature_recorder.hpp>
#include <specdec/sampling/coin/philox_coin.hpp>
#include <specdec/verify/token_rejection.hpp>

#include "support/ids.hpp"
#include "support/toy_features.hpp"

namespace feature_lessons_tests {

using namespace specdec;
using namespace specdec::testing;
using Catch::Contains;

constexpr std::size_t vocabulary = 7;

/// The target's row behind a text.
std::vector<float> row_behind(const sequence& text) {
    std::vector<float> row(vocabulary);
    for (std::size_t v = 0; v < vocabulary; ++v)
        row[v] = static_cast<float>(scramble(3, text, v) % 512) / 128.0F;
    return row;
}
std::vector<float> row_of(const std::vector<target_id>& held) {
    return row_behind(values_of(held));
}

/// Every law of a sample is the target's behind what its round had drafted, and every feature is
/// that of the text's tokens.
void check_sample(const feature_sample& s, const sequence& text, std::size_t from) {
    REQUIRE(s.tokens.size() <= text.size() - from);
    for (std::size_t i = 0; i < s.tokens.size(); ++i)
        CHECK(s.tokens[i].value == text[from + i]);
    const auto end_of = [&](std::size_t n) {
        return text.begin() + static_cast<std::ptrdiff_t>(from + n);
    };
    for (std::size_t i = 0; i < s.features().size(); ++i) {
        const auto found = s.features()[i].values;
        CHECK(std::vector<float>(found.begin(), found.end()) ==
              toy_feature({text.begin(), end_of(i + 1)}));
    }
    for (const feature_sample::round& r : s.rounds)
        for (std::size_t j = 0; j < r.rows; ++j) {
            sequence behind(text.begin(), end_of(r.begin));
            for (std::size_t k = 0; k < j; ++k)
                behind.push_back(s.drafted[r.first_draft + k].value);
            const std::vector<float> row = row_behind(behind);
            const softmax_law<target_id> law(logits_row<target_id>{row});
            const auto entries = s.entries_of(s.rows[r.first_row + j]);
            CHECK(entries.size() == 3);
            for (const auto& [id, p] : entries)
                CHECK(static_cast<double>(p) == Approx(law.probability(id)).epsilon(1e-4));
        }
}

/// A target with records, and rounds that are given: proposals and what is committed of them.
struct scene {
    toy_feature_target plain{vocabulary, row_of, 0, 200};
    feature_records records{1, 200, plain.feature_width()};
    feature_recorder<toy_feature_target> target{plain, records};
    sequence text{1, 2, 0};

    void start(feature_lessons& lessons) {
        lessons.start(ids_of<target_id>(text));
        target.append(ids_of<target_id>(sequence(text.begin(), text.end() - 1)));
    }
    /// The first `kept` proposals are committed, and a token behind them.
    void round(feature_lessons& lessons, const std::vector<int>& proposed, std::size_t kept,
               int next) {
        target.truncate(text.size() - 1);
        sequence fed{text.back()};
        fed.insert(fed.end(), proposed.begin(), proposed.end());
        const auto rows = target.score(ids_of<target_id>(fed));
        std::vector<int> committed(proposed.begin(),
                                   proposed.begin() + static_cast<std::ptrdiff_t>(kept));
        committed.push_back(next);
        lessons.follow(rows, ids_of<target_id>(proposed), ids_of<target_id>(committed));
        text.insert(text.end(), committed.begin(), committed.end());
    }
};

TEST_CASE("rounds become lessons: laws behind drafts, features behind the text's tokens") {
    scene s;
    feature_lessons lessons(s.records, {.keep = 3, .behind_rejected = 1});
    s.start(lessons);
    s.round(lessons, {4, 5, 6}, 1, 3); // 5 is rejected, 6 never looked at
    s.round(lessons, {}, 0, 2);
    s.round(lessons, {1, 1}, 2, 0); // all kept
    s.round(lessons, {6}, 0, 5);    // rejected
    feature_sample sample;
    REQUIRE(lessons.finish(sample));
    CHECK(sample.features().size() == s.text.size() - 1);
    REQUIRE(sample.rounds.size() == 4);
    CHECK(sample.rounds[0].begin == 3);
    CHECK(sample.rounds[0].rows == 3); // two decided, one behind the rejected token
    CHECK(sample.kept(sample.rounds[0]) == 1);
    CHECK(sample.rounds[1].rows == 1);
    CHECK(sample.rounds[2].rows == 3);
    CHECK(sample.rounds[3].rows == 2);
    CHECK(sample.kept(sample.rounds[3]) == 0);
    check_sample(sample, s.text, 0);
    CHECK_FALSE(lessons.finish(sample));

    s.round(lessons, {2, 3}, 0, 1); // goes on, and is taught from there
    REQUIRE(lessons.finish(sample));
    CHECK(sample.rounds.size() == 1);
    check_sample(sample, s.text, 0);

    feature_lessons strict(s.records, {.keep = 3, .behind_rejected = 0});
    scene again;
    feature_lessons none(again.records, {.keep = 3, .behind_rejected = 0});
    again.start(none);
    again.round(none, {4, 5, 6}, 1, 3);
    REQUIRE(none.finish(sample));
    CHECK(sample.rows.size() == 2);
    CHECK(sample.drafted.size() == 1);
}

TEST_CASE("texts longer than a window give several samples") {
    scene s;
    feature_lessons lessons(s.records, {.keep = 3, .window = 16});
    s.start(lessons);
    for (int i = 0; i < 20; ++i)
        s.round(lessons, {i % 7, (i + 2) % 7}, static_cast<std::size_t>(i % 3), i % 5);
    std::size_t rounds = 0, samples = 0;
    feature_sample sample;
    while (lessons.finish(sample)) {
        CHECK(sample.tokens.size() <= 16);
        // Where it begins: its features say so.
        std::size_t from = 0;
        while (
            toy_feature({s.text.begin(), s.text.begin() + static_cast<std::ptrdiff_t>(from) + 1}) !=
            std::vector<float>(sample.values.begin(), sample.values.begin() + 2))
            ++from;
        check_sample(sample, s.text, from);
        for (const feature_sample::round& r : sample.rounds)
            CHECK(r.begin >= 2);
        rounds += sample.rounds.size();
        ++samples;
    }
    CHECK(rounds == 20);
    CHECK(samples > 2);
}

TEST_CASE("a round without its text's records is refused and leaves nothing behind") {
    scene s;
    feature_lessons lessons(s.records, {.keep = 3});
    s.start(lessons);
    s.round(lessons, {4, 5}, 1, 3);
    const auto rows = s.target.score(ids_of<target_id>({1, 1}));
    CHECK_THROWS_WITH(lessons.follow(rows, ids_of<target_id>({1, 1}), ids_of<target_id>({1})),
                      Contains("rows"));
    s.target.truncate(2);
    const auto other = s.target.score(ids_of<target_id>({6, 6}));
    CHECK_THROWS_WITH(lessons.follow(other, ids_of<target_id>({6}), ids_of<target_id>({6})),
                      Contains("records of the sequence's first"));
    std::vector<float> nan(2 * vocabulary, 0.0F);
    nan[vocabulary] = __builtin_nanf("");
    s.target.truncate(0);
    s.target.append(ids_of<target_id>(s.text));
    s.target.append(ids_of<target_id>({4}));
    CHECK_THROWS(lessons.follow(logits_rows<target_id>(nan.data(), 2, vocabulary, vocabulary),
                                ids_of<target_id>({4}), ids_of<target_id>({4, 0})));
    s.round(lessons, {4, 5}, 1, 0);
    feature_sample sample;
    REQUIRE(lessons.finish(sample));
    CHECK(sample.rounds.size() == 2);
    check_sample(sample, s.text, 0);
    CHECK_THROWS_WITH(feature_lessons(s.records, {.keep = 0}), Contains("settings"));
}

/// A round whose rows have something that is no number in row `bad`: nothing comes of it.
void refused_round(scene& s, feature_lessons& lessons, const std::vector<int>& proposed,
                   std::size_t bad) {
    s.target.truncate(s.text.empty() ? 0 : s.text.size() - 1);
    sequence fed(s.text.empty() ? s.text.end() : s.text.end() - 1, s.text.end());
    fed.insert(fed.end(), proposed.begin(), proposed.end());
    (void)s.target.score(ids_of<target_id>(fed));
    std::vector<float> rows((proposed.size() + 1) * vocabulary, 1.0F);
    rows[bad * vocabulary] = __builtin_nanf("");
    std::vector<int> committed = proposed;
    committed.push_back(0);
    CHECK_THROWS(lessons.follow(
        logits_rows<target_id>(rows.data(), proposed.size() + 1, vocabulary, vocabulary),
        ids_of<target_id>(proposed), ids_of<target_id>(committed)));
}

TEST_CASE("a refused round is not handed out, wherever a sample is asked for behind it") {
    scene s;
    feature_lessons lessons(s.records, {.keep = 3});
    s.start(lessons);
    feature_sample sample;
    for (const std::size_t bad : {0U, 1U, 2U}) {
        refused_round(s, lessons, {4, 5}, bad);
        CHECK_FALSE(lessons.finish(sample));
    }
    s.round(lessons, {4, 5}, 2, 3);
    refused_round(s, lessons, {4, 5}, 1);
    REQUIRE(lessons.finish(sample));
    CHECK(sample.rounds.size() == 1);
    CHECK(sample.rows.size() == 3);
    check_sample(sample, s.text, 0);
    refused_round(s, lessons, {4, 5}, 1);
    CHECK_FALSE(lessons.finish(sample));
    s.round(lessons, {6}, 0, 1);
    REQUIRE(lessons.finish(sample));
    CHECK(sample.rounds.size() == 1);
    CHECK(sample.rows.size() == 1);
    CHECK(sample.features().size() == s.text.size() - 1);
    check_sample(sample, s.text, 0);
}

TEST_CASE("a text without a prompt is followed behind a refused round") {
    scene s;
    s.text.clear();
    feature_lessons lessons(s.records, {.keep = 3});
    lessons.start({});
    refused_round(s, lessons, {4}, 0);
    s.target.truncate(0);
    (void)s.target.score(ids_of<target_id>({1, 2}));
    const std::vector<float> rows(3 * vocabulary, 1.0F);
    s.text = {1, 2, 3};
    lessons.follow(logits_rows<target_id>(rows.data(), 3, vocabulary, vocabulary),
                   ids_of<target_id>({1, 2}), ids_of<target_id>(s.text));
    feature_sample sample;
    CHECK_FALSE(lessons.finish(sample)); // behind no token there is nothing to teach
    s.round(lessons, {4, 5}, 1, 0);
    REQUIRE(lessons.finish(sample));
    CHECK(sample.rounds.size() == 1);
    check_sample(sample, s.text, 0);
}

/// What an engine's own trainer does: it gets rounds where everybody gets them.
struct trainer {
    feature_lessons& lessons;
    bool round(const round_result& r) {
        lessons.follow(r);
        return true;
    }
    bool bytes(std::string_view, token_origin) { return true; }
};

TEST_CASE("the callback that gets rounds has all that lessons need") {
    scene s;
    feature_lessons lessons(s.records, {.keep = 3});
    const auto prompt = ids_of<target_id>(s.text);
    toy_model<draft_id> draft(vocabulary, [](const std::vector<draft_id>& held) {
        std::vector<target_id> same;
        for (const draft_id d : held)
            same.push_back(target_id{d.value});
        std::vector<float> row = row_of(same);
        row[held.size() % vocabulary] += 2;
        return row;
    });
    model_drafter drafter(draft);
    session decoder(make_identity_bridge(vocabulary, vocabulary, 100, 8), token_rejection{},
                    session_settings{.capacity = 100, .log_probabilities = 3});
    decoder.start(prompt, ids_of(s.text));
    lessons.start(prompt);
    trainer learns{lessons};
    philox_coin coin(5, 1);
    sequence text = s.text;
    while (text.size() < 40) {
        const round_result r = decoder.round(s.target, drafter, fixed_length{3}, coin, 50);
        (void)learns.round(r);
        for (const target_id t : r.tokens)
            text.push_back(t.value);
        decoder.commit(r.tokens.size());
    }
    feature_sample sample;
    REQUIRE(lessons.finish(sample));
    CHECK(sample.features().size() == text.size() - 1);
    CHECK(sample.drafted.size() > 3);
    check_sample(sample, text, 0);
    CHECK_THROWS_WITH(lessons.follow(round_result{}), Contains("log_probabilities"));
}

} // namespace feature_lessons_tests
