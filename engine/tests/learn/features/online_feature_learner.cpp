// SPDX-License-Identifier: MIT
#include <specdec_engine/learn/features/online_feature_learner.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

#include "feature_samples.hpp"
#include <specdec/speculation/any/steady_seconds.hpp>
#include <specdec_engine/learn/features/feature_folder.hpp>
#include <specdec_engine/load.hpp>

namespace online_feature_learner_tests {

using namespace specdec;
using namespace feature_toys;
using Catch::Contains;

struct hand {
    double* now;
    double operator()() const { return *now; }
};

/// A target, a body for it in a folder, and what learns.
struct scene {
    toy::temporary_folder target_folder, folder;
    transformer target;
    feature_body body;
    feature_learner learner;
    serving_features serving;
    std::vector<feature_sample> samples;

    explicit scene(precision format = precision::f32)
        : target(load_target(target_folder, format)), body(load_body(folder, target)),
          learner(read_feature_parameters(open_feature_folder(folder.path())), ends_of(target),
                  {.loss = {.direct = direct_loss::forward_kl, .ngram = ngram_loss::none},
                   .rate = 3e-3,
                   .sequences = 2,
                   .length = 40}),
          serving(body) {
        for (unsigned i = 0; i < 4; ++i)
            samples.push_back(some_sample(20 + 3 * i, i + 1));
    }
    static transformer load_target(const toy::temporary_folder& folder, precision format) {
        const toy::checkpoint files;
        folder.write("config.json", files.config().dump());
        folder.write("model.safetensors", files.safetensors());
        return load_transformer(folder.path(), {format, {.threads = 1}, {}});
    }
    static feature_body load_body(const toy::temporary_folder& folder, const transformer& target) {
        write_body(folder, some_body<float>());
        return load_feature_body(folder.path(), target);
    }
    [[nodiscard]] std::vector<float> values() {
        return {learner.values().begin(), learner.values().end()};
    }
};

/// The state of a place with some feature.
std::vector<float> state_of(feature_body& body) {
    body.truncate(0, 0);
    const draft_id id{5};
    const std::vector<float> feature = some_numbers(36, 9);
    const auto rows = body.read(0, {&id, 1}, {{feature.data(), 1, 36, 36}, false});
    return {rows.states[0].values.begin(), rows.states[0].values.end()};
}

online_settings every(std::size_t rows) {
    return {.every = rows, .budget = 1, .replayed = 1, .rounds_before = 0, .watch = {.window = 8}};
}

TEST_CASE("what a body has learnt drafts from the next take on, in every number format") {
    for (const precision format : {precision::f32, precision::bf16, precision::q8}) {
        scene s(format);
        const std::vector<float> before = state_of(s.body);
        CHECK_FALSE(s.serving.take().has_value());
        const feature_sample* const one = &s.samples[0];
        for (int i = 0; i < 10; ++i)
            CHECK(s.learner.learn({&one, 1}).applied);
        s.serving.publish(s.learner.weights());
        CHECK(state_of(s.body) == before);
        const auto next = s.serving.take();
        REQUIRE(next.has_value());
        CHECK_FALSE(s.serving.take().has_value());
        s.body.use(*next);
        CHECK(s.body.size(0) == 0);
        const std::vector<float> after = state_of(s.body);
        CHECK(after != before);

        const toy::temporary_folder saved; // and so does the folder that is saved
        save_feature_folder(saved.path(), s.learner.weights());
        CHECK(is_feature_folder(saved.path()));
        feature_body again = load_feature_body(saved.path(), s.target);
        CHECK(state_of(again) == after);
    }
    scene f32, bf16(precision::bf16);
    bf16.serving.publish(bf16.learner.weights());
    CHECK_THROWS_WITH(f32.body.use(*bf16.serving.take()), Contains("number format"));
}

TEST_CASE("a body learns online: updates, worse weights rolled back, saved and resumed") {
    scene s;
    double now = 0;
    online_feature_learner<hand> online(s.learner, s.serving, every(10), {&now});
    const auto rounds = [&](std::size_t n, std::size_t tokens) {
        for (std::size_t i = 0; i < n; ++i) {
            online.round_begins();
            online.see({.emitted = tokens + i % 2});
        }
        online.round_begins();
    };
    const std::vector<float> before = s.values();
    rounds(20, 3);
    feature_sample other_drafts = s.samples[1];
    other_drafts.drafted.front() = draft_id{77};
    CHECK_THROWS_WITH(online.add(other_drafts), "online learner: drafter's drafts: expected ids "
                                                "from 0 to 77 - 1, found 77");
    online.add(s.samples[0]);
    online.round_begins();
    CHECK(s.values() != before);
    CHECK(s.serving.take().has_value());
    CHECK(online.counts().updates == 1);
    rounds(10, 1);
    CHECK(s.values() == before);
    CHECK(online.counts().rollbacks == 1);

    online.add(s.samples[1]);
    online.round_begins();
    const toy::temporary_folder folder;
    const std::string path = (folder.path() / "state.safetensors").string();
    online.save(path, "its target");
    scene other;
    online_feature_learner<hand> resumed(other.learner, other.serving, every(10), {&now});
    CHECK(resumed.resume(path) == "its target");
    CHECK(other.values() == s.values());
    CHECK(other.serving.take().has_value());
}

TEST_CASE("a body learns on a thread of its own beside the rounds") {
    scene s;
    online_settings settings = every(10);
    settings.own_thread = true;
    const std::vector<float> before = s.values();
    online_feature_learner<steady_seconds> online(s.learner, s.serving, settings, {});
    std::size_t taken = 0;
    for (std::size_t i = 0; online.counts().updates < 3 || taken == 0; ++i) {
        if (i % 50 == 0)
            online.add(s.samples[i / 50 % 4]);
        online.round_begins();
        online.see({.emitted = 2 + i % 2});
        if (const auto next = s.serving.take()) {
            s.body.use(*next);
            ++taken;
        }
        (void)state_of(s.body);
        std::this_thread::yield();
    }
    online.with_learner([&](feature_learner& learner) {
        CHECK_FALSE(std::ranges::equal(learner.values(), before));
    });
}

TEST_CASE("a body's folder is read as learnt weights, EAGLE-3's form is refused") {
    const toy::temporary_folder folder;
    const auto body = some_body<float>(true);
    write_body(folder, body);
    const auto read = read_feature_parameters(open_feature_folder(folder.path()));
    CHECK(read.layout().has_bias());
    CHECK(std::ranges::equal(read.values(), body.values()));
    feature_checkpoint three = open_feature_folder(folder.path());
    three.kind = feature_kind::low_mid_high;
    CHECK_THROWS_WITH(read_feature_parameters(three), Contains("EAGLE-1's form"));
    feature_checkpoint lacking = open_feature_folder(folder.path());
    lacking.files.tensors.erase("layers.0.mlp.up_proj.weight");
    CHECK_THROWS_WITH(read_feature_parameters(lacking), Contains("up_proj"));
}

TEST_CASE("a target's ends: its embedding, and the listed rows of its head") {
    scene s;
    const token_list<draft_id> list({draft_id{3}, draft_id{40}}, 77);
    const target_ends some = ends_of(s.target, &list), all = ends_of(s.target);
    CHECK(some.rows() == 2);
    CHECK(all.rows() == 77);
    CHECK(some.map.to_target(draft_id{1}) == target_id{40});
    CHECK_FALSE(some.map.to_draft(target_id{4}).valid());
    const toy::checkpoint files;
    std::vector<float> row(36);
    some.embedding(12, row);
    for (std::size_t k = 0; k < 36; ++k) {
        CHECK(row[k] == files.tensors.at("model.embed_tokens.weight").values[12 * 36 + k]);
        CHECK(some.head[36 + k] == files.tensors.at("lm_head.weight").values[40 * 36 + k]);
        CHECK(all.head[40 * 36 + k] == some.head[36 + k]);
    }
}

} // namespace online_feature_learner_tests
