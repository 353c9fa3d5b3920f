// SPDX-License-Identifier: MIT
#include <specdec/head/features/feature_recorder.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/bridge/identity.hpp>
#include <specdec/core/model/one_sequence.hpp>
#include <specdec/decode/session.hpp>
#include <specdec/draft/model_drafter.hpp>
#include <specdec/draft/stop_rule.hpp>
#include <specdec/head/features/feature_model.hpp>
#include <specdec/head/full_head.hpp>
#include <specdec/head/headed_model.hpp>
#include <specdec/sampling/coin/philox_coin.hpp>
#include <specdec/verify/exact_match.hpp>

#include "support/ids.hpp"
#include "support/toy_features.hpp"
#include "support/toy_head.hpp"

namespace feature_recorder_tests {

using namespace specdec;
using namespace specdec::testing;
using Catch::Contains;

constexpr std::size_t vocabulary = 7;

/// A target of one sequence that does not tell what it holds.
class silent_target {
public:
    explicit silent_target(toy_feature_target& target) : target_(target) {}
    [[nodiscard]] std::size_t size() const { return target_.size(); }
    [[nodiscard]] std::size_t capacity() const { return target_.capacity(); }
    [[nodiscard]] std::size_t vocabulary_size() const { return target_.vocabulary_size(); }
    void append(std::span<const target_id> ids) { target_.append(ids); }
    [[nodiscard]] logits_rows<target_id> score(std::span<const target_id> ids) {
        return target_.score(ids);
    }
    void truncate(std::size_t n) { target_.truncate(n); }
    [[nodiscard]] std::size_t feature_width() const { return target_.feature_width(); }
    [[nodiscard]] hidden_states features() const { return target_.features(); }

private:
    toy_feature_target& target_;
};

toy_feature_target make_target() {
    return {vocabulary,
            [](std::span<const target_id> held) {
                std::vector<float> row(vocabulary);
                const sequence text = values_of(held);
                for (std::size_t v = 0; v < vocabulary; ++v)
                    row[v] = static_cast<float>(scramble(3, text, v) % 512) / 128.0F;
                return row;
            },
            0, 64};
}

const std::vector<target_id> prompt = ids_of<target_id>({1, 2, 3, 4, 5, 6, 0, 1});

/// Whether the record has the feature of every token that the target holds.
void check_recorded(const toy_feature_target& plain, const feature_record& record) {
    REQUIRE(record.size() == plain.size());
    const sequence held = values_of(plain.held());
    for (std::size_t i = 0; i < held.size(); ++i) {
        const auto kept = record.features(i, 1)[0].values;
        CHECK(std::vector<float>(kept.begin(), kept.end()) ==
              toy_feature({held.begin(), held.begin() + static_cast<std::ptrdiff_t>(i) + 1}));
    }
}

/// What the engine does to its context by itself, after a text and before the next one.
template <class Target, class Restore>
void check_restored(toy_feature_target& plain, Target& engine, const Restore& restore) {
    feature_records records(1, engine.capacity(), engine.feature_width());
    feature_recorder target(engine, records);
    toy_body body(vocabulary);
    feature_model model(body, records);
    auto head = toy_head<draft_id>::unit(vocabulary);
    full_head<draft_id, decltype(head)> full(head);
    headed_model headed(model, full);
    one_sequence<draft_id, decltype(headed)> draft(headed, 0);
    model_drafter drafter(draft);
    session text(make_identity_bridge(vocabulary, vocabulary, 64, 3), exact_match{},
                 {.capacity = 64});
    philox_coin coin(3);
    std::vector<std::vector<target_id>> texts;
    for (std::size_t i = 0; i < 3; ++i) {
        if (i > 0)
            restore(records);
        text.start(prompt);
        for (int round = 0; round < 5; ++round) {
            const round_result r = text.round(target, drafter, fixed_length{3}, coin, 8);
            CHECK(r.proposed.size() == 3);
            check_recorded(plain, records[0]);
            text.commit(r.tokens.size());
        }
        texts.emplace_back(text.tokens().begin(), text.tokens().end());
        CHECK(texts[i] == texts[0]);
    }
}

TEST_CASE("recorder: what the engine put into its context itself is fed again, and recorded") {
    const auto check = [](const std::vector<target_id>& restored, bool forget) {
        CAPTURE(values_of(restored), forget);
        for (const bool tells : {true, false}) {
            toy_feature_target plain = make_target();
            silent_target silent(plain);
            const auto restore = [&](feature_records& records) {
                if (forget)
                    records[0].truncate(0);
                plain.truncate(0);
                plain.append(restored);
            };
            if (tells)
                check_restored(plain, plain, restore);
            else
                check_restored(plain, silent, restore);
        }
    };
    for (const bool forget : {false, true}) {
        check({}, forget);
        check({prompt.begin(), prompt.begin() + 5}, forget);
        check({prompt.begin(), prompt.end() - 1}, forget); // nothing is left to be fed but the last
        check(prompt, forget);
        check(ids_of<target_id>({1, 2, 6, 6, 6}), forget);
        check(std::vector(40, target_id{2}), forget);
    }
}

TEST_CASE("recorder: other tokens of the same number are seen where the target tells them") {
    toy_feature_target plain = make_target();
    check_restored(plain, plain, [&](feature_records&) {
        const std::size_t n = plain.size();
        plain.truncate(0);
        plain.append(std::span(prompt).first(7));
        plain.append(std::vector(n - 7, target_id{6}));
    });
    check_restored(plain, plain, [&](feature_records& records) { // the record is of another text
        const std::vector<float> values(14);
        records[0].truncate(0);
        records[0].add(std::vector(7, target_id{5}), {values.data(), 7, 2, 2});
        plain.truncate(0);
        plain.append(std::span(prompt).first(7));
    });
}

TEST_CASE("recorder: it tells what both have, whoever changed the target or the record") {
    struct recording_target : toy_feature_target { // tells the feeds of its tokens
        using toy_feature_target::toy_feature_target;
        context_tracker<target_id> record{};
        void append(std::span<const target_id> ids) {
            toy_feature_target::append(ids);
            record.fed(ids);
        }
        void truncate(std::size_t n) {
            toy_feature_target::truncate(n);
            record.truncated(n);
        }
        [[nodiscard]] held_tokens<target_id> held() const { return record.held(); }
    };
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        recording_target plain(
            vocabulary, [](const auto&) { return std::vector<float>(vocabulary); }, 0, 64);
        feature_records records(1, 64, plain.feature_width());
        feature_recorder target(plain, records);
        for (std::uint64_t turn = 0; turn < 12; ++turn) {
            const auto drawn = [&](std::uint64_t what, std::size_t below) {
                return static_cast<std::size_t>(scramble(seed, {static_cast<int>(turn)}, what) %
                                                below);
            };
            const std::vector<target_id> ids(1 + drawn(1, 2), target_id{int(drawn(2, 2))});
            const std::vector<float> values(2 * ids.size());
            switch (drawn(0, 6)) {
            case 0:
            case 1:
                target.append(ids);
                break;
            case 2:
                target.truncate(drawn(3, plain.size() + 1));
                break;
            case 3: // the engine by itself
                plain.truncate(drawn(3, plain.size() + 1));
                plain.append(ids);
                break;
            case 4: // other tokens of the same number
                plain.truncate(plain.size() - (plain.size() < ids.size() ? 0 : ids.size()));
                plain.append(ids);
                break;
            case 5: // somebody else writes the record
                records[0].truncate(drawn(3, records[0].size() + 1));
                records[0].add(ids, {values.data(), ids.size(), 2, 2});
                break;
            }
            const std::span<const target_id> own = records[0].tokens();
            const std::size_t both = common_prefix<target_id>(plain.held(), own);
            REQUIRE(values_of(target.held()) == values_of(plain.held().first(both)));
        }
    }
}

TEST_CASE("recorder: it says what it holds, and what differs") {
    toy_feature_target plain = make_target();
    feature_records records(1, 64, plain.feature_width());
    feature_recorder target(plain, records);
    target.append(prompt);
    plain.truncate(3);
    CHECK(target.size() == 3);
    CHECK(values_of(target.held()) == std::vector{1, 2, 3});
    plain.append(ids_of<target_id>({0, 0}));
    CHECK(target.size() == 3);
    target.truncate(2);
    CHECK(plain.size() == 2);
    CHECK(records[0].size() == 2);

    plain.forgets_one = true;
    CHECK_THROWS_WITH(target.append(prompt),
                      Contains("feature recorder: features: expected 8 of width 2, one for each "
                               "token of the pass, found 7 of width 2"));
    plain.forgets_one = false;

    // An engine that feeds itself in a pass.
    struct greedy_target : toy_feature_target {
        using toy_feature_target::toy_feature_target;
        void append(std::span<const target_id> ids) {
            const target_id more[] = {target_id{0}};
            toy_feature_target::append(more);
            toy_feature_target::append(ids);
        }
    };
    greedy_target greedy(
        vocabulary, [](const auto&) { return std::vector<float>(vocabulary); }, 0, 64);
    feature_records of_greedy(1, 64, greedy.feature_width());
    feature_recorder fed(greedy, of_greedy);
    CHECK_THROWS_WITH(
        fed.append(prompt),
        Contains("feature recorder: sequence 0: expected the target to hold 8 "
                 "tokens, of which the record has 0 and this pass was fed 8, found 9"));
    CHECK(greedy.size() == 0);
}

} // namespace feature_recorder_tests
