// SPDX-License-Identifier: MIT
#include <specdec/vocab/encoding/continuation.hpp>

#include <catch2/catch.hpp>

#include <cstddef>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <support/ids.hpp>
#include <support/sample_texts.hpp>
#include <support/toy_tokenizer.hpp>

namespace continuation_tests {

using namespace specdec;
using namespace specdec::test;

using ids = std::vector<target_id>;
using bpe = toy_bpe<target_id>;
using normalising_bpe = normalising<bpe, target_id>;

constexpr auto gpt2_like = test::gpt2_like<target_id>, llama_like = test::llama_like<target_id>;

template <class Tokenizer>
ids encode(const Tokenizer& tokenizer, std::string_view text) {
    return testing::encoded(tokenizer, text, encode_mode::continuation);
}

/// Tokens of these very bytes, one after the other.
template <class Tokenizer>
ids tokens_of(const Tokenizer& tokenizer, const std::vector<std::string>& pieces) {
    ids out;
    for (const std::string& piece : pieces)
        for (std::size_t i = tokenizer.vocabulary_size(); i-- > 0;)
            if (tokenizer.bytes(id_at<target_id>(i)) == piece) {
                out.push_back(id_at<target_id>(i));
                break;
            }
    REQUIRE(out.size() == pieces.size());
    return out;
}

template <class Tokenizer>
std::vector<std::string> pieces_of(const Tokenizer& tokenizer, const ids& tokens) {
    std::vector<std::string> pieces;
    for (const target_id id : tokens)
        pieces.emplace_back(tokenizer.bytes(id));
    return pieces;
}

template <class Tokenizer>
std::vector<std::string> continued(const Tokenizer& tokenizer, const ids& committed,
                                   std::string_view draft) {
    continuation_encoder<Tokenizer> encoder(tokenizer);
    ids out;
    encoder.encode(committed, draft, out);
    return pieces_of(tokenizer, out);
}

using pieces = std::vector<std::string>;

TEST_CASE("continuation: cut as the whole text is cut, not as the draft alone") {
    // Digits go in threes from the left: 123 456 7, so 234567 is cut otherwise behind 1 than alone.
    const bpe digits({"23", "45", "56"});
    const ids committed = tokens_of(digits, {"1"});
    CHECK(pieces_of(digits, encode(digits, "234567")) == pieces{"23", "4", "56", "7"});
    CHECK(continued(digits, committed, "234567") == pieces{"23", "45", "6", "7"});
    // Within a token that is committed otherwise: the draft alone.
    CHECK(continued(digits, tokens_of(digits, {"2"}), "3 45") == pieces{"3", " ", "45"});
}

TEST_CASE("continuation: special tokens and the sequence's beginning end the window") {
    vocabulary table;
    table.add("</s>", token_kind::control);
    std::vector<std::int32_t> ranks{0};
    for (const char* entry : {"a", "b", "ab", "abab", "1", "2", "3", "4", "5", "23", "45"}) {
        table.add(entry, token_kind::normal);
        ranks.push_back(static_cast<std::int32_t>(ranks.size()));
    }
    const bpe tokenizer(table, ranks, {});
    const target_id end{0}, a{1}, ab{3}, one{5};
    CHECK(continued(tokenizer, {}, "abab") == pieces{"abab"});
    CHECK(continued(tokenizer, {ab, end}, "abab") == pieces{"abab"});
    CHECK(continued(tokenizer, {end, ab, ab}, "abab") == pieces{"abab"});
    CHECK(continued(tokenizer, {end, ab}, "ab") == pieces{"ab"}); // E2 = abab has no border there
    CHECK(continued(tokenizer, {end, a}, "") == pieces{});
    CHECK(continued(tokenizer, {end, one}, "2345") == pieces{"23", "45"});
    CHECK(continued(tokenizer, {one, end}, "2345") == pieces{"23", "4", "5"}); // begins anew
}

TEST_CASE("continuation: normalised alike on both sides of the join") {
    SECTION("NFC: the target wrote the accent as a token of its own") {
        const normalising_bpe tokenizer(gpt2_like(), some_nfc);
        const ids committed = tokens_of(tokenizer, {"C", "a", "f", "e", "\xcc", "\x81"});
        CHECK(continued(tokenizer, committed, " and words") ==
              pieces_of(tokenizer, encode(tokenizer, " and words")));
        // The accent comes with the draft: nothing to align with, nothing lost.
        CHECK(continued(tokenizer, tokens_of(tokenizer, {"C", "a", "f", "e"}), "\u0301 and") ==
              pieces_of(tokenizer, encode(tokenizer, "\u0301 and")));
    }
    SECTION("SentencePiece: a literal U+2581 in the committed text") {
        const normalising_bpe tokenizer(llama_like(), literal_space_sign);
        const ids committed = tokens_of(tokenizer, {"a", "\xe2", "\x96", "\x81"});
        CHECK(continued(tokenizer, committed, " the\u2581words") ==
              pieces_of(tokenizer, encode(tokenizer, " the words")));
    }
    SECTION("space clean-up: no space before a full stop") {
        const normalising_bpe tokenizer(gpt2_like(), clean_up_spaces);
        const ids committed = encode(tokenizer, "the words");
        CHECK(continued(tokenizer, committed, " . The") ==
              pieces_of(tokenizer, encode(tokenizer, ". The")));
        CHECK(continued(tokenizer, encode(gpt2_like(), "the words "), "and") ==
              pieces_of(tokenizer, encode(tokenizer, "and")));
    }
    SECTION("spaces stripped off the ends: none is doubled, none lost at the join") {
        const normalising_bpe tokenizer(gpt2_like(), strip_spaces);
        CHECK(continued(tokenizer, encode(gpt2_like(), "the words"), " and") == pieces{" and"});
        CHECK(continued(tokenizer, encode(gpt2_like(), "the words "), "and") ==
              pieces_of(tokenizer, encode(tokenizer, "and")));
    }
}

TEST_CASE("continuation: characters cut at the join and at the draft's end") {
    const bpe tokenizer({"\xe4\xbd\xa0", "\xbd\xa0"});
    // The rest of the character is encoded apart: as one token if T has it, else as bytes.
    CHECK(continued(tokenizer, tokens_of(tokenizer, {"\xe4"}), "\xbd\xa0 a") ==
          pieces{"\xbd\xa0", " ", "a"});
    CHECK(continued(tokenizer, tokens_of(tokenizer, {"\xe4", "\xbd"}), "\xa0") == pieces{"\xa0"});
    CHECK(continued(tokenizer, tokens_of(tokenizer, {"a"}), "b\xe4\xbd") ==
          pieces{"b", "\xe4", "\xbd"});

    // A tokenizer of whole characters would write U+FFFD: byte tokens instead.
    const normalising_bpe whole(tokenizer, whole_characters);
    CHECK(continued(whole, tokens_of(whole, {"\xe4"}), "\xbd\xa0 a") ==
          pieces{"\xbd", "\xa0", " ", "a"});
    CHECK(continued(whole, tokens_of(whole, {"a"}), "b\xe4\xbd") == pieces{"b", "\xe4", "\xbd"});
    CHECK(continued(whole, {}, "\xe4") == pieces{"\xe4"});

    // Byte fallback: a character without a token of its own.
    const ids committed = encode(llama_like(), "so \U0001F680");
    CHECK(committed.size() >= 5);
    CHECK(continued(llama_like(), {committed.begin(), committed.end() - 2}, "\x9a\x80 and") ==
          pieces{"\x9a", "\x80", " and"});
}

struct acceptance {
    std::size_t aligned = 0, alone = 0; ///< tokens that equal the text's own
    std::size_t lost = 0;               ///< drafts whose bytes the proposal does not give back
};

/// The target writes texts as its tokenizer cuts them; the drafter writes the next bytes rightly.
template <class Tokenizer>
acceptance measure(const Tokenizer& tokenizer) {
    std::mt19937_64 bits(7);
    continuation_encoder<Tokenizer> encoder(tokenizer);
    acceptance result;
    for (int round = 0; round < 2000; ++round) {
        const ids text = testing::encoded(tokenizer, random_text(bits, 250));
        const std::size_t at = 1 + bits() % (text.size() - 1);
        const std::string draft =
            testing::text_of(tokenizer, std::span(text).subspan(at)).substr(0, 3 + bits() % 25);
        const auto accepted = [&](const ids& proposal) {
            std::size_t n = 0;
            while (n < proposal.size() && at + n < text.size() && proposal[n] == text[at + n])
                ++n;
            return n;
        };
        ids proposal;
        encoder.encode(std::span(text).first(at), draft, proposal);
        result.aligned += accepted(proposal);
        result.alone += accepted(encode(tokenizer, draft));
        result.lost += testing::text_of(tokenizer, proposal) != draft;
    }
    return result;
}

TEST_CASE("continuation: aligned proposals are accepted more often than those encoded alone") {
    const auto check = [](const auto& tokenizer, bool strictly) {
        const acceptance result = measure(tokenizer);
        CHECK(result.aligned >= result.alone);
        if (strictly)
            CHECK(result.aligned > result.alone);
        CHECK(result.lost == 0);
    };
    check(gpt2_like(), true);
    check(llama_like(), false);
    check(toy_longest_match<target_id>(learn_merges(sample_text(), 300)), false);
    check(normalising_bpe(gpt2_like(), some_nfc), true);
    check(normalising_bpe(gpt2_like(), clean_up_spaces), true);
    check(normalising_bpe(llama_like(), literal_space_sign), false);
    check(normalising_bpe(gpt2_like(), whole_characters), true);

    // A tokenizer that strips spaces encodes no word's beginning alone: alignment is all there is.
    const acceptance stripped = measure(normalising_bpe(gpt2_like(), strip_spaces));
    CHECK(2 * stripped.aligned > 3 * stripped.alone);
}

TEST_CASE("continuation: the cost does not depend on the context") {
    std::mt19937_64 bits(8);
    const ids text = encode(gpt2_like(), random_text(bits, 20000));
    continuation_encoder<bpe> encoder(gpt2_like());
    ids out;
    const std::size_t before = gpt2_like().encoded_bytes;
    for (int i = 0; i < 100; ++i)
        encoder.encode(text, " and some more words", out);
    const std::size_t behind = continuation_options{}.look_behind;
    CHECK(gpt2_like().encoded_bytes - before <= 100 * 3 * (2 * behind + 20));
    CHECK(gpt2_like().encoded_bytes - before >= 100 * (behind + 20)); // but as much is looked at
}

} // namespace continuation_tests
