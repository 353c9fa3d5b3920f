// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <specdec/core/concepts.hpp>
#include <specdec/core/law_version.hpp>
#include <specdec/core/model/new_context_tokens.hpp>
#include <specdec/core/model/tree_scoring.hpp>
#include <specdec/core/model/wrapped_model.hpp>
#include <specdec/core/rows.hpp>
#include <specdec/core/tree/token_tree.hpp>
#include <specdec/draft/counted/cache_mixture.hpp>
#include <specdec/draft/counted/successor_counts.hpp>

namespace specdec {

/// Which counts are mixed in: of the text itself, and of all texts that `shared` was given with,
/// which they teach, or only read: then they overlap as they like. `shared` is borrowed, and used
/// by one thread at a time.
struct counted_sources {
    bool own = true;
    successor_counts* shared = nullptr;
    bool teaches = true;
};

/// A drafter's model that remembers what was said: its law is mixed, token by token, with counts of
/// what followed the same tokens before, in this text and in others. A drafter so knows a new kind
/// of text at once, and for next to nothing.
///
///     q'(. | x) = mix(mix(q(. | x), counts of all texts behind x), counts of this text behind x)
///
/// (mix_counts), each as far as it has been right in this sequence (count_shares). Where a round
/// begins, the tokens that its context has gained (the prompt, what was committed) are counted, and
/// tell how right the rows were that they came behind, before the first row of the round is made; a
/// context that has lost more than 8 tokens is another text's, whose counts begin anew. Inside a
/// round nothing changes, and every round has a mark of its own, so that a decision for which the
/// counts have changed is refused. Lossless with every bridge and verifier.
///
/// Texts in turns or side by side in sequences of one model have counts of their own each. While
/// texts teach `shared`, under SLRS and merge a text is decided before the next one drafts
/// (otherwise its decision is refused). Models RoundAware, BatchModelOf<draft_id>, and
/// ModelOf<draft_id> where Model is of one sequence; trees where Model scores them;
/// LearnsFromTexts. Borrows both. Memory: six entries of 36 bytes a token of each context at most,
/// and two copies of its ids, at construction; a copy of the rows of a pass, which grows with the
/// first ones. Complexity: of a row, twice a read of it, where something was found; of a token
/// gained, learn of both counts. Errors: specdec::error for rows with NaN or +infinity,
/// which make no law.
template <class Model>
    requires ModelOf<Model, draft_id> || BatchModelOf<Model, draft_id>
class cache_mixture_model : public wrapped_model<cache_mixture_model<Model>, draft_id, Model> {
    using base = wrapped_model<cache_mixture_model<Model>, draft_id, Model>;

public:
    static constexpr bool wraps_trees = base::trees;

    explicit cache_mixture_model(Model& model, counted_sources sources = {})
        : base(model), sources_(sources) {
        const std::size_t most = successor_counts::orders.size() * model.capacity();
        for (std::size_t s = 0; s < this->sequences(); ++s) {
            texts_.emplace_back(most < least_entries  ? least_entries
                                : most < most_entries ? most
                                                      : most_entries);
            texts_[s].gained.reserve(model.capacity());
            texts_[s].rows.reserve(most_rows);
            base::truncate(s, 0);
        }
    }

    using base::append, base::score, base::truncate, base::begin_draft_round, base::version;
    using base::score_tree, base::keep_path;

    void append(std::size_t s, std::span<const draft_id> ids) {
        follow(s, ids);
        base::append(s, ids);
        fed(s, ids);
    }
    [[nodiscard]] logits_rows<draft_id> score(std::span<const sequence_tokens<draft_id>> parts) {
        for (const auto& [s, ids] : parts)
            follow(s, ids);
        const logits_rows<draft_id> given = this->rows_of_model(parts);
        for (const auto& [s, ids] : parts)
            fed(s, ids);
        mixed_rows rows(given, mixed_);
        for (const auto& [s, ids] : parts)
            mix_tokens(rows, texts_[s], ids.size());
        return rows;
    }
    [[nodiscard]] logits_rows<draft_id> score_tree(std::span<const sequence_nodes<draft_id>> parts)
        requires base::trees
    {
        for (const auto& [s, ids, parents] : parts)
            follow(s, parents.empty() ? ids : std::span<const draft_id>{});
        const logits_rows<draft_id> given = this->rows_of_trees(parts);
        for (const auto& [s, ids, parents] : parts)
            if (parents.empty())
                fed(s, ids);
            else
                for (std::size_t i = 0; i < ids.size(); ++i)
                    texts_[s].tree.add(parents[i], ids[i]);
        mixed_rows rows(given, mixed_);
        for (const auto& [s, ids, parents] : parts)
            if (parents.empty())
                mix_tokens(rows, texts_[s], ids.size());
            else
                mix_nodes(rows, texts_[s], ids.size());
        return rows;
    }
    void keep_path(std::size_t s, std::span<const std::size_t> nodes)
        requires base::trees
    {
        this->keep_in_model(s, nodes);
        text& t = texts_[s];
        for (const std::size_t node : nodes) {
            const draft_id id = t.tree.id(node);
            t.gained.fed({&id, 1});
        }
        t.tree.clear();
    }
    void truncate(std::size_t s, std::size_t n) {
        base::truncate(s, n);
        texts_[s].gained.truncated(n);
        texts_[s].tree.clear();
    }

    /// Other counts from now on. Called between texts.
    void use(counted_sources sources) {
        uses_ += 1 + version_of_shared(); // marks only grow
        sources_ = sources;
    }
    void begin_draft_round(std::size_t s, std::size_t n) {
        texts_[s].gained.begin_draft_round(n);
        ++texts_[s].rounds;
        base::begin_draft_round(s, n);
    }
    /// Nothing was counted, of this text or of others.
    void forget_learnt() {
        for (text& t : texts_) {
            t.own.forget();
            t.gained.forget();
            t.shares.forget();
            t.rows.clear();
            ++t.rounds;
        }
        if (teaches())
            sources_.shared->forget();
        if constexpr (LearnsFromTexts<Model>)
            base::forget_learnt();
    }
    [[nodiscard]] law_version version(std::size_t s) const {
        const text& t = texts_[s];
        return base::version(s) + uses_ + t.rounds + t.own.version() + version_of_shared();
    }

private:
    static constexpr std::size_t least_entries = 256, most_entries = std::size_t{1} << 16;
    static constexpr std::size_t most_rows = 64; // of a round, that tell how right counts are

    struct text {
        explicit text(std::size_t entries) : own(entries) {}
        successor_counts own;
        new_context_tokens<draft_id> gained{};
        token_tree<draft_id> tree{};  // behind what is held
        std::vector<draft_id> path{}; // to a node of it
        count_shares shares{};
        std::vector<counted_row> rows{}; // mixed in this round, the first of them
        law_version rounds = 0;          // that began
    };

    [[nodiscard]] law_version version_of_shared() const {
        return sources_.shared != nullptr ? sources_.shared->version() : 0;
    }
    [[nodiscard]] bool teaches() const { return sources_.shared != nullptr && sources_.teaches; }
    /// Before ids are fed: what the round's context has gained is counted.
    void follow(std::size_t s, std::span<const draft_id> ids) {
        text& t = texts_[s];
        const bool begins = t.gained.awaited();
        const auto count = [&](std::span<const draft_id> tokens, std::size_t first,
                               std::size_t lost) {
            for (const counted_row& row : t.rows)
                if (lost == 0 && row.tokens >= first && row.tokens < tokens.size() &&
                    row.last == tokens[row.tokens - 1])
                    for (const counted_saying& said : row.said)
                        t.shares.learn(said, tokens[row.tokens]);
            for (std::size_t i = first; teaches() && i < tokens.size(); ++i)
                sources_.shared->learn(tokens.first(i), tokens[i]);
            if (lost > successor_counts::longest) {
                t.own.forget();
                first = 0;
            }
            for (std::size_t i = first; sources_.own && i < tokens.size(); ++i)
                t.own.learn(tokens.first(i), tokens[i]);
        };
        t.gained.feed(this->size(s), ids, count);
        if (begins && !t.gained.awaited())
            t.rows.clear(); // those of the round before
    }
    void fed(std::size_t s, std::span<const draft_id> ids) {
        texts_[s].gained.fed(ids);
        texts_[s].tree.clear();
    }
    /// The next row, behind so many tokens, which end so.
    void mix(mixed_rows& rows, text& t, std::size_t n, std::span<const draft_id> end) const {
        using found = successor_counts::found;
        const auto said =
            rows.mix(sources_.shared != nullptr ? sources_.shared->find(end) : found{},
                     sources_.own ? t.own.find(end) : found{}, t.shares);
        if (t.rows.size() < most_rows && (said[0].lambda > 0 || said[1].lambda > 0))
            t.rows.push_back({n, end.back(), said});
    }
    void mix_tokens(mixed_rows& rows, text& t, std::size_t n) const {
        const std::span<const draft_id> held = t.gained.held();
        for (std::size_t left = n; left-- > 0;)
            mix(rows, t, held.size() - left, held.first(held.size() - left));
    }
    void mix_nodes(mixed_rows& rows, text& t, std::size_t n) const {
        const std::span<const draft_id> held = t.gained.held();
        const std::size_t behind =
            held.size() < successor_counts::longest ? held.size() : successor_counts::longest;
        t.path.assign(held.end() - static_cast<std::ptrdiff_t>(behind), held.end());
        for (std::size_t node = t.tree.size() - n; node < t.tree.size(); ++node) {
            t.path.resize(behind + t.tree.depth(node));
            t.tree.path_to(node, std::span(t.path).subspan(behind));
            mix(rows, t, held.size() + t.tree.depth(node), t.path);
        }
    }

    counted_sources sources_;
    law_version uses_ = 0;     // of other sources, and their marks
    std::vector<text> texts_;  // [sequences]
    std::vector<float> mixed_; // rows of the last pass
};

} // namespace specdec
