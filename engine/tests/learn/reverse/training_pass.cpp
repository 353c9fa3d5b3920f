// SPDX-License-Identifier: MIT
#include <specdec_engine/learn/reverse/training_pass.hpp>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "learn/finite_differences.hpp"
#include "learn/toys.hpp"
#include "support/count_allocations.hpp"
#include <specdec_engine/load.hpp>

namespace training_pass_tests {

using namespace learning_toys;
using Catch::Contains;
using finite_differences::worst_error;

constexpr training_limits small = {.sequences = 4, .length = 40, .rows = 120};

/// Every row of a sequence, by the engine.
double worst_difference(const checkpoint& c, const texts& of) {
    transformer engine = make_transformer(c, {precision::f32, {.threads = 1}, {}});
    const auto parameters = read_parameters(c);
    training_pass<float> pass(c.config, small);
    const auto sequences = of.view();
    const columns<float> found = pass.forward(parameters, sequences);
    double worst = 0;
    Eigen::Index row = 0;
    for (std::size_t s = 0; s < of.ids.size(); ++s) {
        engine.truncate(0);
        engine.score(of.ids[s]);
        for (const std::size_t i : of.rows[s]) {
            for (std::size_t t = 0; t < engine.vocabulary_size(); ++t)
                worst = std::max(worst, std::abs(static_cast<double>(engine.logits()(i, t)) -
                                                 static_cast<double>(found(index_of(t), row))));
            ++row;
        }
    }
    CHECK(row == found.cols());
    return worst;
}

TEST_CASE("a training pass gives the engine's logits") {
    for (const form f : {form::untied, form::tied, form::biased}) {
        const open_toy toy(f);
        CHECK(worst_difference(toy.open(), texts({7, 1, 33}, false)) < 1e-4);
    }
    const open_toy toy(form::untied);
    const auto gguf = toy.folder.write("m.gguf", toy.model.gguf()); // interleaved pairs
    REQUIRE(open_checkpoint(gguf).config.rotary.interleaved);
    CHECK(worst_difference(open_checkpoint(gguf), texts({20, 5})) < 1e-4);
    const std::string golden = SPECDEC_SOURCE_DIR "/tests/golden/";
    for (const std::string name : {"llama", "llama-bf16", "llama-f16-sharded", "llama3", "qwen2"})
        CHECK(worst_difference(open_checkpoint(golden + name), texts({30, 9})) < 1e-4);
}

TEST_CASE("gradients of every tensor are those of finite differences", "[computes]") {
    const texts of({7, 1, 12}, false);
    for (const form f : {form::untied, form::tied, form::biased}) {
        const open_toy toy(f);
        auto parameters = read_parameters<double>(toy.open());
        training_pass<double> pass(parameters.config(), small);
        const auto sequences = of.view();
        const auto loss = [&] { return loss_of(pass.forward(parameters, sequences)); };
        std::vector<double> gradient(parameters.values().size());
        const auto logits = pass.forward(parameters, sequences);
        (void)loss_of(logits);
        pass.reverse(constant(logits), gradient);
        for (const parameter& p : parameters.layout().tensors().tensors()) {
            CAPTURE(p.name);
            const double error = worst_error(parameters.values().subspan(p.offset, p.size),
                                             std::span(gradient).subspan(p.offset, p.size), loss);
            CHECK(error < 1e-6);
        }
    }
}

TEST_CASE("a sequence longer than a tile of queries") {
    open_toy toy(form::untied);
    auto parameters = read_parameters<double>(toy.open());
    const texts of({query_tile + 9});
    training_pass<double> pass(parameters.config(), {1, 2 * query_tile, 2 * query_tile});
    const auto sequences = of.view();
    const auto loss = [&] { return loss_of(pass.forward(parameters, sequences)); };
    std::vector<double> gradient(parameters.values().size());
    const auto logits = pass.forward(parameters, sequences);
    (void)loss_of(logits);
    pass.reverse(constant(logits), gradient);
    for (const std::string name : {"q", "k", "v"}) {
        const parameter& p =
            parameters.layout().tensors().at("model.layers.0.self_attn." + name + "_proj.weight");
        CHECK(worst_error(parameters.values().subspan(p.offset, p.size),
                          std::span(gradient).subspan(p.offset, p.size), loss) < 1e-6);
    }
}

/// The gradient of loss_of() in float.
std::vector<float> gradient_of(training_pass<float>& pass, const model_parameters<float>& m,
                               const texts& of) {
    const auto sequences = of.view();
    const auto logits = pass.forward(m, sequences);
    (void)loss_of(logits);
    std::vector<float> gradient(m.values().size());
    pass.reverse(constant(logits), gradient);
    return gradient;
}

TEST_CASE("neither threads nor earlier passes change a bit of a gradient") {
    const open_toy toy(form::untied);
    const auto m = read_parameters(toy.open());
    const texts of({30, 4, 17});
    training_pass<float> one(m.config(), small);
    const std::vector<float> expected = gradient_of(one, m, of);
    CHECK(gradient_of(one, m, of) == expected);
    training_pass<float> three(m.config(), small, std::make_shared<thread_pool>(3));
    (void)gradient_of(three, m, texts({40, 2}));
    CHECK(gradient_of(three, m, of) == expected);
}

TEST_CASE("gradients add up, over the sequences of a batch and over passes") {
    const open_toy toy(form::tied);
    const auto m = read_parameters(toy.open());
    training_pass<float> pass(m.config(), small);
    const texts of({11, 6});
    const auto sequences = of.view();
    std::vector<float> together(m.values().size()), apart(m.values().size());
    const auto ones = [&](std::span<const training_sequence> some, std::vector<float>& gradient) {
        auto logits = pass.forward(m, some);
        logits.setOnes();
        pass.reverse(constant(logits), gradient);
    };
    ones(sequences, together);
    ones({sequences.data(), 1}, apart);
    ones({sequences.data() + 1, 1}, apart);
    double worst = 0;
    for (std::size_t i = 0; i < apart.size(); ++i)
        worst = std::max(worst, static_cast<double>(std::abs(apart[i] - together[i])));
    CHECK(worst < 1e-3);
}

TEST_CASE("a pass takes no memory once its products have grown") {
    const open_toy toy(form::untied);
    const auto m = read_parameters(toy.open());
    training_pass<float> pass(m.config(), small);
    const texts of({30, 4, 17}, false);
    const auto sequences = of.view();
    std::vector<float> gradient(m.values().size());
    const auto step = [&] {
        const auto logits = pass.forward(m, sequences);
        pass.reverse(constant(logits), gradient);
    };
    step();
    const long before = specdec::testing::allocations;
    step();
    CHECK(specdec::testing::allocations == before);
}

TEST_CASE("adapters take memory in the first pass only") {
    const open_toy toy(form::untied);
    const auto m = read_parameters(toy.open());
    const lora<float> adapters(m.config(), {.rank = 3, .targets = {projection::q, projection::up}});
    training_pass<float> pass(m.config(), {1, 20, 20});
    const texts of({20});
    const auto sequences = of.view();
    std::vector<float> gradient(adapters.values().size());
    const auto step = [&] {
        const auto logits = pass.forward(m, sequences, &adapters);
        pass.reverse(constant(logits), {}, gradient);
    };
    step();
    const long before = specdec::testing::allocations;
    step();
    CHECK(specdec::testing::allocations == before);
}

TEST_CASE("a batch that asks for no row has no gradient, and none at all is nothing") {
    const open_toy toy(form::tied);
    const auto m = read_parameters(toy.open());
    training_pass<float> pass(m.config(), small);
    texts of({3, 5});
    for (auto& rows : of.rows)
        rows.clear();
    std::vector<float> gradient(m.values().size());
    const auto logits = pass.forward(m, of.view());
    CHECK(logits.cols() == 0);
    pass.reverse(constant(logits), gradient);
    pass.reverse(constant(pass.forward(m, {})), gradient);
    CHECK(gradient == std::vector<float>(m.values().size()));
}

TEST_CASE("a row that is asked for twice counts twice") {
    const open_toy toy(form::tied);
    const auto m = read_parameters(toy.open());
    training_pass<float> pass(m.config(), small);
    texts of({6});
    const auto with_rows = [&](std::vector<std::size_t> rows, float weight) {
        of.rows[0] = std::move(rows);
        const auto sequences = of.view();
        auto logits = pass.forward(m, sequences);
        logits.setConstant(weight);
        std::vector<float> gradient(m.values().size());
        pass.reverse(constant(logits), gradient);
        return gradient;
    };
    const std::vector<float> twice = with_rows({4, 4}, 1), once = with_rows({4}, 2);
    double worst = 0;
    for (std::size_t i = 0; i < once.size(); ++i)
        worst = std::max(worst, static_cast<double>(std::abs(once[i] - twice[i])));
    CHECK(worst < 1e-4);
}

TEST_CASE("batches that do not fit are refused") {
    const open_toy toy(form::untied);
    const auto m = read_parameters(toy.open());
    training_pass<float> pass(m.config(), {.sequences = 2, .length = 10, .rows = 12});
    const auto refused = [&](const texts& of, const std::string& message) {
        const auto sequences = of.view();
        CHECK_THROWS_WITH(pass.forward(m, sequences), Contains("training batch: " + message));
    };
    refused(texts({1, 2, 3}), "sequences: expected at most 2, found 3");
    refused(texts({3, 11}), "length of a sequence: expected at most 10, found 11");
    refused(texts({3, 10}), "rows: expected at most 12, found 13");
    refused(texts({0}), "sequence: expected tokens");
    texts of({3, 4});
    of.ids[1][2] = 77;
    refused(of, "token 77: expected an id below 77");
    of.ids[1][2] = -1;
    refused(of, "token -1");
    of.ids[1][2] = 0;
    of.rows[1] = {4};
    refused(of, "row of a sequence: expected at most 3, found 4");
}

} // namespace training_pass_tests
