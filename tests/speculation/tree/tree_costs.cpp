// SPDX-License-Identifier: MIT
// What becomes of trees whose costs were measured unluckily: a simulated engine whose clock is a
// sum of what its rounds cost.
#include <specdec/speculation/text_lengths.hpp>
#include <specdec/speculation/tree/tree_drafts.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <catch2/catch.hpp>

#include "support/grown_levels.hpp"
#include "support/simulated_clock.hpp"

using namespace specdec;

namespace tree_costs_tests {

/// What rounds of an engine take, in its passes over one position.
struct engine {
    double position;    ///< each further one of a pass
    double level, node; ///< a pass of the drafter; a node's law in the decision
    double chance;      ///< of the likeliest sibling, on average

    [[nodiscard]] cost_table costs(double draft = 1, double passes = 1, double law = 0) const {
        cost_table c{.pass = {1}, .draft = draft * level};
        for (double n = 1; n < 17; ++n)
            c.pass.push_back(std::max(c.pass.back(), passes * (1 + position * n) + law * node * n));
        return c;
    }
};

/// Texts whose trees pay, one behind the other.
class simulation {
public:
    simulation(const engine& what, const cost_table& told, float temperature, bool measured,
               std::uint64_t seed)
        : engine_(what), drafts_{.nodes = 8, .costs = told}, temperature_(temperature),
          clock_(seed) {
        learned_.go_by(told, measured);
    }

    /// Seconds that a text of so many tokens took.
    double text(std::size_t tokens) {
        any_tree_shape shape = tree_of(drafts_, temperature_, learned_);
        text_lengths lengths({.kind = length_kind::fixed}, 8, learned_, 20, 1);
        const double before = seconds_;
        for (std::size_t made = 0, r = 0; made < tokens; ++r) {
            if (lengths.begin_draft_round())
                follow_rounds(shape, learned_);
            made += round(shape, lengths, r == 0);
        }
        lengths.end();
        learned_.tree = shape;
        return seconds_ - before;
    }

private:
    /// Levels of the drafter's own tree, of which the shape may choose.
    template <class Shape>
    std::size_t grow(const Shape& shape) {
        tree_.clear();
        nodes_.clear();
        const std::size_t level = specdec::testing::grow_levels(
            shape, tree_, nodes_,
            [this](std::size_t parent, std::size_t children) { add(parent, children); });
        const std::size_t levels = tree_.levels(tree_.size());
        if (chooses_nodes(shape))
            choose(shape, level);
        return levels;
    }
    /// Sure of some tokens, unsure of others.
    void add(std::size_t parent, std::size_t children) {
        const double best = engine_.chance * (clock_.uniform() < 0.5 ? 0.7 : 1.3);
        double chance = best < 0.95 ? best : 0.95;
        for (std::size_t r = 0; r < children && r < 4 && tree_.size() < 64; ++r) {
            const double reached = parent == tree_root ? 1 : nodes_[parent].reached;
            tree_.add(parent, target_id{static_cast<std::int32_t>(r)});
            nodes_.push_back({chance, chance, reached * chance});
            chance *= r == 0 ? 0.3 * (1 - chance) / chance : 0.5;
        }
    }
    template <class Shape>
    void choose(const Shape& shape, std::size_t level) {
        std::vector<std::uint8_t> kept(tree_.size());
        if (!tree_.empty())
            shape.choose({tree_, nodes_, level}, 8, kept);
        token_tree<target_id> chosen;
        std::vector<tree_node> of_chosen;
        std::vector<std::size_t> at(tree_.size(), tree_root);
        for (std::size_t i = 0; i < tree_.size(); ++i)
            if (kept[i] != 0) {
                const std::size_t parent = tree_.parent(i);
                at[i] = chosen.add(parent == tree_root ? tree_root : at[parent], tree_.id(i));
                of_chosen.push_back(nodes_[i]);
            }
        tree_ = chosen;
        nodes_ = of_chosen;
    }

    std::size_t round(any_tree_shape& shape, text_lengths& lengths, bool first) {
        const std::size_t levels = grow(shape);
        std::vector<std::size_t> path;
        for (std::size_t node = tree_root; tree_.first_child(node) != tree_root;) {
            double u = clock_.uniform();
            std::size_t child = tree_.first_child(node);
            for (; child != tree_root && u >= nodes_[child].sure; child = tree_.next_sibling(child))
                u -= nodes_[child].sure;
            if (child == tree_root)
                break;
            path.push_back(node = child);
        }
        const auto n = static_cast<double>(tree_.size());
        const double pass = engine_.costs().pass_over(1 + n);
        const double rest = 0.02 + engine_.level * static_cast<double>(levels) + engine_.node * n;
        seconds_ += clock_.pass_seconds * (pass + rest); // as if undisturbed
        const round_seconds spent{clock_.took(pass) + (first ? 5 * clock_.pass_seconds : 0),
                                  clock_.took(rest)};
        shape.learn(tree_.empty() ? nullptr : &tree_, path, nodes_);
        lengths.learn({.forwards = levels, .proposed = tree_.size(), .emitted = path.size() + 1},
                      spent, tree_.size());
        return path.size() + 1;
    }

    engine engine_;
    tree_drafts drafts_;
    float temperature_;
    learned_lengths learned_{};
    specdec::testing::simulated_clock clock_;
    double seconds_ = 0;
    token_tree<target_id> tree_;
    std::vector<tree_node> nodes_;
};

/// Tokens a second beside plain decoding, of four runs: behind 800 tokens.
double speed_of(const engine& e, const cost_table& told, float temperature, bool measured = true) {
    double seconds = 0;
    constexpr std::uint64_t runs = 4;
    for (std::uint64_t seed = 1; seed <= runs; ++seed) {
        simulation texts(e, told, temperature, measured, seed);
        for (int i = 0; i < 8; ++i)
            (void)texts.text(100);
        for (int i = 0; i < 10; ++i)
            seconds += texts.text(200);
    }
    return 2000 * static_cast<double>(runs) * 0.01 * 1.02 / seconds;
}

struct mistake {
    double draft, passes;
};
constexpr std::array<mistake, 7> mistakes{
    {{1, 1}, {0.3, 1}, {3, 1}, {20, 1}, {1, 0.7}, {1, 1.4}, {10, 1.4}}};

TEST_CASE("where trees pay, they come to the speed of right costs, whatever was measured",
          "[computes]") {
    for (const float temperature : {0.0F, 1.0F})
        for (const engine& e : {engine{0.04, 0.1, 0.01, 0.7}, engine{0.1, 0.15, 0, 0.6}}) {
            const double right = speed_of(e, e.costs(1, 1, 1), temperature, false);
            for (const mistake& m : mistakes) {
                const double now = speed_of(e, e.costs(m.draft, m.passes), temperature);
                UNSCOPED_INFO(temperature << " " << e.position << " " << e.chance << " draft "
                                          << m.draft << " passes " << m.passes << ": " << now
                                          << " of " << right);
                CHECK(now > 0.93 * right);
            }
        }
}

TEST_CASE("where trees lose, they take little, whatever was measured", "[computes]") {
    for (const float temperature : {0.0F, 1.0F})
        for (const engine& e :
             {engine{0.4, 0.5, 0.02, 0.4}, engine{0.1, 0.2, 0.1, 0.1}, engine{0.9, 1.5, 0.05, 0.9}})
            for (const mistake& m : mistakes) {
                const double now = speed_of(e, e.costs(m.draft, m.passes), temperature);
                UNSCOPED_INFO(temperature << " " << e.position << " " << e.chance << " draft "
                                          << m.draft << " passes " << m.passes << ": " << now);
                CHECK(now > 0.97);
            }
}

} // namespace tree_costs_tests
