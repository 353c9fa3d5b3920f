// SPDX-License-Identifier: MIT
// The reference engine keeps the contract of core/concepts.hpp, bit for bit.
#include <specdec/testing/engine_contract.hpp>

#include <filesystem>
#include <string>

#include <catch2/catch.hpp>

#include <specdec/reference/load.hpp>
#include <specdec/reference/model.hpp>
#include <specdec/reference/tokenizer/load_tokenizer.hpp>

using namespace specdec;
using namespace specdec::reference;

namespace {

const std::string models = SPECDEC_SOURCE_DIR "/models/";

context_options room(std::size_t capacity) {
    context_options options;
    options.capacity = capacity;
    options.rows = 4; // fewer than are asked for
    return options;
}

} // namespace

TEST_CASE("models of this repository with their tokenizers keep the engine contract") {
    for (const std::string name : {"docs-target", "docs-drafter"}) {
        const tokenizer_of<target_id> words(load_tokenizer(models + name));
        tokenizer_contract_settings<target_id> of_tokenizer;
        for (std::size_t i = 0; i < words.vocabulary_size(); ++i)
            if (words.base().table().kind(i) == token_kind::control)
                of_tokenizer.control.push_back(id_at<target_id>(i));
        for (const precision format : {precision::f32, precision::bf16}) {
            CAPTURE(name, specdec::reference::name(format));
            load_options options;
            options.number_format = format;
            const transformer engine = load_transformer(models + name, options);
            const auto make = [&] { return model<target_id>(engine.another_context(room(48))); };
            const contract_report report =
                check_engine<target_id>(make, words, {}, of_tokenizer);
            CHECK(report.text() == "");
            CHECK(report.unchecked.empty());
            CHECK(report.greatest_difference == 0);
        }
    }
}

TEST_CASE("small checkpoints of every kind keep the model's contract") {
    for (const std::string name :
         {"llama", "llama-bf16", "llama-f16-sharded", "llama3", "mistral", "qwen2"}) {
        CAPTURE(name);
        const transformer engine =
            load_transformer(SPECDEC_SOURCE_DIR "/tests/golden/" + name, load_options{});
        const auto make = [&] { return model<draft_id>(engine.another_context(room(160))); };
        model_contract_settings<draft_id> settings;
        settings.length = 150; // a call of several of the engine's chunks
        const contract_report report = check_model<draft_id>(make, settings);
        CHECK(report.text() == "");
        CHECK(report.unchecked.empty());
        CHECK(report.greatest_difference == 0);
    }
}
