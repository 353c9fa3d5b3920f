// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm> // std::copy_n
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <llama.h>

#include <specdec/core/concepts.hpp>
#include <specdec/core/error.hpp>
#include <specdec/core/model/tree_scoring.hpp>
#include <specdec/interop/llama_cpp_batch.hpp>
#include <specdec/interop/llama_cpp_batch_model.hpp>
#include <specdec/interop/llama_cpp_model.hpp>
#include <specdec/interop/llama_cpp_tree.hpp>

namespace specdec {

/// The first `texts` sequences of a llama_context as a model that scores trees, too
/// (BatchTreeModelOf<Id>; one_sequence makes a TreeModelOf<Id> of one): a call is one llama_decode.
/// Sequences behind the first are the branches' (llama_cpp_tree).
///
/// The context is borrowed, see llama_cpp_model. It is made with kv_unified, and n_seq_max is
/// `texts` and as many more as the trees of all texts have branches at the same time, a branch
/// being a child that is not its parent's first: the nodes of the trees are always enough. Rows
/// live and are copied as in llama_cpp_batch_model; they depend a little on which cells of the
/// memory a path lies in, also where positions are scored alone. Allocation: at construction, and
/// where trees or copies are larger than ever before.
///
/// Errors, specdec::error that names the call: those of llama_cpp_batch_model; at construction, a
/// memory that is not unified; more branches than sequences. Texts and trees are then as before,
/// but where llama.cpp failed behind an append or a score, which forget the tree first.
template <class Id>
class llama_cpp_tree_model {
public:
    /// Precondition: context is not null. `servers`: those that hold layers of it, or null.
    explicit llama_cpp_tree_model(llama_context* context, std::size_t texts = 1,
                                  llama_cpp_scoring scoring = llama_cpp_scoring::together,
                                  llama_cpp_servers* servers = nullptr)
        : texts_(context, scoring, servers, texts), alone_(scoring == llama_cpp_scoring::alone),
          batch_(context, servers, llama_n_seq_max(context)) {
        const std::uint32_t n = llama_n_seq_max(context);
        if (n > 1 && llama_n_ctx_seq(context) != llama_n_ctx(context))
            throw error("llama_context", "kv_unified", "expected a memory that sequences share");
        for (std::size_t s = 0; s < texts; ++s)
            trees_.emplace_back(llama_get_memory(context), static_cast<llama_seq_id>(s));
        for (std::size_t s = n; s-- > texts;)
            free_.push_back(static_cast<llama_seq_id>(s));
    }

    [[nodiscard]] std::size_t sequences() const { return texts_.sequences(); }
    [[nodiscard]] std::size_t size(std::size_t s) const {
        return trees_[s].size() > 0 ? trees_[s].held() : texts_.size(s);
    }
    [[nodiscard]] std::size_t capacity() const { return texts_.capacity(); }
    [[nodiscard]] std::size_t vocabulary_size() const { return texts_.vocabulary_size(); }

    void append(std::size_t s, std::span<const Id> ids) {
        require_room(s, ids.size());
        trees_[s].keep({}, free_);
        texts_.append(s, ids);
    }
    void truncate(std::size_t s, std::size_t n) {
        trees_[s].keep({}, free_);
        texts_.truncate(s, n);
    }
    [[nodiscard]] logits_rows<Id> score(std::span<const sequence_tokens<Id>> parts) {
        for (const auto& [s, ids] : parts)
            require_room(s, ids.size());
        for (const auto& part : parts)
            trees_[part.sequence].keep({}, free_);
        return texts_.score(parts);
    }

    [[nodiscard]] logits_rows<Id> score_tree(std::span<const sequence_nodes<Id>> parts) {
        std::size_t rows = 0, grown = 0;
        for (const auto& [s, ids, parents] : parts) {
            if (!parents.empty())
                require_parents(ids.size(), parents, trees_[s].size(), "llama_cpp_tree_model");
            require_room(s, ids.size() + (parents.empty() ? 0 : trees_[s].size()));
            rows += ids.size();
        }
        try {
            for (; grown < parts.size(); ++grown)
                grow(parts[grown]);
            const logits_rows<Id> all = decode(parts, rows);
            for (const auto& [s, ids, parents] : parts)
                if (parents.empty()) // new tokens, which are a path
                    keep_path(s, chain(ids.size()));
            return all;
        } catch (...) {
            for (std::size_t i = 0; i < grown; ++i) {
                llama_cpp_tree& t = trees_[parts[i].sequence];
                t.shrink(t.size() - parts[i].ids.size(), free_);
            }
            throw;
        }
    }

    void keep_path(std::size_t s, std::span<const std::size_t> nodes) {
        require_path(nodes, trees_[s].parents(), "llama_cpp_tree_model");
        trees_[s].keep(nodes, free_);
    }

private:
    void require_room(std::size_t s, std::size_t n) const {
        if (n > capacity() - size(s))
            throw error("llama_context", "sequence " + std::to_string(s),
                        "expected room for " + std::to_string(n) + " tokens and nodes, " +
                            std::to_string(size(s)) + " of " + std::to_string(capacity()) +
                            " are held");
    }

    void grow(const sequence_nodes<Id>& part) {
        llama_cpp_tree& t = trees_[part.sequence];
        if (!part.parents.empty())
            return t.grow(size(part.sequence), part.parents, free_);
        t.keep({}, free_);
        path_.assign(1, tree_root);
        for (std::size_t i = 0; i + 1 < part.ids.size(); ++i)
            path_.push_back(i);
        path_.resize(part.ids.size());
        t.grow(size(part.sequence), path_, free_);
    }
    /// 0 to n - 1.
    std::span<const std::size_t> chain(std::size_t n) {
        path_.clear();
        for (std::size_t i = 0; i < n; ++i)
            path_.push_back(i);
        return path_;
    }

    /// The rows of the newest nodes of each part's tree.
    logits_rows<Id> decode(std::span<const sequence_nodes<Id>> parts, std::size_t rows) {
        const std::size_t length = vocabulary_size();
        const std::size_t piece = alone_ ? 1 : batch_.capacity();
        const bool copies = rows > piece;
        if (copies && copies_.size() < rows * length)
            copies_.resize(rows * length);
        std::size_t waiting = 0, done = 0;
        const auto flush = [&] {
            batch_.decode();
            if (copies)
                std::copy_n(batch_.logits(), waiting * length, copies_.data() + done * length);
            done += waiting;
            waiting = 0;
        };
        for (const auto& [s, ids, parents] : parts) {
            const llama_cpp_tree& t = trees_[s];
            for (std::size_t i = 0, node = t.size() - ids.size(); i < ids.size(); ++i, ++node) {
                if (waiting == 0)
                    batch_.clear();
                batch_.add(ids[i].value, t.position(node), t.sequence(node), true);
                for (const llama_seq_id sequence : t.shared_with(node))
                    batch_.share(sequence);
                if (++waiting == piece)
                    flush();
            }
        }
        if (waiting > 0)
            flush();
        if (rows == 0)
            return {};
        return {copies ? copies_.data() : batch_.logits(), rows, length, length};
    }

    llama_cpp_batch_model<Id> texts_;
    bool alone_;
    llama_cpp_batch batch_;
    std::vector<llama_cpp_tree> trees_; ///< [texts]
    std::vector<llama_seq_id> free_;    ///< sequences that are no branches now
    std::vector<std::size_t> path_;
    std::vector<float> copies_; ///< [rows][vocabulary], where one decode made not all
};

} // namespace specdec
