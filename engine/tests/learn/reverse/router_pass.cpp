// SPDX-License-Identifier: MIT
#include <specdec_engine/learn/reverse/router_pass.hpp>

#include <cmath>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "learn/finite_differences.hpp"
#include "support/golden_gradient.hpp"
#include <specdec/head/residual_router.hpp>

using namespace specdec;
using namespace specdec::engine;
using namespace finite_differences;

namespace router_pass_tests {

constexpr std::size_t width = 12, groups = 5, n = 7;

TEST_CASE("a router's pass gives the routes that the router drafts with") {
    router_pass<float> pass(width, groups, n);
    const auto some = some_numbers(pass.layout().size(), 1), states = some_numbers(width * n, 2);
    const std::vector<float> values(some.begin(), some.end()), h(states.begin(), states.end());
    const auto routes = pass.forward(values, columns_of(h.data(), width, n));
    const auto tensors = pass.layout().tensors();
    REQUIRE(tensors.size() == 2);
    const std::span<const float> all = values;
    residual_router router(all.subspan(tensors[0].offset, tensors[0].size),
                           all.subspan(tensors[1].offset, tensors[1].size), width);
    std::vector<float> out(groups);
    for (std::size_t c = 0; c < n; ++c) {
        router.route({std::span(h).subspan(c * width, width)}, out);
        for (std::size_t g = 0; g < groups; ++g)
            CHECK(routes(index_of(g), index_of(c)) == Approx(out[g]).margin(1e-5));
    }
}

TEST_CASE("a router's gradients are those of finite differences") {
    router_pass<double> pass(width, groups, n);
    auto values = some_numbers(pass.layout().size(), 3);
    const auto h = some_numbers(width * n, 4), w = some_numbers(groups * n, 5);
    const auto states = columns_of(h.data(), width, n);
    const auto loss = [&] {
        const auto routes = pass.forward(values, states);
        return weighted({routes.data(), groups * n}, w);
    };
    (void)loss();
    std::vector<double> gradient(values.size());
    pass.reverse(values, states, columns_of(w.data(), groups, n), gradient);
    for (const parameter& p : pass.layout().tensors()) {
        CAPTURE(p.name);
        CHECK(worst_error(std::span(values).subspan(p.offset, p.size),
                          std::span<const double>(gradient).subspan(p.offset, p.size),
                          loss) < 1e-6);
    }
}

TEST_CASE("PyTorch's gradients of a router") {
    constexpr std::size_t w = 6, g = 4, states = 7;
    const auto sines = [](std::size_t size, double phase) {
        std::vector<double> out(size);
        for (std::size_t j = 0; j < size; ++j)
            out[j] = std::sin(0.37 * static_cast<double>(j) + phase);
        return out;
    };
    router_pass<double> pass(w, g, states);
    std::vector<double> values = sines(w * w, 1), gradient(pass.layout().size());
    for (const double x : sines(g * w, 2))
        values.push_back(x);
    const std::vector<double> h = sines(w * states, 3), mass = sines(g * states, 4);
    const auto routes = pass.forward(values, columns_of(h.data(), w, states));
    std::vector<double> droutes(g * states);
    double loss = 0; // the cross-entropy of two softmaxes, a mean over the states
    for (std::size_t i = 0; i < states; ++i) {
        double of_mass = 0, of_routes = 0;
        for (std::size_t k = 0; k < g; ++k) {
            of_mass += std::exp(mass[i * g + k]);
            of_routes += std::exp(routes(index_of(k), index_of(i)));
        }
        for (std::size_t k = 0; k < g; ++k) {
            const double p = std::exp(mass[i * g + k]) / of_mass;
            const double q = std::exp(routes(index_of(k), index_of(i))) / of_routes;
            loss -= p * std::log(q) / states;
            droutes[i * g + k] = (q - p) / states;
        }
    }
    pass.reverse(values, columns_of(h.data(), w, states),
                 columns_of(std::as_const(droutes).data(), g, states), gradient);
    testing::check_golden("router.txt", loss, gradient, 1e-6);
}

} // namespace router_pass_tests
