// SPDX-License-Identifier: MIT
#include <specdec_engine/learn/reverse/lora.hpp>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "learn/finite_differences.hpp"
#include "learn/toys.hpp"
#include <specdec_engine/learn/adamw.hpp>

namespace lora_tests {

using namespace learning_toys;
using Catch::Contains;

const lora_settings every = {
    .rank = 3, .alpha = 4.5, .targets = {all_projections.begin(), all_projections.end()}};
const lora_settings some = {.rank = 2, .alpha = 1, .targets = {projection::up, projection::k}};

/// Adapters whose A and B are both drawn.
template <class Scalar>
lora<Scalar> make(const model_config& c, const lora_settings& s) {
    lora<Scalar> adapters(c, s);
    std::minstd_rand bits(3);
    for (Scalar& v : adapters.values())
        v = static_cast<Scalar>((static_cast<double>(bits() % 2001) - 1000) * 3e-4);
    return adapters;
}

TEST_CASE("adapters' gradients are those of finite differences, and of what is merged",
          "[computes]") {
    for (const form f : {form::untied, form::biased})
        for (const lora_settings& s : {every, some}) {
            const open_toy toy(f);
            const auto m = read_parameters<double>(toy.open());
            auto adapters = make<double>(m.config(), s);
            training_pass<double> pass(m.config(), {2, 12, 24});
            const texts of({9, 4}, false);
            const auto sequences = of.view();
            const auto loss = [&] { return loss_of(pass.forward(m, sequences, &adapters)); };
            std::vector<double> gradient(adapters.values().size()), whole(m.values().size());
            const auto logits = pass.forward(m, sequences, &adapters);
            (void)loss_of(logits);
            pass.reverse(constant(logits), whole, gradient);
            for (const parameter& p : adapters.tensors().tensors()) {
                CAPTURE(p.name);
                CHECK(finite_differences::worst_error(adapters.values().subspan(p.offset, p.size),
                                                      std::span(gradient).subspan(p.offset, p.size),
                                                      loss) < 1e-6);
            }
            // The weights' gradient with adapters is that of the merged model.
            auto merged = m;
            adapters.merge(merged);
            std::vector<double> expected(m.values().size());
            const auto same = pass.forward(merged, sequences);
            (void)loss_of(same);
            pass.reverse(constant(same), expected);
            double worst = 0;
            for (std::size_t i = 0; i < whole.size(); ++i)
                worst = std::max(worst, std::abs(whole[i] - expected[i]));
            CHECK(worst < 1e-9);
        }
}

TEST_CASE("a merged model computes what the adapters did") {
    const open_toy toy(form::tied);
    auto m = read_parameters(toy.open());
    const auto adapters = make<float>(m.config(), every);
    training_pass<float> pass(m.config(), {1, 15, 15});
    const texts of({15});
    const Eigen::MatrixXf plain = pass.forward(m, of.view());
    const Eigen::MatrixXf adapted = pass.forward(m, of.view(), &adapters);
    CHECK((adapted - plain).cwiseAbs().maxCoeff() > 0.1F);
    adapters.merge(m);
    CHECK((adapted - pass.forward(m, of.view())).cwiseAbs().maxCoeff() < 1e-4F);
}

TEST_CASE("drawn adapters change nothing at first, and then learn with the weights frozen") {
    const open_toy toy(form::untied);
    const auto m = read_parameters(toy.open());
    lora<float> adapters(m.config(), {.rank = 4, .alpha = 8, .targets = every.targets});
    std::minstd_rand bits(5);
    adapters.draw(bits);
    training_pass<float> pass(m.config(), {1, 20, 20});
    const texts of({20});
    const Eigen::MatrixXf plain = pass.forward(m, of.view());
    CHECK(pass.forward(m, of.view(), &adapters) == plain);
    const float bound = 1 / std::sqrt(36.0F);
    const auto a = adapters.a(0, projection::q);
    CHECK(a.cwiseAbs().maxCoeff() <= bound);
    CHECK(a.cwiseAbs().maxCoeff() > 0.9F * bound);

    adamw<float> optimiser(adapters.values().size(), {.weight_decay = 0});
    std::vector<double> losses;
    for (int i = 0; i < 40; ++i) {
        const auto logits = pass.forward(m, of.view(), &adapters);
        losses.push_back(next_token_loss(logits, of));
        std::vector<float> gradient(adapters.values().size());
        pass.reverse(constant(logits), {}, gradient);
        optimiser.step(adapters.tensors(), adapters.values(), gradient, 0.01);
    }
    CHECK(losses.front() > 4);
    CHECK(losses.back() < 1);
}

TEST_CASE("settings of adapters that are none are refused by name") {
    const auto c = open_toy(form::untied).open().config;
    const auto refused = [&](const lora_settings& s, const std::string& message) {
        CHECK_THROWS_WITH(lora<float>(c, s), Contains("LoRA: " + message));
    };
    refused({.rank = 0}, "r: expected 1 to 36");
    refused({.rank = 19}, "r: expected 1 to 18, what v_proj has, found 19");
    refused({.alpha = 0}, "lora_alpha: ");
    refused({.targets = {}}, "target_modules: ");
    refused({.targets = {projection::q, projection::q}}, "target_modules: expected q_proj once");
}

} // namespace lora_tests
