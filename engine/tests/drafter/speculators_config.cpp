// SPDX-License-Identifier: MIT
#include <specdec_engine/drafter/speculators_config.hpp>

#include <functional>
#include <string>

#include <catch2/catch.hpp>

#include "drafter_forms.hpp"
#include <specdec_engine/drafter/feature_body.hpp>

namespace speculators_config_tests {

using namespace specdec;
using namespace specdec::engine;
using namespace drafter_forms;
using Catch::Contains;

TEST_CASE("what speculators' config.json asks for and is not computed is refused by name") {
    const transformer target = make_target(feature_kind::low_mid_high, precision::f32);
    const auto refused = [&](const std::function<void(speculators_files&)>& edit,
                             const std::string& field, const std::string& expected) {
        speculators_files files;
        edit(files);
        const toy::temporary_folder folder;
        files.write(folder);
        CHECK_THROWS_WITH(load_feature_body(folder.path(), target),
                          Contains(field) && Contains(expected));
    };
    refused([](auto& f) { f.config["speculators_model_type"] = "dflash"; },
            "config.json: speculators_model_type: ", "expected eagle3, found dflash");
    refused([](auto& f) { f.config["norm_before_fc"] = true; }, "tensor input_norm.weight",
            "missing");
    refused([](auto& f) { f.config["fc_norm"] = true; }, "tensor fc_norm.0.weight", "missing");
    refused(
        [](auto& f) {
            f.config.update({{"fc_norm", true}, {"norm_before_fc", true}});
        },
        "config.json: fc_norm: ", "expected false, because norm_before_fc is true");
    refused([](auto& f) { f.config["norm_output"] = 1; },
            "config.json: norm_output: ", "expected true or false");
    refused([](auto& f) { f.files.set({.before_fc = fuse_norm::each}); }, "tensor fc_norm.0.weight",
            "expected no tensor beyond");
    refused([](auto& f) { f.config["embed_requires_grad"] = true; }, "tensor embed_tokens.weight",
            "it is missing");
    refused([](auto& f) { f.config.erase("norm_before_residual"); }, "norm_before_residual",
            "it is missing");
    refused([](auto& f) { f.config["norm_before_residual"] = 1; }, "norm_before_residual",
            "expected true or false");
    refused([](auto& f) { f.config["target_hidden_size"] = 72; }, "target_hidden_size",
            "expected the drafter's 36");
    refused(
        [](auto& f) {
            f.config["eagle_aux_hidden_state_layer_ids"] = {0, 1};
        },
        "eagle_aux_hidden_state_layer_ids", "expected 3 layers, found 2");
    refused(
        [](auto& f) {
            f.config["eagle_aux_hidden_state_layer_ids"] = {1, 1, 0};
        },
        "layers whose input is read", "[0, 1, 0], found [1, 1, 0]");
    refused([](auto& f) { f.config.erase("transformer_layer_config"); }, "transformer_layer_config",
            "expected");
    refused([](auto& f) { f.config["transformer_layer_config"]["num_hidden_layers"] = 2; },
            "transformer_layer_config", "expected 1");
    refused([](auto& f) { f.config["transformer_layer_config"]["model_type"] = "qwen3"; },
            "model_type", "expected llama, found qwen3");
    refused([](auto& f) { f.config["transformer_layer_config"]["attention_bias"] = true; },
            "attention_bias", "expected false");
    refused([](auto& f) { f.config["draft_vocab_size"] = 6; }, "d2t", "draft_vocab_size (6)");
    refused([](auto& f) { f.files.of.tensors.erase("midlayer.hidden_norm.weight"); },
            "layers.0.hidden_norm.weight", "missing");
    refused([](auto& f) { f.files.of.tensors.erase("lm_head.weight"); }, "model.safetensors",
            "d2t");                     // the toy writes the two together
    const toy::temporary_folder folder; // none of them: as EAGLE-3 takes them
    speculators_files files;
    files.config["eagle_aux_hidden_state_layer_ids"] = nullptr;
    files.write(folder);
    CHECK(load_feature_body(folder.path(), target).kept()->size() == 5);
}

} // namespace speculators_config_tests
