// SPDX-License-Identifier: MIT
#include <specdec/learn/acceptance/acceptance_recorder.hpp>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/bridge/identity.hpp>
#include <specdec/decode/outcome_of.hpp>
#include <specdec/decode/session.hpp>
#include <specdec/draft/model_drafter.hpp>
#include <specdec/sampling/coin/philox_coin.hpp>
#include <specdec/verify/token_rejection.hpp>
#include <specdec/vocab/table/intersection.hpp>

#include "support/ids.hpp"
#include "support/tiny_tokenizer.hpp"
#include "support/toy_model.hpp"
#include "support/toy_rows.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace acceptance_recorder_tests {

using target_words = tiny_tokenizer<target_id>;
using draft_words = tiny_tokenizer<draft_id>;

/// Rows that differ after every context.
template <class Id>
toy_model<Id> model_of_seed(std::size_t vocabulary, std::uint64_t seed) {
    return toy_model<Id>(vocabulary, [=](const std::vector<Id>& context) {
        return toy_rows(row_kind::random, vocabulary,
                        seed)(values_of(std::span<const Id>(context)));
    });
}

/// Up to three tokens, and reads whatever a head reads.
struct three_tokens {
    static constexpr rule_traits traits{.reads = true};
    [[nodiscard]] row_reading reads() const { return row_reading::entropy; }
    [[nodiscard]] bool more(const draft_progress& now) const { return now.drafted < 3; }
    [[nodiscard]] law_version version() const { return 0; }
};

constexpr sampling_parameters warm{.temperature = 0.7F}, cool{.temperature = 1.3F};

/// A text of 30 rounds, and the examples that its rounds make.
struct recorded {
    acceptance_sample text;
    acceptance_examples of_rounds{400};
    bool learns = false;

    template <class Bridge>
    recorded(Bridge bridge, const target_words& target, const draft_words& draft, const id_map& map,
             std::uint64_t seed) {
        auto big = model_of_seed<target_id>(target.vocabulary_size(), 7);
        auto small = model_of_seed<draft_id>(draft.vocabulary_size(), 8);
        model_drafter drafter(small);
        const philox_coin coin(seed);
        const three_tokens stop;
        session decoder(std::move(bridge), token_rejection{},
                        session_settings{.target = warm, .draft = cool, .capacity = 256});
        acceptance_recorder<target_words, draft_words> recorder(target, draft, map);
        const auto prompt = ids_of<target_id>({0, 1});
        const std::vector<draft_id> prefix{draft_id{1}};
        decoder.start(prompt, prefix);
        recorder.start(prompt, prefix);
        std::vector<float> labels(3);
        for (std::size_t i = 0; i < 30; ++i) {
            decoder.draft(drafter, stop, coin, 8);
            const auto rows = decoder.score(big);
            const round_result r = decoder.verify(rows, coin);
            const auto outcome = outcome_of(r, target, draft);
            const std::size_t n = acceptance_labels(decoder.verified(rows), outcome, labels);
            of_rounds.add(r.steps, std::span(labels).first(n));
            recorder.follow(rows, warm, r.steps, r.proposed, r.tokens);
            decoder.commit(r.tokens.size());
        }
        learns = recorder.finish(text);
    }

    /// The examples by a drafter of this seed.
    [[nodiscard]] acceptance_examples again(const id_map& map, std::uint64_t seed) const {
        acceptance_examples found(400);
        auto model = model_of_seed<draft_id>(map.draft_size(), seed);
        const auto all = model.score(text.tokens);
        std::vector<float> asked;
        for (const acceptance_sample::row& x : text.rows)
            asked.insert(asked.end(), all[x.behind].values.begin(), all[x.behind].values.end());
        acceptance_relabeller(map, cool)(text,
                                         logits_rows<draft_id>(asked.data(), text.rows.size(),
                                                               map.draft_size(), map.draft_size()),
                                         found);
        return found;
    }
};

bool alike(const acceptance_example& a, const acceptance_example& b) {
    const auto near = [](double x, double y) { return std::abs(x - y) < 1e-6; };
    return a.at.drafted == b.at.drafted && a.at.token == b.at.token && a.output == b.output &&
           near(a.at.last, b.at.last) && near(a.at.sure, b.at.sure) &&
           near(a.at.entropy, b.at.entropy) &&
           near(static_cast<double>(a.label), static_cast<double>(b.label));
}

void check_same(const acceptance_examples& found, const acceptance_examples& wanted) {
    REQUIRE(found.size() == wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        CAPTURE(i, found[i].at.last, wanted[i].at.last, found[i].label, wanted[i].label);
        CHECK(alike(found[i], wanted[i]));
    }
}

TEST_CASE("the drafter that drafted gives the examples of the rounds again") {
    const target_words target({"a", "b", "c"});
    const draft_words draft({"a", "b", "c"});
    const id_map map = id_map::identity(3, 3);
    const recorded one(make_identity_bridge(3, 3, 256, 4), target, draft, map, 5);
    REQUIRE(one.learns);
    CHECK(one.of_rounds.size() > 80);
    check_same(one.again(map, 8), one.of_rounds);

    const target_words more({"b", "a", "c", "ab"}); // ab is two draft tokens
    const draft_words other({"a", "c", "b", "e"});
    const id_map shared = intersect(other, more);
    const recorded two(
        tli_bridge<target_words, draft_words>(tli_map(shared), {more, other, shared, 256}, 4), more,
        other, shared, 6);
    REQUIRE(two.learns);
    check_same(two.again(shared, 8), two.of_rounds);
}

TEST_CASE("a drafter that has learnt gives the same drafts other labels: min(1, p / q) of today") {
    const target_words target({"a", "b", "c"});
    const draft_words draft({"a", "b", "c"});
    const id_map map = id_map::identity(3, 3);
    const recorded one(make_identity_bridge(3, 3, 256, 4), target, draft, map, 5);
    const acceptance_examples found = one.again(map, 9);
    REQUIRE(found.size() == one.of_rounds.size());
    auto model = model_of_seed<draft_id>(3, 9);
    const auto rows = model.score(one.text.tokens);
    std::size_t at = 0, changed = 0, soft = 0;
    for (const acceptance_sample::row& x : one.text.rows) {
        const auto q = make_law(rows[x.behind], cool).probability(x.token);
        const double label = x.target < q ? x.target / q : 1;
        for (const std::size_t output : {1U, 0U}) { // of the token that comes, and of it
            CHECK(found[at].output == output);
            CHECK(static_cast<double>(found[at].label) == Approx(label));
            changed += found[at].label != one.of_rounds[at].label;
            soft += found[at].label > 0 && found[at].label < 1;
            ++at;
        }
        CHECK(found[at - 1].at.last == Approx(q));
    }
    CHECK(changed > 40);
    CHECK(soft > 40);
}

/// Rows of a round in which the target likes every token.
struct even_rows {
    std::vector<float> values = std::vector<float>(16);
    [[nodiscard]] logits_rows<target_id> of(std::size_t vocabulary) const {
        return {values.data(), 4, vocabulary, vocabulary};
    }
};

std::vector<draft_progress> steps_of(const std::vector<int>& drafted) {
    std::vector<draft_progress> steps;
    for (const int d : drafted)
        steps.push_back({.drafted = steps.size() + 1, .token = draft_id{d}});
    return steps;
}

TEST_CASE("drafts of a context that became another one are left out") {
    // ab is one draft token: a is encoded again when b follows.
    const target_words target({"a", "b", "c"});
    const draft_words draft({"a", "b", "c", "ab"});
    const id_map map = intersect(draft, target);
    acceptance_recorder<target_words, draft_words> recorder(target, draft, map);
    const even_rows rows;
    acceptance_sample text;
    recorder.start(ids_of<target_id>({2}));
    CHECK_FALSE(recorder.finish(text));
    const auto round = [&](const std::vector<int>& drafted, const std::vector<int>& committed) {
        recorder.follow(rows.of(3), {}, steps_of(drafted), ids_of<target_id>(drafted),
                        ids_of<target_id>(committed));
    };
    round({2, 0}, {2, 0, 1}); // c a, then b: c stays, the row of a is behind c
    REQUIRE(recorder.finish(text));
    CHECK(values_of(std::span<const draft_id>(text.tokens)) == std::vector<int>{2, 2, 3});
    REQUIRE(text.rows.size() == 2);
    CHECK(text.rows[1].behind == 1);
    CHECK(text.rows[1].token == draft_id{0});
    CHECK(text.rows[1].target == Approx(1 / 3.0));
    round({0}, {0});       // a, and the round ends there
    round({1, 2}, {1, 2}); // b after that a, which is then no token any more
    REQUIRE(recorder.finish(text));
    CHECK(values_of(std::span<const draft_id>(text.tokens)) == std::vector<int>{2, 2, 3, 3, 2});
    REQUIRE(text.rows.size() == 3);
    CHECK(text.rows[2].behind == 2);
    CHECK(text.rows[2].drafted == 1);
}

TEST_CASE("what was not verified is left out, and a long text loses its beginning") {
    const target_words target({"a", "b", "c"});
    const draft_words draft({"a", "b", "c"});
    const id_map map = id_map::identity(3, 3);
    acceptance_recorder<target_words, draft_words> recorder(target, draft, map, 8);
    const even_rows rows;
    acceptance_sample text;
    recorder.start(ids_of<target_id>({0, 0}), std::vector{draft_id{2}});
    recorder.follow(rows.of(3), {}, steps_of({1, 1, 1}), ids_of<target_id>({1, 1, 1}),
                    ids_of<target_id>({1, 2})); // the second was rejected, the third not looked at
    REQUIRE(recorder.finish(text));
    REQUIRE(text.rows.size() == 2);
    CHECK(text.rows[0].behind == 2);
    CHECK(text.rows[1].behind == 3);
    recorder.follow(
        rows.of(3), {}, steps_of({0, 1, 2}), ids_of<target_id>({0, 1, 2}),
        ids_of<target_id>({0, 1, 2, 2})); // nine tokens: the first behind the prefix goes
    REQUIRE(recorder.finish(text));
    CHECK(values_of(std::span<const draft_id>(text.tokens)) ==
          std::vector<int>{2, 0, 1, 2, 0, 1, 2, 2});
    REQUIRE(text.rows.size() == 5);
    CHECK(text.rows[0].behind == 1);
    recorder.follow(rows.of(3), {}, {}, {}, ids_of<target_id>({2, 2})); // without a draft
    REQUIRE(recorder.finish(text));
    CHECK(text.tokens.size() == 8);
    CHECK(text.rows.size() == 3); // what lost its place has lost the rest of its draft
    CHECK(text.rows[0].drafted == 1);
    CHECK_THROWS_AS(
        recorder.follow(rows.of(3), {}, {}, ids_of<target_id>({1}), ids_of<target_id>({1})), error);
    using recorder_type = acceptance_recorder<target_words, draft_words>;
    CHECK_THROWS_AS(recorder_type(target, draft, map, 7), error);
}

TEST_CASE("texts that no drafter's rows fit are refused") {
    const id_map map({0, -1}, {0}, 1, 2);
    acceptance_relabeller relabel(map);
    acceptance_examples examples(8);
    const std::vector<float> numbers(4);
    const auto rows = [&](std::size_t n, std::size_t vocabulary) {
        return logits_rows<draft_id>(numbers.data(), n, vocabulary, vocabulary);
    };
    acceptance_sample text;
    text.tokens = ids_of<draft_id>({0, 0});
    text.rows = {{.behind = 0, .drafted = 1, .token = draft_id{0}, .target = 0.25}};
    relabel(text, rows(1, 2), examples);
    REQUIRE(examples.size() == 2);
    CHECK(examples[1].label == 0.25F); // the only shared token: q' is 1
    CHECK_THROWS_AS(relabel(text, rows(2, 2), examples), error);
    CHECK_THROWS_AS(relabel(text, rows(1, 3), examples), error);
    for (const int wrong : {1, 2, -1}) {
        text.rows[0].token = draft_id{wrong};
        CHECK_THROWS_AS(relabel(text, rows(1, 2), examples), error);
    }
}

} // namespace acceptance_recorder_tests
