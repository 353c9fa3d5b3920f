// SPDX-License-Identifier: MIT
#include <specdec/interop/llama_cpp_tokenizer.hpp>

#include <catch2/catch.hpp>

#include <string>
#include <string_view>
#include <vector>

#include "tiny_model.hpp"
#include <specdec/core/token_id.hpp>
#include <specdec/vocab/encoding/retokenizer.hpp>
#include <specdec/vocab/table/intersection.hpp>

using namespace specdec;
using namespace specdec::tiny;
using namespace std::string_literals;
using ids = std::vector<target_id>;

namespace {

struct loaded {
    model_file file;
    loaded_model engine{file};
    llama_cpp_tokenizer<target_id> tokenizer{engine.vocab()};

    explicit loaded(const vocabulary_parts& parts) : file(architecture::llama, parts) {}

    [[nodiscard]] ids encode(std::string_view text,
                             encode_mode where = encode_mode::continuation) const {
        ids out;
        tokenizer.encode(text, where, out);
        return out;
    }
    [[nodiscard]] std::string bytes(const ids& tokens) const {
        std::string text;
        for (const target_id id : tokens)
            text += tokenizer.bytes(id);
        return text;
    }
};

const std::string sign = "\xE2\x96\x81";

} // namespace

TEST_CASE("the table of a SentencePiece vocabulary") {
    const vocabulary_parts parts = sentencepiece();
    const loaded l(parts);
    const vocabulary& table = l.tokenizer.table();
    const auto at = [&](const std::string& name) {
        return static_cast<std::size_t>(parts.id(name));
    };
    REQUIRE(table.size() == parts.tokens.size());
    CHECK(l.tokenizer.vocabulary_size() == table.size());
    CHECK(l.tokenizer.type() == LLAMA_VOCAB_TYPE_SPM);
    CHECK(table.text(at(sign + "the")) == " the");
    CHECK(table.text(at(sign + sign)) == "  ");
    CHECK(table.kind(at("the")) == token_kind::normal);
    CHECK(table.text(at("<0x41>")) == "A");
    CHECK(table.text(at("<0x00>")) == std::string_view("\0", 1));
    CHECK(table.text(at("<0xFF>")) == "\xFF");
    CHECK(table.kind(at("<0x41>")) == token_kind::byte);
    CHECK(table.text(at("<tool>")) == "<tool>");
    CHECK(table.kind(at("<tool>")) == token_kind::user);
    CHECK(table.kind(at("<left over>")) == token_kind::unused);
    for (const char* name : {"<unk>", "<s>", "</s>", "<|im_end|>", "<left over>"}) {
        CHECK(table.entry(at(name)) == name);
        CHECK(l.tokenizer.bytes(id_at<target_id>(at(name))).empty());
    }
    CHECK(table.kind(at("<s>")) == token_kind::control);
    CHECK(table.kind(at("<unk>")) == token_kind::control);
}

TEST_CASE("the table of a byte-level vocabulary") {
    const vocabulary_parts parts = byte_level();
    const loaded l(parts);
    CHECK(l.tokenizer.type() == LLAMA_VOCAB_TYPE_BPE);
    for (int byte = 0; byte < 256; ++byte)
        CHECK(l.tokenizer.bytes(target_id{byte}) == std::string(1, static_cast<char>(byte)));
    CHECK(l.tokenizer.bytes(target_id{parts.id(byte_letter(' ') + "the")}) == " the");
    CHECK(l.tokenizer.table().kind(static_cast<std::size_t>(parts.id("<tool>"))) ==
          token_kind::user);
    CHECK(l.tokenizer.bytes(target_id{parts.id("<|end|>")}).empty());
}

TEST_CASE("beginning, ends and prompts are the model's own") {
    const vocabulary_parts parts = sentencepiece();
    const loaded pieces(parts);
    CHECK(pieces.tokenizer.begin_token() == target_id{1});
    CHECK(pieces.tokenizer.end_tokens() == ids{target_id{2}, target_id{parts.id("<|im_end|>")}});
    ids prompt;
    pieces.tokenizer.encode_prompt("the</s>", prompt);
    CHECK(prompt == ids{target_id{1}, target_id{parts.id(sign + "the")}, target_id{2}});

    const vocabulary_parts bytes = byte_level();
    const loaded letters(bytes);
    CHECK_FALSE(letters.tokenizer.begin_token().has_value());
    CHECK(letters.tokenizer.end_tokens() ==
          ids{target_id{bytes.id("<|end|>")}, target_id{bytes.id("<|im_end|>")}});
}

TEST_CASE("a space in front is added at the start of a text only") {
    const vocabulary_parts parts = sentencepiece();
    const loaded l(parts);
    const auto id = [&](const std::string& piece) { return target_id{parts.id(piece)}; };
    CHECK(l.encode("the", encode_mode::start) == ids{id(sign + "the")});
    CHECK(l.encode("the") == ids{id("the")});
    CHECK(l.encode(" the") == ids{id(sign + "the")});
    CHECK(l.encode("").empty());
    CHECK(l.encode("", encode_mode::start).empty());
    // Neither behind a user-defined token, where llama_tokenize itself adds one.
    CHECK(l.encode("<tool>the<tool>") == ids{id("<tool>"), id("the"), id("<tool>")});
    CHECK(l.encode("the<tool>cat", encode_mode::start) ==
          ids{id(sign + "the"), id("<tool>"), id("cat")});
    ids theirs(8);
    const auto n =
        llama_tokenize(l.engine.vocab(), "<tool>the", 9, &theirs[0].value, 8, false, false);
    theirs.resize(static_cast<std::size_t>(n));
    CHECK(theirs == ids{id("<tool>"), id(sign + "the")});
    // Appended to what is there.
    ids out{target_id{7}};
    l.tokenizer.encode("the", encode_mode::continuation, out);
    CHECK(out == ids{target_id{7}, id("the")});
}

TEST_CASE("names of control tokens are plain text; every text comes back") {
    const std::string texts[] = {"the cat at the",
                                 "</s> and <s>",
                                 "<|end|><|im_end|>",
                                 "<tool>the cat<tool> <tool><tool>",
                                 "<left over>",
                                 "  the\n\tcat  ",
                                 "caf\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80",
                                 "a\0b"s,
                                 "\x01\x02",
                                 std::string(5000, 'x') + "the"};
    for (const auto& parts : {sentencepiece(), byte_level()}) {
        const loaded l(parts);
        for (const std::string& text : texts) {
            CAPTURE(parts.model, text);
            const ids tokens = l.encode(text);
            CHECK(l.bytes(tokens) == text);
            for (const target_id t : tokens)
                CHECK(l.tokenizer.table().is_text(t.index()));
            const std::string space =
                parts.model == "llama" && !text.starts_with("<tool>") ? " " : "";
            CHECK(l.bytes(l.encode(text, encode_mode::start)) == space + text);
        }
    }
}

TEST_CASE("a drafter's context follows byte for byte") {
    const loaded l(sentencepiece());
    retokenizer<llama_cpp_tokenizer<target_id>, target_id> context(l.tokenizer);
    std::string all;
    for (int i = 0; i < 300; ++i) {
        const std::string_view piece =
            std::string_view("the caf\xC3\xA9 on a cat. ")
                .substr(static_cast<std::size_t>(i % 7), static_cast<std::size_t>(i % 5));
        context.append(piece);
        all += piece;
    }
    const ids tokens(context.ids().begin(), context.ids().end());
    CHECK(tokens == l.encode(all, encode_mode::start));
}

TEST_CASE("two vocabularies are joined by bytes") {
    const vocabulary_parts draft = sentencepiece(), target = byte_level();
    const loaded d(draft), t(target);
    const id_map map = intersect(d.tokenizer.table(), t.tokenizer.table());
    const auto partner = [&](const std::string& piece) {
        return map.to_target(draft_id{draft.id(piece)}).value;
    };
    CHECK(partner(sign + "the") == target.id(byte_letter(' ') + "the"));
    CHECK(partner("<0x0A>") == target.id(byte_letter('\n')));
    CHECK(partner("a") == target.id("a"));
    CHECK(partner("<tool>") == target.id("<tool>"));
    CHECK(partner("</s>") == -1);
    CHECK(partner("ea") == -1);
}

TEST_CASE("copies and moves keep their bytes; a model without vocabulary is refused") {
    const loaded l(sentencepiece());
    auto copy = l.tokenizer;
    const std::string_view view = l.tokenizer.bytes(target_id{270});
    const auto moved = std::move(copy);
    CHECK(moved.bytes(target_id{270}).data() == view.data());

    vocabulary_parts none = sentencepiece();
    none.model = "none";
    const model_file file(architecture::llama, none);
    const loaded_model engine(file);
    CHECK_THROWS_WITH(
        llama_cpp_tokenizer<target_id>(engine.vocab()),
        "llama_vocab_type: vocabulary: expected a model with a vocabulary, found none");
}
