// SPDX-License-Identifier: MIT
#include <specdec/core/tree/tree_drafting.hpp>

#include <catch2/catch.hpp>

using namespace specdec;

namespace tree_drafting_tests {

struct one_child {
    void grow(const growing_tree&, std::span<std::size_t> children) const {
        for (std::size_t& n : children)
            n = 1;
    }
    [[nodiscard]] law_version version() const { return 0; }
};
struct choosing : one_child {
    [[nodiscard]] static constexpr bool chooses() { return true; }
    void choose(const growing_tree&, std::size_t, std::span<std::uint8_t>) const {}
};
static_assert(TreeShape<one_child> && !ChoosingShape<one_child>);
static_assert(ChoosingShape<choosing>);
struct without_mark {
    void grow(const growing_tree&, std::span<std::size_t>) const {}
};
static_assert(!TreeShape<without_mark>); // whatever a draft reads has a mark

TEST_CASE("a shape is asked for children of the level's nodes") {
    token_tree<target_id> tree;
    std::vector<std::size_t> children{0};
    one_child{}.grow({tree, {}}, children);
    CHECK(children == std::vector<std::size_t>{1});
}

} // namespace tree_drafting_tests
