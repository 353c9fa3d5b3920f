// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include <specdec/core/error.hpp>
#include <specdec/core/law_mark.hpp>
#include <specdec/core/model/tree_scoring.hpp>
#include <specdec/core/token_id.hpp>
#include <specdec/head/lm_head.hpp>

namespace specdec {

/// What a feature_model holds of a sequence: its tokens, the round's beginning, the body's own
/// features of its latest places, and a tree behind it with the own feature of each node.
struct feature_text {
    std::size_t width = 0; ///< of an own feature
    std::vector<draft_id> ids{};
    std::optional<std::size_t> round{}; ///< tokens that it began behind
    law_mark changes = 0;               ///< of that number
    std::vector<float> own{};           ///< of its latest places
    std::size_t first_own = 0;          ///< the first of them
    std::vector<draft_id> nodes{};
    std::vector<std::size_t> parents{};
    std::vector<float> nodes_own{};

    [[nodiscard]] static std::size_t places_of(std::size_t tokens) {
        return tokens > 0 ? tokens - 1 : 0;
    }
    [[nodiscard]] std::size_t size() const { return ids.size(); }

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
        const std::size_t kept = places_of(n) > first_own ? places_of(n) - first_own : 0;
        if (kept * width < own.size())
            own.resize(kept * width);
        forget_nodes();
    }
    void forget_nodes() {
        nodes.clear();
        parents.clear();
        nodes_own.clear();
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
        for (std::size_t i = 0; i < made.size(); ++i)
            nodes_own.insert(nodes_own.end(), made[i].values.begin(), made[i].values.end());
    }
    /// The text goes on with these nodes.
    void keep(std::span<const std::size_t> path) {
        if (own.empty())
            first_own = places_of(size());
        for (const std::size_t node : path) {
            ids.push_back(nodes[node]);
            const auto at = nodes_own.begin() + static_cast<std::ptrdiff_t>(node * width);
            own.insert(own.end(), at, at + static_cast<std::ptrdiff_t>(width));
        }
        forget_nodes();
    }

    /// The own feature that a place behind the first `held` tokens reads: that of their last place;
    /// of one token there is none, and it is zero. Errors: specdec::error where it is not kept.
    [[nodiscard]] const float* own_behind(std::size_t held, const float* zeros) const {
        const std::size_t place = held - 2;
        if (held == 1)
            return zeros;
        if (place < first_own || (place - first_own) * width >= own.size())
            fail("feature model", "round", "expected contexts that begin with the round's text");
        return &own[(place - first_own) * width];
    }
    /// What children of these nodes read, side by side in `out`.
    [[nodiscard]] hidden_states own_under(std::span<const std::size_t> of, const float* zeros,
                                          std::vector<float>& out) const {
        out.clear();
        for (const std::size_t node : of) {
            const float* const x =
                node == tree_root ? own_behind(size(), zeros) : &nodes_own[node * width];
            out.insert(out.end(), x, x + width);
        }
        return {out.data(), of.size(), width, width};
    }
};

} // namespace specdec
