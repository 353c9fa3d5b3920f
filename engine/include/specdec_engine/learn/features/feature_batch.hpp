// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm> // std::max
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <specdec/head/lm_head.hpp>
#include <specdec_engine/learn/reverse/training_batch.hpp>

namespace specdec::engine {

/// What a pass has memory for.
struct feature_limits {
    std::size_t sequences = 2; ///< of a batch
    std::size_t length = 256;  ///< places of a sequence
    std::size_t cells = 1024;  ///< of all chains of a batch
    std::size_t depth = 8;     ///< cells of a chain
};

/// A draft as the body makes it. Its first cell is a place of the text, token i + 1 with the
/// target's feature behind token i; each further one has a token of the draft and the body's own
/// feature of the cell before it.
struct feature_chain {
    std::size_t place = 0;                   ///< i
    std::span<const std::int32_t> drafted{}; ///< the tokens of its further cells
};

/// A text to learn from, which the caller owns.
struct feature_sequence {
    std::span<const std::int32_t> ids;
    hidden_states features; ///< behind ids[0], ids[1], ...; those of the last ones may lack
    std::span<const feature_chain> chains;
};

/// The chains of a batch as columns. Places: of the sequences, one behind the other, as many of
/// each as its chains look at. Cells: the first ones of all chains, then the second ones, ...
/// Within a depth they stand as the chains do.
class feature_batch {
public:
    struct place {
        std::size_t token;    ///< its id
        std::size_t position; ///< in its sequence
        std::span<const float> feature;
    };
    struct cell {
        std::size_t token;
        std::size_t position;
        std::size_t before; ///< the cell before it in its chain; itself in the first one
        std::size_t depth;  ///< 0: the first
        std::size_t first;  ///< column of its sequence's first place
        std::size_t seen;   ///< places that it sees, the chain's first one included
    };

    feature_batch(std::size_t vocabulary, std::size_t width, const feature_limits& limits)
        : vocabulary_(vocabulary), width_(width), limits_(limits) {
        places_.reserve(limits.sequences * limits.length);
        cells_.reserve(limits.cells);
    }

    /// Takes the place of what was there. Errors, before anything changes: specdec::error for what
    /// the limits do not allow, ids that are none, features of another width, and a chain that
    /// begins where there is no token or no feature.
    void assign(std::span<const feature_sequence> sequences) {
        check(sequences);
        places_.clear();
        cells_.clear();
        order_.clear();
        depths_.assign(1, 0);
        groups_.clear();
        std::size_t deepest = 0, chains = 0;
        begins_.clear();
        for (const feature_sequence& s : sequences) {
            begins_.push_back(places_.size());
            std::size_t seen = 0;
            for (const feature_chain& c : s.chains) {
                seen = std::max(seen, c.place + 1);
                deepest = std::max(deepest, c.drafted.size() + 1);
            }
            for (std::size_t i = 0; i < seen; ++i)
                places_.push_back(
                    {static_cast<std::size_t>(s.ids[i + 1]), i, s.features[i].values});
            chains += s.chains.size();
        }
        order_.assign(chains, 0);
        for (std::size_t depth = 0; depth < deepest; ++depth) {
            std::size_t chain = 0;
            for (std::size_t s = 0; s < sequences.size(); ++s) {
                const std::size_t begin = cells_.size();
                for (const feature_chain& c : sequences[s].chains) {
                    add(sequences[s], c, depth, begins_[s], order_[chain]);
                    ++chain;
                }
                groups_.push_back({begin, cells_.size()});
            }
            depths_.push_back(cells_.size());
        }
    }

    [[nodiscard]] std::size_t sequences() const { return begins_.size(); }
    [[nodiscard]] std::span<const place> places() const { return places_; }
    [[nodiscard]] std::span<const cell> cells() const { return cells_; }
    [[nodiscard]] std::size_t depths() const { return depths_.size() - 1; }
    /// The cells of a depth: [first, behind the last).
    struct range {
        std::size_t begin, end;
        [[nodiscard]] std::size_t size() const { return end - begin; }
    };
    [[nodiscard]] range at(std::size_t depth) const { return {depths_[depth], depths_[depth + 1]}; }
    /// Those of them that belong to a sequence.
    [[nodiscard]] range at(std::size_t depth, std::size_t sequence) const {
        return groups_[depth * sequences() + sequence];
    }

private:
    void add(const feature_sequence& s, const feature_chain& c, std::size_t depth,
             std::size_t begin, std::size_t& latest) {
        if (depth > c.drafted.size())
            return;
        const std::int32_t token = depth == 0 ? s.ids[c.place + 1] : c.drafted[depth - 1];
        const std::size_t itself = cells_.size();
        cells_.push_back({static_cast<std::size_t>(token), c.place + depth,
                          depth == 0 ? itself : latest, depth, begin, c.place + 1});
        latest = itself;
    }

    void check(std::span<const feature_sequence> sequences) const {
        const batch_checks is{"feature batch"};
        is.at_most("sequences", sequences.size(), limits_.sequences);
        std::size_t cells = 0;
        for (const feature_sequence& s : sequences) {
            is.below(s.ids, vocabulary_);
            if (s.features.size() > 0 && s.features.width() != width_)
                is.refuse("features", "expected a width of " + std::to_string(width_) + ", found " +
                                          std::to_string(s.features.width()));
            for (const feature_chain& c : s.chains) {
                if (c.place + 1 >= s.ids.size() || c.place >= s.features.size())
                    is.refuse("chain", "expected a chain that begins at a token after a feature");
                is.at_most("length of a sequence", c.place + c.drafted.size() + 1, limits_.length);
                is.at_most("length of a chain", c.drafted.size() + 1, limits_.depth);
                is.below(c.drafted, vocabulary_);
                cells += c.drafted.size() + 1;
            }
        }
        is.at_most("cells", cells, limits_.cells);
    }

    std::size_t vocabulary_, width_;
    feature_limits limits_;
    std::vector<std::size_t> begins_; ///< [sequences] columns of their first places
    std::vector<place> places_;
    std::vector<cell> cells_;
    std::vector<std::size_t> order_;        ///< [chains] their latest cells
    std::vector<std::size_t> depths_ = {0}; ///< [depths + 1]
    std::vector<range> groups_;             ///< [depths, sequences]
};

} // namespace specdec::engine
