// SPDX-License-Identifier: MIT
#include <specdec/vocab/table/intersection.hpp>

#include <catch2/catch.hpp>

#include "support/holds.hpp"
#include "support/tables.hpp"
#include "support/tiny_tokenizer.hpp"

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

namespace intersection_tests {

using namespace specdec;
using testing::table_of;

constexpr auto normal = token_kind::normal;
constexpr auto byte = token_kind::byte;
constexpr auto user = token_kind::user;
constexpr auto control = token_kind::control;
constexpr auto unused = token_kind::unused;

std::vector<std::int32_t> to_target(const id_map& map) {
    return {map.draft_to_target().begin(), map.draft_to_target().end()};
}
std::vector<std::int32_t> to_draft(const id_map& map) {
    return {map.target_to_draft().begin(), map.target_to_draft().end()};
}

TEST_CASE("intersect: equal bytes of text tokens, never control, unused or empty ones") {
    const vocabulary draft = table_of({{"a", normal},
                                       {"<s>", control},
                                       {"x", unused},
                                       {"", normal},
                                       {" b", user},
                                       {"\n", byte},
                                       {"only", normal}});
    const vocabulary target = table_of({{"\n", normal},
                                        {" b", normal},
                                        {"x", normal},
                                        {"", user},
                                        {"<s>", normal},
                                        {"a", byte},
                                        {"a", control}});
    const id_map map = intersect(draft, target);
    CHECK(to_target(map) == std::vector<std::int32_t>{5, -1, -1, -1, 1, 0, -1});
    CHECK(to_draft(map) == std::vector<std::int32_t>{5, 4, -1, -1, -1, 0, -1});
    CHECK(map.shared() == 3);
    CHECK(map.draft_fingerprint() == draft.fingerprint());
    CHECK(map.target_fingerprint() == target.fingerprint());
}

TEST_CASE("intersect: of tokens with equal bytes the one the tokenizer writes is canonical") {
    const vocabulary sentencepiece =
        table_of({{"A", byte}, {"B", byte}, {"A", normal}, {"A", user}, {"C", byte}, {"C", byte}});
    const vocabulary byte_level = table_of({{"A", normal}, {"B", normal}, {"C", normal}});

    const id_map into = intersect(byte_level, sentencepiece);
    CHECK(to_target(into) == std::vector<std::int32_t>{2, 1, 4}); // normal before byte, then lowest
    CHECK(to_draft(into) == std::vector<std::int32_t>{-1, 1, 0, -1, 2, -1});

    const id_map from = intersect(sentencepiece, byte_level);
    CHECK(to_target(from) == std::vector<std::int32_t>{0, 1, 0, 0, 2, 2}); // all of them map
    CHECK(to_draft(from) == std::vector<std::int32_t>{2, 1, 4});
    CHECK(from.next_duplicate(draft_id{2}) == draft_id{0});
    CHECK(from.next_duplicate(draft_id{0}) == draft_id{3});
    CHECK_FALSE(from.next_duplicate(draft_id{3}).valid());
    CHECK(from.shared() == 6);
    CHECK(from.shared_targets() == 3);
}

TEST_CASE("intersect: equivalences join control tokens and override the join by bytes") {
    const vocabulary draft = table_of(
        {{"</s>", control}, {"<end>", control}, {"a", normal}, {"a", user}, {"b", normal}});
    const vocabulary target =
        table_of({{"a", normal}, {"<|im_end|>", control}, {"<|pad|>", control}, {"b", normal}});
    equivalences e;
    e.add("<end>", "<|im_end|>");
    e.add("</s>", "<|im_end|>");
    e.add(draft_id{2}, "<|pad|>"); // was the canonical draft id of the target's a
    e.add(draft_id{4}, target_id{0});
    const id_map map = intersect(draft, target, e);
    CHECK(to_target(map) == std::vector<std::int32_t>{1, 1, 2, 0, 0});
    CHECK(to_draft(map) == std::vector<std::int32_t>{4, 1, 2, -1}); // the first named is canonical
    CHECK(map.next_duplicate(draft_id{4}) == draft_id{3});
    CHECK(map.next_duplicate(draft_id{1}) == draft_id{0});
}

TEST_CASE("intersect: agrees with comparing every pair, whatever the tables") {
    const auto tables = rc::gen::map( // length, letter and kind of each token
        up_to(40, rc::gen::tuple(any_in(0, 2), any_in(0, 2), any_in(0, 4))), [](const auto& drawn) {
            vocabulary v;
            for (const auto& [length, letter, kind] : drawn)
                v.add(std::string(length, "abc"[letter]), static_cast<token_kind>(kind));
            return v;
        });
    const auto require_agreement = [](const vocabulary& draft, const vocabulary& target) {
        const id_map map = intersect(draft, target);
        for (std::size_t d = 0; d < draft.size(); ++d) {
            const target_id t = map.to_target(id_at<draft_id>(d));
            bool any = false, any_normal = false;
            for (std::size_t i = 0; i < target.size(); ++i) {
                if (draft.text(d).empty() || target.text(i) != draft.text(d))
                    continue;
                any = true;
                any_normal = any_normal || target.kind(i) != token_kind::byte;
            }
            RC_ASSERT(t.valid() == any);
            if (!any)
                continue;
            RC_ASSERT(target.text(t.index()) == draft.text(d));
            RC_ASSERT((target.kind(t.index()) != token_kind::byte) == any_normal);
            RC_ASSERT(map.to_target(map.to_draft(t)) == t);
        }
    };
    testing::require_holds([&] { require_agreement(*tables, *tables); }, {.cases = 200});
}

TEST_CASE("tokenizers are intersected by their tables") {
    const testing::tiny_tokenizer<draft_id> draft({"b", "a", "<end>"});
    const testing::tiny_tokenizer<target_id> target({"a", "ab", "b", "<stop>"});
    equivalences equal;
    equal.add("<end>", "<stop>");
    const id_map map = intersect(draft, target, equal);
    CHECK(map.draft_to_target()[0] == 2);
    CHECK(map.draft_to_target()[1] == 0);
    CHECK(map.draft_to_target()[2] == 3);
    CHECK(map.draft_fingerprint() == draft.table().fingerprint());
    CHECK(map.target_fingerprint() == target.table().fingerprint());
}

} // namespace intersection_tests
