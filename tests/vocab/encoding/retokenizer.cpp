// SPDX-License-Identifier: MIT
#include <specdec/vocab/encoding/retokenizer.hpp>

#include <catch2/catch.hpp>

#include <cstddef>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <specdec/core/token_id.hpp>
#include <support/ids.hpp>
#include <support/sample_texts.hpp>
#include <support/toy_tokenizer.hpp>
#include <support/vocab_tsv.hpp>

namespace retokenizer_tests {

using namespace specdec;
using namespace specdec::test;

using ids = std::vector<draft_id>;
using bpe = toy_bpe<draft_id>;

constexpr auto gpt2_like = test::gpt2_like<draft_id>, llama_like = test::llama_like<draft_id>;
const toy_longest_match<draft_id>& longest_match() {
    static const toy_longest_match<draft_id> tokenizer(learn_merges(sample_text(), 300));
    return tokenizer;
}

using testing::copy_of;
using testing::text_of;

template <class Tokenizer>
ids encode(const Tokenizer& tokenizer, std::string_view text,
           encode_mode where = encode_mode::start) {
    return testing::encoded<draft_id>(tokenizer, text, where);
}

/// Appends the text in random pieces and follows changed_from() as an engine's context would.
template <class Tokenizer>
ids retokenise(const Tokenizer& tokenizer, std::string_view text, std::mt19937_64& bits,
               std::size_t longest = 12) {
    retokenizer<Tokenizer, draft_id> r(tokenizer);
    ids context;
    while (!text.empty()) {
        const std::string_view piece = text.substr(0, 1 + bits() % longest);
        text.remove_prefix(piece.size());
        r.mark();
        r.append(piece);
        REQUIRE(r.changed_from() <= context.size());
        context.resize(r.changed_from());
        context.insert(context.end(), r.ids().begin() + static_cast<std::ptrdiff_t>(context.size()),
                       r.ids().end());
    }
    REQUIRE(context == copy_of(r.ids()));
    return context;
}

template <class Tokenizer>
void check_equal_to_whole(const Tokenizer& tokenizer) {
    std::mt19937_64 bits(1);
    for (int round = 0; round < 60; ++round) {
        const std::string text = random_text(bits, 900);
        REQUIRE(retokenise(tokenizer, text, bits) == encode(tokenizer, text));
    }
    for (const std::string& text : texts_without_words())
        REQUIRE(retokenise(tokenizer, text, bits) == encode(tokenizer, text));
    const std::string text = random_text(bits, 5000);
    REQUIRE(retokenise(tokenizer, text, bits, 3000) == encode(tokenizer, text)); // long pieces
    REQUIRE(retokenise(tokenizer, text, bits, 1) == encode(tokenizer, text));    // byte by byte
}

TEST_CASE("retokenizer: however a text grows, its encoding is that of the whole") {
    SECTION("byte-level with pre-tokens") {
        check_equal_to_whole(gpt2_like());
    }
    SECTION("SentencePiece") {
        check_equal_to_whole(llama_like());
    }
    SECTION("longest match") {
        check_equal_to_whole(longest_match());
    }
}

TEST_CASE("retokenizer: normalising tokenizers lose and double nothing") {
    SECTION("NFC") {
        check_equal_to_whole(normalising<bpe, draft_id>(gpt2_like(), some_nfc));
    }
    SECTION("literal U+2581") {
        check_equal_to_whole(normalising<bpe, draft_id>(llama_like(), literal_space_sign));
    }
    SECTION("space clean-up") {
        check_equal_to_whole(normalising<bpe, draft_id>(gpt2_like(), clean_up_spaces));
    }
    SECTION("spaces stripped off both ends") {
        check_equal_to_whole(normalising<bpe, draft_id>(gpt2_like(), strip_spaces));
    }
}

TEST_CASE("retokenizer: with no place to cut, the text is right and only the cost suffers") {
    // Every encode begins with a mark, so no two encodes ever make one.
    const normalising<bpe, draft_id> marking(
        gpt2_like(), [](std::string_view text) { return "^" + std::string(text); });
    std::mt19937_64 bits(2);
    const std::string text = random_text(bits, 3000);
    CHECK(retokenise(marking, text, bits) == encode(marking, text));

    // A run of spaces that all become one.
    const normalising<bpe, draft_id> cleaning(gpt2_like(), clean_up_spaces);
    const std::string spaces = "a" + std::string(2000, ' ') + "b";
    CHECK(retokenise(cleaning, spaces, bits) == encode(cleaning, spaces));
}

TEST_CASE("retokenizer: where parts never have the whole's tokens, cuts keep the bytes") {
    const toy_first_alone<draft_id> tokenizer;
    std::mt19937_64 bits(6);
    std::string text;
    for (int i = 0; i < 4000; ++i)
        text += static_cast<char>('a' + bits() % 26);
    const std::size_t before = tokenizer.encoded_bytes;
    CHECK(text_of(tokenizer, retokenise(tokenizer, text, bits)) == text);
    CHECK(tokenizer.encoded_bytes - before < 200 * text.size());
}

TEST_CASE("retokenizer: an unfinished character is bytes where the tokenizer can") {
    retokenizer<bpe, draft_id> r(gpt2_like());
    r.append("caf\xc3");
    CHECK(text_of(gpt2_like(), r.ids()) == "caf\xc3");
    r.append("\xa9");
    CHECK(copy_of(r.ids()) == encode(gpt2_like(), "caf\u00e9"));
}

TEST_CASE("retokenizer: an unfinished character is held back where the tokenizer cannot") {
    const normalising<bpe, draft_id> whole(gpt2_like(), whole_characters);
    const std::string text = "na\u00efve \U0001F600 \u4f60\u597d and so on, " + sample_text();
    retokenizer<normalising<bpe, draft_id>, draft_id> r(whole);
    std::size_t held = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        r.append(text.substr(i, 1));
        const std::string known = text.substr(0, i + 1);
        REQUIRE(text_of(whole, r.ids()) == known.substr(0, known.size() - utf8_tail(known)));
        held += utf8_tail(known) > 0;
    }
    CHECK(held > 20);
    CHECK(copy_of(r.ids()) == encode(whole, text));

    r.append("\xf0\x9f"); // its rest never comes
    const std::size_t before = r.ids().size();
    r.append_special(draft_id{7});
    CHECK(r.ids().back() == draft_id{7});
    CHECK(r.ids().size() > before + 1); // said, as far as the tokenizer can
}

TEST_CASE("retokenizer: special tokens end a run of text") {
    retokenizer<bpe, draft_id> r(llama_like());
    const draft_id bos{1}, end{2};
    r.append_special(bos, encode_mode::start);
    r.append("The");
    r.append(" dog");
    r.append_special(end);
    r.append("The dog");

    ids expected{bos};
    for (const draft_id id : encode(llama_like(), "The dog"))
        expected.push_back(id);
    expected.push_back(end);
    const ids second = encode(llama_like(), "The dog", encode_mode::continuation);
    expected.insert(expected.end(), second.begin(), second.end());
    CHECK(copy_of(r.ids()) == expected);
    CHECK(text_of(llama_like(), second) == "The dog"); // no space added in front

    r.reset();
    CHECK(r.ids().empty());
    CHECK(r.changed_from() == 0);
    r.append("The");
    CHECK(copy_of(r.ids()) == encode(llama_like(), "The"));
}

TEST_CASE("retokenizer: changed_from is the oldest change since the mark") {
    retokenizer<bpe, draft_id> r(gpt2_like());
    r.append("the lazy brow");
    const std::size_t size = r.ids().size();
    r.mark();
    CHECK(r.changed_from() == size);
    r.append("");
    CHECK(r.changed_from() == size);
    r.append("n"); // the last word changes
    const std::size_t changed = r.changed_from();
    CHECK(changed < size);
    r.append(" four and more words to come, so many that the first ones are settled long ago");
    CHECK(r.changed_from() == changed);
    r.mark();
    r.append_special(draft_id{3});
    CHECK(r.changed_from() == r.ids().size() - 1);
}

TEST_CASE("retokenizer: the cost of an append does not depend on the context") {
    const std::size_t look_behind = retokenizer_options{}.look_behind;
    const auto check = [&](const auto& tokenizer) {
        using T = std::remove_cvref_t<decltype(tokenizer)>;
        std::mt19937_64 bits(3);
        for (const std::size_t context : {std::size_t{200}, std::size_t{20000}}) {
            retokenizer<T, draft_id> r(tokenizer);
            r.append(random_text(bits, context));
            std::size_t most = 0, sum = 0, appends = 300;
            for (std::size_t i = 0; i < appends; ++i) {
                const std::string piece = random_text(bits, 6).substr(0, 6);
                const std::size_t before = tokenizer.encoded_bytes;
                r.append(piece);
                const std::size_t cost = tokenizer.encoded_bytes - before;
                most = cost > most ? cost : most;
                sum += cost;
            }
            CHECK(most <= 8 * look_behind); // the live text, and a few places looked at
            CHECK(sum <= appends * 3 * look_behind);
        }
    };
    check(gpt2_like());
    check(normalising<bpe, draft_id>(gpt2_like(), some_nfc));
    check(longest_match());
}

/// SentencePiece BPE needs no pre-tokens: the toy's rule with the real ranks is the real encoder.
void check_real(const std::string& name) {
    vocab_tsv file = read_vocab_tsv(name);
    const bpe tokenizer(std::move(file.table), file.ranks, {false, true, true});
    std::mt19937_64 bits(4);
    for (int round = 0; round < 10; ++round) {
        const std::string text = random_text(bits, 600);
        REQUIRE(retokenise(tokenizer, text, bits) == encode(tokenizer, text));
    }
}

TEST_CASE("retokenizer: 6,000 pieces of Mistral's real vocabulary") {
    check_real("mistral_v1_part");
}

TEST_CASE("retokenizer: Llama 2's real vocabulary", "[shared]") {
    if (has_vocabularies())
        check_real("llama2");
}

} // namespace retokenizer_tests
