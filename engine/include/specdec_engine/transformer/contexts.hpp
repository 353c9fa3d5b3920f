// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm> // std::max
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <specdec/core/contract.hpp>
#include <specdec/core/error.hpp>
#include <specdec/core/model/tree_scoring.hpp>
#include <specdec/core/require.hpp>
#include <specdec_engine/transformer/batch.hpp>

namespace specdec::engine {

/// What the sequences of a transformer hold: so many tokens each, and a tree of nodes behind them.
class contexts {
public:
    /// `capacity` tokens and nodes of each sequence, ids below `vocabulary`.
    contexts(std::size_t sequences, std::size_t capacity, std::size_t vocabulary)
        : capacity_(capacity), vocabulary_(vocabulary), sizes_(std::max<std::size_t>(sequences, 1)),
          trees_(sizes_.size()) {}

    [[nodiscard]] std::size_t sequences() const { return sizes_.size(); }
    [[nodiscard]] std::size_t capacity() const { return capacity_; }
    [[nodiscard]] std::size_t size(std::size_t sequence) const { return sizes_[sequence]; }

    void truncate(std::size_t sequence, std::size_t n) {
        SPECDEC_PRECONDITION(n <= size(sequence));
        hold(sequence, n);
    }
    /// A sequence holds n tokens of another one, and no nodes.
    void copied(std::size_t sequence, std::size_t n) { hold(sequence, n); }
    void clear() {
        for (std::size_t s = 0; s < sequences(); ++s)
            hold(s, 0);
    }

    /// Before a pass over these: nodes are part of the trees from here on. Errors, before anything
    /// changes: specdec::error for what has no room, ids and parents that are none, and a sequence
    /// that stands there twice.
    void begin(std::span<const sequence_part> parts) {
        for (std::size_t i = 0; i < parts.size(); ++i) {
            require(parts[i]);
            for (std::size_t j = 0; j < i; ++j)
                if (parts[j].sequence == parts[i].sequence)
                    throw error("batch", "sequence " + std::to_string(parts[i].sequence),
                                "expected each sequence once");
        }
        for (const sequence_part& part : parts)
            trees_[part.sequence].reserve(part.parents.size());
        for (const sequence_part& part : parts)
            for (const std::size_t parent : part.parents)
                trees_[part.sequence].add(parent);
    }
    /// Where token i of a part stands.
    [[nodiscard]] token_place place(const sequence_part& part, std::size_t i) const {
        token_place at{part.ids[i], part.sequence, size(part.sequence) + i};
        if (!part.parents.empty()) {
            at.tree = &trees_[part.sequence];
            at.node = at.tree->size() - part.ids.size() + i;
            at.position = size(part.sequence) + at.tree->depths[at.node];
        }
        return at;
    }
    /// The pass was made.
    void end(std::span<const sequence_part> parts) {
        for (const sequence_part& part : parts)
            if (part.parents.empty())
                hold(part.sequence, size(part.sequence) + part.ids.size());
    }
    /// It was not: all is as before.
    void abandon(std::span<const sequence_part> parts) {
        for (const sequence_part& part : parts)
            trees_[part.sequence].truncate(trees_[part.sequence].size() - part.parents.size());
    }

    /// These nodes become tokens: use(node, position) for each. Errors as keep_path's.
    template <class Use>
    void keep(std::size_t sequence, std::span<const std::size_t> path, const Use& use) {
        require_path(path, trees_[sequence].parents, "transformer");
        for (std::size_t i = 0; i < path.size(); ++i)
            use(path[i], size(sequence) + i);
        hold(sequence, size(sequence) + path.size());
    }

private:
    void hold(std::size_t sequence, std::size_t n) {
        sizes_[sequence] = n;
        trees_[sequence].truncate(0);
    }

    void require(const sequence_part& part) const {
        require_sequence(part.sequence, sequences(), "batch");
        const bool nodes = !part.parents.empty();
        const std::size_t behind = nodes ? trees_[part.sequence].size() : 0;
        if (nodes)
            require_parents(part.ids.size(), part.parents, behind, "transformer");
        const std::size_t wanted = size(part.sequence) + behind + part.ids.size();
        if (wanted > capacity_)
            throw error("prompt", "length",
                        "expected at most " + std::to_string(capacity_) +
                            " tokens (the context's capacity), found " + std::to_string(wanted));
        for (const std::int32_t id : part.ids)
            if (id < 0 || static_cast<std::size_t>(id) >= vocabulary_)
                throw error("prompt", "token " + std::to_string(id),
                            "expected an id below " + std::to_string(vocabulary_));
    }

    std::size_t capacity_, vocabulary_;
    std::vector<std::size_t> sizes_; ///< [sequences] tokens held
    std::vector<tree_nodes> trees_;  ///< [sequences]
};

} // namespace specdec::engine
