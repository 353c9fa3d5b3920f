// SPDX-License-Identifier: MIT
#include <specdec_engine/learn/model_folder.hpp>

#include <algorithm>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "toys.hpp"
#include <specdec_engine/load.hpp>

namespace model_folder_tests {

using namespace learning_toys;
using Catch::Contains;

TEST_CASE("a model that is saved is the same when it is loaded") {
    const toy::temporary_folder folder;
    const open_toy toy(form::untied);
    const std::string golden = SPECDEC_SOURCE_DIR "/tests/golden/";
    for (const std::string& from : {golden + "llama", golden + "llama3", golden + "qwen2",
                                    toy.folder.write("m.gguf", toy.model.gguf()).string()}) {
        CAPTURE(from);
        const checkpoint c = open_checkpoint(from);
        const auto saved = read_parameters(c);
        save_model_folder(folder.path() / "model", saved);
        const checkpoint again = open_checkpoint(folder.path() / "model");
        CHECK(std::ranges::equal(read_parameters(again).values(), saved.values()));
        CHECK(again.config.tied == c.config.tied);
        CHECK(again.config.eos == c.config.eos);
        CHECK(again.config.bos == c.config.bos);
        CHECK(again.config.rms_epsilon == c.config.rms_epsilon);

        const load_options options = {precision::f32, {.threads = 1}, {}};
        transformer one = make_transformer(c, options), two = make_transformer(again, options);
        const auto ids = some_ids(20);
        one.score(ids);
        two.score(ids);
        CHECK(std::equal(one.logits().begin(), one.logits().end(), two.logits().begin()));
    }
}

TEST_CASE("a model that is saved into the folder of a sharded one is what is loaded there") {
    const toy::temporary_folder folder;
    const std::filesystem::path at = folder.path() / "model";
    std::filesystem::copy(SPECDEC_SOURCE_DIR "/tests/golden/llama-f16-sharded", at);
    auto learnt = read_parameters(open_checkpoint(at));
    for (float& v : learnt.values())
        v += 1;
    save_model_folder(at, learnt);
    CHECK(std::ranges::equal(read_parameters(open_checkpoint(at)).values(), learnt.values()));
}

TEST_CASE("the exits of a model are saved with it, and their norms where they have some") {
    const toy::temporary_folder folder;
    const open_toy toy(form::untied);
    checkpoint c = toy.open();
    c.config.exits = {1, c.config.layers};
    CHECK(exit_norms(c).empty());
    std::vector<float> norm(c.config.dimension, 3);
    c.add("exits.0.norm.weight",
          tensor{"", "norm", dtype::f32, "F32", {norm.size()}, std::as_bytes(std::span(norm))});
    save_model_folder(folder.path(), read_parameters(c), exit_norms(c));
    const checkpoint again = open_checkpoint(folder.path());
    CHECK(again.config.exits == c.config.exits);
    REQUIRE(exit_norms(again).size() == 1);
    CHECK(std::ranges::equal(exit_norms(again)[0].bytes, std::as_bytes(std::span(norm))));
}

TEST_CASE("a model with tensors that it would leave out does not learn") {
    const open_toy toy(form::untied);
    checkpoint c = toy.open();
    c.config.layers = 1;
    CHECK_THROWS_WITH(read_parameters(c),
                      Contains("model.safetensors: tensor model.layers.1.input_layernorm.weight: "
                               "expected no tensor beyond"));
}

TEST_CASE("what config.json cannot say is refused") {
    const toy::temporary_folder folder;
    model_config c = open_toy(form::untied).open().config;
    c.rotary.factors = {1, 2, 3};
    CHECK_THROWS_WITH(save_model_folder(folder.path(), model_parameters<float>(c)),
                      Contains("rope_freqs: "));
}

} // namespace model_folder_tests
