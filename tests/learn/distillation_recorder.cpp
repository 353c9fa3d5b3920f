// SPDX-License-Identifier: MIT
#include <specdec/learn/distillation_recorder.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/bridge/slem.hpp>
#include <specdec/decode/session.hpp>
#include <specdec/draft/model_drafter.hpp>
#include <specdec/draft/stop_rule.hpp>
#include <specdec/sampling/coin/philox_coin.hpp>
#include <specdec/verify/exact_match.hpp>
#include <specdec/vocab/table/intersection.hpp>

#include "support/ids.hpp"
#include "support/tiny_tokenizer.hpp"
#include "support/toy_model.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace distillation_recorder_tests {

const tiny_tokenizer<target_id> target({"a", "b", "ab", "<end>", "<think>", "c"});
const tiny_tokenizer<draft_id> draft({"<s>", "a", "b", "bc", "<end>", "c"});
const id_map map = [] {
    equivalences equal;
    equal.add("<end>", "<end>");
    return intersect(draft, target, equal);
}();

using lessons_type = distillation_recorder<tiny_tokenizer<target_id>, tiny_tokenizer<draft_id>>;

/// Rows that tell where they stand: row n of a text has logits that n alone makes.
struct numbered_rows {
    std::vector<float> values;
    explicit numbered_rows(std::size_t first, std::size_t n) {
        for (std::size_t i = first; i < first + n; ++i)
            for (std::size_t t = 0; t < target.vocabulary_size(); ++t)
                values.push_back(logit(i, t));
    }
    static float logit(std::size_t i, std::size_t t) {
        return static_cast<float>((i * 7 + t * 5 + i * t) % 11) / 4;
    }
    static double probability(std::size_t i, std::size_t t) {
        double sum = 0;
        for (std::size_t x = 0; x < target.vocabulary_size(); ++x)
            sum += std::exp(static_cast<double>(logit(i, x)));
        return std::exp(static_cast<double>(logit(i, t))) / sum;
    }
    [[nodiscard]] logits_rows<target_id> view() const {
        const std::size_t size = target.vocabulary_size();
        return {values.data(), values.size() / size, size, size};
    }
};

/// The committed tokens, followed in rounds of these lengths with a row more than is committed.
void follow(lessons_type& lessons, const std::vector<target_id>& committed,
            const std::vector<std::size_t>& rounds = {}) {
    std::size_t at = 0;
    for (std::size_t r = 0; at < committed.size(); ++r) {
        const std::size_t n = r < rounds.size() ? rounds[r] : committed.size() - at;
        const numbered_rows rows(at, n + 1);
        lessons.follow(rows.view(), std::span(committed).subspan(at, n));
        at += n;
    }
}

/// Row k of the text is that of committed token n: its `keep` likeliest, ascending, as they are.
void check_row(const distillation_sample& text, std::size_t k, std::size_t behind, std::size_t n,
               std::size_t keep) {
    REQUIRE(k < text.rows.size());
    CHECK(text.rows[k].behind == behind);
    const auto entries = text.entries_of(text.rows[k]);
    REQUIRE(entries.size() == keep);
    std::vector<double> p;
    for (std::size_t t = 0; t < target.vocabulary_size(); ++t)
        p.push_back(numbered_rows::probability(n, t));
    std::sort(p.rbegin(), p.rend());
    for (std::size_t e = 0; e < keep; ++e) {
        CHECK(static_cast<double>(entries[e].weight) ==
              Approx(numbered_rows::probability(n, entries[e].id.index())).epsilon(1e-5));
        CHECK(static_cast<double>(entries[e].weight) >= p[keep - 1] - 1e-6);
        CHECK((e == 0 || entries[e - 1].id < entries[e].id));
    }
}

TEST_CASE("rows where tokens begin together, merges of whole tokens") {
    lessons_type lessons(target, draft, map, {.keep = 3, .tokens = 64});
    lessons.start(ids_of<target_id>({0}), ids_of({0}));                // a
    follow(lessons, ids_of<target_id>({1, 2, 0, 2, 5, 0}), {1, 2, 3}); // b ab a ab c a
    distillation_sample text;
    REQUIRE(lessons.finish(text));
    CHECK(values_of(text.tokens) == std::vector{0, 1, 2, 1, 2, 1, 1, 3, 1}); // <s> a b a b a a bc a
    REQUIRE(text.rows.size() == 5);
    check_row(text, 0, 1, 0, 3); // b
    check_row(text, 1, 2, 1, 3); // ab
    check_row(text, 2, 4, 2, 3); // a
    check_row(text, 3, 5, 3, 3); // ab, which the drafter divides otherwise
    check_row(text, 4, 7, 5, 3); // the last a: c begins inside of bc
    REQUIRE(text.merges.size() == 1);
    CHECK(text.merges[0].first == 3);
    CHECK(text.merges[0].count == 2);
    CHECK(static_cast<double>(text.merges[0].probability) ==
          Approx(numbered_rows::probability(1, 2)).epsilon(1e-5));
    CHECK_FALSE(lessons.finish(text));
    CHECK(text.tokens.empty());
}

TEST_CASE("how rounds divide a text makes no difference") {
    const auto committed = ids_of<target_id>({1, 2, 0, 2, 5, 0, 3, 1});
    distillation_sample whole, parts;
    lessons_type lessons(target, draft, map, {.keep = 2});
    lessons.start(ids_of<target_id>({0}));
    follow(lessons, committed);
    REQUIRE(lessons.finish(whole));
    lessons.start(ids_of<target_id>({0})); // another text
    follow(lessons, committed, {1, 1, 3, 0, 2});
    REQUIRE(lessons.finish(parts));
    CHECK(values_of(whole.tokens) == values_of(parts.tokens));
    REQUIRE(whole.rows.size() == parts.rows.size());
    for (std::size_t k = 0; k < whole.rows.size(); ++k)
        CHECK(whole.rows[k].behind == parts.rows[k].behind);
    REQUIRE(whole.entries.size() == parts.entries.size());
    for (std::size_t e = 0; e < whole.entries.size(); ++e) {
        CHECK(whole.entries[e].id == parts.entries[e].id);
        CHECK(whole.entries[e].weight == parts.entries[e].weight);
    }
}

TEST_CASE("control tokens: an equivalent is taught, one without leaves its place to the next") {
    lessons_type lessons(target, draft, map, {.keep = 6});
    lessons.start(ids_of<target_id>({0}));
    follow(lessons, ids_of<target_id>({4, 1, 3})); // <think> b <end>
    distillation_sample text;
    REQUIRE(lessons.finish(text));
    CHECK(values_of(text.tokens) == std::vector{1, 2, 4});
    REQUIRE(text.rows.size() == 2);
    check_row(text, 0, 0, 1, 6);
    check_row(text, 1, 1, 2, 6);
}

TEST_CASE("what was taught is not taught again when the text goes on") {
    lessons_type lessons(target, draft, map, {.keep = 2});
    lessons.start(ids_of<target_id>({0}), ids_of({0}));
    distillation_sample text;
    CHECK_FALSE(lessons.finish(text)); // a prompt teaches nothing
    follow(lessons, ids_of<target_id>({1, 0}));
    REQUIRE(lessons.finish(text));
    CHECK(text.rows.size() == 2);
    CHECK_FALSE(lessons.finish(text));
    const numbered_rows rows(2, 2);
    const auto more = ids_of<target_id>({2});
    lessons.follow(rows.view(), more);
    REQUIRE(lessons.finish(text));
    CHECK(values_of(text.tokens) == std::vector{0, 1, 2, 1, 1, 2});
    REQUIRE(text.rows.size() == 1);
    check_row(text, 0, 3, 2, 2);
    REQUIRE(text.merges.size() == 1);
    CHECK(text.merges[0].first == 4);
}

TEST_CASE("long texts are taught in windows, each row once, behind the same tokens") {
    std::vector<target_id> committed;
    for (int i = 0; i < 90; ++i)
        committed.push_back(
            target_id{std::vector{0, 1, 2, 5}[static_cast<std::size_t>(i * i + i / 3) % 4]});
    const auto prompt = ids_of<target_id>(std::vector(30, 0));
    distillation_sample whole, part;
    lessons_type wide(target, draft, map, {.keep = 2, .window = 1000});
    wide.start(prompt, ids_of({0}));
    follow(wide, committed);
    REQUIRE(wide.finish(whole));
    REQUIRE_FALSE(wide.finish(part));
    for (const std::size_t window : std::vector<std::size_t>{8, 16, 40, 64}) {
        lessons_type narrow(target, draft, map, {.keep = 2, .window = window});
        narrow.start(prompt, ids_of({0}));
        follow(narrow, committed);
        std::size_t row = 0, merge = 0, windows = 0;
        for (; narrow.finish(part); ++windows) {
            REQUIRE(part.tokens.size() == window);
            CHECK(part.tokens[0].value == 0);
            for (std::size_t k = 0; k < part.rows.size(); ++k, ++row) {
                REQUIRE(row < whole.rows.size());
                const std::size_t here = part.rows[k].behind, there = whole.rows[row].behind;
                CHECK(std::equal(part.tokens.begin() + 1,
                                 part.tokens.begin() + static_cast<std::ptrdiff_t>(here) + 1,
                                 whole.tokens.begin() + static_cast<std::ptrdiff_t>(there - here) +
                                     1));
                if (k == 0)
                    CHECK(here >= (window - 1) / 2 - 1);
                CHECK(part.entries_of(part.rows[k])[0].weight ==
                      whole.entries_of(whole.rows[row])[0].weight);
            }
            for (const auto& m : part.merges) {
                REQUIRE(merge < whole.merges.size());
                CHECK(m.first + m.count <= part.tokens.size());
                CHECK(m.probability == whole.merges[merge].probability);
                ++merge;
            }
        }
        CHECK(row == whole.rows.size());
        CHECK(merge == whole.merges.size());
        CHECK(windows > 1);
    }
}

TEST_CASE("a merge that no window holds is left out; the row where it begins is taught") {
    const tiny_tokenizer<target_id> words({"a", "aaaaaaaaaa"});
    const tiny_tokenizer<draft_id> pieces({"a"});
    const id_map shared = intersect(pieces, words);
    distillation_recorder lessons(words, pieces, shared, {.keep = 1, .window = 8});
    lessons.start(ids_of<target_id>({0}));
    const std::vector<float> row{1, 2};
    lessons.follow(logits_rows<target_id>(row.data(), 1, 2, 2), ids_of<target_id>({1}));
    distillation_sample text;
    REQUIRE(lessons.finish(text));
    CHECK(text.tokens.size() == 8);
    CHECK(text.rows.size() == 1);
    CHECK(text.merges.empty());
}

template <class Id>
toy_model<Id> model_over(std::size_t vocabulary) {
    return toy_model<Id>(vocabulary, [=](const std::vector<Id>& context) {
        std::vector<float> row;
        for (std::size_t t = 0; t < vocabulary; ++t) // control tokens are unlikely
            row.push_back((t == 3 || t == 4 ? -2.0F : 0.0F) +
                          numbered_rows::logit(context.size() + context.back().index(), t));
        return row;
    });
}

TEST_CASE("a session's rounds teach what its text alone does, whatever was drafted") {
    auto model = model_over<target_id>(target.vocabulary_size());
    auto draft_model = model_over<draft_id>(draft.vocabulary_size());
    model_drafter drafter(draft_model);
    const philox_coin coin(1);
    session decoder(slem_bridge(target, draft, map, 256, 4), exact_match{},
                    session_settings{.target = {.temperature = 0.5F, .top_k = 3}, .capacity = 256});
    const auto prompt = ids_of<target_id>({0, 2});
    const auto prefix = ids_of({0});
    lessons_type lessons(target, draft, map, {.keep = 3}), alone(target, draft, map, {.keep = 3});
    decoder.start(prompt, prefix);
    lessons.start(prompt, prefix);
    std::size_t accepted = 0;
    for (int i = 0; i < 40; ++i) {
        const fixed_length stop{static_cast<std::size_t>(i % 4)}; // 0: a round without a draft
        decoder.draft(drafter, stop, coin, 8);
        const auto rows = decoder.score(model);
        const round_result r = decoder.verify(rows, coin);
        accepted += r.accepted;
        const std::size_t before = decoder.tokens().size();
        decoder.commit(i % 5 == 0 ? 1 : i % 7 == 0 ? 0 : r.tokens.size());
        lessons.follow(rows, decoder.tokens().subspan(before));
    }
    CHECK(accepted > 5);

    auto again = model_over<target_id>(target.vocabulary_size());
    const auto rows = again.score(decoder.tokens());
    const auto committed = decoder.tokens().subspan(prompt.size());
    alone.start(prompt, prefix);
    alone.follow(rows.middle(prompt.size() - 1, committed.size()), committed);
    distillation_sample from_rounds, from_text;
    REQUIRE(lessons.finish(from_rounds));
    REQUIRE(alone.finish(from_text));
    CHECK(values_of(from_rounds.tokens) == values_of(from_text.tokens));
    REQUIRE(from_rounds.rows.size() == from_text.rows.size());
    CHECK(from_rounds.rows.size() > 10);
    CHECK_FALSE(from_rounds.merges.empty());
    for (std::size_t k = 0; k < from_text.rows.size(); ++k)
        CHECK(from_rounds.rows[k].behind == from_text.rows[k].behind);
    REQUIRE(from_rounds.entries.size() == from_text.entries.size());
    for (std::size_t e = 0; e < from_text.entries.size(); ++e) {
        CHECK(from_rounds.entries[e].id == from_text.entries[e].id);
        CHECK(from_rounds.entries[e].weight == from_text.entries[e].weight);
    }
}

TEST_CASE("rows of probabilities, and what does not fit") {
    lessons_type lessons(target, draft, map, {.keep = 2});
    lessons.start(ids_of<target_id>({0}));
    const std::vector<float> p{0.5F, 0.25F, 0.25F, 0, 0, 0};
    lessons.follow(probabilities_rows<target_id>(p.data(), 1, 6, 6), ids_of<target_id>({1}));
    const numbered_rows rows(0, 1);
    CHECK_THROWS_AS(lessons.follow(rows.view(), ids_of<target_id>({1, 1})), error);
    CHECK_THROWS_AS(lessons.follow(rows.view(), ids_of<target_id>({6})), error);
    const logits_rows<target_id> narrow(p.data(), 1, 5, 6);
    CHECK_THROWS_AS(lessons.follow(narrow, ids_of<target_id>({1})), error);
    const std::vector<float> broken{NAN, 0, 0, 0, 0, 0};
    CHECK_THROWS_AS(
        lessons.follow(logits_rows<target_id>(broken.data(), 1, 6, 6), ids_of<target_id>({1})),
        error);
    lessons.follow(rows.view(), ids_of<target_id>({0}));
    distillation_sample text;
    REQUIRE(lessons.finish(text));
    CHECK(values_of(text.tokens) == std::vector{1, 2, 1});
    CHECK(text.entries_of(text.rows[0])[0].weight == 0.5F);
    check_row(text, 1, 1, 0, 2);
    CHECK_THROWS_WITH(lessons_type(target, draft, map, {.keep = 0}),
                      Catch::StartsWith("distillation recorder: "));
    CHECK_THROWS_AS(lessons_type(target, draft, map, {.window = 7}), error);
    CHECK_THROWS_AS(lessons.start(ids_of<target_id>({9})), error);
    CHECK_THROWS_AS(lessons.start({}, ids_of({9})), error);
}

} // namespace distillation_recorder_tests
