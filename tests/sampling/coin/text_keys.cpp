// SPDX-License-Identifier: MIT
#include <specdec/sampling/coin/text_keys.hpp>

#include <set>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "support/toy_pair.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace {

template <class Id>
std::size_t different(const text_keys& keys) {
    const auto span = keys.of<Id>();
    return std::set<std::uint32_t>(span.begin(), span.end()).size();
}

std::uint32_t target_key(const text_keys& keys, int t) {
    return keys.of<target_id>()[static_cast<std::size_t>(t)];
}
std::uint32_t draft_key(const text_keys& keys, int d) {
    return keys.of<draft_id>()[static_cast<std::size_t>(d)];
}

/// Ids of the given names, all text.
struct named_tokens {
    std::vector<std::string> names;
    std::size_t vocabulary_size() const { return names.size(); }
    std::string_view bytes(target_id id) const { return names[id.index()]; }
    void encode(std::string_view, encode_mode, std::vector<target_id>&) const {}
};

} // namespace

TEST_CASE("tokens that the map joins share a key, and no others do") {
    const toy_pair two;
    const text_keys keys(two.target, two.map);
    REQUIRE(keys.of<target_id>().size() == 9);
    REQUIRE(keys.of<draft_id>().size() == 10);
    CHECK(different<target_id>(keys) == 9);
    CHECK(different<draft_id>(keys) == 10);
    for (int d = 0; d < 10; ++d)
        for (int t = 0; t < 9; ++t) {
            CAPTURE(d, t);
            const bool joined = two.map.to_draft(target_id{t}) == draft_id{d};
            CHECK((draft_key(keys, d) == target_key(keys, t)) == joined);
        }
    // Control tokens too: <stop> is <end>, <bos> and <mark> are nothing of the other side.
    CHECK(draft_key(keys, toy_pair::stop.value) == target_key(keys, toy_pair::end.value));
}

TEST_CASE("of ids with equal bytes the canonical one has the key that both sides share") {
    // As in SentencePiece: the byte token stands before the letter, which is the one in use.
    vocabulary target, draft;
    target.add("a", token_kind::byte);
    target.add("a", token_kind::normal);
    draft.add("a", token_kind::byte);
    draft.add("b", token_kind::normal);
    draft.add("a", token_kind::normal);
    const id_map map = intersect(draft, target);
    const text_keys keys(named_tokens{{"a", "a"}}, map);
    CHECK(target_key(keys, 0) != target_key(keys, 1));
    CHECK(draft_key(keys, 2) == target_key(keys, 1));
    CHECK(different<draft_id>(keys) == 3);
}

TEST_CASE("the target's keys depend on neither the drafter nor the numbering of other tokens") {
    const toy_pair two;
    const text_keys alone(two.target), paired(two.target, two.map);
    CHECK(alone.of<draft_id>().empty());
    for (int t = 0; t < 9; ++t)
        CHECK(target_key(alone, t) == target_key(paired, t));
    const text_keys forward(named_tokens{{"x", "yy", "z"}});
    const text_keys back(named_tokens{{"z", "new", "yy", "x"}});
    CHECK(target_key(forward, 0) == target_key(back, 3));
    CHECK(target_key(forward, 1) == target_key(back, 2));
    CHECK(target_key(forward, 2) == target_key(back, 0));
}

TEST_CASE("widths are the lengths in bytes, 1 for control tokens") {
    const toy_pair two;
    const text_keys keys(two.target);
    CHECK(std::vector<std::uint32_t>(keys.widths().begin(), keys.widths().end()) ==
          std::vector<std::uint32_t>{1, 1, 1, 1, 1, 2, 2, 1, 3});
}

TEST_CASE("keys of a large vocabulary, of one with many equal ids and of an empty one differ") {
    std::vector<std::string> names; // some 11 pairs of 300,000 hashes collide in 32 bits
    for (int i = 0; i < 300'000; ++i)
        names.push_back(std::to_string(i));
    CHECK(different<target_id>(text_keys(named_tokens{names})) == 300'000);
    CHECK(different<target_id>(text_keys(named_tokens{std::vector<std::string>(2000, "same")})) ==
          2000);
    CHECK(different<target_id>(text_keys(named_tokens{std::vector<std::string>(2000)})) == 2000);
    CHECK(different<target_id>(text_keys(named_tokens{})) == 0);
}

TEST_CASE("a drafter with more ids than the target's tokenizer knows") {
    const toy_pair two;
    const id_map same = id_map::identity(12, 11); // both models padded beyond the 9 tokens
    const text_keys keys(two.target, same);
    CHECK(different<draft_id>(keys) == 12);
    for (int i = 0; i < 9; ++i)
        CHECK(draft_key(keys, i) == target_key(keys, i));
}
