// SPDX-License-Identifier: MIT
#include <specdec_engine/learn/features/feature_learner.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include <catch2/catch.hpp>

#include "feature_samples.hpp"

namespace feature_learner_tests {

using namespace specdec;
using namespace feature_toys;
using Catch::Contains;

learner_settings small(direct_loss direct = direct_loss::forward_kl) {
    return {.loss = {.direct = direct, .ngram = ngram_loss::none},
            .rate = 3e-3,
            .sequences = 2,
            .length = 40};
}

TEST_CASE("every loss of a body falls on fixed drafts", "[computes]") {
    const std::vector<feature_sample> samples{some_sample(30, 1), some_sample(22, 2)};
    const std::vector<const feature_sample*> both{&samples[0], &samples[1]};
    for (const std::size_t every : {0U, 1U, 2U})
        for (const auto direct : {direct_loss::forward_kl, direct_loss::reverse_kl,
                                  direct_loss::total_variation, direct_loss::nll}) {
            feature_learner learner(some_body<float>(), some_ends(), small(direct),
                                    {.depth = 3, .every = every});
            const update_result first = learner.learn(both);
            CHECK(first.applied);
            CHECK(first.losses.rows == first.tokens);
            for (int i = 0; i < 30; ++i)
                (void)learner.learn(both);
            INFO(static_cast<int>(direct) << " " << every);
            CHECK(learner.measure(both).direct < 0.9 * first.losses.direct);
        }
}

TEST_CASE("the gradient of a body's whole loss is that of finite differences") {
    const std::vector<feature_sample> samples{some_sample(30, 1), some_sample(22, 2)};
    const std::vector<const feature_sample*> both{&samples[0], &samples[1]};
    for (const bool low_rank : {false, true}) {
        learner_settings s = small();
        s.clip = 1e9;
        s.rate = 1e-2;
        if (low_rank)
            s.adapters = lora_settings{.rank = 4};
        feature_learner learner(some_body<float>(), some_ends(), s, {.depth = 3});
        if (low_rank) // B is 0 at first
            (void)learner.learn(both);
        const std::vector<float> before(learner.values().begin(), learner.values().end());
        const std::size_t cells = learner.learn(both).tokens;
        const std::vector<float> gradient(learner.gradient().begin(), learner.gradient().end());
        double slope = 0;
        const auto at = [&](double step) {
            slope = 0;
            for (std::size_t i = 0; i < before.size(); ++i) {
                const double direction = std::sin(1.0 + 1.7 * static_cast<double>(i));
                learner.values()[i] = before[i] + static_cast<float>(step * direction);
                slope += direction * static_cast<double>(gradient[i]);
            }
            return learner.measure(both).direct / static_cast<double>(cells);
        };
        const double found = (at(1e-3) - at(-1e-3)) / 2e-3;
        CHECK(found == Approx(slope).epsilon(0.02));
        CHECK(std::abs(slope) > 1e-3);
    }
}

TEST_CASE("where adapters learn the body stays, and what is decoded with has both") {
    const feature_sample sample = some_sample(30, 1);
    const feature_sample* const one = &sample;
    learner_settings s = small();
    s.adapters = lora_settings{.rank = 4, .targets = {projection::q, projection::down}};
    const auto start = some_body<float>();
    feature_learner learner(start, some_ends(), s, {.depth = 3});
    CHECK(std::ranges::equal(learner.weights().values(), start.values()));
    for (int i = 0; i < 20; ++i)
        (void)learner.learn({&one, 1});
    for (const parameter& p : start.layout().tensors().tensors()) {
        const bool adapted = p.name.find("q_proj.weight") != std::string::npos ||
                             p.name.find("down_proj") != std::string::npos;
        INFO(p.name);
        CHECK(std::ranges::equal(start.values().subspan(p.offset, p.size),
                                 learner.weights().values().subspan(p.offset, p.size)) != adapted);
    }
    feature_learner merged(learner.weights(), some_ends(), small(), {.depth = 3});
    CHECK(merged.measure({&one, 1}).direct ==
          Approx(learner.measure({&one, 1}).direct).epsilon(1e-4));
}

TEST_CASE("samples that teach nothing change nothing, and what does not fit is refused") {
    const auto start = some_body<float>();
    feature_learner learner(start, some_ends(), small());
    feature_sample nothing;
    nothing.tokens = {draft_id{1}, draft_id{2}};
    const feature_sample* const one = &nothing;
    CHECK_FALSE(learner.learn({&one, 1}).applied);
    CHECK_FALSE(learner.learn({}).applied);
    const feature_sample fits = some_sample(30, 1);
    const std::vector<const feature_sample*> many(3, &fits);
    CHECK_THROWS_WITH(learner.learn(many), Contains("at most 2"));
    const auto refused = [&](const auto& change, const std::string& words) {
        feature_sample sample = some_sample(30, 1);
        change(sample);
        const feature_sample* const it = &sample;
        CHECK_THROWS_WITH(learner.learn({&it, 1}), Contains("feature learner: " + words));
    };
    refused([](auto& s) { s = some_sample(60, 1); }, "text: expected at most");
    refused([](auto& s) { s.width = 12; }, "features: ");
    refused([](auto& s) { s.rows.back().count += 1; }, "rows: ");
    for (const auto& change : {
             +[](feature_sample& s) { s.rounds[0].begin = 0; },
             +[](feature_sample& s) { s.rounds.back().begin = s.tokens.size() + 1; },
             +[](feature_sample& s) { s.values.resize(36 * 10); },
             +[](feature_sample& s) { s.rounds[0].rows = 0; },
             +[](feature_sample& s) { s.rows.pop_back(); },
             +[](feature_sample& s) { s.drafted.pop_back(); },
         })
        refused(change, "rounds: ");
    CHECK(std::ranges::equal(learner.weights().values(), start.values()));
    CHECK_THROWS_WITH(feature_learner(start, some_ends(), small(), {.depth = 0}),
                      Contains("depth"));
    target_ends narrow = some_ends();
    narrow.dimension = 20;
    CHECK_THROWS_WITH(feature_learner(start, narrow, small()), Contains("target"));
    target_ends torn = some_ends(), blind = some_ends();
    torn.head.pop_back();
    blind.embedding = nullptr;
    for (const target_ends& ends : {torn, blind})
        CHECK_THROWS_WITH(feature_learner(start, ends, small()), Contains("target: expected an"));
}

TEST_CASE("a row is taught at the depth at which its round decided it, or at every depth") {
    const feature_sample sample = some_sample(30, 1);
    const feature_sample* const one = &sample;
    taught_chains rounds({.depth = 4}, 1, 40), text({.depth = 2, .every = 1}, 1, 40);
    rounds.choose({&one, 1});
    std::size_t rows = 0;
    for (const feature_sample::round& r : sample.rounds)
        rows += r.rows;
    CHECK(rounds.cells().size() == rows);
    const auto chains = rounds.sequences()[0].chains;
    REQUIRE(chains.size() == sample.rounds.size());
    CHECK(chains[0].place == sample.rounds[0].begin - 2);
    CHECK(chains[0].drafted.size() + 1 == sample.rounds[0].rows);
    CHECK(rounds.cells()[0].next == sample.tokens[sample.rounds[0].begin]);
    text.choose({&one, 1});
    std::size_t taught = 0; // rows behind tokens of the text
    for (const feature_sample::round& r : sample.rounds)
        taught += sample.kept(r) + 1;
    CHECK(text.sequences()[0].chains.size() == taught);
    for (const feature_chain& c : text.sequences()[0].chains)
        for (std::size_t k = 0; k < c.drafted.size(); ++k)
            CHECK(c.drafted[k] == sample.tokens[c.place + 2 + k].value);
}

TEST_CASE("rows behind rejected tokens have room, up to the depth of a chain") {
    const auto cells = [](std::size_t depth, std::size_t behind_rejected) {
        return taught_chains({.depth = depth, .behind_rejected = behind_rejected}, 2, 40)
            .limits()
            .cells;
    };
    CHECK(cells(4, 0) == 2 * 40 * 2);
    CHECK(cells(6, 4) == 2 * 40 * 5);
    CHECK(cells(4, 16) == 2 * 40 * 4);
}

} // namespace feature_learner_tests
