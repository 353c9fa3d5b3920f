// SPDX-License-Identifier: MIT
#include <specdec_engine/tokenizer/file/sentencepiece_model.hpp>

#include <catch2/catch.hpp>

#include <cmath>
#include <string>

#include "tokenizer/toy_files.hpp"

using namespace specdec::engine;
using specdec::encode_mode;
using specdec::token_kind;
using namespace toys;

namespace sentencepiece_model_tests {

tokenizer read(const std::string& bytes) {
    return read_sentencepiece_model(bytes, "toy.model");
}
std::string refusal(const std::string& bytes) {
    return error_of([&] { (void)read(bytes); });
}

// ids 259.. : _ a b _a ab _ab USER "c d", and a piece whose parts are no pieces
std::vector<scored> small() {
    return scored_pieces({{"_", -10},
                          {"a", -11},
                          {"b", -12},
                          {"_a", -2},
                          {"ab", -1},
                          {"_ab", -3},
                          {"x_y", 0, 4},
                          {"QR", -5},
                          {"gone", -1, 5}});
}

TEST_CASE("scores decide, the greatest first") {
    const tokenizer t = read(sentencepiece(small()));
    CHECK(t.vocabulary_size() == 268);
    CHECK(encode(t, "ab") == ids{264});
    CHECK(encode(t, "ab", encode_mode::continuation) == ids{263});
    CHECK(encode(t, "a aab", encode_mode::continuation) == ids{260, 262, 263});
    CHECK(encode(t, "").empty());
    CHECK(encode(t, "QRQ", encode_mode::continuation) == ids{266, 'Q' + 3});
    CHECK(encode(t, "\xC3\xA9\xFF", encode_mode::continuation) == ids{0xC6, 0xAC, 0x102});
    CHECK(t.bytes(264) == " ab");
    CHECK(t.bytes(0).empty());
    CHECK(t.bytes('a' + 3) == "a");
    CHECK(t.bos() == 1);
    CHECK(t.eos() == std::vector<std::int32_t>{2});
    CHECK(t.add_bos());
}

TEST_CASE("equal scores join leftmost first") {
    const tokenizer t = read(sentencepiece(scored_pieces({{"a", -9}, {"aa", -1}})));
    CHECK(encode(t, "aaa", encode_mode::continuation) == ids{260, 259});
}

TEST_CASE("user-defined pieces are matched whole, unused ones never made") {
    const tokenizer t = read(sentencepiece(small()));
    CHECK(encode(t, "ax yb", encode_mode::continuation) == ids{260, 265, 261});
    CHECK(t.bytes(265) == "x y");
    CHECK(t.table().kind(265) == token_kind::user);
    CHECK(t.table().kind(267) == token_kind::unused);
    CHECK(decode(t, encode(t, "gone", encode_mode::continuation)) == "gone");
    CHECK(encode(t, "gone").size() == 5);
    CHECK(encode(t, "<s>").size() == 4);
    CHECK(encode_with_control(t, "<s>ab") == ids{1, 264});
}

TEST_CASE("unused pieces are parts of others, and where they are left their own parts stand") {
    const tokenizer t = read(sentencepiece(scored_pieces(
        {{"a", -11}, {"ab", -1, 5}, {"abab", -2, 5}, {"ababc", -3}, {"c", -9, 5}, {"bab", 0, 5}})));
    const auto next = encode_mode::continuation;
    const std::int32_t a = 259, b = 'b' + 3, c = 'c' + 3;
    CHECK(encode(t, "ababc", next) == ids{262});
    CHECK(encode(t, "ababa", next) == ids{a, b, a, b, a});
    CHECK(encode(t, "acab", next) == ids{a, c, a, b});
    CHECK(encode(t, "babab", next) == ids{b, a, b, a, b});
    CHECK(encode_with_control(t, "ab", next) == ids{a, b}); // their names are no tokens'
}

TEST_CASE("the dummy prefix is an option of the model") {
    const tokenizer t = read(sentencepiece(small(), {}, protobuf{}.integer(3, 0)));
    CHECK(encode(t, "ab") == ids{263});
    CHECK(encode(t, " ab") == ids{264});
}

TEST_CASE("models that are not BPE with the identity normalization") {
    CHECK(refusal(sentencepiece(small(), protobuf{}.integer(3, 1))) ==
          "toy.model: trainer_spec.model_type: expected 2 (BPE), found 1 (unigram)");
    CHECK(refusal(sentencepiece(small(), protobuf{}.integer(24, 1))) ==
          "toy.model: trainer_spec.treat_whitespace_as_suffix: expected false");
    CHECK(refusal(sentencepiece(small(), {}, protobuf{}.text(2, "map"))) ==
          "toy.model: normalizer_spec.precompiled_charsmap: expected none (the identity "
          "normalization)");
    CHECK(refusal(sentencepiece(small(), {}, protobuf{}.integer(4, 1))) ==
          "toy.model: normalizer_spec.remove_extra_whitespaces: expected false");
    CHECK(refusal("") == "toy.model: pieces: expected at least one");
    CHECK(refusal(protobuf{}.text(5, protobuf{}.text(2, "map").bytes).bytes) ==
          "toy.model: denormalizer_spec.precompiled_charsmap: expected none");
}

TEST_CASE("broken pieces") {
    CHECK(refusal(sentencepiece({{"a", 0, 9}})) ==
          "toy.model: pieces[0].type: expected a type from 1 to 6, found 9");
    CHECK(refusal(sentencepiece({{"a", 0, 6}})) ==
          "toy.model: pieces[0]: expected the name of a byte (<0x41>)");
    CHECK(refusal(sentencepiece({{"<0x4g>", 0, 6}})).find("the name of a byte") !=
          std::string::npos);
    CHECK(refusal(sentencepiece({{"", 0, 1}})) ==
          "toy.model: pieces[0]: expected a token that is not empty");
    CHECK(refusal(sentencepiece({{"a", 0}, {"a", 1}})) ==
          "toy.model: pieces[1]: expected each token once, found \"a\" again");
    CHECK(refusal(sentencepiece({{"a", std::nanf("")}})) ==
          "toy.model: pieces: expected scores, found one that is not a number");
    CHECK(refusal(sentencepiece({{std::string(600, 'a'), 0}})) ==
          "toy.model: pieces: expected tokens of at most 512 bytes");
    CHECK(refusal(protobuf{}.text(1, protobuf{}.integer(1, 3).bytes).bytes) ==
          "toy.model: pieces[0].piece: expected wire type 2, found 0");
}

TEST_CASE("every truncation is an error or a smaller model, never worse") {
    const std::string good = sentencepiece(small());
    for (std::size_t n = 0; n < good.size(); ++n) {
        const std::string message = refusal(good.substr(0, n));
        CHECK((message.empty() || message.starts_with("toy.model: ")));
    }
    const std::string endless(12, '\xFF');
    CHECK(refusal(endless) == "toy.model: model: expected integers of at most 10 bytes");
    CHECK(refusal(protobuf{}.varint(1 << 3 | 2).varint(~0ull >> 1).bytes)
              .starts_with("toy.model: model: expected"));
    CHECK(refusal(protobuf{}.varint(1 << 3 | 3).bytes) ==
          "toy.model: model: expected a field of a known wire type, found 3");
}

} // namespace sentencepiece_model_tests
