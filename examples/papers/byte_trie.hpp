// SPDX-License-Identifier: MIT
#pragma once

#include <bit> // std::bit_ceil
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <specdec/vocab/table/vocabulary.hpp>

namespace specdec::papers {

/// The text tokens of a vocabulary by their bytes, to find all those that a text begins with.
///
/// A trie whose nodes are the slots of one hash table. Complexity: a constructor linear in the
/// bytes of the vocabulary; a walk in the longest beginning that some token has, too. Memory: 24 to
/// 48 bytes a byte of the vocabulary. Immutable: any number of readers.
class byte_trie {
public:
    /// The tokens that keep(id) holds of; those without text never count.
    template <class Keep>
    byte_trie(const vocabulary& table, const Keep& keep) {
        std::size_t bytes = 0;
        for (std::size_t i = 0; i < table.size(); ++i)
            bytes += table.text(i).size();
        edges_.resize(std::bit_ceil(2 * bytes + 2));
        for (std::size_t i = 0; i < table.size(); ++i)
            if (!table.text(i).empty() && keep(i))
                add(table.text(i));
    }

    /// Calls f(size, tokens) for every size > 0, ascending, such that the first `size` bytes of the
    /// text are a token; `tokens` is the number of ids with these bytes.
    template <class F>
    void for_each_beginning(std::string_view text, F&& f) const {
        std::uint32_t at = root;
        for (std::size_t i = 0; i < text.size(); ++i) {
            at = find(at, text[i]);
            if (!edges_[at].used)
                return;
            if (edges_[at].tokens > 0)
                f(i + 1, edges_[at].tokens);
        }
    }

private:
    static constexpr std::uint32_t root = 0xffffffffu;

    /// The edge from a node by a byte; its place in the table is the node that it leads to.
    struct edge {
        std::uint32_t parent = root;
        std::uint32_t tokens = 0; // that end here
        char byte = 0;
        bool used = false;
    };

    /// The edge, or the free place where it would be.
    [[nodiscard]] std::uint32_t find(std::uint32_t parent, char byte) const {
        const std::uint64_t key = std::uint64_t{parent} << 8 | static_cast<unsigned char>(byte);
        std::size_t i = static_cast<std::size_t>(key * 0x9e3779b97f4a7c15u >> 24);
        for (;; ++i) {
            i &= edges_.size() - 1;
            const edge& e = edges_[i];
            if (!e.used || (e.parent == parent && e.byte == byte))
                return static_cast<std::uint32_t>(i);
        }
    }

    void add(std::string_view bytes) {
        std::uint32_t at = root;
        for (const char byte : bytes) {
            const std::uint32_t next = find(at, byte);
            if (!edges_[next].used)
                edges_[next] = {.parent = at, .tokens = 0, .byte = byte, .used = true};
            at = next;
        }
        ++edges_[at].tokens;
    }

    std::vector<edge> edges_; // open addressing, at most half full
};

} // namespace specdec::papers
