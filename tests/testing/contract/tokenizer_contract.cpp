// SPDX-License-Identifier: MIT
#include <specdec/testing/contract/engine_contract.hpp>

#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "support/archetypes.hpp"
#include "support/contract_faults.hpp"
#include "support/faulty_tokenizer.hpp"
#include "support/sample_texts.hpp"
#include "support/toy_pair.hpp"

using namespace specdec;
using namespace specdec::testing;
using Catch::Contains;

namespace tokenizer_contract_tests {

using settings = tokenizer_contract_settings<target_id>;
using fault = tokenizer_fault;

contract_report check(fault f, settings s = {}) {
    s.control = {target_id{256}, target_id{257}};
    return check_tokenizer<target_id>(faulty_tokenizer<target_id>(f), s);
}

/// For tokenizers of a few letters.
template <class Id>
tokenizer_contract_settings<Id> letters(std::vector<std::string> texts) {
    return {.texts = std::move(texts), .control_names = {}, .invalid_utf8 = {}};
}

const std::vector<std::string> all_clauses{"tokenizer.ids",           "tokenizer.encode_appends",
                                           "tokenizer.empty_text",    "tokenizer.bytes_lifetime",
                                           "tokenizer.piece_bytes",   "tokenizer.control_bytes",
                                           "tokenizer.control_added", "tokenizer.control_names",
                                           "tokenizer.continuation",  "tokenizer.round_trip",
                                           "tokenizer.start",         "tokenizer.invalid_utf8"};

TEST_CASE("a tokenizer that keeps its contract: every clause is checked") {
    const contract_report report = check(fault::none);
    CHECK(report.text() == "");
    CHECK(report.kept == all_clauses);
    CHECK(report.unchecked.empty());
}

TEST_CASE("each fault of a tokenizer violates the clauses it breaks and no other") {
    const std::vector<found_fault<fault>> faults{
        {fault::refuses, "tokenizer.ids",
         "encode(\"The quick brown fox jumps over the lazy dog.\") threw the exception \"not a "
         "text\""},
        {fault::out_of_range, "tokenizer.ids", "id 260 from encode(\"The quick brown fox"},
        {fault::clears_out, "tokenizer.encode_appends", "after 3 other ids"},
        {fault::clears_out_at_start, "tokenizer.encode_appends", "after 3 other ids"},
        {fault::depends_on_out, "tokenizer.encode_appends", "after 3 other ids"},
        {fault::adds_bos, "tokenizer.empty_text tokenizer.control_added",
         "1 ids, the first is 256"},
        {fault::empty_text_is_a_space, "tokenizer.empty_text", "1 ids, the first is 32"},
        {fault::one_buffer, "tokenizer.bytes_lifetime", "bytes of id 0 were \"\\x00\""},
        {fault::replaced_pieces, "tokenizer.piece_bytes tokenizer.round_trip",
         "bytes of ids 128 and 129 are \"\\xef\\xbf\\xbd\" and \"\\xef\\xbf\\xbd\""},
        {fault::space_signs, "tokenizer.piece_bytes tokenizer.round_trip",
         "bytes of id 32 are \"\\xe2\\x96\\x81\""},
        {fault::byte_names, "tokenizer.piece_bytes tokenizer.round_trip",
         "bytes of ids 128 and 129 are \"<0x80>\" and \"<0x81>\""},
        {fault::prints_control, "tokenizer.control_bytes", "bytes of id 256 are \"<s>\""},
        {fault::parses_names, "tokenizer.control_names", "id 256 at position 0 of encode(\"<s>\")"},
        {fault::space_everywhere, "tokenizer.continuation", "bytes \" The quick"},
        {fault::two_spaces, "tokenizer.start", "bytes \"  The quick brown fox"},
        {fault::lower_case, "tokenizer.round_trip", "bytes \"the quick"},
        {fault::doubles_z, "tokenizer.round_trip", "the lazzy dog"},
        {fault::cut_at_zero, "tokenizer.round_trip", "bytes \"a zero\" for \"a zero\\x00byte\""},
        {fault::throws_at_invalid, "tokenizer.invalid_utf8",
         "encode(\"ab\\xff\\xfexy\") threw the exception \"not a text\""},
        {fault::stops_at_invalid, "tokenizer.invalid_utf8", "bytes \"ab\" for \"ab\\xff\\xfexy\""},
    };
    check_faults(faults, [](fault f) { return check(f); });
}

TEST_CASE("a normalising tokenizer says so, and must be stable") {
    const settings s{.normalising = true};
    CHECK(check(fault::lower_case, s).kept == all_clauses);
    CHECK(violated(check(fault::doubles_z, s)) == "tokenizer.round_trip");
    CHECK(violated(check(fault::space_everywhere, s)) == "tokenizer.continuation");
    CHECK(violated(check(fault::space_signs, s)) == "tokenizer.piece_bytes");
}

TEST_CASE("control tokens that are printed come to light in the texts they are added to") {
    // Not given as control tokens, and not without bytes: the text itself is another.
    struct printing : faulty_tokenizer<target_id> {
        printing() : faulty_tokenizer(tokenizer_fault::prints_control) {}
        void encode(std::string_view text, encode_mode where, std::vector<target_id>& out) const {
            out.push_back(bos);
            faulty_tokenizer::encode(text, where, out);
        }
    };
    CHECK(violated(check_tokenizer<target_id>(printing())) ==
          "tokenizer.empty_text tokenizer.round_trip");
    const settings s{.control = {printing::bos}};
    CHECK(violated(check_tokenizer<target_id>(printing(), s)) ==
          "tokenizer.empty_text tokenizer.control_bytes tokenizer.control_added "
          "tokenizer.round_trip");
}

TEST_CASE("tokens that look like displayed ones but are real") {
    struct real : faulty_tokenizer<target_id> {
        std::size_t vocabulary_size() const { return faulty_tokenizer::vocabulary_size() + 4; }
        std::string_view bytes(target_id id) const {
            constexpr std::string_view added[] = {"\ufffd", "<0x0A>", "\u2581", "\u0120a"};
            const std::size_t known = faulty_tokenizer::vocabulary_size();
            return id.index() < known ? faulty_tokenizer::bytes(id) : added[id.index() - known];
        }
    };
    CHECK(check_tokenizer<target_id>(real()).text() == "");
}

TEST_CASE(
    "the toy tokenizers of the tests keep the contract, with what the concept asks for only") {
    const auto abc = letters<draft_id>({"abc", "cab", "a"});
    CHECK(check_tokenizer<draft_id>(tokenizer_archetype<draft_id>(), abc).text() == "");
    const toy_pair pair;
    auto words = letters<target_id>({"abc ab a", " a b c", "cc  b"});
    words.control = {toy_pair::end, toy_pair::mark};
    CHECK(check_tokenizer<target_id>(pair.target, words).text() == "");
    const auto more = letters<draft_id>({"abc ab a", " a b c", "cc  b"});
    CHECK(check_tokenizer<draft_id>(pair.draft, more).text() == "");

    const auto merges = test::learn_merges(test::sample_text(), 200);
    CHECK(check_tokenizer<target_id>(test::toy_bpe<target_id>(merges)).text() == "");
    const test::toy_bpe<target_id> spaced(merges, {.leading_space = true});
    CHECK(check_tokenizer<target_id>(spaced).text() == "");
}

} // namespace tokenizer_contract_tests
