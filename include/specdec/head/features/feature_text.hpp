// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <specdec/core/error.hpp>
#include <specdec/core/law_version.hpp>
#include <specdec/core/model/tree_scoring.hpp>
#include <specdec/core/require.hpp>
#include <specdec/core/token_id.hpp>
#include <specdec/head/features/feature_records.hpp>
#include <specdec/head/features/features.hpp>
#include <specdec/head/lm_head.hpp>

namespace specdec {

/// Whose features the next places of a text read.
enum class feature_source : std::uint8_t { mixed, targets, own };

/// Adds the numbers of hidden states.
inline void add_rows(std::vector<float>& to, const hidden_states& rows) {
    for (std::size_t i = 0; i < rows.size(); ++i)
        to.insert(to.end(), rows[i].values.begin(), rows[i].values.end());
}

/// What a feature_model holds of a sequence: its tokens, the round's beginning, the body's own
/// features of its latest places, and a tree behind it with the own feature of each node. Its
/// window: the body has places of the tokens before `kept_tokens`, and of those from kept_tokens +
/// dropped on; the first token of a text has none.
struct feature_text {
    std::size_t width = 0; ///< of an own feature
    std::size_t kept_tokens = 1;
    std::size_t dropped = 0;
    std::vector<draft_id> ids{};
    std::optional<std::size_t> round{}; ///< tokens that it began behind
    law_version changes = 0;            ///< of that number
    std::vector<float> own{};           ///< of its latest places
    std::size_t first_own = 0;          ///< the first of them
    std::vector<draft_id> nodes{};
    std::vector<std::size_t> parents{};
    std::vector<float> nodes_own{};

    /// Places of a text without a window.
    [[nodiscard]] static std::size_t all_places(std::size_t tokens) {
        return tokens > 0 ? tokens - 1 : 0;
    }
    /// Places that the body holds of the first tokens.
    [[nodiscard]] std::size_t places_of(std::size_t tokens) const {
        if (tokens <= kept_tokens + dropped)
            return all_places(tokens < kept_tokens ? tokens : kept_tokens);
        return tokens - 1 - dropped;
    }
    /// The token of a place of the body.
    [[nodiscard]] std::size_t token_of(std::size_t place) const {
        return place + 1 < kept_tokens ? place + 1 : place + 1 + dropped;
    }
    /// How many of n more tokens have no place, until one has.
    [[nodiscard]] std::size_t without_place(std::size_t n) const {
        const std::size_t end = size() == 0 && kept_tokens > 1 ? 1 : kept_tokens + dropped;
        if (size() >= end || (size() > 0 && size() < kept_tokens))
            return 0;
        return end - size() < n ? end - size() : n;
    }
    [[nodiscard]] std::size_t size() const { return ids.size(); }
    void add(std::span<const draft_id> more) { ids.insert(ids.end(), more.begin(), more.end()); }
    /// How many of n more tokens one pass takes, each with a place: those with features of the
    /// target, or one with an own feature, since each of these makes the next.
    [[nodiscard]] std::size_t at_once(std::size_t n) const {
        if (size() < kept_tokens && dropped > 0 && kept_tokens - size() < n)
            n = kept_tokens - size();
        if (size() < *round)
            return *round - size() < n ? *round - size() : n;
        return *round == 0 ? n : 1;
    }
    /// How many places from that of token i on one pass makes again.
    [[nodiscard]] std::size_t again_at_once(std::size_t i) const {
        const std::size_t end =
            i < kept_tokens && dropped > 0 && kept_tokens < size() ? kept_tokens : size();
        if (i < *round)
            return (*round < end ? *round : end) - i;
        return i == 1 && *round > 0 ? 1 : end - i;
    }
    /// Of n more tokens, if one pass takes them all.
    [[nodiscard]] feature_source source_of(std::size_t n) const {
        if (n == 0 || *round == 0 || without_place(n) > 0 || at_once(n) < n)
            return feature_source::mixed;
        return size() < *round ? feature_source::targets : feature_source::own;
    }

    /// A round begins behind n tokens. Returns how many of the first tokens both rounds make of the
    /// target's features: their places stay.
    std::size_t begin(std::size_t n) {
        const std::size_t before = round.value_or(0);
        changes += round != n ? 1U : 0U;
        round = n;
        return before < n ? before : n;
    }
    /// The own feature of the last place. Later places read that, or those of the draft's places.
    void made(std::span<const float> of_last, bool of_own) {
        if (!of_own || own.empty()) {
            own.clear();
            first_own = ids.size() - 2;
        }
        own.insert(own.end(), of_last.begin(), of_last.end());
    }

    /// Forgets all but the first n tokens, and the nodes.
    void truncate(std::size_t n) {
        ids.resize(n);
        const std::size_t kept = all_places(n) > first_own ? all_places(n) - first_own : 0;
        if (kept * width < own.size())
            own.resize(kept * width);
        forget_nodes();
    }
    void forget_nodes() {
        nodes.clear();
        parents.clear();
        nodes_own.clear();
    }
    /// Errors: specdec::error for ids that are none, for more than there is room for, and before a
    /// round.
    void require_takes(std::span<const draft_id> more, std::size_t room,
                       std::size_t vocabulary) const {
        require_ids(more, vocabulary, "feature model", "tokens");
        if (more.size() > room)
            fail("feature model", "tokens",
                 "expected at most " + std::to_string(room) + " more, found " +
                     std::to_string(more.size()));
        if (!round)
            fail("feature model", "round",
                 "expected begin_draft_round before tokens: does a drafter not hand it on?");
    }
    /// Of nodes, behind require_takes. Errors: specdec::error for a parent that is none, and before
    /// the round's text is there.
    void require_under(std::size_t more, std::span<const std::size_t> of) const {
        require_parents(more, of, nodes.size(), "feature model");
        if (size() == 0 || size() < *round)
            fail("feature model", "tree",
                 "expected a tree that follows the tokens of the round's sequence");
    }
    /// How many of the first of these have parents that are nodes already, or none; at most `most`.
    [[nodiscard]] std::size_t ready(std::span<const std::size_t> more, std::size_t most) const {
        std::size_t n = 0;
        while (n < more.size() && n < most && (more[n] == tree_root || more[n] < nodes.size()))
            ++n;
        return n;
    }
    void add_nodes(std::span<const draft_id> more, std::span<const std::size_t> of,
                   const hidden_states& made) {
        nodes.insert(nodes.end(), more.begin(), more.end());
        parents.insert(parents.end(), of.begin(), of.end());
        add_rows(nodes_own, made);
    }
    /// The text goes on with these nodes.
    void keep(std::span<const std::size_t> path) {
        if (own.empty())
            first_own = all_places(size());
        for (const std::size_t node : path) {
            ids.push_back(nodes[node]);
            const auto at = nodes_own.begin() + static_cast<std::ptrdiff_t>(node * width);
            own.insert(own.end(), at, at + static_cast<std::ptrdiff_t>(width));
        }
        forget_nodes();
    }

    /// What n places read, from that of token `held` on: at_once() or again_at_once() of them.
    /// Errors: specdec::error if no record has it.
    [[nodiscard]] body_input given(std::size_t held, std::size_t n, const feature_records& records,
                                   const float* zeros) const {
        if (*round == 0)
            return {{zeros, n, records.width(), records.width()}, false};
        if (held >= *round)
            return {{own_behind(held, n, zeros), n, width, width}, true};
        const std::size_t known = held - 1 + n; // features f_0 .. f_(known - 1)
        const feature_record* record = records.find(std::span(ids).first(known));
        if (record == nullptr)
            fail("feature records", "features",
                 "expected the features of the sequence's first " + std::to_string(known) +
                     " tokens: the target is fed them before a draft (session::prepare), and "
                     "drafts are of its tokens (rule `identity`)");
        return {record->features(held - 1, n), false};
    }

    /// The own features that n places behind the first `held` tokens read: the first one reads that
    /// of their last place; of one token there is none, and it is zero. Errors: specdec::error
    /// where they are not kept.
    [[nodiscard]] const float* own_behind(std::size_t held, std::size_t n,
                                          const float* zeros) const {
        if (held == 1)
            return zeros;
        const std::size_t place = held - 2;
        if (place < first_own || (place - first_own + n) * width > own.size())
            fail("feature model", "round",
                 "expected contexts that begin with the tokens of the round's sequence");
        return &own[(place - first_own) * width];
    }
    /// What children of these nodes read, side by side in `out`; zeros if no round has a text.
    [[nodiscard]] body_input given_under(std::span<const std::size_t> of, std::size_t of_target,
                                         const float* zeros, std::vector<float>& out) const {
        if (*round == 0)
            return {{zeros, of.size(), of_target, of_target}, false};
        out.clear();
        for (const std::size_t node : of) {
            const float* const x =
                node == tree_root ? own_behind(size(), 1, zeros) : &nodes_own[node * width];
            out.insert(out.end(), x, x + width);
        }
        return {{out.data(), of.size(), width, width}, true};
    }
};

/// Whose features the next places of several texts read, if one pass takes them all: `most` places
/// at most. Precondition: rounds have begun.
[[nodiscard]] inline feature_source source_of(std::span<const feature_text> texts,
                                              std::span<const sequence_tokens<draft_id>> parts,
                                              std::size_t most) {
    if (parts.size() < 2)
        return feature_source::mixed;
    const feature_source first = texts[parts[0].sequence].source_of(parts[0].ids.size());
    std::size_t n = 0;
    for (const auto& [s, ids] : parts)
        if (texts[s].source_of(ids.size()) != first || (n += ids.size()) > most)
            return feature_source::mixed;
    return first;
}

} // namespace specdec
