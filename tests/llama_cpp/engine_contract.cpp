// SPDX-License-Identifier: MIT
// llama.cpp behind the adapter keeps the contract of core/concepts.hpp: bit for bit where every
// position is scored alone, closely where positions share a decode.
#include <specdec/testing/contract/engine_contract.hpp>

#include <string>

#include <catch2/catch.hpp>

#include "tiny_model.hpp"
#include <specdec/interop/llama_cpp.hpp>

using namespace specdec;
using namespace specdec::tiny;

namespace {

/// A model with a context of its own.
struct owned_model {
    llama_context_ptr context;
    llama_cpp_model<target_id> model;

    owned_model(const loaded_model& engine, llama_cpp_scoring scoring)
        : context(engine.context(loaded_model::parameters(64))), model(context.get(), 0, scoring) {}

    std::size_t size() const { return model.size(); }
    std::size_t capacity() const { return model.capacity(); }
    std::size_t vocabulary_size() const { return model.vocabulary_size(); }
    void append(std::span<const target_id> ids) { model.append(ids); }
    logits_rows<target_id> score(std::span<const target_id> ids) { return model.score(ids); }
    void truncate(std::size_t n) { model.truncate(n); }
};

} // namespace

TEST_CASE("llama.cpp keeps the engine contract") {
    for (const bool bytes : {false, true}) {
        const model_file file(architecture::llama, bytes ? byte_level() : sentencepiece(), 5);
        const loaded_model engine(file);
        const llama_cpp_tokenizer<target_id> words(engine.vocab());
        tokenizer_contract_settings<target_id> tokens;
        for (std::size_t i = 0; i < words.table().size(); ++i)
            if (words.table().kind(i) == token_kind::control) {
                tokens.control.push_back(id_at<target_id>(i));
                tokens.control_names.emplace_back(words.table().entry(i));
            }
        // Its byte-level tokenizers read an overlong form as the character that it would spell.
        std::erase_if(tokens.invalid_utf8, [](const std::string& text) {
            return text.find('\xC0') != std::string::npos;
        });
        for (const auto scoring : {llama_cpp_scoring::together, llama_cpp_scoring::alone}) {
            CAPTURE(bytes, static_cast<int>(scoring));
            model_contract_settings<target_id> settings;
            settings.tolerance = 1e-3; // appended prompts share a decode in both
            const contract_report report = check_engine<target_id>(
                [&] { return owned_model(engine, scoring); }, words, settings, tokens);
            CHECK(report.text() == "");
            CHECK(report.unchecked.empty());
        }
    }
}
