// SPDX-License-Identifier: MIT
#include <specdec/head/features/feature_model.hpp>

#include <vector>

#include <catch2/catch.hpp>

#include <specdec/core/model/one_sequence.hpp>
#include <specdec/head/features/feature_recorder.hpp>
#include <specdec/head/full_head.hpp>
#include <specdec/head/headed_model.hpp>
#include <specdec/testing/contract/feature_contract.hpp>

#include "support/ids.hpp"
#include "support/toy_features.hpp"
#include "support/toy_tree_model.hpp"

namespace feature_model_tests {

using namespace specdec;
using namespace specdec::testing;
using Catch::Contains;
using parts = std::vector<sequence_tokens<draft_id>>;

toy_feature_target make_target(std::size_t capacity = 300) {
    return {9, [](const auto&) { return std::vector<float>(9); }, 0, capacity};
}

TEST_CASE("features of a target are recorded as it is fed, and forgotten as it forgets") {
    toy_feature_target plain = make_target();
    feature_records records(1, plain.capacity(), plain.feature_width());
    feature_recorder target(plain, records);
    std::vector<target_id> text;
    sequence tokens;
    for (int i = 0; i < 290; ++i) { // in several parts
        text.emplace_back(i * i % 9);
        tokens.push_back(i * i % 9);
    }
    target.append(text);
    REQUIRE(records[0].size() == 290);
    for (const std::size_t i : {0U, 127U, 128U, 289U}) {
        const auto kept = records[0].features(i, 1)[0].values;
        CHECK(std::vector<float>(kept.begin(), kept.end()) ==
              toy_feature({tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(i) + 1}));
    }
    target.truncate(3);
    CHECK(records[0].size() == 3);
    (void)target.score(ids_of<target_id>({5, 6}));
    CHECK(records[0].size() == 5);
    CHECK(records.find(ids_of({0, 1, 4, 5})) == &records[0]);
    CHECK(records.find(ids_of({0, 1, 4, 6})) == nullptr);
    CHECK(records.find(ids_of({0, 1, 4, 5, 6, 0})) == nullptr);

    CHECK_THROWS(target.append(std::vector(296, target_id{1}))); // beyond the capacity
    CHECK(target.size() == 5);
    CHECK(records[0].size() == 5);
    plain.forgets_one = true;
    CHECK_THROWS_WITH(target.append(text), Contains("features"));
    CHECK(target.size() == records[0].size());
    feature_records wide(1, 300, 3);
    CHECK_THROWS_WITH(feature_recorder(plain, wide), Contains("width"));
    feature_records small(1, 10, 2);
    CHECK_THROWS_WITH(feature_recorder(plain, small), Contains("capacity"));
}

TEST_CASE("features of a tree that do not fit are refused, and both forget the text") {
    struct showing : toy_tree_model<target_id> {
        using toy_tree_model::toy_tree_model;
        std::vector<float> shown{};
        void append(std::span<const target_id> ids) {
            toy_tree_model::append(ids);
            shown.assign(2 * ids.size(), 1);
        }
        [[nodiscard]] std::size_t feature_width() const { return 2; }
        [[nodiscard]] hidden_states features() const {
            return {shown.data(), shown.size() / 2, 2, 2};
        }
    } plain(
        9, [](const auto&) { return std::vector<float>(9); }, 30);
    feature_records records(1, 30, 2);
    feature_recorder target(plain, records);
    const auto text = ids_of<target_id>({1, 2, 3});
    const std::vector<std::size_t> parents{tree_root, 0, 0};
    target.append(text);
    (void)target.score_tree(text, parents); // the append's are three, too
    CHECK(target.size() == 3);
    plain.shown.pop_back(), plain.shown.pop_back(); // one too few
    CHECK_THROWS_WITH(target.score_tree(text, parents), Contains("expected 3 of width 2"));
    CHECK(target.size() == 0);
    CHECK(records[0].size() == 0);
}

TEST_CASE("a drafter reads the target's features up to its round, and its own behind") {
    toy_feature_target plain = make_target();
    feature_records records(1, plain.capacity(), plain.feature_width());
    feature_recorder target(plain, records);
    toy_body body(9);
    feature_model model(body, records);
    const auto hidden = [&](const std::vector<int>& ids) {
        const std::vector<draft_id> tokens = ids_of(ids);
        return model.hidden(parts{{0, tokens}}).size();
    };
    CHECK_THROWS_WITH(hidden({4, 1, 5}), Contains("begin_draft_round"));
    model.begin_draft_round(0, 4);
    CHECK_THROWS_WITH(hidden({4, 1, 5, 2}), Contains("is fed them before"));
    CHECK(model.size(0) == 0);
    CHECK(body.size(0) == 0);
    target.append(ids_of<target_id>({4, 1, 5}));
    model.append(0, ids_of({4, 1}));
    CHECK(hidden({5, 2}) == 2);
    CHECK(body.passes == 2);
    CHECK(hidden({7}) == 1);
    CHECK(hidden({3, 3}) == 2);
    const sequence drafted{4, 1, 5, 2, 7, 3, 3};
    CHECK(body.places() == toy_body::places_of(drafted, 4, 9));

    // The next round: what was drafted is read again with the target's features, nothing else.
    target.append(ids_of<target_id>({2, 7}));
    const std::size_t read = body.read_places;
    model.begin_draft_round(0, 6);
    CHECK(model.size(0) == 4);
    CHECK(hidden({7, 8}) == 2);
    CHECK(hidden({3}) == 1);
    CHECK(body.read_places == read + 3);
    CHECK(body.places() == toy_body::places_of({4, 1, 5, 2, 7, 8, 3}, 6, 9));

    // An earlier round again: the same as then, whatever the records have gained.
    model.begin_draft_round(0, 4);
    CHECK(model.size(0) == 4);
    model.truncate(0, 3);
    CHECK(hidden({2, 7}) == 2);
    CHECK(body.places() == toy_body::places_of({4, 1, 5, 2, 7}, 4, 9));
    CHECK(hidden({3}) == 1);
    model.truncate(0, 5); // another draft of the round
    CHECK(hidden({6}) == 1);
    CHECK(body.places() == toy_body::places_of({4, 1, 5, 2, 7, 6}, 4, 9));

    CHECK_THROWS_WITH(hidden({9}), Contains("expected ids"));
    CHECK_THROWS_WITH(hidden(std::vector<int>(70, 1)), Contains("at most 59"));
    CHECK(model.size(0) == 6);
    const law_version mark = model.version(0);
    model.begin_draft_round(0, 4);
    CHECK(model.version(0) == mark);
    model.begin_draft_round(0, 3);
    CHECK(model.version(0) != mark);
    CHECK_THROWS_WITH(hidden({2}), Contains("begin with the tokens of the round"));
    feature_records wide(1, 10, 3);
    CHECK_THROWS_WITH(feature_model(body, wide), Contains("width"));
}

TEST_CASE(
    "other weights: what was made with the old ones is forgotten, the target's features stay") {
    toy_feature_target plain = make_target();
    feature_records records(1, plain.capacity(), plain.feature_width());
    feature_recorder target(plain, records);
    toy_body body(9, 2);
    feature_model model(body, records);
    const auto hidden = [&](const std::vector<int>& ids) {
        const std::vector<draft_id> tokens = ids_of(ids);
        return model.hidden(parts{{0, tokens}}).size();
    };
    target.append(ids_of<target_id>({4, 1, 5}));
    model.begin_draft_round(0, 4);
    CHECK(hidden({4, 1, 5, 2}) == 4);
    CHECK(hidden({7}) == 1); // of its own feature
    const law_version before = model.version(0), other = model.version(1);
    model.use(std::uint64_t{2});
    CHECK(model.version(0) != before);
    CHECK(model.version(1) != other);
    CHECK(model.size(0) == 0);
    CHECK(body.size(0) == 0);
    model.begin_draft_round(0, 4); // the same round again: of the new weights alone
    CHECK(hidden({4, 1, 5, 2}) == 4);
    CHECK(hidden({7}) == 1);
    CHECK(body.places() == toy_body::places_of({4, 1, 5, 2, 7}, 4, 9, 2));
}

TEST_CASE("several sequences read the records of the same text, in any order") {
    toy_feature_target plain = make_target();
    feature_records records(3, 30, plain.feature_width());
    const auto record = [&](std::size_t s, const std::vector<int>& text) {
        sequence tokens;
        for (const int t : text) {
            tokens.push_back(t);
            const std::vector<float> feature = toy_feature(tokens);
            records[s].add(ids_of<target_id>({t}), {feature.data(), 1, 2, 2});
        }
    };
    record(0, {1, 2, 3});
    record(2, {1, 2, 4});
    toy_body body(9, 2);
    feature_model model(body, records);
    const std::vector<draft_id> first = ids_of({1, 2, 4, 5}), second = ids_of({1, 2, 3, 6});
    model.begin_draft_round(0, 4);
    model.begin_draft_round(1, 4);
    CHECK(model.hidden(parts{{0, first}, {1, second}}).size() == 8);
    CHECK(body.places(0) == toy_body::places_of({1, 2, 4, 5}, 4, 9));
    CHECK(body.places(1) == toy_body::places_of({1, 2, 3, 6}, 4, 9));
    model.begin_draft_round(0, 1); // of one token, which has no place: the next one reads zeros
    model.truncate(0, 0);
    const std::vector<draft_id> short_text = ids_of({8, 2, 2});
    CHECK(model.hidden(parts{{0, short_text}}).size() == 3);
    CHECK(body.places(0).size() == 2);
    model.begin_draft_round(1, 0); // to be measured: zeros, in one pass
    const std::size_t passes = body.passes;
    CHECK(model.hidden(parts{{1, ids_of({1, 2, 3})}}).size() == 3);
    CHECK(body.passes == passes + 1);
}

TEST_CASE("several sequences are read in one pass, each as alone") {
    toy_feature_target plain = make_target();
    feature_records records(2, 30, plain.feature_width());
    const sequence texts[] = {{1, 2, 3, 5, 8, 4}, {1, 2, 4, 6, 7, 0}};
    for (std::size_t s = 0; s < 2; ++s)
        for (std::size_t i = 0; i < 5; ++i) {
            const std::vector<float> feature = toy_feature(
                {texts[s].begin(), texts[s].begin() + static_cast<std::ptrdiff_t>(i + 1)});
            records[s].add(ids_of<target_id>({texts[s][i]}), {feature.data(), 1, 2, 2});
        }
    toy_body body(9, 2);
    feature_model model(body, records);
    const auto read = [&](const std::vector<int>& a, const std::vector<int>& b) {
        const std::vector<draft_id> first = ids_of(a), second = ids_of(b);
        return model.hidden(parts{{0, first}, {1, second}});
    };
    const auto as_alone = [&](const sequence& a, std::size_t round, const sequence& b,
                              std::size_t other) {
        CHECK(body.places(0) == toy_body::places_of(a, round, 9));
        CHECK(body.places(1) == toy_body::places_of(b, other, 9));
    };
    model.begin_draft_round(0, 4);
    model.begin_draft_round(1, 3);
    model.append(0, ids_of({1, 2}));
    model.append(1, ids_of({1, 2}));
    std::size_t passes = body.passes;
    CHECK(read({3, 5}, {4}).size() == 3); // the target's features
    CHECK(body.passes == passes + 1);
    as_alone({1, 2, 3, 5}, 4, {1, 2, 4}, 3);
    const hidden_states rows = read({7}, {0}); // their own
    CHECK(body.passes == passes + 2);
    as_alone({1, 2, 3, 5, 7}, 4, {1, 2, 4, 0}, 3);
    for (std::size_t s = 0; s < 2; ++s) {
        const auto row = rows[s].values;
        CHECK(std::vector<float>(row.begin(), row.end()) == toy_body::state_of(body.places(s), 9));
    }
    (void)read({2}, {2}); // of the own features that this pass made
    as_alone({1, 2, 3, 5, 7, 2}, 4, {1, 2, 4, 0, 2}, 3);

    // One of each kind, and several own ones: in passes of their own.
    model.begin_draft_round(1, 5);
    passes = body.passes;
    CHECK(read({6}, {6, 7}).size() == 3);
    CHECK(body.passes == passes + 2);
    as_alone({1, 2, 3, 5, 7, 2, 6}, 4, {1, 2, 4, 6, 7}, 5);
    CHECK(read({1, 1}, {8}).size() == 3);
    as_alone({1, 2, 3, 5, 7, 2, 6, 1, 1}, 4, {1, 2, 4, 6, 7, 8}, 5);

    // What throws changes neither.
    model.begin_draft_round(0, 5);
    model.begin_draft_round(1, 7);
    CHECK(model.size(0) == 4);
    CHECK(model.size(1) == 5);
    CHECK_THROWS_WITH(read({8}, {0, 3}), Contains("is fed them before"));
    CHECK_THROWS_WITH(read({1, 8, 1}, {0, 3}), Contains("is fed them before"));
    CHECK(model.size(0) == 4);
    as_alone({1, 2, 3, 5}, 4, {1, 2, 4, 6, 7}, 5);
}

/// A feature_model of texts longer than its window of eight tokens, and their target.
struct long_texts {
    static constexpr window_settings settings{.length = 8, .block = 3, .room = 3};
    toy_feature_target plain = make_target();
    feature_records records{2, plain.capacity(), toy_feature_width};
    toy_body body{9, 2, 16};
    feature_model<toy_body> model{body, records, settings};
    sequence text{};

    explicit long_texts(std::size_t tokens) {
        for (std::size_t i = 0; i < tokens; ++i)
            text.push_back(static_cast<int>(i * i % 9));
        for (std::size_t i = 0; i < tokens; ++i) {
            const std::vector<float> feature = toy_feature(first(i + 1));
            records[0].add(ids_of<target_id>({text[i]}), {feature.data(), 1, 2, 2});
        }
    }
    [[nodiscard]] sequence first(std::size_t n) const {
        return {text.begin(), text.begin() + static_cast<std::ptrdiff_t>(n)};
    }
    /// Reads tokens in sequence s; the last hidden state.
    std::vector<float> read(const std::vector<int>& tokens, std::size_t s = 0) {
        const std::vector<draft_id> ids = ids_of(tokens);
        const hidden_states rows = model.hidden(parts{{s, ids}});
        REQUIRE(rows.size() == ids.size());
        const auto last = rows[ids.size() - 1].values;
        return {last.begin(), last.end()};
    }
    [[nodiscard]] static std::vector<toy_body::place> wanted(const sequence& of,
                                                             std::size_t round) {
        return toy_body::places_of(of, round, 9, 0, context_window(settings, 17, "test"));
    }
};

TEST_CASE("a window: a prompt's features are read only as far as it needs") {
    long_texts of(200);
    for (const std::size_t tokens : {1U, 4U, 5U, 6U, 8U, 9U, 40U, 199U}) {
        of.model.truncate(0, 0);
        of.model.begin_draft_round(0, tokens);
        const std::size_t read = of.body.read_places;
        const std::vector<float> row = of.read(of.first(tokens));
        const auto wanted = long_texts::wanted(of.first(tokens), tokens);
        CHECK(of.body.places(0) == wanted);
        CHECK(of.body.read_places == read + wanted.size());
        CHECK(wanted.size() < 8 - 3); // room for a draft of three
        CHECK(wanted.size() + (tokens > 1 ? 0 : 1) > 0);
        if (tokens > 1)
            CHECK(row == toy_body::state_of(wanted, 9));
        CHECK(of.model.size(0) == tokens);
    }
    CHECK(of.model.trained_context() == 8);
    CHECK(of.model.capacity() == 300 + 17 - 8);
    CHECK(trained_context(of.model) == 8);
}

TEST_CASE("a window: a row is the same however its context was reached") {
    long_texts of(60);
    const auto drafted = [&](std::size_t round, const std::vector<int>& draft) {
        sequence all = of.first(round);
        all.insert(all.end(), draft.begin(), draft.end());
        return all;
    };
    std::size_t moved = 0;
    for (std::size_t round = 2; round < 60; ++round) {
        const sequence before = of.first(of.model.size(0) < round ? of.model.size(0) : round);
        of.model.begin_draft_round(0, round);
        const sequence all = of.first(round);
        (void)of.read({all.begin() + static_cast<std::ptrdiff_t>(of.model.size(0)), all.end()});
        CHECK(of.body.places(0) == long_texts::wanted(all, round));
        // Longer than the room: the window moves in the midst of the draft, and back after it.
        std::vector<int> draft;
        for (const int id : {3, 1, 4, 1, 5, 8, 2, 6}) {
            const std::size_t held = of.body.size(0);
            draft.push_back(id);
            const std::vector<float> row = of.read({id});
            moved += of.body.size(0) <= held ? 1U : 0U;
            const auto wanted = long_texts::wanted(drafted(round, draft), round);
            CHECK(of.body.places(0) == wanted);
            CHECK(row == toy_body::state_of(wanted, 9));
        }
        of.model.truncate(0, round + 2);
        (void)of.read({7});
        CHECK(of.body.places(0) == long_texts::wanted(drafted(round, {3, 1, 7}), round));
        // Another sequence reads all of it at once.
        of.model.truncate(1, 0);
        of.model.begin_draft_round(1, round);
        (void)of.read(drafted(round, draft), 1);
        CHECK(of.body.places(1) == long_texts::wanted(drafted(round, draft), round));
    }
    CHECK(moved > 50);
}

TEST_CASE("a window: two texts in one pass, and trees") {
    long_texts of(40);
    const std::size_t rounds[] = {20, 33};
    for (const std::size_t s : {0U, 1U}) {
        of.model.begin_draft_round(s, rounds[s]);
        of.model.append(s, ids_of(of.first(rounds[s] - 2)));
    }
    const std::size_t passes = of.body.passes;
    const std::vector<draft_id> one = ids_of(std::vector<int>{of.text[18], of.text[19]}),
                                two = ids_of(std::vector<int>{of.text[31], of.text[32]});
    CHECK(of.model.hidden(parts{{0, one}, {1, two}}).size() == 4);
    CHECK(of.body.passes == passes + 1);
    for (const std::size_t s : {0U, 1U})
        CHECK(of.body.places(s) == long_texts::wanted(of.first(rounds[s]), rounds[s]));

    // A tree, whose nodes may be more than the window has room for; a kept path; the next round.
    const std::vector<draft_id> nodes = ids_of({3, 7, 3, 0, 8, 6, 5, 4});
    const std::vector<std::size_t> parents{tree_root, tree_root, 0, 0, 1, 2, 2, 4};
    const sequence_nodes<draft_id> tree{0, nodes, parents};
    const hidden_states rows = of.model.hidden_tree({&tree, 1});
    sequence path = of.first(20);
    path.insert(path.end(), {3, 3, 6});
    const auto row = rows[5].values;
    CHECK(std::vector<float>(row.begin(), row.end()) ==
          toy_body::state_of(long_texts::wanted(path, 20), 9));
    of.model.keep_path(0, std::vector<std::size_t>{0, 2, 5});
    CHECK(of.model.size(0) == 23);
    CHECK(of.body.places(0) == long_texts::wanted(path, 20));
    of.model.begin_draft_round(0, 26);
    const sequence next = of.first(26);
    (void)of.read({next.begin() + 20, next.end()});
    CHECK(of.body.places(0) == long_texts::wanted(next, 26));
}

TEST_CASE("a window: two texts in one pass move theirs to a new round before") {
    long_texts of(40);
    const std::size_t rounds[] = {20, 33}, more = 6;
    std::vector<draft_id> next[2];
    for (const std::size_t s : {0U, 1U}) {
        of.model.begin_draft_round(s, rounds[s]);
        of.model.append(s, ids_of(of.first(rounds[s])));
        of.model.begin_draft_round(s, rounds[s] + more);
        for (std::size_t i = rounds[s]; i < rounds[s] + more; ++i)
            next[s].push_back(id_at<draft_id>(static_cast<std::size_t>(of.text[i])));
    }
    CHECK(of.model.hidden(parts{{0, next[0]}, {1, next[1]}}).size() == 2 * more);
    for (const std::size_t s : {0U, 1U})
        CHECK(of.body.places(s) ==
              long_texts::wanted(of.first(rounds[s] + more), rounds[s] + more));
}

struct body_with_window : toy_body {
    using toy_body::toy_body;
    static constexpr body_traits traits{.window = true};
    [[nodiscard]] window_settings window() const { return {.length = 6}; }
};

TEST_CASE("a window: what throws while it moves leaves the text, and settings are checked") {
    long_texts of(40);
    of.model.begin_draft_round(0, 20);
    (void)of.read(of.first(20));
    of.model.begin_draft_round(0, 22); // no record has the features behind another token
    CHECK_THROWS_WITH(of.read({of.text[20] + 1, 0}), Contains("is fed them before"));
    CHECK(of.model.size(0) == 20);
    of.model.begin_draft_round(0, 21);
    (void)of.read({of.text[20]});
    CHECK(of.body.places(0) == long_texts::wanted(of.first(21), 21));

    const auto made = [&](const window_settings& window) {
        return feature_model(of.body, of.records, window).trained_context();
    };
    CHECK(made({}) == 0);
    CHECK(made({.length = 17}) == 17);
    CHECK_THROWS_WITH(made({.length = 18}),
                      "feature model: settings: expected a length of at most the 17 tokens of the "
                      "drafter's context, found 18");
    CHECK_THROWS_WITH(made({.length = 4, .keep = 0}),
                      Contains("expected to keep at least 1 token"));
    body_with_window body(9);
    CHECK(feature_model(body, of.records).trained_context() == 6);
}

TEST_CASE("the feature contract finds what does not hold") {
    CHECK(check_features<target_id>([] { return make_target(); }).text() == "");
    CHECK_FALSE(check_features<target_id>([] {
                    auto target = make_target();
                    target.forgets_one = true;
                    return target;
                }).ok());
    const contract_report body = check_feature_body([] { return toy_body(9); });
    CHECK(body.text() == "");
    CHECK(body.kept.size() == 4);
    CHECK(check_feature_body([] { return toy_body(9, 2); }).kept.size() == 5);
    struct confused : toy_body { // by the order of several sequences
        using toy_body::toy_body, toy_body::read;
        body_output read(std::span<const sequence_tokens<draft_id>> of, body_input given) {
            const parts turned(of.rbegin(), of.rend());
            return toy_body::read(turned, given);
        }
    };
    CHECK_THAT(check_feature_body([] { return confused(9, 2); }).text(), Contains("body.together"));
    struct deaf : toy_body { // to its own features
        using toy_body::toy_body;
        body_output read(std::size_t s, std::span<const draft_id> ids, body_input given) {
            static const float zeros[64] = {};
            if (given.own)
                given.rows = {zeros, ids.size(), own_width(), own_width()};
            return toy_body::read(s, ids, given);
        }
    };
    CHECK_THAT(check_feature_body([] { return deaf(9); }).text(), Contains("body.own"));
}

TEST_CASE("rows of a body that are too few or of another width are refused, and their tokens") {
    struct wrong : toy_body {
        using toy_body::toy_body;
        std::size_t less[4] = {}; // states, their width, features of its own, theirs
        body_output read(std::size_t s, std::span<const draft_id> ids, body_input given) {
            const auto [states, own] = toy_body::read(s, ids, given);
            const auto part = [this](const hidden_states& x, std::size_t i) {
                return hidden_states(x[0].values.data(), x.size() - less[i],
                                     x.width() - less[i + 1], x.width());
            };
            return {part(states, 0), part(own, 2)};
        }
    };
    const feature_records records(1, 30, toy_feature_width);
    for (std::size_t i = 0; i < 4; ++i) {
        wrong body(9);
        body.less[i] = 1;
        feature_model model(body, records);
        model.begin_draft_round(0, 0);
        CHECK_THROWS_WITH(model.append(0, ids_of({4, 1, 5})),
                          Contains("expected 2 rows of the body's"));
        CHECK(model.size(0) == 0);
        CHECK(body.size(0) == 0);
    }
}

static_assert(FeatureTreeBody<toy_body> && FeatureBatchBody<toy_body>);
static_assert(HiddenTreeBatchModelOf<feature_model<toy_body>, draft_id>);

TEST_CASE("a node reads its parent's own feature, and a kept path is like one that was drafted") {
    toy_feature_target plain = make_target();
    feature_records records(1, plain.capacity(), plain.feature_width());
    feature_recorder target(plain, records);
    const sequence text{4, 1, 5, 2};
    target.append(ids_of<target_id>({4, 1, 5}));
    const std::vector<int> ids{3, 7, 3, 0, 8, 6, 7};
    const std::vector<std::size_t> parents{tree_root, 0, tree_root, 1, 2, 1, 3};
    for (const std::vector<std::size_t>& calls : {std::vector<std::size_t>{7}, {3, 4}, {1, 1, 5}})
        for (std::size_t kept = 0; kept < ids.size(); ++kept) {
            toy_body body(9);
            feature_model model(body, records);
            model.begin_draft_round(0, text.size());
            model.append(0, ids_of(text));
            std::size_t first = 0;
            const std::vector<draft_id> nodes = ids_of(ids), next = ids_of({6});
            const std::vector<std::size_t> root{tree_root};
            const sequence_nodes<draft_id> alone{0, next, root};
            (void)model.hidden_tree({&alone, 1});
            model.truncate(0, text.size()); // forgets it
            const auto path_to = [&](std::size_t node) {
                std::vector<std::size_t> path;
                for (; node != tree_root; node = parents[node])
                    path.insert(path.begin(), node);
                return path;
            };
            const auto wanted = [&](sequence behind) {
                behind.insert(behind.begin(), text.begin(), text.end());
                return toy_body::state_of(toy_body::places_of(behind, text.size(), 9), 9);
            };
            for (const std::size_t n : calls) {
                const sequence_nodes<draft_id> part{0, std::span(nodes).subspan(first, n),
                                                    std::span(parents).subspan(first, n)};
                const hidden_states rows = model.hidden_tree({&part, 1});
                REQUIRE(rows.size() == n);
                for (std::size_t i = 0; i < n; ++i) {
                    sequence behind;
                    for (const std::size_t node : path_to(first + i))
                        behind.push_back(ids[node]);
                    CHECK(std::vector<float>(rows[i].values.begin(), rows[i].values.end()) ==
                          wanted(behind));
                }
                first += n;
            }
            const std::vector<std::size_t> path = path_to(kept);
            sequence behind;
            for (const std::size_t node : path)
                behind.push_back(ids[node]);
            CHECK_THROWS_AS(model.keep_path(0, std::vector<std::size_t>{1}), error);
            model.keep_path(0, path);
            CHECK(model.size(0) == text.size() + path.size());
            (void)model.hidden_tree({&alone, 1}); // of another tree
            model.keep_path(0, std::vector<std::size_t>{0});
            behind.insert(behind.end(), {6, 6});
            const hidden_states row = model.hidden(parts{{0, next}});
            CHECK(std::vector<float>(row[0].values.begin(), row[0].values.end()) == wanted(behind));
        }
}

TEST_CASE("a call of which one part is refused leaves the nodes and tokens of all") {
    toy_feature_target plain = make_target();
    feature_records records(1, plain.capacity(), plain.feature_width());
    feature_recorder target(plain, records);
    target.append(ids_of<target_id>({4, 1, 5}));
    toy_body body(9, 2);
    feature_model model(body, records);
    for (const std::size_t s : {0U, 1U}) {
        model.begin_draft_round(s, 4);
        model.append(s, ids_of({4, 1, 5, 2}));
    }
    const std::vector<draft_id> one = ids_of({3}), none = ids_of({99});
    const std::vector<std::size_t> root{tree_root}, first{0}, second{1};
    using nodes = std::vector<sequence_nodes<draft_id>>;
    (void)model.hidden_tree(nodes{{0, one, root}});
    const auto refused = [&](const nodes& call) {
        CHECK_THROWS_AS(model.hidden_tree(call), error);
    };
    refused({{0, one, first}, {1, one, second}});
    refused({{0, one, first}, {1, none, root}});
    refused({{0, one, first}, {1, none, {}}});
    const std::vector<std::size_t> both{0, 0};
    refused({{0, one, both}});
    refused({{0, one, second}}); // there is one node
    refused({{1, one, {}}, {0, one, second}});
    CHECK(model.size(1) == 4);
    CHECK(body.size(1) == 3);
    model.keep_path(0, first);
    CHECK(model.size(0) == 5);
    model.begin_draft_round(1, 6); // whose text is not there
    refused({{1, one, root}});
}

} // namespace feature_model_tests
