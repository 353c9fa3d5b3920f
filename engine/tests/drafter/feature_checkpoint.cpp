// SPDX-License-Identifier: MIT
#include <specdec_engine/drafter/feature_checkpoint.hpp>

#include <catch2/catch.hpp>

#include "drafter_forms.hpp"

namespace feature_checkpoint_tests {

using namespace specdec;
using namespace specdec::engine;
using Catch::Contains;
using drafter_forms::drafter_files;

TEST_CASE("windows of a folder's attention are its architecture's") {
    const auto open = [](const nlohmann::json& more, feature_kind kind = feature_kind::head_input) {
        drafter_files files(kind);
        files.config.update(more);
        const toy::temporary_folder folder;
        files.write(folder);
        return open_feature_folder(folder.path());
    };
    const auto named = Contains("config.json: sliding_window: expected none below");
    for (const nlohmann::json& qwen :
         {nlohmann::json{{"model_type", "qwen2"}, {"sliding_window", 8}},
          nlohmann::json{{"architectures", {"Qwen2ForCausalLM"}}, {"sliding_window", 8}}}) {
        CHECK_FALSE(open(qwen).files.config.qkv_bias); // EAGLE's attention has none
        nlohmann::json closing = qwen;
        closing["use_sliding_window"] = true;
        CHECK_THROWS_WITH(open(closing), named);
        closing.erase("sliding_window"); // where nothing is said it is 4096
        CHECK_NOTHROW(open(closing));
        closing["max_position_embeddings"] = 8192;
        CHECK_THROWS_WITH(open(closing), named);
        closing["sliding_window"] = nullptr;
        CHECK_NOTHROW(open(closing));
    }
    for (const feature_kind kind : {feature_kind::head_input, feature_kind::low_mid_high}) {
        nlohmann::json mistral = {{"model_type", "mistral"}};
        CHECK_NOTHROW(open(mistral, kind));
        mistral["max_position_embeddings"] = 8192;
        CHECK_THROWS_WITH(open(mistral, kind), named);
    }
    CHECK_NOTHROW(open({{"max_position_embeddings", 8192}}));
    CHECK_NOTHROW(open({{"model_type", "llama"}, {"max_position_embeddings", 8192}}));
    CHECK_THROWS_WITH(open({{"sliding_window", 8}}), named);
    CHECK_THROWS_WITH(open({{"model_type", 8}}), Contains("config.json: model_type: "));
}

TEST_CASE("a drafter's folder with `model.` before its tensors' names says what it looks like") {
    for (const feature_kind kind : {feature_kind::head_input, feature_kind::low_mid_high}) {
        drafter_files files(kind), named = files;
        named.of.tensors.clear();
        for (const auto& [name, w] : files.of.tensors)
            named.of.tensors["model." + name] = w;
        const toy::temporary_folder folder;
        named.write(folder, false);
        CHECK(is_feature_folder(folder.path()));
        CHECK_THROWS_WITH(
            open_feature_folder(folder.path()),
            Contains("model.safetensors: tensor model.fc.weight: expected fc.weight") &&
                Contains("looks like a drafter that reads features"));
    }
}

} // namespace feature_checkpoint_tests
