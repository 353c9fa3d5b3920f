// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <llama.h>

#include <specdec/core/error.hpp>
#include <specdec/core/model/tree_scoring.hpp>

namespace specdec {

/// A draft tree behind a text, as sequences of a unified llama.cpp memory.
///
/// A token of a llama_batch sees the cells of one sequence. So each branch has a sequence: the
/// first child of a node takes over that of its parent, every other child gets one from `free`,
/// which its ancestors' cells become part of, too: by llama_memory_seq_cp where they are in the
/// memory, in the same llama_batch where they are new (shared_with).
///
/// Books only: nothing is decoded here. The tokens of the text are the cells of the sequence
/// `text`.
class llama_cpp_tree {
public:
    llama_cpp_tree(llama_memory_t memory, llama_seq_id text) : memory_(memory), text_(text) {}

    [[nodiscard]] std::size_t size() const { return nodes_.size(); }
    /// Tokens in front of the tree. Precondition: size() > 0.
    [[nodiscard]] std::size_t held() const { return static_cast<std::size_t>(held_); }
    [[nodiscard]] std::span<const std::size_t> parents() const { return parents_; }

    [[nodiscard]] std::size_t position(std::size_t i) const {
        return static_cast<std::size_t>(nodes_[i].position);
    }
    /// The one whose cells the node sees.
    [[nodiscard]] llama_seq_id sequence(std::size_t i) const { return nodes_[i].sequence; }
    /// The others that a node of the latest grow() is part of.
    [[nodiscard]] std::span<const llama_seq_id> shared_with(std::size_t i) const {
        return shared_[i - first_];
    }

    /// Places of new nodes, behind a text of `held` tokens. Precondition: require_parents. Error:
    /// fewer sequences are free than branches come; nothing is changed then.
    void grow(std::size_t held, std::span<const std::size_t> parents,
              std::vector<llama_seq_id>& free) {
        first_ = nodes_.size();
        if (first_ == 0)
            held_ = static_cast<llama_pos>(held);
        if (shared_.size() < parents.size())
            shared_.resize(parents.size());
        for (auto& sequences : shared_)
            sequences.clear();
        for (const std::size_t parent : parents)
            if (!add(parent, free)) {
                shrink(first_, free);
                throw error("llama_context", "n_seq_max",
                            "expected a sequence for each branch of the trees of a pass");
            }
    }

    /// Without the nodes behind the first n.
    void shrink(std::size_t n, std::vector<llama_seq_id>& free) {
        for (; nodes_.size() > n; nodes_.pop_back(), parents_.pop_back()) {
            const node& last = nodes_.back();
            if (last.branches) {
                llama_memory_seq_rm(memory_, last.sequence, -1, -1);
                free.push_back(last.sequence);
            } else {
                llama_memory_seq_rm(memory_, last.sequence, last.position, -1);
                taken(parents_.back()) = false;
            }
        }
    }

    /// The text goes on with these nodes; the tree is gone. Precondition: require_path.
    void keep(std::span<const std::size_t> path, std::vector<llama_seq_id>& free) {
        if (nodes_.empty())
            return;
        const llama_pos end = held_ + static_cast<llama_pos>(path.size());
        const llama_seq_id last = path.empty() ? text_ : nodes_[path.back()].sequence;
        if (last != text_) {
            llama_memory_seq_rm(memory_, text_, held_, -1);
            llama_memory_seq_cp(memory_, last, text_, held_, end);
        }
        llama_memory_seq_rm(memory_, text_, end, -1);
        for (const node& n : nodes_)
            if (n.branches) {
                llama_memory_seq_rm(memory_, n.sequence, -1, -1);
                free.push_back(n.sequence);
            }
        nodes_.clear();
        parents_.clear();
        root_taken_ = false;
    }

private:
    struct node {
        llama_pos position = 0;
        llama_seq_id sequence = 0;
        bool branches = false; ///< its sequence begins with it
        bool taken = false;    ///< a child has taken its sequence over
    };

    /// False: no sequence is free.
    bool add(std::size_t parent, std::vector<llama_seq_id>& free) {
        node n{position_of(parent) + 1, sequence_of(parent)};
        if (taken(parent)) {
            if (free.empty())
                return false;
            n.branches = true;
            n.sequence = free.back();
            free.pop_back();
            std::size_t above = parent;
            for (; above != tree_root && above >= first_; above = parents_[above])
                shared_[above - first_].push_back(n.sequence);
            llama_memory_seq_cp(memory_, sequence_of(above), n.sequence, -1,
                                position_of(above) + 1);
        } else {
            taken(parent) = true;
        }
        nodes_.push_back(n);
        parents_.push_back(parent);
        return true;
    }
    [[nodiscard]] llama_pos position_of(std::size_t i) const {
        return i == tree_root ? held_ - 1 : nodes_[i].position;
    }
    [[nodiscard]] llama_seq_id sequence_of(std::size_t i) const {
        return i == tree_root ? text_ : nodes_[i].sequence;
    }
    [[nodiscard]] bool& taken(std::size_t i) {
        return i == tree_root ? root_taken_ : nodes_[i].taken;
    }

    llama_memory_t memory_;
    llama_seq_id text_;
    llama_pos held_ = 0;
    bool root_taken_ = false;
    std::vector<node> nodes_;
    std::vector<std::size_t> parents_;
    std::size_t first_ = 0;                         ///< node of the latest grow()
    std::vector<std::vector<llama_seq_id>> shared_; ///< of the nodes from there on
};

} // namespace specdec
