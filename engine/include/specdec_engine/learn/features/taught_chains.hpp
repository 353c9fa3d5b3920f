// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm> // std::max, std::min
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <specdec/core/error.hpp>
#include <specdec/learn/feature_sample.hpp>
#include <specdec/sampling/law/sparse_law.hpp>
#include <specdec_engine/learn/features/feature_batch.hpp>

namespace specdec::engine {

/// Which drafts teach.
struct chain_settings {
    std::size_t depth = 4; ///< cells of a chain: draft tokens of the longest draft
    /// 0: the drafts that rounds made, as far as they were looked at: each row once, at the depth
    /// at which it decided. n: chains of `depth` tokens of the text from every n-th taught place
    /// on (1: HASS, each row at every depth).
    std::size_t every = 0;
    /// Rows behind a rejected token that the samples have at most (feature_lessons).
    std::size_t behind_rejected = 0;
};

/// A cell's law to learn, and the token behind it where the text knows it.
struct taught_cell {
    std::span<const weighted_id<target_id>> law;
    draft_id next;
};

/// Makes the sequences of an update from samples. Allocates where samples are larger than any
/// before.
class taught_chains {
public:
    /// Errors: specdec::error for a depth of 0.
    taught_chains(const chain_settings& settings, std::size_t sequences, std::size_t length)
        : settings_(settings), limits_{sequences, length + settings.depth, 0, settings.depth} {
        if (settings.depth == 0)
            throw error("feature learner", "depth", "expected at least 1");
        // A round that kept nothing has one token, and rows up to a chain's depth.
        const std::size_t most = 1 + std::max<std::size_t>(settings.behind_rejected, 1);
        const std::size_t rows = settings.every == 0
                                     ? std::min(settings.depth, most)
                                     : (settings.depth + settings.every - 1) / settings.every;
        limits_.cells = sequences * length * rows;
        ids_.resize(sequences);
        drafted_.resize(sequences);
        chains_.resize(sequences);
        further_.resize(sequences);
        rows_.resize(sequences);
    }

    [[nodiscard]] const feature_limits& limits() const { return limits_; }

    /// Errors: specdec::error for more samples than there are sequences.
    void choose(std::span<const feature_sample* const> samples) {
        sequences_.clear();
        cells_.clear();
        std::size_t used = 0, deepest = 0;
        for (const feature_sample* s : samples) {
            if (s->rounds.empty())
                continue;
            if (used == ids_.size())
                throw error("feature learner", "samples",
                            "expected at most " + std::to_string(ids_.size()));
            take(*s, used++);
        }
        for (std::size_t i = 0; i < used; ++i) {
            std::size_t first = 0;
            for (std::size_t k = 0; k < chains_[i].size(); ++k) { // now that tokens stay in place
                const std::size_t n = further_[i][k];
                chains_[i][k].drafted =
                    std::span<const std::int32_t>(drafted_[i]).subspan(first, n);
                first += n;
                deepest = std::max(deepest, n + 1);
            }
            sequences_.push_back({ids_[i], samples_[i]->features(), chains_[i]});
        }
        for (std::size_t depth = 0; depth < deepest; ++depth) // the order of feature_batch
            for (std::size_t i = 0; i < used; ++i) {
                std::size_t row = 0;
                for (const feature_chain& c : chains_[i]) {
                    if (depth <= c.drafted.size())
                        cells_.push_back(rows_[i][row + depth]);
                    row += c.drafted.size() + 1;
                }
            }
    }

    [[nodiscard]] std::span<const feature_sequence> sequences() const { return sequences_; }
    /// [cells], as the pass gives their states.
    [[nodiscard]] std::span<const taught_cell> cells() const { return cells_; }

private:
    void take(const feature_sample& s, std::size_t i) {
        if (samples_.size() <= i)
            samples_.resize(i + 1);
        samples_[i] = &s;
        ids_[i].clear();
        for (const draft_id d : s.tokens)
            ids_[i].push_back(d.value);
        drafted_[i].clear();
        chains_[i].clear();
        further_[i].clear();
        rows_[i].clear();
        if (settings_.every == 0)
            take_rounds(s, i);
        else
            take_text(s, i);
    }
    /// A chain with that many further tokens, which are set once all of them are there.
    void add_chain(std::size_t i, std::size_t place, std::size_t further) {
        chains_[i].push_back({place, {}});
        further_[i].push_back(further);
    }

    void take_rounds(const feature_sample& s, std::size_t i) {
        for (const feature_sample::round& r : s.rounds) {
            const std::size_t n = std::min(r.rows, settings_.depth), kept = s.kept(r);
            add_chain(i, r.begin - 2, n - 1);
            for (std::size_t j = 0; j < n; ++j) {
                if (j > 0)
                    drafted_[i].push_back(s.drafted[r.first_draft + j - 1].value);
                rows_[i].push_back(cell_of(s, r, j, kept));
            }
        }
    }
    void take_text(const feature_sample& s, std::size_t i) {
        text_.assign(s.tokens.size(), {});
        for (const feature_sample::round& r : s.rounds)
            for (std::size_t j = 0, kept = s.kept(r); j <= kept && j < r.rows; ++j)
                if (r.begin + j <= s.tokens.size())
                    text_[r.begin + j - 1] = cell_of(s, r, j, kept);
        std::size_t taught = 0;
        const std::size_t known = s.features().size();
        for (std::size_t at = 1; at < text_.size(); ++at) { // the row behind token `at`
            if (text_[at].law.empty() || at > known || taught++ % settings_.every != 0)
                continue;
            std::size_t n = 1;
            while (n < settings_.depth && at + n < text_.size() && !text_[at + n].law.empty())
                ++n;
            add_chain(i, at - 1, n - 1);
            for (std::size_t j = 0; j < n; ++j) {
                if (j > 0)
                    drafted_[i].push_back(s.tokens[at + j].value);
                rows_[i].push_back(text_[at + j]);
            }
        }
    }
    static taught_cell cell_of(const feature_sample& s, const feature_sample::round& r,
                               std::size_t j, std::size_t kept) {
        const bool known = j <= kept && r.begin + j < s.tokens.size();
        return {s.entries_of(s.rows[r.first_row + j]), known ? s.tokens[r.begin + j] : draft_id{}};
    }

    chain_settings settings_;
    feature_limits limits_;
    std::vector<const feature_sample*> samples_;
    std::vector<std::vector<std::int32_t>> ids_, drafted_; ///< [sequences]
    std::vector<std::vector<feature_chain>> chains_;       ///< [sequences]
    std::vector<std::vector<std::size_t>> further_;        ///< [sequences] tokens of the chains
    std::vector<std::vector<taught_cell>> rows_;           ///< [sequences] chain by chain
    std::vector<taught_cell> text_;                        ///< behind the tokens of a sample
    std::vector<feature_sequence> sequences_;
    std::vector<taught_cell> cells_;
};

} // namespace specdec::engine
