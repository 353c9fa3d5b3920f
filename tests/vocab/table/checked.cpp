// SPDX-License-Identifier: MIT
#include <specdec/vocab/table/checked.hpp>

#include <vector>

#include <catch2/catch.hpp>

#include "support/tiny_tokenizer.hpp"
#include <specdec/vocab/table/intersection.hpp>

using namespace specdec;
using namespace specdec::testing;

static_assert(KeepsTable<tiny_tokenizer<target_id>> &&
              !KeepsFingerprint<tiny_tokenizer<target_id>>);

TEST_CASE("an encoding is appended; an id that the tokenizer does not count is refused") {
    struct uncounted : tiny_tokenizer<draft_id> {
        using piece_tokenizer<draft_id>::piece_tokenizer;
        [[nodiscard]] std::size_t vocabulary_size() const { return 2; }
    };
    const uncounted words({"a", "b", "c"});
    std::vector ids{draft_id{7}}; // of whoever was before
    encode(words, "ab", encode_mode::start, ids);
    CHECK(ids == std::vector{draft_id{7}, draft_id{0}, draft_id{1}});
    CHECK_THROWS_WITH(encode(words, "bc", encode_mode::start, ids),
                      "tokenizer: drafter's encoding: expected ids from 0 to 2 - 1, found 2");
}

TEST_CASE("a map is of the two vocabularies, this way around") {
    const tiny_tokenizer<target_id> target({"a", "b", "c"});
    const tiny_tokenizer<draft_id> draft({"b", "a"}), other({"a", "b"});
    CHECK_NOTHROW(require_map(intersect(draft, target), target, draft, "x"));
    CHECK_NOTHROW(require_map(id_map::identity(2, 3), target, draft, "x")); // of unknown ones
    CHECK_THROWS_WITH(
        require_map(intersect(target.table(), draft.table()), target, draft, "x"),
        "x: id map: expected a map from the drafter's 2 ids to the target's 3, found a map "
        "from 3 to 2");
    CHECK_THROWS_WITH(
        require_map(intersect(other, target), target, draft, "x"),
        "x: id map: expected a map from the drafter's vocabulary to the target's, found "
        "a map of other vocabularies");
}

TEST_CASE("a tokenizer that knows its fingerprint is asked for that") {
    struct known : tiny_tokenizer<target_id> {
        using tiny_tokenizer<target_id>::tiny_tokenizer;
        std::uint64_t kept = table().fingerprint();
        [[nodiscard]] std::uint64_t fingerprint() const { return kept; }
    } target({"a", "b", "c"});
    const tiny_tokenizer<draft_id> draft({"b", "a"});
    const id_map map = intersect(draft, target);
    CHECK_NOTHROW(require_map(map, target, draft, "x"));
    ++target.kept;
    CHECK_THROWS(require_map(map, target, draft, "x"));
    struct : tiny_tokenizer<target_id> {
        using tiny_tokenizer<target_id>::tiny_tokenizer;
        [[nodiscard]] const char* fingerprint() const { return "of something else"; }
    } other({"a", "b", "c"});
    CHECK_NOTHROW(require_map(map, other, draft, "x"));
}
