// SPDX-License-Identifier: MIT
#include <specdec_engine/tokenizer/file/llama2c_tokenizer.hpp>

#include <catch2/catch.hpp>

#include <string>

#include "tokenizer/toy_files.hpp"

using namespace specdec::engine;
using specdec::encode_mode;
using specdec::token_kind;
using namespace toys;

namespace llama2c_tokenizer_tests {

std::vector<scored> small() {
    std::vector<scored> out = scored_pieces({{" ", -9}, {"a", -9}, {" a", -1}});
    out[1].text = "\n<s>\n";
    out[2].text = "\n</s>\n";
    return out;
}
std::string refusal(const std::string& bytes) {
    return error_of([&] { (void)read_llama2c_tokenizer(bytes, "toy.bin"); });
}

TEST_CASE("llama2.c writes spaces as they are") {
    const tokenizer t = read_llama2c_tokenizer(llama2c(small()), "toy.bin");
    CHECK(t.vocabulary_size() == 262);
    CHECK(encode(t, "a a") == ids{261, 261});
    CHECK(encode(t, "a a", encode_mode::continuation) == ids{260, 261});
    CHECK(encode(t, "\xE2\x96\x81", encode_mode::continuation) == ids{0xE5, 0x99, 0x84});
    CHECK(t.table().entry(1) == "<s>");
    CHECK(t.table().kind(0) == token_kind::control);
    CHECK(t.table().kind(3) == token_kind::byte);
    CHECK(t.bos() == 1);
    CHECK(t.add_bos());
    CHECK(t.eos() == std::vector<std::int32_t>{2});
    CHECK(t.find("</s>") == 2);
    CHECK(encode_with_control(t, "<s>a") == ids{1, 261});
}

TEST_CASE("broken llama2.c tokenizers") {
    const std::string good = llama2c(small());
    for (std::size_t n = 0; n < good.size(); n += 7)
        CHECK(refusal(good.substr(0, n)).starts_with("toy.bin: "));
    CHECK(refusal(llama2c(small(), 0)) == "toy.bin: max_token_length: expected at least 1");
    CHECK(refusal(llama2c(small(), 5)) ==
          "toy.bin: tokens[3]: expected a length from 0 to 5, found 6");
    std::vector<scored> pieces = small();
    pieces[4].text = "<0x07>";
    CHECK(refusal(llama2c(pieces)) == "toy.bin: tokens[4]: expected the name of byte 1");
    pieces.resize(3);
    CHECK(refusal(llama2c(pieces)) == "toy.bin: tokens: expected at least 259, found 3");
    CHECK(refusal(raw(std::int32_t{6}) + raw(0.0f) + raw(std::int32_t{-1})) ==
          "toy.bin: tokens[0]: expected a length from 0 to 6, found -1");
}

} // namespace llama2c_tokenizer_tests
