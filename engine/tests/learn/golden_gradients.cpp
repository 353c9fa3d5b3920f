// SPDX-License-Identifier: MIT
#include <specdec_engine/learn/reverse/training_pass.hpp>

#include <cmath>
#include <fstream>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "toys.hpp"

namespace golden_gradient_tests {

using namespace learning_toys;

/// The worst error of a tensor's gradient, relative to the gradient, by tests/golden/gradients.py.
template <class Scalar>
double worst_error(const std::string& name) {
    const std::string folder = SPECDEC_SOURCE_DIR "/tests/golden/" + name;
    std::ifstream file(folder + "/gradients.json");
    const auto golden = nlohmann::json::parse(file);
    std::ifstream ids_file(folder + "/ids.json");
    const auto ids = nlohmann::json::parse(ids_file).get<std::vector<std::int32_t>>();
    texts of({17, 14});
    of.ids = {{ids.begin(), ids.begin() + 17}, {ids.begin() + 10, ids.end()}};

    const auto parameters = read_parameters<Scalar>(open_hf_folder(folder));
    training_pass<Scalar> pass(parameters.config(), {2, 17, 31});
    const auto logits = pass.forward(parameters, of.view());
    CHECK(next_token_loss(logits, of) == Approx(golden["loss"].get<double>()).epsilon(1e-6));
    std::vector<Scalar> gradient(parameters.values().size());
    pass.reverse(constant(logits), gradient);

    double worst = 0;
    std::size_t tensors = 0;
    for (const auto& [tensor, expected] : golden["tensors"].items()) {
        const parameter& p = parameters.layout().tensors().at(tensor);
        const auto found = std::span(gradient).subspan(p.offset, p.size);
        const auto values = expected["values"].template get<std::vector<double>>();
        const auto stride = expected["stride"].template get<std::size_t>();
        const auto norm = expected["norm"].template get<double>();
        double squares = 0, off = 0, sampled = 0;
        for (const Scalar g : found)
            squares += static_cast<double>(g) * static_cast<double>(g);
        for (std::size_t i = 0; i < values.size(); ++i) {
            off += std::pow(static_cast<double>(found[i * stride]) - values[i], 2);
            sampled += values[i] * values[i];
        }
        CHECK((values.size() - 1) * stride < p.size);
        worst =
            std::max({worst, std::abs(std::sqrt(squares) / norm - 1), std::sqrt(off / sampled)});
        ++tensors;
    }
    CHECK(tensors == parameters.layout().tensors().tensors().size());
    return worst;
}

TEST_CASE("PyTorch's gradients of the mean cross-entropy") {
    for (const std::string name : {"llama", "llama3", "qwen2"}) {
        CAPTURE(name);
        CHECK(worst_error<double>(name) < 1e-5);
        CHECK(worst_error<float>(name) < 1e-4);
    }
}

} // namespace golden_gradient_tests
