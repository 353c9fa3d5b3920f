// SPDX-License-Identifier: MIT
#include <specdec/draft/tree/profitable_tree.hpp>

#include <cstddef>
#include <vector>

#include <catch2/catch.hpp>

#include "support/grown_levels.hpp"

using namespace specdec;
using Catch::Contains;

namespace profitable_tree_tests {

cost_table costs_of(double a_position, double draft) {
    cost_table costs;
    costs.pass.clear();
    for (int n = 0; n < 40; ++n)
        costs.pass.push_back(1 + a_position * n);
    costs.draft = draft;
    return costs;
}

/// Nodes of the given surenesses by rank, level by level, then the choice, as a bridge has them.
struct drafted {
    token_tree<target_id> tree;
    std::vector<tree_node> nodes;
    std::vector<std::uint8_t> kept;
    std::size_t levels = 0;

    drafted(const profitable_tree& shape, const std::vector<double>& by_rank, std::size_t most,
            const beside_tree& beside = {}) {
        const std::size_t level = specdec::testing::grow_levels(
            shape, tree, nodes,
            [&](std::size_t parent, std::size_t children) {
                for (std::size_t r = 0; r < children && r < by_rank.size(); ++r) {
                    const double before = parent == tree_root ? 1 : nodes[parent].reached;
                    tree.add(parent, target_id{static_cast<int>(r)});
                    nodes.push_back({by_rank[r], by_rank[r], before * by_rank[r]});
                }
            },
            beside);
        levels = tree.levels(tree.size());
        kept.assign(tree.size(), 0);
        if (!tree.empty())
            shape.choose({tree, nodes, level, beside}, most, kept);
    }
    [[nodiscard]] std::size_t size() const {
        std::size_t n = 0;
        for (const std::uint8_t k : kept)
            n += k;
        return n;
    }
};

/// Rounds in which the likeliest tokens are kept so far.
void play(profitable_tree& shape, std::size_t depth, int rounds) {
    for (int i = 0; i < rounds; ++i) {
        const drafted d(shape, {0.9, 0.05}, 16);
        std::vector<std::size_t> path;
        if (!d.tree.empty())
            for (std::size_t node = d.tree.first_child(tree_root);
                 node != tree_root && path.size() < depth; node = d.tree.first_child(node))
                path.push_back(node);
        shape.learn(d.tree.empty() ? nullptr : &d.tree, path, d.nodes);
    }
}

TEST_CASE("cost-aware tree: as many nodes as pay") {
    const profitable_tree free(costs_of(0, 0)), some(costs_of(0.08, 0.02)),
        dear(costs_of(0.4, 0.02));
    const std::vector<double> doubtful{0.5, 0.25, 0.1};
    const drafted all(free, doubtful, 16), part(some, doubtful, 16), few(dear, doubtful, 16);
    CHECK(all.size() == 16);
    CHECK(part.size() < 16);
    CHECK(part.size() > few.size());
    CHECK(few.size() >= 1);
    for (const drafted* d : {&all, &part, &few}) // each with its parent
        for (std::size_t i = 0; i < d->tree.size(); ++i)
            if (d->kept[i] != 0 && d->tree.parent(i) != tree_root)
                CHECK(d->kept[d->tree.parent(i)] != 0);
}

TEST_CASE("cost-aware tree: as many levels as pay, and none where drafting loses") {
    profitable_tree cheap(costs_of(0.02, 0.05)), dear(costs_of(0.02, 0.5)), lost(costs_of(0.02, 2));
    const std::vector<double> sure{0.95}, doubtful{0.3};
    CHECK(drafted(cheap, sure, 16).levels == 5); // the beam's
    CHECK(drafted(cheap, sure, 16).levels > drafted(dear, doubtful, 16).levels);
    CHECK(drafted(lost, sure, 16).levels == 0);
    std::size_t probes = 0;
    for (int i = 0; i < 100; ++i) {
        const drafted d(lost, sure, 16);
        probes += d.levels;
        lost.learn(d.tree.empty() ? nullptr : &d.tree, {}, d.nodes);
    }
    CHECK(probes == 3); // one in 33
}

TEST_CASE("cost-aware tree: less of it pays beside text that was looked up") {
    cost_table costs = costs_of(0, 0.05);
    for (std::size_t n = 5; n < costs.pass.size(); ++n) // from six positions on each costs
        costs.pass[n] = costs.pass[n - 1] + 0.2;
    const profitable_tree shape(costs);
    const std::vector<double> doubtful{0.5, 0.25, 0.1};
    const drafted alone(shape, doubtful, 16);
    CHECK(drafted(shape, doubtful, 16, {.positions = 4}).size() < alone.size());
    CHECK(drafted(shape, doubtful, 16, {.kept = 0.5}).levels < alone.levels);
    CHECK(drafted(shape, doubtful, 16, {.positions = 4, .kept = 0.4}).size() == 1);
    CHECK(drafted(shape, {0.95}, 16, {.positions = 4, .kept = 0.95}).levels == 0);
    CHECK(drafted(shape, doubtful, 16, {.positions = 0, .kept = 0}).size() == alone.size());
}

TEST_CASE("cost-aware tree: it learns what is kept") {
    profitable_tree shape(costs_of(0.05, 0.05));
    play(shape, 5, 100);
    CHECK(drafted(shape, {0.9, 0.05}, 16).levels == 5);
    CHECK(shape.rate() > 2);
    play(shape, 0, 400);
    CHECK(shape.rate() < 1.1);
    CHECK(drafted(shape, {0.9, 0.05}, 16).levels < 2);
}

TEST_CASE("cost-aware tree: texts that share a pass draft less, and marks move") {
    const cost_table level = costs_of(0.05, 0.01);
    profitable_tree alone(level), together(level);
    const law_version mark = together.version();
    together.share_pass(8);
    CHECK(together.version() != mark);
    const std::vector<double> doubtful{0.5, 0.25, 0.1};
    CHECK(drafted(together, doubtful, 32).size() < drafted(alone, doubtful, 32).size());
    CHECK_THROWS_WITH(profitable_tree(level, {.probes = 0}), Contains("probes"));
    CHECK_THROWS_WITH(profitable_tree(cost_table{{}, 0, 0}), Contains("cost table"));
}

TEST_CASE("cost-aware tree: it goes by other costs from the next draft on, or drafts nothing") {
    profitable_tree shape(costs_of(0.02, 2));
    const std::vector<double> sure{0.95};
    CHECK(drafted(shape, sure, 16).levels == 0);
    law_version mark = shape.version();
    shape.follow(costs_of(0.02, 0.05), true);
    CHECK(shape.version() != mark);
    CHECK(drafted(shape, sure, 16).levels == 5);
    cost_table begins = costs_of(0.02, 0.05);
    begins.start = 2; // each draft
    shape.follow(begins, true);
    CHECK(drafted(shape, sure, 16).levels == 0);
    mark = shape.version();
    shape.follow(costs_of(0.02, 0.05), false);
    CHECK(shape.version() != mark);
    CHECK(drafted(shape, sure, 16).levels == 0);
    for (int i = 0; i < 40; ++i) // no probe either
        shape.learn(nullptr, {}, {});
    CHECK(drafted(shape, sure, 16).levels == 0);
}

} // namespace profitable_tree_tests
