// SPDX-License-Identifier: MIT
#include <specdec_engine/learn/online_learner.hpp>

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <functional>
#include <new>
#include <span>
#include <string>
#include <thread>
#include <utility> // std::exchange
#include <vector>

#include <catch2/catch.hpp>

#include "taught.hpp"
#include "toys.hpp"
#include <specdec/learn/distillation_recorder.hpp>
#include <specdec/learn/feature_lessons.hpp>
#include <specdec/speculation/any/steady_seconds.hpp>

namespace online_learner_tests {

using namespace specdec;
using namespace learning_toys;
using Catch::Contains;

/// A clock that a test sets; every look at it lasts a while.
struct hand {
    double* now;
    double tick = 0;
    double operator()() const { return *now += tick; }
};

struct scene {
    open_toy toy{form::tied};
    id_map map = toy_map();
    drafter_learner learner;
    serving_weights<float> serving;
    std::vector<distillation_sample> texts;

    explicit scene(double rate = 3e-3)
        : learner(read_parameters(toy.open()), map, {.rate = rate, .sequences = 4, .length = 40}),
          serving(learner.weights()) {
        for (std::size_t i = 0; i < 6; ++i)
            texts.push_back(toy_text(map, 20 + 3 * i, i));
    }
    [[nodiscard]] std::vector<float> values() {
        return {learner.values().begin(), learner.values().end()};
    }
};

online_settings every(std::size_t rows) {
    return {.every = rows, .budget = 1, .replayed = 1, .rounds_before = 0, .watch = {.window = 8}};
}

TEST_CASE("an update comes once enough was taught, where a round begins") {
    scene s;
    double now = 0;
    online_learner<float, hand> online(s.learner, s.serving, every(30), {&now});
    const std::vector<float> before = s.values();
    online.add(s.texts[0]);
    online.round_begins();
    CHECK(s.values() == before);
    online.add(s.texts[1]);
    online.add(s.texts[2]);
    CHECK(s.values() == before);
    online.round_begins();
    CHECK(s.values() != before);
    CHECK(s.serving.take() != nullptr);
    online.round_begins(); // nothing new
    const online_counts c = online.counts();
    CHECK(c.texts == 3);
    CHECK(c.updates == 1);
    CHECK(c.rows == s.texts[0].rows.size() + s.texts[1].rows.size() + s.texts[2].rows.size());
    CHECK(c.learnt_tokens >= 20 + 23 + 26);
    CHECK(c.latest.rows > 0);
}

TEST_CASE("the first update waits for rounds to compare with") {
    scene s;
    double now = 0;
    online_settings settings = every(10);
    settings.rounds_before = 3;
    online_learner<float, hand> online(s.learner, s.serving, settings, {&now});
    online.add(s.texts[0]);
    for (int round = 0; round < 3; ++round) {
        online.round_begins();
        CHECK(online.counts().updates == 0);
        online.see({.emitted = 2});
    }
    online.round_begins();
    CHECK(online.counts().updates == 1);
}

TEST_CASE("updates take no more than their share of the time", "[computes]") {
    scene s;
    double now = 0;
    online_settings settings = every(10);
    settings.budget = 0.1;
    online_learner<float, hand> online(s.learner, s.serving, settings, {&now, 0.001});
    for (int round = 0; round < 400; ++round) {
        now += 0.001;
        online.add(s.texts[static_cast<std::size_t>(round) % 6]);
        online.round_begins();
        CHECK(online.counts().seconds <= 0.1 * online.elapsed() + 0.003);
    }
    CHECK(online.counts().updates > 20);
    CHECK(online.counts().updates < 400);

    settings.budget = 0; // not even the first
    scene none;
    online_learner<float, hand> never(none.learner, none.serving, settings, {&now, 0.001});
    never.add(none.texts[0]);
    now += 1;
    never.round_begins();
    CHECK(never.counts().updates == 0);

    settings.budget = 1; // no limit: nothing depends on a clock, even one that goes back
    scene all;
    online_learner<float, hand> always(all.learner, all.serving, settings, {&now, 0.001});
    for (std::size_t round = 0; round < 12; ++round) {
        now = 0;
        always.add(all.texts[round % 6]);
        always.round_begins();
    }
    CHECK(always.counts().updates == 12);
}

TEST_CASE("worse weights are rolled back") {
    scene s;
    double now = 0;
    online_learner<float, hand> online(s.learner, s.serving, every(10), {&now});
    const auto rounds = [&](std::size_t n, std::size_t tokens) {
        for (std::size_t i = 0; i < n; ++i) {
            online.round_begins();
            online.see({.emitted = tokens + i % 2});
        }
        online.round_begins();
    };
    const std::vector<float> before = s.values();
    rounds(20, 3);
    online.add(s.texts[0]);
    online.round_begins();
    const std::vector<float> first = s.values();
    CHECK(first != before);
    rounds(10, 1);
    CHECK(s.values() == before);
    CHECK(online.counts().rollbacks == 1);

    online.add(s.texts[1]);
    rounds(10, 3); // as good as before
    const std::vector<float> good = s.values();
    CHECK(good != before);
    online.add(s.texts[2]);
    rounds(10, 1);
    CHECK(s.values() == good);
    CHECK(online.counts().rollbacks == 2);
}

TEST_CASE("what was saved goes on as if nothing had happened") {
    double now = 0;
    std::vector<float> expected;
    const toy::temporary_folder folder;
    const std::string path = (folder.path() / "state.safetensors").string();
    for (const bool resumed : {false, true}) {
        scene s;
        online_settings settings = every(10);
        settings.replayed = 0;
        online_learner<float, hand> online(s.learner, s.serving, settings, {&now});
        if (resumed) {
            CHECK(online.resume(path) == "its base");
            CHECK(s.serving.take() != nullptr);
        } else {
            online.add(s.texts[0]);
            online.round_begins();
            online.save(path, "its base");
        }
        online.add(s.texts[1]);
        online.round_begins();
        if (resumed)
            CHECK(s.values() == expected);
        expected = s.values();
    }
    scene s;
    online_learner<float, hand> online(s.learner, s.serving, every(10), {&now});
    const std::vector<float> before = s.values();
    std::ofstream(path) << "not a state";
    CHECK_THROWS_WITH(online.resume(path), Contains("state.safetensors"));
    CHECK_THROWS_WITH(online.resume("/nowhere/state"), Contains("/nowhere/state"));
    CHECK(s.values() == before);
}

/// One number, to which every update adds one; rounds go on meanwhile.
struct counting_learner {
    using sample = distillation_sample;
    learner_settings chosen{.sequences = 1};
    std::vector<float> numbers{0};
    adamw<float> moments{1};
    std::function<void()> meanwhile = [] {};

    [[nodiscard]] const learner_settings& settings() const { return chosen; }
    [[nodiscard]] std::span<float> values() { return numbers; }
    [[nodiscard]] adamw<float>& optimiser() { return moments; }
    [[nodiscard]] float weights() const { return numbers[0]; }
    void require(const sample&, const char*) const {}
    update_result learn(std::span<const sample* const>) {
        meanwhile();
        ++numbers[0];
        return {{}, 1, 1, true};
    }
};
struct no_serving {
    void publish(float) {}
};

/// Updates that are counted, by a clock that stands: texts are learnt once.
struct counted_updates {
    counting_learner learner{};
    no_serving serving{};
    double now = 0;
    basic_online_learner<counting_learner, no_serving, hand> online;

    explicit counted_updates(online_settings settings)
        : online(learner, serving, (settings.replayed = 0, settings), {&now}) {}
};

TEST_CASE("weights are not kept for what those before them drafted") {
    counted_updates world(every(1));
    auto& [learner, serving, now, online] = world;
    const auto rounds = [&](std::size_t n, std::size_t tokens) {
        for (std::size_t i = 0; i < n; ++i)
            online.see({.emitted = tokens + i % 2});
    };
    rounds(20, 3);
    for (int update = 0; update < 2; ++update) {
        online.add(toy_text(toy_map(), 20, 0));
        online.round_begins();
        learner.meanwhile = [&] { rounds(8, 3); }; // the first one is as good as nothing learnt
    }
    online.round_begins();
    CHECK(learner.numbers[0] == 2);
    rounds(8, 0);
    online.round_begins();
    CHECK(online.counts().rollbacks == 1);
    CHECK(learner.numbers[0] == 0);
}

TEST_CASE("what an update that throws would have learnt is as new as before, and its time counts") {
    online_settings settings = every(1);
    settings.budget = 0.5;
    counted_updates world(settings);
    auto& [learner, serving, now, online] = world;
    now = 3;
    for (int i = 0; i < 20; ++i)
        online.see({.emitted = 3});
    const distillation_sample text = toy_text(toy_map(), 20, 0);
    online.add(text);
    online.round_begins();
    for (int i = 0; i < 8; ++i)
        online.see({.emitted = 0}); // to be rolled back
    online.add(text);
    learner.meanwhile = [&] {
        ++now;
        throw std::bad_alloc();
    };
    for (int i = 0; i < 3; ++i)
        CHECK_THROWS_AS(online.round_begins(), std::bad_alloc);
    online.round_begins(); // 3 of 6 seconds are spent
    CHECK(online.counts().seconds == 3);
    CHECK(online.counts().rollbacks == 1);
    CHECK(learner.numbers[0] == 0);
    learner.meanwhile = [] {};
    now = 10;
    online.round_begins();
    CHECK(learner.numbers[0] == 1);
    CHECK(online.counts().updates == 2);
    online.round_begins(); // nothing new
    CHECK(online.counts().updates == 2);
}

// Under -fsanitize=thread, too, by hand.
TEST_CASE("a thread of its own learns beside the rounds") {
    scene s;
    online_settings settings = every(10);
    settings.own_thread = true;
    const std::vector<float> before = s.values();
    online_learner<float, steady_seconds> online(s.learner, s.serving, settings, {});
    std::size_t taken = 0;
    // However long an update takes here: rounds go on until there were some, and one was taken.
    for (std::size_t i = 0; online.counts().updates < 4 || taken == 0; ++i) {
        if (i % 50 == 0)
            online.add(s.texts[i / 50 % 6]);
        online.round_begins();
        online.see({.emitted = 2 + i % 2});
        taken += s.serving.take() != nullptr ? 1U : 0U;
        std::this_thread::yield();
    }
    CHECK(online.counts().learnt_tokens > 0);
    online.with_learner([&](drafter_learner& learner) {
        CHECK_FALSE(std::ranges::equal(learner.values(), before));
    });
}

TEST_CASE("what a thread throws is thrown where a round begins or its work is saved") {
    scene s;
    const open_toy other(form::biased);
    serving_weights<float> of_another_shape(read_parameters(other.open()));
    double now = 0;
    online_settings settings = every(10);
    settings.own_thread = true;
    online_learner<float, hand> online(s.learner, of_another_shape, settings, {&now});
    const auto throws_in_the_end = [&](const auto& what) {
        online.add(s.texts[0]);
        const auto wait_for_it = [&] {
            for (;; std::this_thread::yield())
                what();
        };
        CHECK_THROWS_WITH(wait_for_it(), Contains("learnt weights: shapes"));
    };
    throws_in_the_end([&] { online.round_begins(); });
    bool begun = false; // the last round
    throws_in_the_end([&] {
        if (!std::exchange(begun, true))
            online.round_begins();
        else
            online.with_learner([](drafter_learner&) {});
    });
}

TEST_CASE("a text that no update takes is refused where it comes") {
    scene s;
    double now = 0;
    online_learner<float, hand> online(s.learner, s.serving, every(10), {&now});
    CHECK_THROWS_WITH(online.add(toy_text(s.map, 41, 0)),
                      "online learner: text: expected at most learner_settings::length = 40 tokens "
                      "(a recorder's window), found 41");
    const auto refused = [&](const auto& change, const char* words) {
        distillation_sample text = s.texts[0];
        change(text);
        CHECK_THROWS_WITH(online.add(text), std::string("online learner: ") + words);
    };
    refused([](auto& text) { text.tokens[1] = draft_id{77}; },
            "drafter's text: expected ids from 0 to 77 - 1, found 77");
    refused([](auto& text) { text.tokens[1] = draft_id{}; },
            "drafter's text: expected ids from 0 to 77 - 1, found -1");
    refused([](auto& text) { text.entries.back().id = target_id{90}; },
            "target's laws: expected ids from 0 to 90 - 1, found 90");
    refused([](auto& text) { text.rows.back().behind = 1000; },
            "rows: expected ascending places of the sequence, and its entries");
    refused([](auto& text) { text.merges[0].token = target_id{90}; },
            "target's merges: expected ids from 0 to 90 - 1, found 90");
    CHECK(online.counts().texts == 0);
    online.add(toy_text(s.map, 40, 0));
    for (int round = 0; round < 20; ++round) { // none of them draws what was refused
        online.add(s.texts[0]);
        online.round_begins();
    }
    CHECK(online.counts().updates == 20);
    CHECK(lesson_settings{}.window <= learner_settings{}.length);
    CHECK(feature_lesson_settings{}.window <= learner_settings{}.length);
}

TEST_CASE("settings of online learning are checked") {
    scene s;
    double now = 0;
    online_settings settings = every(10);
    settings.budget = 1.5;
    CHECK_THROWS_WITH((online_learner<float, hand>(s.learner, s.serving, settings, {&now})),
                      Contains("budget"));
    settings = every(10);
    settings.replayed = 4;
    CHECK_THROWS_WITH((online_learner<float, hand>(s.learner, s.serving, settings, {&now})),
                      Contains("replayed"));
}

} // namespace online_learner_tests
