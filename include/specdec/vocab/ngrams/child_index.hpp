// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <specdec/core/contract.hpp>
#include <specdec/core/token_id.hpp>

namespace specdec {

/// Finds the node of a trie by its parent and token: the numbers of nodes 1, 2, 3, ... in an open
/// hash table, four bytes an entry. Six bits of an entry are of its hash, so a search reads one
/// place of the table and hardly ever a wrong node. That matters because drafts are scanned with
/// cold caches.
///
/// The caller gives each node's key: key_of(node) is its child_key.
class child_index {
public:
    static constexpr std::uint32_t none = 0xffffffffu;
    static constexpr std::uint32_t most_nodes = (1u << 26) - 1;

    struct child_key {
        std::uint32_t parent;
        draft_id token;
        friend bool operator==(const child_key&, const child_key&) = default;
    };

    child_index() = default;
    /// Empty, with room for so many nodes.
    explicit child_index(std::size_t nodes) : entries_(2 * nodes, 0) {}

    /// The node, or none. Complexity: O(1) expected.
    template <class KeyOf>
    [[nodiscard]] std::uint32_t find(child_key key, const KeyOf& key_of) const {
        if (entries_.empty())
            return none;
        const std::uint64_t hash = hash_of(key);
        const std::uint32_t tag = tag_of(hash);
        for (std::size_t i = home(hash); entries_[i] != 0; i = behind(i))
            if ((entries_[i] & ~most_nodes) == tag && key_of(entries_[i] & most_nodes) == key)
                return entries_[i] & most_nodes;
        return none;
    }

    /// Pre: there is room; the key has no node.
    void add(child_key key, std::uint32_t node) noexcept {
        SPECDEC_PRECONDITION(node > 0 && node <= most_nodes);
        const std::uint64_t hash = hash_of(key);
        std::size_t i = home(hash);
        while (entries_[i] != 0)
            i = behind(i);
        entries_[i] = tag_of(hash) | node;
    }
    /// Pre: it is there.
    template <class KeyOf>
    void remove(std::uint32_t node, const KeyOf& key_of) noexcept {
        std::size_t hole = home(hash_of(key_of(node)));
        while ((entries_[hole] & most_nodes) != node)
            hole = behind(hole);
        // What was pushed on by the one that goes moves up.
        for (std::size_t i = behind(hole); entries_[i] != 0; i = behind(i)) {
            const std::size_t wanted = home(hash_of(key_of(entries_[i] & most_nodes)));
            const bool stays =
                hole < i ? hole < wanted && wanted <= i : hole < wanted || wanted <= i;
            if (!stays) {
                entries_[hole] = entries_[i];
                hole = i;
            }
        }
        entries_[hole] = 0;
    }
    /// Keeps the memory.
    void clear() noexcept {
        for (std::uint32_t& entry : entries_)
            entry = 0;
    }

    /// Nodes that it is made for.
    [[nodiscard]] std::size_t room() const { return entries_.size() / 2; }
    [[nodiscard]] std::size_t memory() const { return entries_.capacity() * sizeof(std::uint32_t); }

private:
    static std::uint64_t hash_of(child_key key) {
        std::uint64_t hash =
            std::uint64_t{key.parent} << 32 | static_cast<std::uint32_t>(key.token.value);
        hash *= 0x9e3779b97f4a7c15u;
        return (hash ^ hash >> 32) * 0xd6e8feb86659fd93u;
    }
    static std::uint32_t tag_of(std::uint64_t hash) {
        return static_cast<std::uint32_t>(hash) & ~most_nodes;
    }
    [[nodiscard]] std::size_t home(std::uint64_t hash) const {
        return static_cast<std::size_t>((hash >> 32) * entries_.size() >> 32);
    }
    [[nodiscard]] std::size_t behind(std::size_t i) const {
        return i + 1 == entries_.size() ? 0 : i + 1;
    }

    std::vector<std::uint32_t> entries_; // hash bits and node, 0 for none; at most half full
};

} // namespace specdec
