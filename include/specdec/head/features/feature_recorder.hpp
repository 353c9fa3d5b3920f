// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <specdec/core/basic/on_throw.hpp>
#include <specdec/core/concepts.hpp>
#include <specdec/core/error.hpp>
#include <specdec/core/model/tree_scoring.hpp>
#include <specdec/core/model/wrapped_model.hpp>
#include <specdec/core/require.hpp>
#include <specdec/head/features/feature_records.hpp>
#include <specdec/head/features/features.hpp>

namespace specdec {

/// Wraps a target and keeps its features in records, for drafters that read them
/// (docs/adapt/heads.md). Goes wherever the target does. Models BatchModelOf<target_id>, and
/// ModelOf<target_id> where Target is of one sequence, and their trees where it scores them.
/// Borrows both. It feeds prompts in parts of `at_once` tokens, so the engine keeps that many
/// features at most. Complexity: a copy of a feature for each token fed. Errors: specdec::error if
/// target and records disagree in sequences, capacity or width. If a pass throws, both are
/// unchanged.
template <class Target>
    requires FeatureModelOf<Target, target_id> || FeatureBatchModelOf<Target, target_id>
class feature_recorder : public wrapped_model<feature_recorder<Target>, target_id, Target> {
    using base = wrapped_model<feature_recorder<Target>, target_id, Target>;

public:
    static constexpr bool wraps_trees = base::trees;
    static constexpr std::size_t at_once = 128;

    feature_recorder(Target& target, feature_records& records) : base(target), records_(records) {
        constexpr const char* source = "feature recorder";
        constexpr const char* expected = "expected the records' to be the target's";
        require_that(this->sequences() == records.sequences(), source, "sequences", expected);
        for (std::size_t s = 0; s < records.sequences(); ++s)
            base::truncate(s, 0);
        require_that(target.capacity() <= records.capacity(), source, "capacity", expected);
        require_that(target.feature_width() == records.width(), source, "width", expected);
    }

    using base::append, base::score, base::score_tree, base::keep_path, base::truncate;
    /// Feeds in parts. If one throws, all of them are taken back.
    void append(std::size_t s, std::span<const target_id> ids) {
        on_throw guard([this, s, size = records_[s].size()] { truncate(s, size); });
        while (!ids.empty()) {
            const auto now = ids.first(ids.size() < at_once ? ids.size() : at_once);
            base::append(s, now);
            const sequence_tokens<target_id> part{s, now};
            record({&part, 1});
            ids = ids.subspan(now.size());
        }
        guard.done();
    }
    [[nodiscard]] auto score(std::span<const sequence_tokens<target_id>> parts) {
        auto rows = this->rows_of_model(parts);
        record(parts);
        return rows;
    }
    void truncate(std::size_t s, std::size_t n) {
        n = n < this->size(s) ? n : this->size(s);
        base::truncate(s, n);
        records_[s].truncate(n);
        nodes_[s].clear();
    }

    [[nodiscard]] logits_rows<target_id>
    score_tree(std::span<const sequence_nodes<target_id>> parts)
        requires base::trees
    {
        const logits_rows<target_id> rows = this->rows_of_trees(parts);
        const hidden_states all = features_of(parts);
        std::size_t first = 0;
        for (const auto& [s, ids, parents] : parts) {
            const hidden_states own = all.middle(first, ids.size());
            first += ids.size();
            if (!parents.empty()) {
                record_nodes(s, ids, own);
                continue;
            }
            records_[s].add(ids, own);
            nodes_[s].clear();
        }
        return rows;
    }
    void keep_path(std::size_t s, std::span<const std::size_t> path)
        requires base::trees
    {
        this->keep_in_model(s, path);
        const std::size_t width = records_.width();
        for (const std::size_t node : path)
            records_[s].add({&nodes_[s].ids[node], 1},
                            {nodes_[s].values.data() + node * width, 1, width, width});
        nodes_[s].clear();
    }

private:
    /// Of the nodes behind a sequence.
    struct node_features {
        std::vector<target_id> ids{};
        std::vector<float> values{};

        void clear() {
            ids.clear();
            values.clear();
        }
    };
    void record_nodes(std::size_t s, std::span<const target_id> ids, const hidden_states& x) {
        node_features& nodes = nodes_[s];
        nodes.ids.insert(nodes.ids.end(), ids.begin(), ids.end());
        for (std::size_t i = 0; i < ids.size(); ++i)
            nodes.values.insert(nodes.values.end(), x[i].values.begin(), x[i].values.end());
    }

    /// The features of a pass over these tokens and nodes, which the target has been fed. If they
    /// do not fit, both forget the sequences, and it throws.
    template <class Part>
    [[nodiscard]] hidden_states features_of(std::span<const Part> parts) {
        const hidden_states all = this->wrapped().features();
        std::size_t n = 0;
        bool whole = all.width() == records_.width();
        for (const Part& part : parts) {
            std::size_t held = records_[part.sequence].size() + part.ids.size();
            if constexpr (requires { part.parents; })
                held -= part.parents.size();
            n += part.ids.size();
            whole = whole && this->size(part.sequence) == held;
        }
        if (!whole || all.size() != n) {
            for (const Part& part : parts)
                truncate(part.sequence, 0);
            fail("feature recorder", "features",
                 "expected " + std::to_string(n) + " of width " + std::to_string(records_.width()) +
                     ", of tokens that came through here, got " + std::to_string(all.size()) +
                     " of width " + std::to_string(all.width()));
        }
        return all;
    }
    void record(std::span<const sequence_tokens<target_id>> parts) {
        const hidden_states all = features_of(parts);
        std::size_t first = 0;
        for (const sequence_tokens<target_id>& part : parts) {
            records_[part.sequence].add(part.ids, all.middle(first, part.ids.size()));
            nodes_[part.sequence].clear();
            first += part.ids.size();
        }
    }

    feature_records& records_;
    std::vector<node_features> nodes_{std::vector<node_features>(records_.sequences())};
};

} // namespace specdec
