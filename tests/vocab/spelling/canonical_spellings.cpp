// SPDX-License-Identifier: MIT
#include <specdec/vocab/spelling/canonical_spellings.hpp>

#include <string>
#include <string_view>
#include <vector>

#include <catch2/catch.hpp>

#include "support/toy_pair.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace {

std::vector<draft_id> spelling(const canonical_spellings& table, target_id t) {
    const auto ids = table.of(t);
    return {ids.begin(), ids.end()};
}
std::vector<target_id> beginners(const canonical_spellings& table, draft_id d) {
    const auto ids = table.beginning_with(d);
    return {ids.begin(), ids.end()};
}

/// A draft tokenizer that writes upper case as lower case.
struct lower_case {
    draft_words words;
    [[nodiscard]] std::size_t vocabulary_size() const { return words.vocabulary_size(); }
    [[nodiscard]] std::string_view bytes(draft_id d) const { return words.bytes(d); }
    void encode(std::string_view text, encode_mode where, std::vector<draft_id>& out) const {
        std::string lower(text);
        for (char& c : lower)
            c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
        words.encode(lower, where, out);
    }
};

} // namespace

TEST_CASE("every target token as the drafter's tokenizer writes it") {
    const toy_pair two;
    const canonical_spellings& table = two.spellings;
    CHECK(table.target_size() == 9);
    CHECK(table.draft_size() == 10);
    CHECK(table.longest() == 3);
    for (const char* const text : {"a", "b", "c", " ", " a", "ab", "abc"}) {
        const target_id t = two.encode(text)[0];
        CAPTURE(text);
        CHECK(text_of(two.draft, table.of(t)) == text);
        CHECK(spelling(table, t) == two.encode_draft(text));
    }
    CHECK(spelling(table, toy_pair::end) == std::vector{toy_pair::stop}); // paired by the map
    CHECK(spelling(table, toy_pair::mark).empty());

    const draft_id a = two.encode_draft("a")[0];
    CHECK(beginners(table, a) ==
          std::vector{two.encode("a")[0], two.encode("ab")[0], two.encode("abc")[0]});
    CHECK(beginners(table, draft_id{9}).empty()); // a duplicate, which nobody writes
    CHECK(beginners(table, toy_pair::bos).empty());
}

TEST_CASE("a second id of equal bytes has no spelling") {
    const target_words target{{"a", "b", "a"}};
    const draft_words draft{{"b", "a"}};
    const id_map map = intersect(draft.table(), target.table());
    const canonical_spellings table(target, draft, map);
    CHECK(spelling(table, target_id{0}) == std::vector{draft_id{1}});
    CHECK(spelling(table, target_id{2}).empty());
}

TEST_CASE("the token that a draft token alone spells comes first") {
    const target_words target{{"ab", "aa", "a"}};
    const draft_words draft{{"a", "b"}};
    const canonical_spellings table(target, draft, intersect(draft.table(), target.table()));
    CHECK(beginners(table, draft_id{0}) == std::vector{target_id{2}, target_id{0}, target_id{1}});
}

TEST_CASE("two ids of equal bytes that the drafter lacks have equal spellings") {
    const target_words target{{"ab", "ab"}};
    const draft_words draft{{"a", "b"}};
    const canonical_spellings table(target, draft, intersect(draft.table(), target.table()));
    CHECK(spelling(table, target_id{0}) == std::vector{draft_id{0}, draft_id{1}});
    CHECK(spelling(table, target_id{1}) == spelling(table, target_id{0}));
    CHECK(beginners(table, draft_id{0}) == std::vector{target_id{0}, target_id{1}});
}

TEST_CASE("a spelling gives back the exact bytes or is none") {
    const target_words target{{"Ab", "ab", "b"}};
    const lower_case draft{draft_words{{"a", "b"}}};
    const id_map map = intersect(draft.words.table(), target.table());
    const canonical_spellings table(target, draft, map);
    CHECK(spelling(table, target_id{0}).empty());
    CHECK(spelling(table, target_id{1}) == std::vector{draft_id{0}, draft_id{1}});
}

TEST_CASE("vocabularies without a common letter have no spellings") {
    const target_words target{{"<end>"}};
    const draft_words draft{{"<bos>"}};
    const canonical_spellings table(target, draft, intersect(draft.table(), target.table()));
    CHECK(table.longest() == 0);
    CHECK(spelling(table, target_id{0}).empty());
}
