// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>  // std::to_string
#include <utility> // std::move
#include <vector>

#include <specdec/core/contract.hpp>
#include <specdec/core/error.hpp>
#include <specdec/core/token_id.hpp>
#include <specdec/vocab/ngrams/child_index.hpp>

namespace specdec {

/// A set of n-grams of draft tokens as a trie, each n-gram with a number (its slot in tables kept
/// elsewhere). Nested n-grams and common beginnings share nodes and outlive each other: a node goes
/// when neither an n-gram ends at it nor passes through it.
///
/// Memory: one pool, 24 bytes a node and 8 of an index that finds a child in O(1) however many
/// there are (the root has thousands); both grow by a sixteenth. Children are also linked, in the
/// order in which they came: walks are deterministic. Threads: any number of readers, or one
/// writer.
class ngram_trie {
public:
    /// A place in the trie. Handles are valid until the next change of the trie.
    enum class node : std::uint32_t { root = 0, none = 0xffffffffu };

    static constexpr std::uint32_t no_slot = 0xffffffffu;
    static constexpr std::size_t longest = 64; ///< tokens of an n-gram, at most

    ngram_trie() : nodes_(1) {}

    /// The child of `at` by token d, or none. Pre: at is no none. Complexity: O(1) expected.
    [[nodiscard]] node step(node at, draft_id d) const {
        return node{index_.find({static_cast<std::uint32_t>(at), d}, keys())};
    }

    /// The slot of the n-gram that ends at the node, or no_slot.
    [[nodiscard]] std::uint32_t slot(node at) const { return record_of(at).slot; }
    /// Number of tokens from the root.
    [[nodiscard]] std::size_t depth(node at) const {
        std::size_t n = 0;
        for (; at != node::root; at = node{record_of(at).parent})
            ++n;
        return n;
    }

    /// Calls f(draft_id, node) for every child, in the order in which they came.
    template <class F>
    void for_each_child(node at, F&& f) const {
        for (std::uint32_t i = record_of(at).child; i != none; i = nodes_[i].next)
            f(nodes_[i].token, node{i});
    }

    /// Calls f(std::span<const draft_id>, slot) for every n-gram, a prefix before what it begins,
    /// children in order. The span lives as long as the call. No allocation.
    template <class F>
    void for_each(F&& f) const {
        std::array<draft_id, longest> path;
        std::size_t depth = 0;
        for (std::uint32_t i = following(0, depth); i != 0; i = following(i, depth)) {
            path[depth - 1] = nodes_[i].token;
            if (nodes_[i].slot != no_slot)
                f(std::span<const draft_id>(path.data(), depth), nodes_[i].slot);
        }
    }

    /// How far a sequence can be walked from the root.
    struct reach {
        node at = node::root;
        std::size_t tokens = 0;
    };
    [[nodiscard]] reach walk(std::span<const draft_id> ids) const {
        reach r;
        while (r.tokens < ids.size()) {
            const node next = step(r.at, ids[r.tokens]);
            if (next == node::none)
                break;
            r.at = next;
            ++r.tokens;
        }
        return r;
    }

    /// Makes room for `count` more nodes, so that add() cannot fail. Strong guarantee: where memory
    /// runs out nothing has changed. Errors: more nodes than child_index::most_nodes, 2^26.
    void reserve(std::size_t count) {
        const std::size_t used = nodes_.size() - free_;
        const bool fits = count <= free_ + (nodes_.capacity() - nodes_.size());
        if (fits && used + count <= index_.room()) // copies may have one without the other
            return;
        const std::size_t needed = nodes_.size() + count;
        const std::size_t grown = nodes_.size() + nodes_.size() / 16 + 16;
        const std::size_t size = needed > grown ? needed : grown;
        if (size > child_index::most_nodes)
            fail("n-gram trie", "nodes",
                 "expected at most " + std::to_string(child_index::most_nodes));
        child_index index(size);
        nodes_.reserve(size);
        index_ = std::move(index);
        std::size_t depth = 0; // a walk reaches exactly the nodes in use
        for (std::uint32_t i = following(0, depth); i != 0; i = following(i, depth))
            index_.add(keys()(i), i);
    }

    /// Adds an n-gram. Pre: not in the trie; 0 < ids.size() <= longest; reserve() has made room for
    /// the nodes that are missing.
    node add(std::span<const draft_id> ids, std::uint32_t slot) noexcept {
        SPECDEC_PRECONDITION(!ids.empty() && ids.size() <= longest);
        auto [at, depth] = walk(ids);
        auto i = static_cast<std::uint32_t>(at);
        for (; depth < ids.size(); ++depth)
            i = add_child(i, ids[depth]);
        SPECDEC_PRECONDITION(nodes_[i].slot == no_slot);
        nodes_[i].slot = slot;
        return node{i};
    }

    /// Removes the n-gram that ends at the node, and the nodes that only it needed.
    void remove(node at) noexcept {
        auto i = static_cast<std::uint32_t>(at);
        nodes_[i].slot = no_slot;
        while (i != 0 && nodes_[i].slot == no_slot && nodes_[i].child == none) {
            const std::uint32_t parent = nodes_[i].parent;
            unlink(i);
            nodes_[i].next = first_free_;
            first_free_ = i;
            ++free_;
            i = parent;
        }
    }

    /// Keeps the memory.
    void clear() noexcept {
        nodes_.resize(1); // smaller or equal: allocates nothing
        nodes_[0] = {};
        index_.clear();
        first_free_ = none;
        free_ = 0;
    }

    /// Bytes allocated.
    [[nodiscard]] std::size_t memory() const {
        return nodes_.capacity() * sizeof(record) + index_.memory();
    }

private:
    static constexpr std::uint32_t none = child_index::none;

    struct record {
        std::uint32_t parent = none;
        draft_id token;
        std::uint32_t slot = no_slot;
        std::uint32_t child = none;    // the first one
        std::uint32_t next = none;     // sibling; of a free node: the next free one
        std::uint32_t previous = none; // sibling; of the first one: the last
    };

    [[nodiscard]] const record& record_of(node at) const {
        return nodes_[static_cast<std::size_t>(at)];
    }

    struct key_reader {
        const record* nodes;
        child_index::child_key operator()(std::uint32_t i) const {
            return {nodes[i].parent, nodes[i].token};
        }
    };
    [[nodiscard]] key_reader keys() const { return {nodes_.data()}; }

    /// The next node of a walk that visits a node before its children; 0 behind the last.
    [[nodiscard]] std::uint32_t following(std::uint32_t i, std::size_t& depth) const {
        if (nodes_[i].child != none) {
            ++depth;
            return nodes_[i].child;
        }
        while (i != 0 && nodes_[i].next == none) {
            i = nodes_[i].parent;
            --depth;
        }
        return i == 0 ? 0 : nodes_[i].next;
    }

    std::uint32_t add_child(std::uint32_t parent, draft_id token) noexcept {
        std::uint32_t i = first_free_;
        if (i != none) {
            first_free_ = nodes_[i].next;
            --free_;
        } else {
            SPECDEC_PRECONDITION(nodes_.size() < nodes_.capacity());
            i = static_cast<std::uint32_t>(nodes_.size());
            nodes_.emplace_back();
        }
        nodes_[i] = {.parent = parent, .token = token};
        std::uint32_t& first = nodes_[parent].child;
        if (first == none) {
            first = nodes_[i].previous = i;
        } else {
            std::uint32_t& last = nodes_[first].previous;
            nodes_[i].previous = last;
            nodes_[last].next = i;
            last = i;
        }
        index_.add({parent, token}, i);
        return i;
    }

    void unlink(std::uint32_t i) noexcept {
        index_.remove(i, keys());
        const record& gone = nodes_[i];
        std::uint32_t& first = nodes_[gone.parent].child;
        if (gone.next != none)
            nodes_[gone.next].previous = gone.previous;
        else
            nodes_[first].previous = gone.previous;
        if (first == i)
            first = gone.next;
        else
            nodes_[gone.previous].next = gone.next;
    }

    std::vector<record> nodes_; // [0] the root
    child_index index_;         // of the nodes in use, with room for nodes_.capacity()
    std::uint32_t first_free_ = none;
    std::size_t free_ = 0;
};

} // namespace specdec
