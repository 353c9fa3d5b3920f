// SPDX-License-Identifier: MIT
#include <specdec/core/model/tree_scoring.hpp>

#include <cstddef>
#include <span>
#include <vector>

#include <catch2/catch.hpp>

#include "support/whole_model.hpp"

using namespace specdec;

namespace tree_scoring_tests {

struct tree_model : testing::whole_model {
    logits_rows<target_id> score_tree(std::span<const target_id>, std::span<const std::size_t>) {
        return {};
    }
    void keep_path(std::span<const std::size_t>) {}
};
struct no_score_tree : tree_model {
    logits_rows<target_id> score_tree(std::span<const target_id>,
                                      std::span<const std::size_t>) = delete;
};
struct one_row : tree_model {
    logits_row<target_id> score_tree(std::span<const target_id>, std::span<const std::size_t>) {
        return {};
    }
};
struct no_keep_path : tree_model {
    void keep_path(std::span<const std::size_t>) = delete;
};
struct no_truncate : tree_model {
    void truncate(std::size_t) = delete;
};

static_assert(TreeModelOf<tree_model, target_id>);
static_assert(!TreeModelOf<tree_model, draft_id>);
static_assert(!TreeModelOf<testing::whole_model, target_id>);
static_assert(!TreeModelOf<no_score_tree, target_id>);
static_assert(!TreeModelOf<one_row, target_id>);
static_assert(!TreeModelOf<no_keep_path, target_id>);
static_assert(!TreeModelOf<no_truncate, target_id>);

bool parents_hold(std::size_t ids, const std::vector<std::size_t>& parents, std::size_t nodes) {
    try {
        require_parents(ids, parents, nodes, "test");
        return true;
    } catch (const error&) {
        return false;
    }
}
bool path_holds(const std::vector<std::size_t>& path, const std::vector<std::size_t>& parents) {
    try {
        require_path(path, parents, "test");
        return true;
    } catch (const error&) {
        return false;
    }
}

TEST_CASE("parents stand before their children") {
    CHECK(parents_hold(0, {}, 0));
    CHECK(parents_hold(4, {tree_root, 0, tree_root, 1}, 0));
    CHECK(parents_hold(2, {2, 3}, 3));
    CHECK_FALSE(parents_hold(2, {tree_root}, 0));
    CHECK_FALSE(parents_hold(1, {tree_root, 0}, 0));
    CHECK_FALSE(parents_hold(1, {0}, 0));
    CHECK_FALSE(parents_hold(2, {tree_root, 1}, 0));
    CHECK_FALSE(parents_hold(2, {3, 3}, 3));
}

TEST_CASE("a path leads from the root, child by child") {
    const std::vector<std::size_t> parents{tree_root, 0, 0, 1, tree_root};
    CHECK(path_holds({}, parents));
    CHECK(path_holds({0}, parents));
    CHECK(path_holds({4}, parents));
    CHECK(path_holds({0, 1, 3}, parents));
    CHECK_FALSE(path_holds({1, 3}, parents));
    CHECK_FALSE(path_holds({0, 3}, parents));
    CHECK_FALSE(path_holds({0, 2, 3}, parents));
    CHECK_FALSE(path_holds({5}, parents));
    CHECK_FALSE(path_holds({tree_root}, parents));
}

} // namespace tree_scoring_tests
