// SPDX-License-Identifier: MIT
#include <specdec_engine/learn/peft_folder.hpp>

#include <algorithm>
#include <random>
#include <string>

#include <catch2/catch.hpp>

#include "toys.hpp"
#include <specdec_engine/learn/model_folder.hpp>

namespace peft_folder_tests {

using namespace learning_toys;
using Catch::Contains;

lora<float> drawn(const model_config& c, const lora_settings& s) {
    lora<float> adapters(c, s);
    std::minstd_rand bits(9);
    for (float& v : adapters.values())
        v = (static_cast<float>(bits() % 2001) - 1000.0F) * 1e-4F;
    return adapters;
}

TEST_CASE("adapters come back from a PEFT folder, every bit") {
    const toy::temporary_folder folder;
    const auto c = open_toy(form::untied).open().config;
    for (const double alpha : {16.0, 0.3}) {
        const auto saved =
            drawn(c, {.rank = 5, .alpha = alpha, .targets = {projection::down, projection::q}});
        save_peft_folder(folder.path() / "adapter", saved, "some/model");
        const auto read = read_peft_folder(folder.path() / "adapter", c);
        CHECK(std::ranges::equal(read.values(), saved.values()));
        CHECK(read.rank() == 5);
        CHECK(read.settings().alpha == alpha);
        CHECK(read.settings().targets == saved.settings().targets);
    }
}

TEST_CASE("the file is as PEFT reads it: names, shapes, and W + alpha / r B A") {
    const toy::temporary_folder folder;
    const auto plain = read_parameters(open_toy(form::untied).open());
    auto merged = plain;
    const auto saved = drawn(plain.config(), {.rank = 4, .alpha = 10, .targets = {projection::v}});
    saved.merge(merged);
    save_peft_folder(folder.path(), saved);
    const mapped_file bytes(folder.path() / "adapter_model.safetensors");
    checkpoint file;
    for (tensor& t : read_safetensors(bytes.bytes(), bytes.source()))
        file.add(std::move(t));
    const auto numbers = [](const tensor& t) {
        return reinterpret_cast<const float*>(t.bytes.data());
    };
    const std::string v = "model.layers.1.self_attn.v_proj", begin = "base_model.model." + v;
    const float* const a = numbers(file.at(begin + ".lora_A.weight", {4, 36}));
    const float* const b = numbers(file.at(begin + ".lora_B.weight", {18, 4}));
    const float* const before = numbers(view_checkpoint(plain).at(v + ".weight", {18, 36}));
    const float* const after = numbers(view_checkpoint(merged).at(v + ".weight", {18, 36}));
    for (std::size_t i = 0; i < 18 * 36; ++i) {
        float sum = before[i];
        for (std::size_t k = 0; k < 4; ++k)
            sum += 2.5F * b[i / 36 * 4 + k] * a[k * 36 + i % 36];
        REQUIRE(after[i] == Approx(sum).margin(1e-6));
    }
}

TEST_CASE("folders that do not fit are refused by file and field") {
    const toy::temporary_folder folder;
    const auto c = open_toy(form::untied).open().config;
    save_peft_folder(folder.path(), drawn(c, {.rank = 2}));
    const nlohmann::json good =
        nlohmann::json::parse(specdec::read_file(folder.path() / "adapter_config.json"));
    const auto refused = [&](const std::string& field, const nlohmann::json& value,
                             const std::string& message) {
        nlohmann::json config = good;
        config[field] = value;
        folder.write("adapter_config.json", config.dump());
        CHECK_THROWS_WITH(read_peft_folder(folder.path(), c), Contains(message));
    };
    refused("peft_type", "IA3", "adapter_config.json: peft_type: expected LORA");
    refused("bias", "all", "adapter_config.json: bias: ");
    refused("use_dora", true, "adapter_config.json: use_dora: ");
    refused("rank_pattern", {{"q_proj", 3}}, "adapter_config.json: rank_pattern: ");
    for (const char* const start : {"pissa", "pissa_niter_4", "olora", "loftq", "corda", "mica"})
        refused("init_lora_weights", start,
                "adapter_config.json: init_lora_weights: expected a start that leaves");
    refused("alora_invocation_tokens", {1, 2}, "adapter_config.json: alora_invocation_tokens: ");
    refused("use_qalora", true, "adapter_config.json: use_qalora: ");
    refused("use_bdlora", {{"nblocks", 2}}, "adapter_config.json: use_bdlora: ");
    refused("trainable_token_indices", {3}, "adapter_config.json: trainable_token_indices: ");
    refused("target_parameters", {"x"}, "adapter_config.json: target_parameters: ");
    refused("target_modules", {"q_proj", "lm_head"}, "target_modules: expected projections");
    refused("target_modules", "all-linear", "target_modules: expected an array");
    refused("lora_alpha", "x", "adapter_config.json: lora_alpha: ");
    refused("r", 3, "adapter_model.safetensors: tensor ");
    refused("r", 100, "adapter_config.json: r: expected 1 to 36");
    refused("target_modules", {"q_proj"}, "adapter_model.safetensors: tensors: expected 4");
    refused("target_modules", {"q_proj", "v_proj", "o_proj"}, "o_proj.lora_A.weight");
}

TEST_CASE("what PEFT writes for plain adapters is read") {
    const toy::temporary_folder folder;
    const auto c = open_toy(form::untied).open().config;
    save_peft_folder(folder.path(), drawn(c, {.rank = 2}));
    nlohmann::json config =
        nlohmann::json::parse(specdec::read_file(folder.path() / "adapter_config.json"));
    for (const char* const none : {"alora_invocation_tokens", "use_bdlora", "target_parameters",
                                   "trainable_token_indices", "layer_replication"})
        config[none] = nullptr;
    config["use_qalora"] = false;
    config["rank_pattern"] = nlohmann::json::object();
    for (const nlohmann::json& start :
         {nlohmann::json(true), nlohmann::json(false), nlohmann::json(nullptr),
          nlohmann::json("gaussian"), nlohmann::json("eva"), nlohmann::json("orthogonal")}) {
        config["init_lora_weights"] = start;
        folder.write("adapter_config.json", config.dump());
        CHECK_NOTHROW(read_peft_folder(folder.path(), c));
    }
}

TEST_CASE("adapters that are not finite are refused by file and tensor") {
    const toy::temporary_folder folder;
    const auto c = open_toy(form::untied).open().config;
    for (const float bad : {__builtin_inff(), __builtin_nanf("")}) {
        auto saved = drawn(c, {.rank = 2});
        saved.values()[saved.values().size() - 1] = bad;
        save_peft_folder(folder.path(), saved);
        CHECK_THROWS_WITH(read_peft_folder(folder.path(), c),
                          Contains("adapter_model.safetensors: tensor ") &&
                              Contains("expected finite numbers"));
    }
}

/// For read_by_peft.py, which says where: base/ is there; adapter/, the logits with it and merged/
/// are made.
TEST_CASE("a folder for PEFT", "[.peft]") {
    const char* const where = std::getenv("SPECDEC_PEFT_FOLDER");
    REQUIRE(where != nullptr);
    const std::filesystem::path folder = where;
    const checkpoint c = open_hf_folder(folder / "base");
    auto m = read_parameters(c);
    const auto adapters = drawn(
        c.config,
        {.rank = 4, .alpha = 10, .targets = {all_projections.begin(), all_projections.end()}});
    save_peft_folder(folder / "adapter", adapters, (folder / "base").string());
    training_pass<float> pass(c.config, {1, 24, 24});
    const texts of({24});
    const Eigen::MatrixXf logits = pass.forward(m, of.view(), &adapters);
    const std::vector<float> ids(of.ids[0].begin(), of.ids[0].end());
    const std::span values(logits.data(), static_cast<std::size_t>(logits.size()));
    const tensor made[] = {
        {"", "ids", dtype::f32, "F32", {24}, std::as_bytes(std::span(ids))},
        {"", "logits", dtype::f32, "F32", {24, c.config.vocabulary_size}, std::as_bytes(values)}};
    write_safetensors((folder / "logits.safetensors").string(), made);
    adapters.merge(m);
    save_model_folder(folder / "merged", m);
}

} // namespace peft_folder_tests
