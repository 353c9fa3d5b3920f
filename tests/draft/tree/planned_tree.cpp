// SPDX-License-Identifier: MIT
#include <specdec/draft/tree/planned_tree.hpp>

#include <vector>

#include <catch2/catch.hpp>

#include <specdec/sampling/coin/philox_coin.hpp>

using namespace specdec;

namespace planned_tree_tests {

cost_table costs_of(double a_position, double draft) {
    cost_table costs;
    costs.pass.clear();
    for (int n = 0; n < 32; ++n)
        costs.pass.push_back(1 + a_position * n);
    costs.draft = draft;
    return costs;
}

/// Rounds of a world in which the sibling of rank r is the one that is kept with chances[r].
void play(planned_tree& shape, const std::vector<double>& chances, int rounds, std::uint64_t seed) {
    const philox_coin coin(seed);
    for (int round = 0; round < rounds; ++round) {
        token_tree<target_id> tree;
        for (const std::size_t parent : shape.shape().parents())
            tree.add(parent, target_id{0});
        std::vector<std::size_t> path;
        for (std::size_t node = tree_root;;) {
            const auto place = static_cast<std::uint32_t>(path.size());
            double u = coin.uniform({static_cast<std::uint64_t>(round), purpose::accept, place});
            std::size_t child = tree.first_child(node);
            for (; child != tree_root; child = tree.next_sibling(child)) {
                u -= tree.rank(child) < chances.size() ? chances[tree.rank(child)] : 0.0;
                if (u < 0)
                    break;
            }
            if (child == tree_root)
                break;
            path.push_back(child);
            node = child;
        }
        shape.learn(tree.empty() ? nullptr : &tree, path);
    }
}

TEST_CASE("a paying tree learns the chances of ranks, and plans by them") {
    planned_tree shape(costs_of(0.02, 0.02));
    const std::vector<double> chances{0.5, 0.25, 0.1, 0.0};
    play(shape, chances, 3000, 1);
    CHECK(shape.chances()[0] == Approx(0.5).margin(0.06));
    CHECK(shape.chances()[1] == Approx(0.25).margin(0.06));
    tree_budget best(chances, 16, 6);
    const std::size_t nodes = best.best_nodes(costs_of(0.02, 0.02));
    CHECK(shape.shape().size() + 3 >= nodes);
    CHECK(shape.shape().size() <= nodes + 3);
    CHECK(shape.shape().depth() < shape.shape().size()); // no chain
}

TEST_CASE("a paying tree drafts nothing but probes where nothing pays, and comes back") {
    planned_tree shape(costs_of(0.3, 0.3));
    play(shape, {0.02}, 2000, 3);
    std::size_t drafted = 0;
    for (int round = 0; round < 320; ++round) {
        drafted += shape.shape().size();
        play(shape, {0.02}, 1, 4 + static_cast<std::uint64_t>(round));
    }
    CHECK(drafted <= 11);
    CHECK(drafted >= 9);
    play(shape, {0.99}, 6000, 5);
    CHECK(shape.shape().size() > 1);
}

TEST_CASE("a paying tree has another mark when its shape may be another") {
    planned_tree shape(costs_of(0.02, 0.02));
    const law_version before = shape.version();
    play(shape, {0.5}, 16, 1);
    CHECK(shape.version() != before);
}

TEST_CASE("a paying tree refuses settings that leave nothing to draft") {
    CHECK_THROWS_AS(planned_tree(cost_table{}, {.nodes = 0}), error);
    CHECK_THROWS_AS(planned_tree(cost_table{}, {.every = 0}), error);
    CHECK_THROWS_AS(planned_tree(cost_table{}, {.probes = 0}), error);
}

TEST_CASE("a paying tree plans by other costs behind the next rounds, or drafts nothing") {
    planned_tree shape(costs_of(0.02, 0.02));
    const std::size_t cheap = shape.shape().size();
    const auto children = [&] {
        const token_tree<target_id> tree;
        std::size_t n = 1;
        shape.grow({tree, {}, 0}, {&n, 1});
        return n;
    };
    CHECK(children() > 0);
    law_version mark = shape.version();
    shape.follow(costs_of(0.02, 0.02), false);
    CHECK(shape.version() != mark);
    CHECK(children() == 0);
    mark = shape.version();
    shape.follow(costs_of(0.9, 0.5), true);
    CHECK(shape.version() != mark);
    CHECK(children() > 0);
    CHECK(shape.shape().size() == cheap);
    play(shape, {0.5, 0.25}, 32, 1);
    CHECK(shape.shape().size() < cheap);
}

} // namespace planned_tree_tests
