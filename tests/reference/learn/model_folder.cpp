// SPDX-License-Identifier: MIT
#include <specdec/reference/learn/model_folder.hpp>

#include <algorithm>
#include <string>

#include <catch2/catch.hpp>

#include "toys.hpp"
#include <specdec/reference/load.hpp>

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

TEST_CASE("what config.json cannot say is refused") {
    const toy::temporary_folder folder;
    model_config c = open_toy(form::untied).open().config;
    c.rotary.factors = {1, 2, 3};
    CHECK_THROWS_WITH(save_model_folder(folder.path(), model_parameters<float>(c)),
                      Contains("rope_freqs: "));
}

} // namespace model_folder_tests
