// SPDX-License-Identifier: MIT
#include <specdec/learn/aligned_token_starts.hpp>

#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/vocab/table/intersection.hpp>

#include "support/ids.hpp"
#include "support/tiny_tokenizer.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace aligned_token_starts_tests {

using pairs = std::vector<std::pair<std::size_t, std::size_t>>;

const tiny_tokenizer<target_id> target({"a", "b", "ab", "<end>", "<think>", "c", "T"});
const tiny_tokenizer<draft_id> draft({"<s>", "a", "b", "bc", "<end>", " ", " T", "<unk>"});
const id_map map = [] {
    equivalences equal;
    equal.add("<end>", "<end>");
    return intersect(draft, target, equal);
}();

pairs found(std::vector<int> tokens, std::vector<int> ids, std::size_t first = 0) {
    pairs out;
    each_common_beginning(target, std::span<const target_id>(ids_of<target_id>(tokens)), draft,
                          std::span<const draft_id>(ids_of(ids)), map, first,
                          [&](std::size_t i, std::size_t j) { out.emplace_back(i, j); });
    return out;
}

TEST_CASE("tokens of two vocabularies begin together") {
    CHECK(found({0, 2, 1}, {1, 1, 2, 2}) == pairs{{0, 0}, {1, 1}, {2, 3}, {3, 4}});
    CHECK(found({2, 5, 0}, {1, 3, 1}) == pairs{{0, 0}, {2, 2}, {3, 3}}); // ab c a = a bc a
    CHECK(found({0}, {0, 1}, 1) == pairs{{0, 1}, {1, 2}});               // behind a prefix
    CHECK(found({}, {}) == pairs{{0, 0}});
}

TEST_CASE("control tokens stand with their equivalents, others leave no trace") {
    CHECK(found({0, 3, 1}, {1, 4, 2}) == pairs{{0, 0}, {1, 1}, {2, 2}, {3, 3}});
    CHECK(found({0, 4, 1}, {1, 2}) == pairs{{0, 0}, {1, 1}, {2, 1}, {3, 2}});
}

TEST_CASE("a space that the drafter adds in front is no difference") {
    CHECK(found({6, 0}, {6, 1}) == pairs{{0, 0}, {1, 1}, {2, 2}});
    CHECK(found({0, 1}, {5, 1, 2}) == pairs{{0, 0}, {1, 2}, {2, 3}});
    CHECK(found({0, 1}, {1, 5, 2}) == pairs{{0, 0}, {1, 1}}); // one inside is
}

TEST_CASE("where the bytes differ nothing is told until a control token of both") {
    CHECK(found({0, 1, 0, 3, 1}, {1, 1, 1, 4, 2}) == pairs{{0, 0}, {1, 1}, {4, 4}, {5, 5}});
    CHECK(found({0, 1, 3}, {1, 7}) == pairs{{0, 0}, {1, 1}});         // which is not there
    CHECK(found({0, 1, 1}, {1, 2}) == pairs{{0, 0}, {1, 1}, {2, 2}}); // held back
}

} // namespace aligned_token_starts_tests
