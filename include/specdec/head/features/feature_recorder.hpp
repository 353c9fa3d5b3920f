// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <specdec/core/basic/on_throw.hpp>
#include <specdec/core/concepts.hpp>
#include <specdec/core/error.hpp>
#include <specdec/core/model/tree_scoring.hpp>
#include <specdec/head/features/feature_records.hpp>
#include <specdec/head/features/features.hpp>
#include <specdec/head/target_context.hpp>

namespace specdec {

/// Wraps a target and keeps its features in records, for drafters that read them:
///
///     feature_records records(sequences, target.capacity(), target.feature_width());
///     feature_recorder words(target, records);     // goes wherever the target does
///     feature_model draft(body, records);
///
/// Models ModelOf<target_id>, or BatchModelOf<target_id> where Target holds several sequences, and
/// their trees where it scores them: the features of a path that is kept are recorded.
/// Borrows both. It feeds prompts in parts of `at_once` tokens, so the engine keeps that many
/// features at most. Complexity: a copy of a feature for each token fed. Errors: specdec::error if
/// target and records disagree in sequences, capacity or width. If a pass throws, both are
/// unchanged.
template <class Target>
    requires FeatureModelOf<Target, target_id> || FeatureBatchModelOf<Target, target_id>
class feature_recorder : public target_context<Target> {
    using target_context<Target>::several, target_context<Target>::target_;

public:
    static constexpr std::size_t at_once = 128;

    feature_recorder(Target& target, feature_records& records)
        : target_context<Target>(target), records_(records) {
        if constexpr (several) {
            require(target.sequences() == records.sequences(), "sequences");
            for (std::size_t s = 0; s < target.sequences(); ++s)
                target.truncate(s, 0);
        } else {
            require(records.sequences() == 1, "sequences");
            target.truncate(0);
        }
        require(target.capacity() <= records.capacity(), "capacity");
        require(target.feature_width() == records.width(), "width");
    }

    void append(std::span<const target_id> ids)
        requires(!several)
    {
        feed(0, ids);
    }
    [[nodiscard]] auto score(std::span<const target_id> ids)
        requires(!several)
    {
        auto rows = score_rows<target_id>(target_, ids);
        const sequence_tokens<target_id> part{0, ids};
        record({&part, 1});
        return rows;
    }
    void truncate(std::size_t n)
        requires(!several)
    {
        forget(0, n);
    }

    void append(std::size_t s, std::span<const target_id> ids)
        requires several
    {
        feed(s, ids);
    }
    [[nodiscard]] auto score(std::span<const sequence_tokens<target_id>> parts)
        requires several
    {
        auto rows = score_rows<target_id>(target_, parts);
        record(parts);
        return rows;
    }
    void truncate(std::size_t s, std::size_t n)
        requires several
    {
        forget(s, n);
    }

    [[nodiscard]] bool scores_trees() const { return specdec::scores_trees(target_); }
    [[nodiscard]] logits_rows<target_id> score_tree(std::span<const target_id> ids,
                                                    std::span<const std::size_t> parents)
        requires(!several && TreeModelOf<Target, target_id>)
    {
        const logits_rows<target_id> rows = target_.score_tree(ids, parents);
        record_nodes(0, ids, target_.features());
        return rows;
    }
    void keep_path(std::span<const std::size_t> nodes)
        requires(!several && TreeModelOf<Target, target_id>)
    {
        target_.keep_path(nodes);
        keep_nodes(0, nodes);
    }
    [[nodiscard]] logits_rows<target_id>
    score_tree(std::span<const sequence_nodes<target_id>> parts)
        requires(several && BatchTreeModelOf<Target, target_id>)
    {
        const logits_rows<target_id> rows = target_.score_tree(parts);
        const hidden_states all = target_.features();
        std::size_t first = 0;
        for (const sequence_nodes<target_id>& part : parts) {
            const hidden_states own = all.middle(first, part.ids.size());
            if (part.parents.empty())
                records_[part.sequence].add(part.ids, own), nodes_[part.sequence].clear();
            else
                record_nodes(part.sequence, part.ids, own);
            first += part.ids.size();
        }
        return rows;
    }
    void keep_path(std::size_t s, std::span<const std::size_t> nodes)
        requires(several && BatchTreeModelOf<Target, target_id>)
    {
        target_.keep_path(s, nodes);
        keep_nodes(s, nodes);
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
    /// Behind the target's keep_path.
    void keep_nodes(std::size_t s, std::span<const std::size_t> path) {
        const std::size_t width = records_.width();
        for (const std::size_t node : path)
            records_[s].add({&nodes_[s].ids[node], 1},
                            {nodes_[s].values.data() + node * width, 1, width, width});
        nodes_[s].clear();
    }

    static void require(bool holds, const char* field) {
        if (!holds)
            fail("recorded target", field, "expected the records' to be the target's");
    }

    /// Records the features of these tokens, which the target has been fed. If they do not fit,
    /// both forget the sequences, and it throws.
    void record(std::span<const sequence_tokens<target_id>> parts) {
        const hidden_states all = target_.features();
        std::size_t n = 0;
        bool whole = all.width() == records_.width();
        for (const sequence_tokens<target_id>& part : parts) {
            n += part.ids.size();
            whole =
                whole && held_of(part.sequence) == records_[part.sequence].size() + part.ids.size();
        }
        if (!whole || all.size() != n) {
            for (const sequence_tokens<target_id>& part : parts)
                forget(part.sequence, 0);
            fail("recorded target", "features",
                 "expected " + std::to_string(n) + " of width " + std::to_string(records_.width()) +
                     ", of tokens that came through here, got " + std::to_string(all.size()) +
                     " of width " + std::to_string(all.width()));
        }
        std::size_t first = 0;
        for (const sequence_tokens<target_id>& part : parts) {
            records_[part.sequence].add(part.ids, all.middle(first, part.ids.size()));
            nodes_[part.sequence].clear();
            first += part.ids.size();
        }
    }

    /// Feeds in parts. If one throws, all of them are taken back.
    void feed(std::size_t s, std::span<const target_id> ids) {
        on_throw guard([this, s, size = records_[s].size()] { forget(s, size); });
        while (!ids.empty()) {
            const auto now = ids.first(ids.size() < at_once ? ids.size() : at_once);
            if constexpr (several)
                target_.append(s, now);
            else
                target_.append(now);
            const sequence_tokens<target_id> part{s, now};
            record({&part, 1});
            ids = ids.subspan(now.size());
        }
        guard.done();
    }

    [[nodiscard]] std::size_t held_of([[maybe_unused]] std::size_t s) const {
        if constexpr (several)
            return target_.size(s);
        else
            return target_.size();
    }
    void forget([[maybe_unused]] std::size_t s, std::size_t n) {
        n = n < held_of(s) ? n : held_of(s);
        if constexpr (several)
            target_.truncate(s, n);
        else
            target_.truncate(n);
        records_[s].truncate(n);
        nodes_[s].clear();
    }

    feature_records& records_;
    std::vector<node_features> nodes_{std::vector<node_features>(records_.sequences())};
};

} // namespace specdec
