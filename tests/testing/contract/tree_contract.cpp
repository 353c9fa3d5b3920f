// SPDX-License-Identifier: MIT
#include <specdec/testing/contract/tree_contract.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "support/contract_faults.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace tree_contract_tests {

using id = target_id;

/// What can go wrong in an engine that scores trees.
enum class fault {
    none,
    one_row,              ///< of the last node only
    row_of_parent,        ///< a sibling's row taken for its own: that behind the parent
    sees_all_nodes,       ///< no mask: earlier nodes of other branches are seen
    position_by_number,   ///< a node's position is its number, not its depth
    levels_begin_anew,    ///< parents are numbered within a call
    forgets_levels,       ///< a later call sees no nodes of an earlier one
    size_counts_nodes,    ///< until they are kept or forgotten
    keeps_one_off,        ///< the node behind the one asked for
    keeps_all,            ///< whatever the path
    keeps_last_only,      ///< of the path
    keeps_its_position,   ///< the tokens kept stand where the nodes' numbers say
    append_keeps_nodes,   //
    score_keeps_nodes,    //
    truncate_keeps_nodes, //
    keep_keeps_nodes,     //
    takes_any_parent,     //
    half_tree,            ///< a refused call leaves the nodes before the wrong parent
    refusal_forgets,      ///< and takes the nodes with it
    takes_any_path,       //
    half_path,            ///< a refused keep_path keeps what was a path
    nodes_take_no_room,   //
    refusal_takes_room,   //
};

/// A model whose rows depend on all tokens seen and on where they stand. With one fault.
class tree_model {
public:
    explicit tree_model(fault f) : fault_(f) {}

    [[nodiscard]] std::size_t size() const {
        return held_.size() + (has(fault::size_counts_nodes) ? nodes_.size() : 0);
    }
    [[nodiscard]] std::size_t capacity() const { return most; }
    [[nodiscard]] std::size_t vocabulary_size() const { return vocabulary; }

    void append(std::span<const id> ids) {
        require_room(ids.size(), 0);
        for (const id x : ids)
            held_.push_back({x, held_.size()});
        if (!has(fault::append_keeps_nodes))
            nodes_.clear();
    }
    logits_rows<id> score(std::span<const id> ids) {
        require_room(ids.size(), 0);
        rows_.clear();
        for (const id x : ids) {
            held_.push_back({x, held_.size()});
            add_row(held_);
        }
        if (!has(fault::score_keeps_nodes))
            nodes_.clear();
        return rows();
    }
    void truncate(std::size_t n) {
        held_.resize(n);
        if (!has(fault::truncate_keeps_nodes))
            nodes_.clear();
    }

    logits_rows<id> score_tree(std::span<const id> ids, std::span<const std::size_t> parents) {
        const std::size_t before = nodes_.size();
        try {
            if (!has(fault::takes_any_parent))
                require_parents(ids.size(), parents, before, "tree model");
        } catch (const error&) {
            if (has(fault::half_tree) && before > 0)
                nodes_.push_back({ids[0], tree_root});
            if (has(fault::refusal_forgets))
                nodes_.clear();
            throw;
        }
        try {
            require_room(ids.size(), has(fault::nodes_take_no_room) ? 0 : before);
        } catch (const std::runtime_error&) {
            if (has(fault::refusal_takes_room))
                ++taken_;
            throw;
        }
        rows_.clear();
        for (std::size_t i = 0; i < ids.size(); ++i) {
            std::size_t parent = i < parents.size() ? parents[i] : tree_root;
            if (has(fault::levels_begin_anew) && parent != tree_root)
                parent = std::min(parent + before, nodes_.size() - 1);
            if (has(fault::forgets_levels) && parent != tree_root && parent < before)
                parent = tree_root;
            nodes_.push_back({ids[i], parent < nodes_.size() ? parent : tree_root});
            add_row(seen_by(nodes_.size() - 1));
        }
        if (has(fault::one_row))
            return rows().middle(ids.size() - 1, 1);
        return rows();
    }
    void keep_path(std::span<const std::size_t> path) {
        std::vector<std::size_t> kept(path.begin(), path.end());
        std::vector<std::size_t> parents;
        for (const node& n : nodes_)
            parents.push_back(n.parent);
        try {
            if (!has(fault::takes_any_path))
                require_path(path, parents, "tree model");
        } catch (const error&) {
            if (has(fault::half_path) && nodes_.size() > 0)
                held_.push_back({nodes_[0].token, held_.size()});
            throw;
        }
        if (has(fault::keeps_last_only) && kept.size() > 1)
            kept.erase(kept.begin());
        if (has(fault::keeps_all))
            for (kept.clear(); kept.size() < nodes_.size();)
                kept.push_back(kept.size());
        if (has(fault::keeps_one_off) && !kept.empty())
            kept.back() = (kept.back() + 1) % nodes_.size();
        const std::size_t before = held_.size();
        for (const std::size_t k : kept)
            if (k < nodes_.size())
                held_.push_back(
                    {nodes_[k].token, has(fault::keeps_its_position) ? before + k : held_.size()});
        if (!has(fault::keep_keeps_nodes))
            nodes_.clear();
    }

private:
    static constexpr std::size_t vocabulary = 11, most = 40;

    struct cell {
        id token{};
        std::size_t position = 0;
    };
    struct node {
        id token;
        std::size_t parent;
    };

    [[nodiscard]] bool has(fault f) const { return fault_ == f; }

    [[nodiscard]] std::vector<cell> seen_by(std::size_t number) const {
        std::vector<std::size_t> path;
        for (std::size_t at = number; at != tree_root; at = nodes_[at].parent)
            path.push_back(at);
        std::reverse(path.begin(), path.end());
        if (has(fault::row_of_parent))
            path.pop_back();
        if (has(fault::sees_all_nodes))
            for (path.clear(); path.size() <= number;)
                path.push_back(path.size());
        std::vector<cell> seen = held_;
        for (const std::size_t k : path)
            seen.push_back(
                {nodes_[k].token, has(fault::position_by_number) ? held_.size() + k : seen.size()});
        return seen;
    }

    void require_room(std::size_t n, std::size_t nodes) const {
        if (n > most - held_.size() - nodes - std::min(taken_, std::size_t{1}))
            throw std::runtime_error("no room");
    }
    void add_row(const std::vector<cell>& seen) {
        std::uint64_t h = 7;
        for (const cell& c : seen)
            h = ((h ^ c.token.index() * 31) * 0xBF58476D1CE4E5B9U ^ (h >> 29) ^ c.position) *
                0x94D049BB133111EBU;
        for (std::size_t v = 0; v < vocabulary; ++v)
            rows_.push_back(static_cast<float>((h ^ (h >> 31)) * (2 * v + 1) >> 40) * 0x1p-22F);
    }
    [[nodiscard]] logits_rows<id> rows() const {
        return {rows_.data(), rows_.size() / vocabulary, vocabulary, vocabulary};
    }

    fault fault_;
    std::size_t taken_ = 0;
    std::vector<cell> held_;
    std::vector<node> nodes_;
    std::vector<float> rows_;
};

static_assert(TreeModelOf<tree_model, id>);

contract_report check(fault f, const model_contract_settings<id>& settings = {}) {
    return check_tree_model<id>([f] { return tree_model(f); }, settings);
}

TEST_CASE("an engine that scores trees as it should: every clause is checked, bit for bit") {
    for (std::uint64_t seed = 1; seed < 5; ++seed) {
        const contract_report report = check(fault::none, {.seed = seed});
        CHECK(report.text() == "");
        CHECK(report.unchecked.empty());
        CHECK(report.greatest_difference == 0);
        for (const char* clause : {"tree.rows", "tree.levels", "tree.keep_path", "tree.forgets",
                                   "tree.refused_parents", "tree.refused_path", "tree.room"})
            CHECK(report.keeps(clause));
    }
}

TEST_CASE("each fault of an engine that scores trees violates the clause it breaks") {
    const std::vector<found_fault<fault>> faults{
        {fault::one_row, "tree.rows", "1 rows instead of 24"},
        {fault::row_of_parent, "tree.rows", "the row of node 0, in one call after 0 tokens"},
        {fault::sees_all_nodes, "tree.rows", "the row of node"},
        {fault::position_by_number, "tree.rows", "the row of node"},
        {fault::levels_begin_anew, "tree.levels", "of a later call after 0 tokens"},
        {fault::forgets_levels, "tree.levels tree.room", "of a later call after 0 tokens"},
        {fault::size_counts_nodes, "tree.rows", "size() 24 instead of 0 after score_tree"},
        {fault::keeps_one_off, "tree.keep_path", "after kept paths"},
        {fault::keeps_all, "tree.keep_path tree.forgets", "after keep_path"},
        {fault::keeps_last_only, "tree.keep_path", "after keep_path"},
        {fault::keeps_its_position, "tree.keep_path", "after kept paths"},
        {fault::append_keeps_nodes, "tree.forgets", "no exception from a parent of before append"},
        {fault::score_keeps_nodes, "tree.forgets", "no exception from a parent of before score"},
        {fault::truncate_keeps_nodes, "tree.forgets",
         "no exception from a parent of before truncate"},
        {fault::keep_keeps_nodes, "tree.keep_path tree.forgets", "the row of node"},
        {fault::takes_any_parent, "tree.forgets tree.refused_parents",
         "no exception from a parent of before append"},
        {fault::half_tree, "tree.refused_parents", "parents that are none"},
        {fault::refusal_forgets, "tree.refused_parents", "expected an earlier node or tree_root"},
        {fault::takes_any_path, "tree.refused_path", "no exception from nodes that are no path"},
        {fault::half_path, "tree.refused_path", "after refused keep_path"},
        {fault::nodes_take_no_room, "tree.room", "no exception from nodes without room"},
        {fault::refusal_takes_room, "tree.room", "no room"},
    };
    check_faults(faults, [](fault f) { return check(f); });
}

TEST_CASE("trees of an engine whose contexts are wrong are not looked at") {
    struct forgetful : tree_model {
        using tree_model::tree_model;
        void truncate(std::size_t) {}
    };
    const contract_report report = check_tree_model<id>([] { return forgetful(fault::none); });
    CHECK_FALSE(report.ok());
    CHECK(report.unchecked.back().clause == "tree.*");
}

} // namespace tree_contract_tests
