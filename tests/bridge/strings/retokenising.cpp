// SPDX-License-Identifier: MIT
#include <specdec/bridge/strings/retokenising.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/vocab/table/intersection.hpp>

#include "support/ids.hpp"
#include "support/tiny_tokenizer.hpp"
#include "support/toy_tokenizer.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace {

template <class Target>
struct retokenising_pair {
    Target target;
    tiny_tokenizer<draft_id> draft;
    id_map map;
    byte_order<draft_id> order{draft};
    safe_cuts edges{target};
    retokenising<Target, tiny_tokenizer<draft_id>> f{target, draft, map, order, edges};

    retokenising_pair(Target t, std::vector<std::string> pieces, id_map m)
        : target(std::move(t)), draft(pieces), map(std::move(m)) {}
    /// Nothing is equal by the map, which serves for control tokens only.
    retokenising_pair(Target t, const std::vector<std::string>& pieces)
        : target(std::move(t)), draft(pieces),
          map(std::vector<std::int32_t>(draft.vocabulary_size(), -1),
              std::vector<std::int32_t>(target.vocabulary_size(), -1), 0, 0) {}

    /// The tokens settled after every draft token, and at the end.
    [[nodiscard]] std::vector<std::vector<int>> settled(const std::vector<int>& ids) const {
        auto s = typename decltype(f)::state_type{};
        std::vector<std::vector<int>> all;
        const auto note = [&] { all.push_back(values_of(s.tokens)); };
        for (const int d : ids) {
            const bool goes_on = f.step(s, draft_id{d});
            note();
            if (!goes_on)
                break;
        }
        f.finish(s);
        note();
        return all;
    }
};

using steps = std::vector<std::vector<int>>;

} // namespace

TEST_CASE("retokenising settles a token once longer text cannot change it") {
    using words = tiny_tokenizer<target_id>;
    const retokenising_pair<words> two(words({"a", "b", "ab", "abc", "c"}), {"a", "b", "c"});
    CHECK(two.settled({0, 1}) == steps{{}, {}, {2}});
    CHECK(two.settled({0, 1, 2}) == steps{{}, {}, {3}, {3}}); // nothing begins with abc and goes on
    CHECK(two.settled({0, 0, 1}) == steps{{}, {0}, {0}, {0, 2}});
    CHECK(two.settled({1, 0}) == steps{{1}, {1}, {1, 0}});
}

TEST_CASE("retokenising: a control token ends the draft, its equal in T comes last") {
    using words = tiny_tokenizer<target_id>;
    const words target({"a", "ab", "b", "<end>"});
    const tiny_tokenizer<draft_id> draft({"a", "<stop>", "<other>"});
    equivalences same;
    same.add(draft_id{1}, target_id{3});
    const retokenising_pair<words> two(target, {"a", "<stop>", "<other>"},
                                       intersect(draft.table(), target.table(), same));
    CHECK(two.settled({0, 1, 0}) == steps{{}, {0, 3}, {0, 3}});
    CHECK(two.settled({0, 2, 0}) == steps{{}, {0}, {0}});
}

TEST_CASE("retokenising: a control token whose equal in T is text ends the draft, no more") {
    using words = tiny_tokenizer<target_id>;
    const words target({"a", "b", "ab"});
    const tiny_tokenizer<draft_id> draft({"a", "<stop>"});
    id_map decreed({0, 1}, {0, 1, -1}, 0, 0);
    const retokenising_pair<words> two(target, {"a", "<stop>"}, std::move(decreed));
    CHECK(two.settled({0, 1}) == steps{{}, {0}, {0}});
}

TEST_CASE("retokenising proposes nothing that does not spell the draft") {
    using words = tiny_tokenizer<target_id>;
    using rewriting = specdec::test::normalising<words, target_id>;
    const retokenising_pair<rewriting> two(
        rewriting(
            words({"a", "b", "bb"}),
            [](std::string_view text) { return specdec::test::replace_all(text, "ba", "a"); }),
        {"a", "b"});
    CHECK(two.settled({0, 1}) == steps{{0}, {0}, {0, 1}});
    CHECK(two.settled({1, 1, 1}) == steps{{}, {2}, {2}, {2, 1}});
}

TEST_CASE("retokenising: a token that is longer already never becomes a shorter one") {
    using words = tiny_tokenizer<target_id>;
    const retokenising_pair<words> two(words({"a", "b", "ab", "abb"}), {"a", "b"});
    auto s = decltype(two.f)::state_type{};
    two.f.step(s, draft_id{0});
    CHECK(two.f.may_become(s, std::vector{target_id{0}}));
    CHECK(two.f.may_become(s, std::vector{target_id{3}}));
    two.f.step(s, draft_id{1});
    CHECK_FALSE(two.f.may_become(s, std::vector{target_id{0}}));
    CHECK(two.f.may_become(s, std::vector{target_id{2}}));
    CHECK(two.f.may_become(s, std::vector{target_id{3}}));
}
