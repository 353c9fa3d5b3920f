// SPDX-License-Identifier: MIT
// The CPU engine keeps the contract of core/concepts.hpp, bit for bit.
#include <specdec/testing/contract/tree_contract.hpp>

#include <cstddef>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec_engine/load.hpp>
#include <specdec_engine/load_tokenizer.hpp>
#include <specdec_engine/model.hpp>

using namespace specdec;
using namespace specdec::engine;

namespace {

const std::string models = SPECDEC_SOURCE_DIR "/models/";

context_options room(std::size_t capacity) {
    return {.capacity = capacity, .rows = 4}; // fewer rows than are asked for
}

/// Everything that the tokenizer itself knows to be control tokens.
tokenizer_contract_settings<target_id> control_tokens_of(const tokenizer_of<target_id>& words) {
    tokenizer_contract_settings<target_id> settings;
    const vocabulary& table = words.base().table();
    for (std::size_t i = 0; i < table.size(); ++i)
        if (table.kind(i) == token_kind::control) {
            settings.control.push_back(id_at<target_id>(i));
            if (settings.control.size() <= 8)
                settings.control_names.emplace_back(table.entry(i));
        }
    return settings;
}

} // namespace

TEST_CASE("models of this repository with their tokenizers keep the engine contract",
          "[computes]") {
    for (const std::string name : {"docs-target", "docs-drafter"}) {
        const tokenizer_of<target_id> words(load_tokenizer(models + name));
        for (const precision format : {precision::f32, precision::bf16, precision::q8}) {
            CAPTURE(name, specdec::engine::name(format));
            const transformer engine = load_transformer(models + name, {.number_format = format});
            const auto make = [&] { return model<target_id>(engine.another_context(room(48))); };
            const contract_report report =
                check_engine<target_id>(make, words, {}, control_tokens_of(words));
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

TEST_CASE("trees get the rows of their paths, bit for bit, in every precision",
          "[computes]") { // smaller trees elsewhere: node_rows, contexts, batch_model
    for (const std::string name : {"llama", "llama3", "qwen2"})
        for (const precision format : {precision::f32, precision::bf16, precision::q8})
            for (const isa instructions : {best_isa(), isa::portable}) {
                CAPTURE(name, specdec::engine::name(format), static_cast<int>(instructions));
                const transformer engine = load_transformer(
                    SPECDEC_SOURCE_DIR "/tests/golden/" + name, {.number_format = format});
                const auto make = [&] {
                    context_options small = room(96);
                    small.instructions = instructions;
                    return model<target_id>(engine.another_context(small));
                };
                model_contract_settings<target_id> settings;
                settings.length = 60; // a tree of two of the engine's chunks, over four panels
                const contract_report report = check_tree_model<target_id>(make, settings);
                CHECK(report.text() == "");
                CHECK(report.unchecked.empty());
                CHECK(report.greatest_difference == 0);
            }
}

TEST_CASE("trees get the rows of their paths, bit for bit, in all numbers of the cache",
          "[computes]") {
    const transformer engine =
        load_transformer(SPECDEC_SOURCE_DIR "/tests/golden/llama", load_options{});
    for (const cache_type cache : {cache_type::f32, cache_type::bf16, cache_type::q8}) {
        CAPTURE(specdec::engine::name(cache));
        const auto make = [&] {
            context_options small = room(96);
            small.cache = cache;
            return model<target_id>(engine.another_context(small));
        };
        const contract_report report = check_tree_model<target_id>(make, {.length = 60});
        CHECK(report.text() == "");
        CHECK(report.greatest_difference == 0);
    }
}

TEST_CASE("real tokenizers keep the tokenizer's contract", "[computes]") {
    std::vector<std::string> paths{models + "smollm2-drafter",
                                   SPECDEC_SOURCE_DIR "/tests/data/vocabularies/"
                                                      "stories512.llama2c-tokenizer.bin"};
    if (const std::string shared = SPECDEC_SHARED_DIR; !shared.empty())
        for (const char* const name :
             {"gpt2.tokenizer.json", "llama3_1.tokenizer.json", "qwen2_5.tokenizer.json",
              "llama2.tokenizer.model", "mistral_v3.tokenizer.model"})
            paths.push_back(shared + "/vocabularies/original/" + name);
    for (const std::string& path : paths) {
        CAPTURE(path);
        const tokenizer_of<target_id> words(load_tokenizer(path));
        const contract_report report = check_tokenizer<target_id>(words, control_tokens_of(words));
        CHECK(report.text() == "");
        CHECK(report.unchecked.empty());
    }
}

TEST_CASE("what goes wrong around a real tokenizer is named", "[computes]") {
    struct parsing : tokenizer_of<target_id> {
        using tokenizer_of::tokenizer_of;
        void encode(std::string_view text, encode_mode where, std::vector<target_id>& out) const {
            encode_with_control(text, where, out);
        }
    };
    struct printing : tokenizer_of<target_id> {
        using tokenizer_of::tokenizer_of;
        std::string_view bytes(target_id id) const { return base().table().entry(id.index()); }
    };
    const tokenizer base = load_tokenizer(models + "smollm2-drafter");
    const auto settings = control_tokens_of(tokenizer_of<target_id>(base));
    const contract_report parsed = check_tokenizer<target_id>(parsing(base), settings);
    REQUIRE(parsed.violations.size() == 1);
    CHECK(parsed.violations[0].clause == "tokenizer.control_names");
    const contract_report printed = check_tokenizer<target_id>(printing(base), settings);
    REQUIRE(printed.violations.size() == 1);
    CHECK(printed.violations[0].clause == "tokenizer.control_bytes");
}
