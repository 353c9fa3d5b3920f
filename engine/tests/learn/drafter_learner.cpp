// SPDX-License-Identifier: MIT
#include <specdec_engine/learn/drafter_learner.hpp>

#include <cmath>
#include <vector>

#include <catch2/catch.hpp>

#include "taught.hpp"
#include "toys.hpp"

namespace drafter_learner_tests {

using namespace specdec;
using namespace learning_toys;
using Catch::Contains;

learner_settings small(direct_loss direct, ngram_loss ngram) {
    return {.loss = {.direct = direct, .ngram = ngram}, .rate = 3e-3, .sequences = 3, .length = 40};
}

double total(const distillation_losses& l) {
    return l.direct + l.ngram;
}

TEST_CASE("every loss falls on fixed texts", "[computes]") {
    const open_toy toy(form::tied);
    const id_map map = toy_map();
    const std::vector<distillation_sample> texts{toy_text(map, 30, 0), toy_text(map, 22, 1)};
    const std::vector<const distillation_sample*> both{&texts[0], &texts[1]};
    for (const auto direct :
         {direct_loss::reverse_kl, direct_loss::forward_kl, direct_loss::total_variation})
        for (const auto ngram :
             {ngram_loss::none, ngram_loss::nll, ngram_loss::nll_by_probability, ngram_loss::kl}) {
            drafter_learner learner(read_parameters(toy.open()), map, small(direct, ngram));
            const update_result first = learner.learn(both);
            CHECK(first.applied);
            CHECK(first.tokens == 52);
            CHECK(first.losses.rows == texts[0].rows.size() + texts[1].rows.size());
            CHECK(first.losses.merges == (ngram == ngram_loss::none ? 0 : 4));
            CHECK(learner.learn({both.data(), 1}).tokens == 30); // another shape
            for (int i = 0; i < 25; ++i)
                (void)learner.learn(both);
            INFO(static_cast<int>(direct) << " " << static_cast<int>(ngram));
            CHECK(total(learner.measure(both)) < 0.9 * total(first.losses));
        }
}

TEST_CASE("the gradient of the whole is that of finite differences") {
    const open_toy toy(form::untied);
    const id_map map = toy_map();
    const std::vector<distillation_sample> texts{toy_text(map, 30, 0), toy_text(map, 22, 1)};
    const std::vector<const distillation_sample*> both{&texts[0], &texts[1]};
    for (const bool low_rank : {false, true})
        for (const auto ngram : {ngram_loss::nll, ngram_loss::kl}) {
            learner_settings s = small(direct_loss::forward_kl, ngram);
            s.clip = 1e9;
            s.rate = 1e-2;
            if (low_rank)
                s.adapters = lora_settings{.rank = 4};
            drafter_learner learner(read_parameters(toy.open()), map, s);
            if (low_rank) // B is 0 at first
                (void)learner.learn(both);
            const std::vector<float> before(learner.values().begin(), learner.values().end());
            (void)learner.learn(both);
            const std::vector<float> gradient(learner.gradient().begin(), learner.gradient().end());
            std::copy(before.begin(), before.end(), learner.values().begin());
            std::vector<std::size_t> asked;
            std::size_t rows = 0;
            for (const distillation_sample& text : texts) {
                distillation_loss(map, s.loss).rows_of(text, asked);
                rows += asked.size();
            }
            double slope = 0;
            const auto at = [&](double step) {
                slope = 0;
                for (std::size_t i = 0; i < before.size(); ++i) {
                    const double direction = std::sin(1.0 + 1.7 * static_cast<double>(i));
                    learner.values()[i] = before[i] + static_cast<float>(step * direction);
                    slope += direction * static_cast<double>(gradient[i]);
                }
                const distillation_losses l = learner.measure(both);
                return total(l) / static_cast<double>(rows);
            };
            const double found = (at(2e-3) - at(-2e-3)) / 4e-3;
            CHECK(found == Approx(slope).epsilon(0.01));
            CHECK(std::abs(slope) > 1e-3);
        }
}

TEST_CASE("where adapters learn the weights stay, and what is decoded with has both") {
    const open_toy toy(form::biased);
    const id_map map = toy_map();
    const distillation_sample text = toy_text(map, 30, 0);
    const distillation_sample* const one = &text;
    learner_settings s = small(direct_loss::reverse_kl, ngram_loss::nll_by_probability);
    s.adapters = lora_settings{.rank = 4, .targets = {projection::q, projection::down}};
    const auto start = read_parameters(toy.open());
    drafter_learner learner(start, map, s);
    CHECK(std::ranges::equal(learner.weights().values(), start.values()));
    const double before = total(learner.measure({&one, 1}));
    for (int i = 0; i < 20; ++i)
        (void)learner.learn({&one, 1});
    CHECK(learner.values().size() == learner.adapters()->values().size());
    for (const parameter& p : start.layout().tensors().tensors()) {
        const bool adapted = p.name.find("q_proj.weight") != std::string::npos ||
                             p.name.find("down_proj") != std::string::npos;
        const auto was = start.values().subspan(p.offset, p.size);
        const auto is = learner.weights().values().subspan(p.offset, p.size);
        INFO(p.name);
        CHECK(std::ranges::equal(was, is) != adapted);
    }
    drafter_learner merged(learner.weights(), map,
                           small(direct_loss::reverse_kl, ngram_loss::nll_by_probability));
    const double after = total(learner.measure({&one, 1}));
    CHECK(after < before);
    CHECK(total(merged.measure({&one, 1})) == Approx(after).epsilon(1e-4));
}

TEST_CASE("rows are the logits behind places of a text, by the weights as they are", "[computes]") {
    const open_toy toy(form::untied);
    const id_map map = toy_map();
    const distillation_sample text = toy_text(map, 30, 0);
    const distillation_sample* const one = &text;
    for (const bool low_rank : {false, true}) {
        learner_settings s = small(direct_loss::forward_kl, ngram_loss::kl);
        if (low_rank)
            s.adapters = lora_settings{.rank = 4};
        drafter_learner learner(read_parameters(toy.open()), map, s);
        distillation_loss loss(map, s.loss);
        std::vector<std::size_t> behind;
        loss.rows_of(text, behind);
        double last = 0;
        for (int update = 0; update < 3; ++update) {
            const logits_rows<draft_id> rows = learner.rows(text.tokens, behind);
            REQUIRE(rows.size() == behind.size());
            REQUIRE(rows.vocabulary() == 77);
            std::vector<float> gradients(behind.size() * 77);
            const double found = total(loss(text, behind, rows, gradients));
            CHECK(found == total(learner.measure({&one, 1})));
            CHECK(found != last);
            last = found;
            (void)learner.learn({&one, 1});
        }
        const std::vector<std::size_t> places{20, 3, 20}; // in the order that was asked for
        const logits_rows<draft_id> some = learner.rows(text.tokens, places);
        REQUIRE(some.size() == 3);
        std::vector<std::vector<float>> kept;
        for (std::size_t i = 0; i < 3; ++i)
            kept.emplace_back(some[i].values.begin(), some[i].values.end());
        CHECK(kept[0] == kept[2]);
        for (std::size_t i = 0; i < 2; ++i) { // a row knows the tokens up to its place alone
            const std::vector<std::size_t> end{places[i]};
            const auto alone =
                learner.rows(std::span(text.tokens).first(places[i] + 1), end)[0].values;
            REQUIRE(alone.size() == 77);
            for (std::size_t v = 0; v < 77; ++v)
                CHECK(alone[v] == Approx(kept[i][v]).margin(1e-4));
        }
        CHECK_THROWS_WITH(learner.rows(text.tokens, std::vector<std::size_t>{30}),
                          Contains("found 30"));
        CHECK_THROWS_WITH(learner.rows(toy_text(map, 41, 0).tokens, places),
                          Contains("at most 40"));
    }
}

TEST_CASE("texts that teach nothing change nothing, and what does not fit is refused") {
    const open_toy toy(form::tied);
    const id_map map = toy_map();
    const auto start = read_parameters(toy.open());
    drafter_learner learner(start, map, small(direct_loss::reverse_kl, ngram_loss::none));
    distillation_sample nothing;
    nothing.tokens = {draft_id{1}, draft_id{2}};
    const distillation_sample* const one = &nothing;
    CHECK_FALSE(learner.learn({&one, 1}).applied);
    CHECK_FALSE(learner.learn({}).applied);

    const distillation_sample text = toy_text(map, 30, 0);
    const auto refused_text = [&](const auto& change, const std::string& words) {
        distillation_sample t = text;
        change(t);
        const distillation_sample* const it = &t;
        CHECK_THROWS_WITH(learner.learn({&it, 1}), Contains(words));
    };
    refused_text([&](auto& t) { t = toy_text(map, 41, 0); },
                 "drafter learner: text: expected at most");
    refused_text([](auto& t) { t.entries[0].weight = -1; }, "sparse law: entries: ");
    for (const auto& change : {
             +[](distillation_sample& t) { t.rows.back().behind = 30; },
             +[](distillation_sample& t) { std::swap(t.rows[0], t.rows[1]); },
             +[](distillation_sample& t) { t.rows.back().count += 1; },
             +[](distillation_sample& t) { t.rows[1].first = ~std::size_t{0}; },
         })
        refused_text(change, "drafter learner: rows: ");
    for (const auto& change : {
             +[](distillation_sample& t) { t.merges[0].first = 0; },
             +[](distillation_sample& t) { t.merges[0].count = 0; },
             +[](distillation_sample& t) { t.merges[0].count = 3; }, // the next one's first
             +[](distillation_sample& t) { t.merges[1].count = 25; },
         })
        refused_text(change, "drafter learner: merges: ");
    const std::vector<const distillation_sample*> many(4, &text);
    CHECK_THROWS_WITH(learner.learn(many), Contains("texts") && Contains("at most 3"));
    CHECK(std::ranges::equal(learner.weights().values(), start.values()));

    const auto refused = [&](learner_settings s, const char* field) {
        CHECK_THROWS_WITH(drafter_learner(start, map, s), Contains(field));
    };
    refused({.loss = {.lambda = -1}}, "lambda");
    refused({.loss = {.temperature = 0}}, "temperature");
    refused({.rate = 0}, "rate");
    refused({.clip = -1}, "clip");
    refused({.sequences = 0}, "batch");
    refused({.adapters = lora_settings{.rank = 0}}, "r:");
    CHECK_THROWS_WITH(drafter_learner(start, id_map::identity(78, 90), {}), Contains("map"));
}

} // namespace drafter_learner_tests
