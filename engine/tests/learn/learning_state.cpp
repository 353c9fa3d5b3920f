// SPDX-License-Identifier: MIT
#include <specdec_engine/learn/learning_state.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "toys.hpp"
#include <specdec_engine/learn/clip_gradient.hpp>

namespace learning_state_tests {

using namespace learning_toys;
using Catch::Contains;

/// A toy that learns one text by heart.
struct pupil {
    model_parameters<float> weights;
    training_pass<float> pass;
    adamw<float> optimiser;
    texts of = texts({24, 9});

    explicit pupil(unsigned seed = 1)
        : weights(read_parameters(open_toy(form::tied, seed).open())),
          pass(weights.config(), {2, 24, 33}), optimiser(weights.values().size()) {}

    double learn() {
        const auto logits = pass.forward(weights, of.view());
        const double loss = next_token_loss(logits, of);
        std::vector<float> gradient(weights.values().size());
        pass.reverse(constant(logits), gradient);
        clip_gradient(std::span<float>(gradient), 1.0);
        optimiser.step(weights.layout().tensors(), weights.values(), gradient,
                       0.01 / static_cast<double>(1 + optimiser.steps() / 8));
        return loss;
    }
    void save(const std::string& path, const std::string& note) const {
        save_learning_state(path, weights.layout().tensors(), weights.values(), optimiser, note);
    }
    std::string load(const std::string& path) {
        return load_learning_state(path, weights.layout().tensors(), weights.values(), optimiser);
    }
    [[nodiscard]] bool is(const pupil& other) const {
        return std::ranges::equal(weights.values(), other.weights.values()) &&
               std::ranges::equal(optimiser.first_moments(), other.optimiser.first_moments()) &&
               std::ranges::equal(optimiser.second_moments(), other.optimiser.second_moments()) &&
               optimiser.steps() == other.optimiser.steps();
    }
};

TEST_CASE("a toy learns a text by heart, and again in the same steps") {
    pupil one, two;
    std::vector<double> losses;
    for (int i = 0; i < 30; ++i)
        losses.push_back(one.learn());
    CHECK(losses.front() > 4);
    CHECK(losses.back() < 0.5);
    for (const double loss : losses)
        REQUIRE(two.learn() == loss);
    CHECK(one.is(two));
}

TEST_CASE("learning goes on where it was saved, bit for bit") {
    const toy::temporary_folder folder;
    const std::string path = folder.path() / "state.safetensors";
    pupil one, two(2);
    for (int i = 0; i < 5; ++i)
        one.learn();
    one.save(path, "text 7, \xc3\xa4");
    CHECK_FALSE(two.is(one));
    CHECK(two.load(path) == "text 7, \xc3\xa4");
    CHECK(two.is(one));
    for (int i = 0; i < 5; ++i)
        REQUIRE(one.learn() == two.learn());
    CHECK(two.is(one));
    one.save(path, "");
    CHECK(two.load(path) == "");
}

TEST_CASE("a state is a safetensors file of the weights under their names") {
    const toy::temporary_folder folder;
    const pupil one;
    const std::string path = folder.path() / "state.safetensors";
    one.save(path, "");
    const std::string bytes = specdec::read_file(path);
    const auto tensors = read_safetensors(toy::bytes(bytes), path);
    CHECK(tensors.size() == 3 * one.weights.layout().tensors().tensors().size());
    CHECK(std::ranges::any_of(
        tensors, [](const tensor& t) { return t.name == "model.layers.1.mlp.up_proj.weight"; }));
}

TEST_CASE("states that are torn, corrupt or foreign are refused, and nothing changes") {
    const toy::temporary_folder folder;
    const pupil one;
    const std::string path = folder.path() / "state.safetensors";
    one.save(path, "note");
    const std::string good = specdec::read_file(path);
    const auto refused = [&](const std::string& bytes, const std::string& message) {
        folder.write("bad.safetensors", bytes);
        pupil two(2);
        const pupil before(2);
        CHECK_THROWS_WITH(two.load(folder.path() / "bad.safetensors"),
                          Contains("bad.safetensors: ") && Contains(message));
        CHECK(two.is(before));
    };
    const auto with = [&](const std::string& from, const std::string& to) {
        std::string bytes = good;
        const auto at = bytes.find(from);
        REQUIRE(at != std::string::npos);
        REQUIRE(from.size() == to.size());
        return bytes.replace(at, from.size(), to);
    };
    CHECK_THROWS_WITH(pupil().load(folder.path() / "none"), Contains("none: file: "));
    refused(good.substr(0, good.size() - 1), "data_offsets");
    refused(good.substr(0, 100), "header");
    std::string wrong = good;
    wrong[wrong.size() - 1000] = static_cast<char>(wrong[wrong.size() - 1000] ^ 4);
    refused(wrong, "checksum: expected the checksum of the file's data");
    refused(with("\"note\":\"note\"", "\"note\":\"nose\""), "checksum");
    refused(with("\"steps\":\"0\"", "\"steps\":\"1\""), "checksum");
    refused(with("\"steps\":\"0\"", "\"steps\":\"x\""), "__metadata__ steps: ");
    refused(with("state 1", "state 2"), "__metadata__ format: ");
    refused(with("\"model.norm.weight\"", "\"model.mold.weight\""), "tensor model.norm.weight");
    CHECK_THROWS_WITH(pupil().save(folder.path() / "state.safetensors", "\xff"),
                      Contains("metadata: "));
    CHECK(specdec::read_file(path) == good);
}

TEST_CASE("numbers that are not finite are not saved over a state") {
    const toy::temporary_folder folder;
    pupil one;
    const std::string path = folder.path() / "state.safetensors";
    one.save(path, "note");
    const std::string good = specdec::read_file(path);
    one.weights.values()[one.weights.values().size() - 1] = __builtin_nanf("");
    CHECK_THROWS_WITH(one.save(path, ""), Contains("state.safetensors: tensor ") &&
                                              Contains("expected finite numbers"));
    pupil two;
    two.optimiser.second_moments()[0] = __builtin_inff();
    CHECK_THROWS_WITH(two.save(path, ""), Contains("tensor adamw.second.model.") &&
                                              Contains("expected finite numbers"));
    CHECK(specdec::read_file(path) == good);
}

} // namespace learning_state_tests
