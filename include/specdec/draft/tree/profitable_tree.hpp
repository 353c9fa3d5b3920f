// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include <specdec/core/error.hpp>
#include <specdec/draft/cost_table.hpp>
#include <specdec/draft/token_rate.hpp>
#include <specdec/draft/tree/beam_tree.hpp>
#include <specdec/draft/tree/node_chances.hpp>

namespace specdec {

struct profitable_tree_settings {
    beam_tree beam{};        ///< how it grows, and how deep at most
    std::size_t probes = 32; ///< where nothing pays, one level is drafted every so many rounds
};

/// EAGLE-2's dynamic tree, as deep and as large as pays: a eagle2_tree whose levels and nodes
/// each have to be worth what they cost, as profitable_length has it of chains. With v(x) the
/// chance that x is on the path that is kept, the product over it of what was learnt of nodes that
/// are as sure (node_chances),
///
///     another level if   left * v(best node) * next  >=  rate * (draft + pass(m + 1) - pass(m))
///     keep n nodes,      argmax over n of  left * v of the n surest
///                                          - rate * (pass(b + n) - pass(b))
///
/// where b are the positions without the tree, m those so far, left the chance that nothing of the
/// text beside the tree is kept (beside_tree), next that of a token behind one as sure as that
/// node, and rate as profitable_length's. Looks at no clock. Only for the likeliest siblings
/// (eagle2_tree). Models ChoosingShape; one for each text. learn() comes between a round's
/// decision and the next draft. Complexity: O(nodes^2). Allocates a copy of the costs at
/// construction. Errors: as validate(cost_table), and specdec::error for 0 probes.
class profitable_tree {
public:
    explicit profitable_tree(const cost_table& costs, profitable_tree_settings settings = {})
        : costs_((validate(costs), costs)), settings_(settings), rate_(costs.pass_over(1)) {
        if (settings.probes == 0)
            fail("cost-aware tree", "probes", "expected at least 1 round");
    }

    /// As of profitable_length.
    void share_pass(std::size_t texts) {
        ++changes_;
        const double before = pass(1);
        texts_ = static_cast<double>(texts > 0 ? texts : 1);
        rate_.scale(pass(1) / before);
    }

    /// What rounds cost from the next draft on, as they have shown, and whether drafts have a
    /// balance left, as of profitable_length. The first call allocates room for all positions that
    /// costs are followed for.
    void follow(const cost_table& costs, bool may_draft) {
        ++changes_;
        costs_.reserve_as(costs);
        costs_ = costs;
        may_draft_ = may_draft;
    }

    static constexpr rule_traits traits{.reads = true};
    [[nodiscard]] row_reading reads() const { return row_reading::sureness; }
    [[nodiscard]] law_version version() const {
        return changes_ + chances_.version() + settings_.beam.version();
    }
    /// Tokens a unit of cost that a tree has to beat.
    [[nodiscard]] double rate() const { return rate_.over(pass(1)); }

    void grow(const growing_tree& growing, std::span<std::size_t> children) const {
        settings_.beam.grow(growing, children);
        const std::size_t level = growing.tree.empty() ? 0 : growing.tree.depth(growing.level);
        if (may_draft_ && ((level == 0 && probes_) || pays(growing, level)))
            return;
        for (std::size_t& n : children)
            n = 0;
    }
    /// The surest nodes, as many as pay. Precondition: at most most_draft_tokens are wanted.
    [[nodiscard]] static constexpr bool chooses() { return true; }
    void choose(const growing_tree& growing, std::size_t most, std::span<std::uint8_t> kept) const {
        const std::size_t n = kept.size();
        most = most < n ? most : n;
        most = most < most_draft_tokens ? most : most_draft_tokens;
        std::array<double, most_draft_tokens> worth; // of the r-th surest
        for (std::size_t i = 0; i < n; ++i)
            if (const std::size_t r = beam_tree::surer(growing.nodes, i); r < most)
                worth[r] = chance(growing, i);
        std::size_t best = 1; // what is drafted is shown
        double gain = 0, top = 0;
        for (std::size_t k = 1; k <= most; ++k) {
            gain += (1 - growing.beside.kept) * worth[k - 1];
            const double now = gain - rate() * more(growing.beside, 0, k);
            if (k == 1 || now > top) {
                top = now;
                best = k;
            }
        }
        for (std::size_t i = 0; i < n; ++i)
            kept[i] = beam_tree::surer(growing.nodes, i) < best ? 1 : 0;
    }

    /// A round kept this path of the tree, which may be none; nodes: what the shape knew of the
    /// drafter's, which come first.
    void learn(const token_tree<target_id>* tree, std::span<const std::size_t> path,
               std::span<const tree_node> nodes) {
        ++changes_;
        const std::size_t levels = tree != nullptr ? tree->levels(nodes.size()) : 0;
        if (tree != nullptr)
            chances_.learn(*tree, path, nodes);
        const std::size_t scored = tree != nullptr ? tree->size() : 0;
        rate_.count(static_cast<double>(path.size() + 1),
                    pass(1 + static_cast<double>(scored)) +
                        costs_.draft_of(static_cast<double>(levels)));
        idle_ = levels == 0 ? idle_ + 1 : 0;
        probes_ = idle_ >= settings_.probes;
    }

private:
    [[nodiscard]] double pass(double n) const { return costs_.share_of_pass(n, texts_); }
    /// What n positions more cost behind those of the text that was looked up and m of the tree.
    [[nodiscard]] double more(const beside_tree& beside, std::size_t m, std::size_t n) const {
        const auto before = static_cast<double>(1 + beside.positions + m);
        return pass(before + static_cast<double>(n)) - pass(before);
    }
    [[nodiscard]] double chance(const growing_tree& growing, std::size_t node) const {
        double all = 1;
        for (; node != tree_root; node = growing.tree.parent(node))
            all *= chances_.accept(growing.nodes[node].sure);
        return all;
    }
    /// Whether the level behind `level` is worth its pass of the drafter and one position more.
    [[nodiscard]] bool pays(const growing_tree& growing, std::size_t level) const {
        double best = level == 0 ? chances_.first() : 0;
        for (std::size_t i = growing.level; i < growing.nodes.size(); ++i) {
            const double now = chance(growing, i) * chances_.next(growing.nodes[i].sure);
            best = now > best ? now : best;
        }
        const double draft = level == 0 ? costs_.draft_of(1) : costs_.draft;
        return (1 - growing.beside.kept) * best >=
               rate() * (draft + more(growing.beside, level, 1));
    }

    cost_table costs_;
    profitable_tree_settings settings_;
    node_chances chances_{};
    double texts_ = 1;
    token_rate rate_;      // of the last rounds
    std::size_t idle_ = 0; // rounds without a tree
    bool probes_ = false;  // the next round is one to see whether drafting pays
    bool may_draft_ = true;
    law_version changes_ = 0;
};

} // namespace specdec
