// SPDX-License-Identifier: MIT
#include <specdec/verify/tree/tree_verifier.hpp>

#include <catch2/catch.hpp>

using namespace specdec;

TEST_CASE("a tree workspace has rows of the vocabulary and a path") {
    tree_workspace work;
    work.reserve(3, 2, 5);
    CHECK(work.row(1).size() == 5);
    CHECK(work.row(1).data() == work.row(0).data() + 5);
    work.path().push_back(4);
    work.path().push_back(7);
    CHECK(work.path_of(1).size() == 1);
    CHECK(work.path_of(1)[0] == 4);
}
