// SPDX-License-Identifier: MIT
#include <specdec/speculation/any/any_model.hpp>

#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "support/batch_of.hpp"
#include "support/toy_pair.hpp"

using namespace specdec;
using namespace specdec::testing;

static_assert(BatchModelOf<any_batch_model<target_id>, target_id>);

TEST_CASE("any model: borrows by name, owns what it is given to keep") {
    const toy_pair words;
    text_model<target_id> one(words.target.table());
    any_batch_model<target_id> view(one), owner(text_model<target_id>(words.target.table()));
    const auto ids = words.encode("abc a");
    CHECK(view.sequences() == 1);
    CHECK(view.capacity() == one.capacity());
    CHECK(view.vocabulary_size() == 9);
    view.append(0, ids);
    owner.append(0, ids);
    CHECK(one.size() == ids.size());
    const std::vector more{ids.front()};
    const sequence_tokens<target_id> part{0, more};
    const float seen = view.score({&part, 1})[0].values[3];
    any_batch_model<target_id> moved = std::move(owner);
    CHECK(moved.score({&part, 1})[0].values[3] == seen);
    view.truncate(0, 1);
    CHECK(one.size() == 1);
    CHECK(moved.size(0) == ids.size() + 1);
}

TEST_CASE("any model: several sequences stay apart") {
    const toy_pair words;
    batch_of<target_id, text_model<target_id>> two(2, text_model<target_id>(words.target.table()));
    any_batch_model<target_id> view(two);
    view.append(1, words.encode("ab"));
    CHECK(view.sequences() == 2);
    CHECK(view.size(0) == 0);
    CHECK(view.size(1) == two.size(1));
}
