// SPDX-License-Identifier: MIT
// The translation of vocab/ (retokenizer, continuation_encoder) with real tokenizers: those of the
// repository's models, and those of ../shared/vocabularies where the checkout has it.
#include <specdec_engine/load_tokenizer.hpp>

#include <catch2/catch.hpp>

#include <cstddef>
#include <filesystem>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <specdec/core/token_id.hpp>
#include <specdec/vocab/encoding/continuation.hpp>
#include <specdec/vocab/encoding/retokenizer.hpp>
#include <support/ids.hpp>
#include <support/sample_texts.hpp>

namespace {

using namespace specdec;
using engine::load_tokenizer;
using engine::tokenizer_of;

std::vector<std::filesystem::path> tokenizer_paths() {
    const std::filesystem::path models = std::filesystem::path(SPECDEC_SOURCE_DIR) / "models";
    std::vector<std::filesystem::path> paths{models / "docs-drafter", models / "docs-target"};
    const auto originals = std::filesystem::path(SPECDEC_SHARED_DIR) / "vocabularies" / "original";
    for (const char* name :
         {"gpt2.tokenizer.json", "llama3_1.tokenizer.json", "qwen2_5.tokenizer.json",
          "llama2.tokenizer.model", "mistral_v1.tokenizer.model"})
        if (std::filesystem::exists(originals / name))
            paths.push_back(originals / name);
    return paths;
}

std::vector<std::string> texts() {
    std::mt19937_64 bits(1);
    std::vector<std::string> all = test::texts_without_words();
    for (int i = 0; i < 40; ++i)
        all.push_back(test::random_text(bits, 700));
    return all;
}

TEST_CASE("real tokenizers: a growing text is encoded as the whole", "[computes]") {
    for (const auto& path : tokenizer_paths()) {
        CAPTURE(path.string());
        const tokenizer_of<draft_id> tokenizer(load_tokenizer(path));
        std::mt19937_64 bits(2);
        for (const std::string& text : texts()) {
            retokenizer<tokenizer_of<draft_id>, draft_id> r(tokenizer);
            for (std::string_view rest = text; !rest.empty();) {
                const std::string_view piece = rest.substr(0, 1 + bits() % 12);
                r.append(piece);
                rest.remove_prefix(piece.size());
            }
            REQUIRE(std::vector<draft_id>(r.ids().begin(), r.ids().end()) ==
                    testing::encoded<draft_id>(tokenizer, text));
        }
    }
}

TEST_CASE("real tokenizers: aligned continuations are accepted at least as often", "[computes]") {
    for (const auto& path : tokenizer_paths()) {
        CAPTURE(path.string());
        const tokenizer_of<target_id> tokenizer(load_tokenizer(path));
        continuation_encoder<tokenizer_of<target_id>> encoder(tokenizer);
        std::mt19937_64 bits(3);
        std::size_t aligned = 0, alone = 0, lost = 0;
        for (const std::string& text : texts()) {
            const std::vector<target_id> ids = testing::encoded(tokenizer, text);
            for (int round = 0; round < 20; ++round) {
                const std::size_t at = 1 + bits() % (ids.size() - 1);
                std::string draft;
                for (std::size_t i = at; i < ids.size() && draft.size() < 30; ++i)
                    draft += tokenizer.bytes(ids[i]);
                draft.resize(1 + bits() % draft.size());
                const auto accepted = [&](const std::vector<target_id>& proposal) {
                    std::size_t n = 0;
                    while (n < proposal.size() && at + n < ids.size() && proposal[n] == ids[at + n])
                        ++n;
                    return n;
                };
                std::vector<target_id> proposal;
                encoder.encode(std::span(ids).first(at), draft, proposal);
                aligned += accepted(proposal);
                alone += accepted(testing::encoded(tokenizer, draft, encode_mode::continuation));
                lost += testing::text_of(tokenizer, proposal) != draft;
            }
        }
        CHECK(aligned >= alone);
        // Only Qwen's NFC rewrites a draft; the SentencePiece ones give every byte back.
        if (path.filename() != "qwen2_5.tokenizer.json")
            CHECK(lost == 0);
    }
}

} // namespace
