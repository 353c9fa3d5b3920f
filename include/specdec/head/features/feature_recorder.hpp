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
#include <specdec/core/model/context_tracker.hpp>
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
/// features at most. A sequence has the tokens that target and record agree in: what the engine
/// itself put there (a restored slot) is not told, so that it is fed again and recorded. Without
/// held() a target with another number of tokens than its record is seen as empty. Complexity: a
/// copy of a feature for each token fed; held() is linear in the tokens that have changed, or in
/// the context if the target does not tell when its tokens were fed (held_tokens). Errors:
/// specdec::error if target and records disagree in sequences, capacity or width. If a pass throws,
/// both are unchanged.
template <class Target>
    requires FeatureModelOf<Target, target_id> || FeatureBatchModelOf<Target, target_id>
class feature_recorder : public wrapped_model<feature_recorder<Target>, target_id, Target> {
    using base = wrapped_model<feature_recorder<Target>, target_id, Target>;
    static constexpr bool tells = TellsHeld<Target, target_id> || TellsHeldBatch<Target, target_id>;

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

    using base::append, base::score, base::score_tree, base::keep_path, base::truncate, base::size;
    [[nodiscard]] std::size_t size(std::size_t s) const {
        const agreement& known = agreed_[s];
        if (known.target != base::size(s) || known.record != records_[s].size())
            agree(s);
        return known.both;
    }
    [[nodiscard]] held_tokens<target_id> held(std::size_t s) const
        requires tells
    {
        agree(s);
        return base::held(s).first(agreed_[s].both);
    }
    [[nodiscard]] held_tokens<target_id> held() const
        requires(base::one && tells)
    {
        return held(0);
    }

    /// Feeds in parts. If one throws, all of them are taken back.
    void append(std::size_t s, std::span<const target_id> ids) {
        drop_unrecorded(s);
        on_throw guard([this, s, size = records_[s].size()] { cut(s, size); });
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
        for (const sequence_tokens<target_id>& part : parts)
            drop_unrecorded(part.sequence);
        auto rows = this->rows_of_model(parts);
        record(parts);
        return rows;
    }
    void truncate(std::size_t s, std::size_t n) { cut(s, n < size(s) ? n : size(s)); }

    [[nodiscard]] logits_rows<target_id>
    score_tree(std::span<const sequence_nodes<target_id>> parts)
        requires base::trees
    {
        for (const sequence_nodes<target_id>& part : parts)
            drop_unrecorded(part.sequence);
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
            note(s);
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
        note(s);
    }

private:
    /// The tokens of a sequence when target and record were compared last: how many each has, and
    /// how many of the first both have.
    struct agreement {
        std::size_t target = 0, record = 0, both = 0;
        context_look seen_target{}, seen_record{};
    };
    void agree(std::size_t s) const {
        const held_tokens<target_id> own = records_[s].tokens();
        agreement& now = agreed_[s];
        now.target = base::size(s);
        now.record = own.size();
        if constexpr (tells) {
            const held_tokens<target_id> held = base::held(s);
            if (held.size() != now.target) {
                now.both = 0;
                return;
            }
            std::size_t same = now.both; // what is as it was on both sides agrees as it did
            for (const std::size_t as_it_was :
                 {held.unchanged_since(now.seen_target), own.unchanged_since(now.seen_record)})
                same = same < as_it_was ? same : as_it_was;
            now.both = same + common_prefix<target_id>(held.subspan(same), own.subspan(same));
            now.seen_target = held.look();
            now.seen_record = own.look();
        } else {
            now.both = now.target == now.record ? now.record : 0;
        }
    }
    /// Both forget all but the first n tokens, in which they agree.
    void cut(std::size_t s, std::size_t n) {
        base::truncate(s, n < base::size(s) ? n : base::size(s));
        records_[s].truncate(n);
        nodes_[s].clear();
        note(s);
    }
    /// Both have changed alike, from a state in which they agreed.
    void note(std::size_t s) {
        const std::size_t target = base::size(s), record = records_[s].size();
        if (target == record) {
            agreement& now = agreed_[s];
            now.target = now.record = now.both = record;
        }
    }
    /// Before the sequence goes on: both forget all after what they agree in.
    void drop_unrecorded(std::size_t s) {
        if (const std::size_t n = size(s); n != base::size(s) || n != records_[s].size())
            cut(s, n);
    }

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
        const auto forget = [&] {
            for (const Part& part : parts)
                cut(part.sequence, 0);
        };
        std::size_t n = 0;
        for (const Part& part : parts) {
            const std::size_t s = part.sequence, recorded = records_[s].size();
            const std::size_t held = base::size(s);
            std::size_t fed = part.ids.size();
            n += fed;
            if constexpr (std::same_as<Part, sequence_nodes<target_id>>)
                fed -= part.parents.size(); // nodes are not held yet
            if (held == recorded + fed)
                continue;
            forget();
            fail("feature recorder", "sequence " + std::to_string(s),
                 "expected the target to hold " + std::to_string(recorded + fed) +
                     " tokens, of which the record has " + std::to_string(recorded) +
                     " and this pass was fed " + std::to_string(fed) + ", found " +
                     std::to_string(held));
        }
        if (all.width() != records_.width() || all.size() != n) {
            forget();
            fail("feature recorder", "features",
                 "expected " + std::to_string(n) + " of width " + std::to_string(records_.width()) +
                     ", one for each token of the pass, found " + std::to_string(all.size()) +
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
            note(part.sequence);
        }
    }

    feature_records& records_;
    mutable std::vector<agreement> agreed_{std::vector<agreement>(records_.sequences())};
    std::vector<node_features> nodes_{std::vector<node_features>(records_.sequences())};
};

} // namespace specdec
