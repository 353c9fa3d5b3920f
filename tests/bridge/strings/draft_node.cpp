// SPDX-License-Identifier: MIT
#include <specdec/bridge/strings/draft_node.hpp>

#include <catch2/catch.hpp>

#include "support/ids.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace draft_node_tests {

TEST_CASE("draft nodes: every child is found behind its parent, and the tokens on the way to it") {
    std::vector<draft_node<int>> nodes(1);
    const auto add = [&](std::size_t parent, int token) {
        draft_node<int> n{};
        n.parent = parent;
        n.token = draft_id{token};
        n.depth = nodes[parent].depth + 1;
        nodes.push_back(n);
        link(nodes, nodes.size() - 1);
    };
    add(0, 4);
    add(0, 5);
    add(1, 5);
    add(0, 6);
    add(3, 7);
    const auto child = [&](std::size_t n, int token) {
        return child_of(nodes, n, draft_id{token});
    };
    CHECK(child(0, 4) == 1);
    CHECK(child(0, 5) == 2);
    CHECK(child(0, 6) == 4);
    CHECK(child(1, 5) == 3);
    CHECK(child(3, 7) == 5);
    CHECK(child(2, 5) == draft_node<int>::none);
    std::vector<draft_id> ids = ids_of({9});
    append_path(nodes, 0, ids);
    CHECK(ids == ids_of({9}));
    append_path(nodes, 5, ids);
    CHECK(ids == ids_of({9, 4, 5, 7}));
}

} // namespace draft_node_tests
