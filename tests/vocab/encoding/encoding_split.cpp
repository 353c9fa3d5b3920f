// SPDX-License-Identifier: MIT
#include <specdec/vocab/encoding/encoding_split.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstddef>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <specdec/core/token_id.hpp>
#include <support/ids.hpp>
#include <support/sample_texts.hpp>
#include <support/toy_tokenizer.hpp>

namespace encoding_split_tests {

using namespace specdec;
using namespace specdec::test;

using ids = std::vector<draft_id>;
using bpe = toy_bpe<draft_id>;

template <class Tokenizer>
encoding_split split(const Tokenizer& tokenizer, std::string_view text, std::size_t earliest,
                     std::size_t latest) {
    encoding_splitter<Tokenizer, draft_id> splitter(tokenizer);
    return splitter.exact(text, encode_mode::start, testing::encoded<draft_id>(tokenizer, text),
                          earliest, latest);
}

TEST_CASE("encoding_split: the last word edge that splits, else another border of tokens") {
    const bpe tokenizer({"th", "the", " w", " wo", "aa"});
    const encoding_split edge = split(tokenizer, "the words the words", 1, 16);
    CHECK(edge.byte == 13); // the one at 9 comes later
    CHECK(edge.token == 7);
    CHECK(split(tokenizer, "the words", 1, 8).byte == 3);
    CHECK(split(tokenizer, "aaaa", 1, 3).byte == 2); // never within a token
    CHECK_FALSE(split(tokenizer, "aaaa", 1, 1).found());
    CHECK_FALSE(split(tokenizer, "aaaa", 3, 3).found());
    CHECK_FALSE(split(tokenizer, "\u4f60", 1, 2).found()); // nor within a character
}

TEST_CASE("encoding_split: the back by itself has the last tokens of the whole") {
    const auto check = [](const auto& tokenizer, std::size_t least = 195) {
        std::mt19937_64 bits(9);
        std::size_t found = 0;
        for (int round = 0; round < 200; ++round) {
            const std::string text = random_text(bits, 200);
            const encoding_split place = split(tokenizer, text, 40, 140);
            if (!place.found())
                continue;
            ++found;
            REQUIRE(place.byte >= 40);
            REQUIRE(place.byte <= 140);
            const ids whole = testing::encoded<draft_id>(tokenizer, text);
            const std::string_view rest = std::string_view(text).substr(place.byte);
            const ids back = testing::encoded<draft_id>(tokenizer, rest, encode_mode::continuation);
            REQUIRE(whole.size() == place.token + back.size());
            REQUIRE(std::equal(back.rbegin(), back.rend(), whole.rbegin()));
        }
        CHECK(found >= least); // of 200
    };
    const bpe gpt2_like(learn_merges(sample_text(), 300));
    check(gpt2_like);
    check(bpe(learn_merges(sample_text(), 300, false), {false, true, true}));
    check(toy_longest_match<draft_id>(learn_merges(sample_text(), 300)));
    check(normalising<bpe, draft_id>(gpt2_like, some_nfc));
    check(normalising<bpe, draft_id>(gpt2_like, clean_up_spaces));
    check(normalising<bpe, draft_id>(gpt2_like, strip_spaces), 100); // none before a space
}

TEST_CASE("encoding_split: by bytes, where no side apart has the whole's tokens") {
    const toy_first_alone<draft_id> tokenizer;
    const std::string text = "abcdefgh"; // a bc de fg h
    CHECK_FALSE(split(tokenizer, text, 1, 6).found());
    encoding_splitter<toy_first_alone<draft_id>, draft_id> splitter(tokenizer);
    const encoding_split place =
        splitter.by_bytes(text, testing::encoded<draft_id>(tokenizer, text), 1, 6);
    CHECK(place.byte == 5);
    CHECK(place.token == 3);
}

} // namespace encoding_split_tests
