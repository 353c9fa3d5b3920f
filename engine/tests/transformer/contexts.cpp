// SPDX-License-Identifier: MIT
#include <specdec_engine/transformer/contexts.hpp>

#include <cstdint>
#include <vector>

#include <catch2/catch.hpp>

using namespace specdec::engine;
using specdec::tree_root;

TEST_CASE("contexts count tokens, and place nodes by their depth") {
    contexts held(2, 9, 10);
    const std::vector<std::int32_t> ids = {4, 5, 6};
    const sequence_part chain{1, ids};
    held.begin({&chain, 1});
    CHECK(held.place(chain, 2).position == 2);
    CHECK(held.place(chain, 2).tree == nullptr);
    held.end({&chain, 1});
    CHECK(held.size(0) == 0);
    CHECK(held.size(1) == 3);

    const std::vector<std::size_t> parents = {tree_root, 0, 0}, later = {2, tree_root};
    const sequence_part level{1, ids, parents}, next{1, std::span(ids).first(2), later};
    held.begin({&level, 1});
    held.end({&level, 1});
    held.begin({&next, 1});
    CHECK(held.size(1) == 3);
    CHECK(held.place(next, 0).node == 3);
    CHECK(held.place(next, 0).position == 5);
    CHECK(held.place(next, 0).context() == 3);
    CHECK(held.place(next, 1).position == 3);
    CHECK_THROWS_AS(held.begin({&level, 1}), specdec::error); // no room
    held.abandon({&next, 1});
    held.begin({&level, 1}); // numbers go on behind the first level
    CHECK(held.place(level, 0).node == 3);
    held.abandon({&level, 1});

    std::vector<std::size_t> kept;
    const auto keep = [&](std::size_t node, std::size_t position) {
        kept.insert(kept.end(), {node, position});
    };
    CHECK_THROWS_AS(held.keep(1, later, keep), specdec::error);
    held.keep(1, std::vector<std::size_t>{0, 2}, keep);
    CHECK(kept == std::vector<std::size_t>{0, 3, 2, 4});
    CHECK(held.size(1) == 5);
    CHECK_THROWS_AS(held.keep(1, std::vector<std::size_t>{0}, keep), specdec::error);
}

TEST_CASE("a pass is refused before anything changes") {
    contexts held(2, 8, 10);
    const std::vector<std::int32_t> good = {1, 2}, bad = {1, 10};
    const std::vector<std::size_t> parents = {tree_root, 0}, none = {tree_root};
    const auto refused = [&](sequence_part second) {
        const std::vector<sequence_part> parts = {{0, good, parents}, second};
        CHECK_THROWS_AS(held.begin(parts), specdec::error);
        const sequence_part child{0, std::span(good).first(1), std::span(parents).subspan(1)};
        CHECK_THROWS_AS(held.begin({&child, 1}), specdec::error); // no node 0
    };
    refused({1, bad, parents});
    refused({1, good, none});
    refused({2, good, parents}); // no such sequence
    refused({0, good});          // the same one twice
}
