// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <specdec/core/basic/on_throw.hpp>
#include <specdec/core/concepts.hpp>
#include <specdec/core/error.hpp>
#include <specdec/core/law_version.hpp>
#include <specdec/core/model/context_tracker.hpp>
#include <specdec/core/model/tree_scoring.hpp>
#include <specdec/core/model/wrapped_model.hpp>
#include <specdec/core/require.hpp>
#include <specdec/core/rows.hpp>

namespace specdec {

/// A drafter's model that gives the distributions of several places in one pass: a context
/// (ContextOf, or BatchContextOf for several sequences) and
///
///     m.block_size()         k >= 1, the number of places, always the same
///     m.score_block(ids)     append, and returns k rows: row i is the distribution of the token at
///                            place i after the context (place 0 is the next token), given the
///                            context alone. The rows live until the next call that changes m
///     m.score_block(parts)   of several sequences: one pass over all parts (sequence_tokens; no
///                            sequence twice), and the k rows of the first part, then those of the
///                            second, ...
///
/// ids is never empty, and may be a whole prompt. Afterwards the context holds ids, and nothing of
/// the places: an engine that feeds mask tokens for them drops these again, and its capacity()
/// leaves room for them. Failure: score_block may throw, and does so where ids exceed the room; all
/// contexts are then as they were.
template <class M>
concept BlockModel =
    requires(const M& c) {
        { c.block_size() } -> std::convertible_to<std::size_t>;
    } && ((ContextOf<M, draft_id> &&
           requires(M& m, std::span<const draft_id> ids) {
               { m.score_block(ids) } -> std::convertible_to<logits_rows<draft_id>>;
           }) ||
          (BatchContextOf<M, draft_id> &&
           requires(M& m, std::span<const sequence_tokens<draft_id>> parts) {
               { m.score_block(parts) } -> std::convertible_to<logits_rows<draft_id>>;
           }));

/// A block drafter: makes a drafter's model of one that gives k places in one pass, so that a draft
/// of k tokens takes one pass.
///
/// Papers: Medusa (Cai et al. 2024), k heads; PARD (An et al. 2025), k - 1 mask tokens; DFlash
/// (Chen et al. 2026), one step of a block diffusion model. The places are independent given the
/// context c, so the draft's distribution is a product, and its conditional distributions, which a
/// verifier asks for, are the rows:
///
///     q(x_1 .. x_k | c) = prod_i q_i(x_i | c),    q(x_i | c, x_1 .. x_(i-1)) = q_i(x_i | c)
///
/// Symbols: m, the tokens that a row comes after; n, the tokens that the round began with
/// (begin_draft_round). The row is that of place (m - n) mod k in the block after the first
///
///     n + floor((m - n) / k) * k
///
/// tokens, so a draft longer than k goes on with another block. If m < n, or if nobody told of a
/// round, it is place 0 of the block after all m tokens. A row is a function of these tokens and of
/// n, whatever else was drafted or looked at, and version() is another number if n is. If a round
/// begins with nothing (measure_costs), its blocks begin at the first row after a truncation.
///
/// Appended tokens are fed when a block needs them (lazy_append). A block is kept as long as the
/// tokens before it are, so other drafts of the block, and all nodes of a tree within it, take no
/// further pass. Beyond it, a tree takes a pass for each node that a block begins after.
///
/// Models RoundAware, ModelOf<draft_id> and TreeModelOf<draft_id> if M is of one sequence, always
/// BatchModelOf<draft_id> and BatchTreeModelOf<draft_id>, and tells what it holds (TellsHeld). One
/// pass makes the blocks that several sequences need. Borrows the model, which nobody else feeds;
/// its engine may drop a context, which size() shows and which is then fed again.
///
/// Memory: 12 bytes a token of the capacity, allocated at construction; k rows for each block of a
/// draft, at most 8 blocks; the rows of a call. Allocates: where there are more rows than ever.
/// Complexity: a copy of each row. Errors: specdec::error for a block_size() of 0, for rows of
/// another number or length, for ids outside the vocabulary, for more of them than there is room,
/// and for parents and paths that are none. A call that throws changes nothing.
template <BlockModel M>
class block_model : public wrapped_model<block_model<M>, draft_id, M> {
    using base = wrapped_model<block_model<M>, draft_id, M>;
    static constexpr std::size_t none = ~std::size_t{0};

public:
    static constexpr bool wraps_trees = true;

    /// Truncates the model to nothing.
    explicit block_model(M& model)
        : base(model), places_(model.block_size()), texts_(this->sequences()) {
        if (places_ == 0)
            fail("block model", "block_size", "expected at least one place");
        for (std::size_t s = 0; s < texts_.size(); ++s) {
            texts_[s].held.reserve(model.capacity());
            base::truncate(s, 0);
        }
    }

    using base::append, base::score, base::score_tree, base::keep_path, base::truncate,
        base::begin_draft_round, base::size, base::version;

    [[nodiscard]] static constexpr bool lazy_append() { return true; }
    [[nodiscard]] static constexpr bool scores_trees() { return true; }
    [[nodiscard]] std::size_t size(std::size_t s) const { return texts_[s].held.size(); }
    [[nodiscard]] held_tokens<draft_id> held(std::size_t s) const { return texts_[s].held.held(); }
    [[nodiscard]] held_tokens<draft_id> held() const
        requires ContextOf<M, draft_id>
    {
        return held(0);
    }
    [[nodiscard]] law_version version(std::size_t s) const {
        return texts_[s].rounds + base::version(s);
    }

    void append(std::size_t s, std::span<const draft_id> ids) {
        require_takes(s, ids, 0);
        texts_[s].held.fed(ids);
        forget_nodes(texts_[s]);
    }
    [[nodiscard]] logits_rows<draft_id> score(std::span<const sequence_tokens<draft_id>> parts) {
        return make_rows(parts);
    }
    [[nodiscard]] logits_rows<draft_id>
    score_tree(std::span<const sequence_nodes<draft_id>> parts) {
        return make_rows(parts);
    }
    void keep_path(std::size_t s, std::span<const std::size_t> path) {
        text& t = texts_[s];
        require_path(path, t.parents, "block model");
        for (const std::size_t node : path)
            t.held.fed({&t.nodes[node], 1});
        forget_nodes(t);
    }
    void truncate(std::size_t s, std::size_t n) {
        cut(s, n);
        forget_nodes(texts_[s]);
    }
    void begin_draft_round(std::size_t s, std::size_t n) {
        base::begin_draft_round(s, n);
        text& t = texts_[s];
        if (n > 0 && n == t.begin && !t.measured)
            return;
        t.begin = n > 0 ? n : none;
        t.measured = n == 0;
        t.kept = 0; // a model that was told of the round may make others
        ++t.rounds;
    }

private:
    static constexpr std::size_t most_blocks = 8;

    /// The rows of all places after so many tokens, the last of which lead to a node of the tree.
    struct block {
        std::size_t tokens = 0, node = tree_root;
        std::vector<float> rows{};
    };
    struct row_place {
        std::size_t tokens, node; // of the block
        std::size_t place;
    };
    struct text {
        context_tracker<draft_id> held{}; // the model holds the first size() of them
        std::vector<draft_id> nodes{};    // after these
        std::vector<std::size_t> parents{};
        std::size_t begin = none; // tokens before the round's first block; none: each row has one
        bool measured = false;    // the round began with nothing
        law_version rounds = 0;   // other ones than those before
        std::vector<block> blocks{};
        std::size_t kept = 0;        // of the first blocks
        law_version mark = 0;        // of the model, when it made them
        std::vector<draft_id> fed{}; // for a block after a node
        std::size_t done = 0;        // rows of the call
    };
    struct wanted_block {
        std::size_t sequence;
        row_place at;
    };

    [[nodiscard]] static std::span<const std::size_t>
    parents_of(const sequence_nodes<draft_id>& part) {
        return part.parents;
    }
    [[nodiscard]] static std::span<const std::size_t> parents_of(const sequence_tokens<draft_id>&) {
        return {};
    }

    /// Takes the tokens and nodes of all parts, and gives the row after each.
    template <class Part>
    logits_rows<draft_id> make_rows(std::span<const Part> parts) {
        for (const Part& part : parts)
            require_part(part.sequence, part.ids, parents_of(part));
        std::size_t taken = 0;
        on_throw guard([&] {
            for (const Part& part : parts.first(taken))
                take_back(part.sequence, part.ids.size(), parents_of(part).empty());
        });
        for (; taken < parts.size(); ++taken)
            take(parts[taken].sequence, parts[taken].ids, parents_of(parts[taken]));
        const std::size_t vocabulary = this->vocabulary_size(), rows = count_tokens(parts);
        out_.resize(rows * vocabulary);
        while (!copy_rows(parts, vocabulary))
            make_blocks(vocabulary);
        guard.done();
        for (const Part& part : parts)
            if (parents_of(part).empty())
                forget_nodes(texts_[part.sequence]);
        return {out_.data(), rows, vocabulary, vocabulary};
    }

    void require_takes(std::size_t s, std::span<const draft_id> ids, std::size_t nodes) const {
        require_ids(ids, this->vocabulary_size(), "block model", "tokens");
        const std::size_t room = this->capacity() - size(s) - nodes;
        if (ids.size() > room)
            fail("block model", "context",
                 "expected at most " + std::to_string(room) + " tokens, found " +
                     std::to_string(ids.size()));
    }
    void require_part(std::size_t s, std::span<const draft_id> ids,
                      std::span<const std::size_t> parents) const {
        const std::size_t nodes = parents.empty() ? 0 : texts_[s].nodes.size();
        require_takes(s, ids, nodes);
        if (!parents.empty())
            require_parents(ids.size(), parents, nodes, "block model");
    }
    void take(std::size_t s, std::span<const draft_id> ids, std::span<const std::size_t> parents) {
        text& t = texts_[s];
        t.done = 0;
        forget_if_changed(s);
        if (parents.empty()) {
            if (t.measured && t.begin == none)
                t.begin = size(s) + 1;
            t.held.fed(ids);
        } else {
            t.nodes.reserve(t.nodes.size() + ids.size());
            t.parents.insert(t.parents.end(), parents.begin(), parents.end());
            t.nodes.insert(t.nodes.end(), ids.begin(), ids.end());
        }
    }
    void take_back(std::size_t s, std::size_t ids, bool tokens) {
        text& t = texts_[s];
        const std::size_t nodes = t.nodes.size() - (tokens ? 0 : ids);
        t.nodes.resize(nodes);
        t.parents.resize(nodes);
        keep_blocks(t, [&](const block& b) { return b.node == tree_root || b.node < nodes; });
        cut(s, size(s) - (tokens ? ids : 0));
    }

    /// Copies the rows of the blocks that are there; whether that is all of them. Else `wanted_`
    /// has what each part needs next.
    template <class Part>
    [[nodiscard]] bool copy_rows(std::span<const Part> parts, std::size_t vocabulary) {
        wanted_.clear();
        feeds_.clear();
        std::size_t first = 0;
        for (const Part& part : parts) {
            text& t = texts_[part.sequence];
            const std::size_t rows = part.ids.size();
            for (; t.done < rows; ++t.done) {
                const row_place at = parents_of(part).empty()
                                         ? place_after(t, t.held.size() - rows + t.done + 1)
                                         : place_of(t, t.nodes.size() - rows + t.done);
                const block* const from = find(t, at);
                if (from == nullptr) {
                    wanted_.push_back({part.sequence, at});
                    feeds_.push_back({part.sequence, to_feed(part.sequence, at)});
                    break;
                }
                for (std::size_t v = 0; v < vocabulary; ++v)
                    out_[(first + t.done) * vocabulary + v] = from->rows[at.place * vocabulary + v];
            }
            first += rows;
        }
        return wanted_.empty();
    }
    void make_blocks(std::size_t vocabulary) {
        const logits_rows<draft_id> rows = blocks_of_model();
        if (rows.size() != wanted_.size() * places_ || rows.vocabulary() != vocabulary)
            fail("block model", "score_block",
                 "expected " + std::to_string(wanted_.size() * places_) + " rows of " +
                     std::to_string(vocabulary) + " logits, found " + std::to_string(rows.size()) +
                     " of " + std::to_string(rows.vocabulary()));
        for (std::size_t i = 0; i < wanted_.size(); ++i)
            store(wanted_[i], rows.middle(i * places_, places_));
        for (const wanted_block& w : wanted_)
            cut_model(w.sequence, size(w.sequence)); // what led to a node
    }
    [[nodiscard]] logits_rows<draft_id> blocks_of_model() {
        if constexpr (base::several)
            return this->wrapped().score_block(std::span<const sequence_tokens<draft_id>>(feeds_));
        else
            return this->wrapped().score_block(feeds_.front().ids);
    }
    void store(const wanted_block& wanted, const logits_rows<draft_id>& rows) {
        text& t = texts_[wanted.sequence];
        forget_if_changed(wanted.sequence);
        if (t.kept == most_blocks)
            t.kept = 0;
        if (t.kept == t.blocks.size())
            t.blocks.emplace_back();
        block& b = t.blocks[t.kept];
        b.tokens = wanted.at.tokens;
        b.node = wanted.at.node;
        b.rows.clear();
        for (std::size_t i = 0; i < rows.size(); ++i)
            b.rows.insert(b.rows.end(), rows[i].values.begin(), rows[i].values.end());
        ++t.kept;
    }

    /// Where the row after the first m tokens stands, which lead to no node.
    [[nodiscard]] row_place place_after(const text& t, std::size_t m) const {
        if (m < t.begin)
            return {m, tree_root, 0};
        const std::size_t place = (m - t.begin) % places_;
        return {m - place, tree_root, place};
    }
    /// Where the row after a node stands.
    [[nodiscard]] row_place place_of(const text& t, std::size_t node) const {
        const std::size_t held = t.held.size();
        row_place at = place_after(t, held + depth_of(t, node));
        if (at.tokens > held) {
            for (std::size_t up = at.place; up > 0; --up)
                node = t.parents[node];
            at.node = node;
        }
        return at;
    }
    [[nodiscard]] static std::size_t depth_of(const text& t, std::size_t node) {
        std::size_t depth = 0;
        for (; node != tree_root; node = t.parents[node])
            ++depth;
        return depth;
    }
    [[nodiscard]] static const block* find(const text& t, const row_place& at) {
        for (const block& b : std::span(t.blocks).first(t.kept))
            if (b.tokens == at.tokens && b.node == at.node)
                return &b;
        return nullptr;
    }

    /// What the model has to be fed to hold the tokens before a block, the last one at least: only
    /// what is fed yields rows. Lives until the pass.
    [[nodiscard]] std::span<const draft_id> to_feed(std::size_t s, const row_place& at) {
        text& t = texts_[s];
        const std::span<const draft_id> held = t.held.held();
        if (at.node == tree_root) {
            cut_model(s, at.tokens - 1);
            return held.subspan(base::size(s), at.tokens - base::size(s));
        }
        cut_model(s, held.size());
        const std::span<const draft_id> missing = held.subspan(base::size(s));
        t.fed.assign(missing.begin(), missing.end());
        t.fed.resize(missing.size() + at.tokens - held.size());
        std::size_t end = t.fed.size();
        for (std::size_t node = at.node; node != tree_root; node = t.parents[node])
            t.fed[--end] = t.nodes[node];
        return t.fed;
    }
    void cut_model(std::size_t s, std::size_t n) {
        if (base::size(s) > n)
            base::truncate(s, n);
    }
    /// All but the first n tokens are forgotten. Nodes stay.
    void cut(std::size_t s, std::size_t n) {
        text& t = texts_[s];
        cut_model(s, n);
        t.held.truncated(n);
        keep_blocks(t, [n](const block& b) { return b.node != tree_root || b.tokens <= n; });
        if (t.measured && n < t.begin)
            t.begin = none;
    }
    static void forget_nodes(text& t) {
        t.nodes.clear();
        t.parents.clear();
        keep_blocks(t, [](const block& b) { return b.node == tree_root; });
    }
    /// Blocks that the model would make otherwise now.
    void forget_if_changed(std::size_t s) {
        text& t = texts_[s];
        const law_version now = base::version(s);
        if (t.mark != now)
            t.kept = 0;
        t.mark = now;
    }
    template <class Keep>
    static void keep_blocks(text& t, const Keep& keep) {
        std::size_t n = 0;
        for (std::size_t i = 0; i < t.kept; ++i)
            if (keep(t.blocks[i]))
                std::swap(t.blocks[n++], t.blocks[i]);
        t.kept = n;
    }

    std::size_t places_;               // of a block
    std::vector<text> texts_;          // [sequences]
    std::vector<wanted_block> wanted_; // of the next pass
    std::vector<sequence_tokens<draft_id>> feeds_;
    std::vector<float> out_; // rows of the call
};

} // namespace specdec
