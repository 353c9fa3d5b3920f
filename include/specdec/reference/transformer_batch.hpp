// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm> // std::min
#include <concepts>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <Eigen/Core>

#include <specdec/core/basic/on_throw.hpp>
#include <specdec/core/concepts.hpp>
#include <specdec/core/error.hpp>
#include <specdec/core/model/context_tracker.hpp>
#include <specdec/core/model/tree_scoring.hpp>
#include <specdec/core/require.hpp>
#include <specdec/core/rows.hpp>
#include <specdec/core/tree/ancestor_mask.hpp>
#include <specdec/head/lm_head.hpp>
#include <specdec/reference/key_value_cache.hpp>
#include <specdec/reference/transformer_forward.hpp>
#include <specdec/reference/transformer_weights.hpp>

namespace specdec::reference {

struct transformer_settings {
    std::size_t sequences = 1;
    /// The most tokens and tree nodes of each sequence; 0: the model's context, at most 4,096.
    std::size_t capacity = 0;
    /// Length of a row of logits, where the LM head is padded; 0: all rows of the head.
    std::size_t vocabulary_size = 0;
    /// What features() shows of each token: the residual streams before these layers, side by side,
    /// of which L is what the LM head is multiplied with. EAGLE: {L}; EAGLE-3: {2, L / 2, L - 3}.
    std::vector<std::size_t> features{};
};

/// Errors: specdec::error for settings that the model cannot have.
inline void validate(const transformer_settings& settings, const transformer_config& config) {
    constexpr const char* source = "transformer settings";
    require_that(settings.sequences > 0, source, "sequences", "expected at least 1");
    require_that(settings.vocabulary_size <= config.vocabulary_size, source, "vocabulary_size",
                 "expected at most the " + std::to_string(config.vocabulary_size) +
                     " rows of the LM head, found " + std::to_string(settings.vocabulary_size));
    for (const std::size_t layer : settings.features)
        require_that(layer <= config.layers, source, "features",
                     "expected layers up to " + std::to_string(config.layers) + ", found " +
                         std::to_string(layer));
}

/// A transformer of the Llama family that is made to be read and to be compared with, for tests and
/// small uses: it computes what the equations in transformer_layer.hpp say, in float or double, on
/// one thread. It holds several sequences; transformer_model holds one. It models
/// BatchTreeModelOf<Id>, HiddenTreeBatchModelOf<Id>, FeatureBatchModelOf<Id> and
/// TellsHeldBatch<Id>, and shares the weights.
///
/// The rows are rounded to float, as the concepts require; logits() has the numbers before that. A
/// row is the same up to rounding however the tokens are grouped into calls.
/// Allocates: in every call. The KV cache grows with the longest context. A pass over n tokens of a
/// sequence that then has m needs room for some n m numbers.
/// Complexity: that of the matrix products.
/// Errors: specdec::error for weights and settings that do not fit, tokens without room, wrong
/// ids, parents and paths; all is then as it was. If memory ends in a call, its sequences may
/// forget their nodes.
/// Thread safety: not for two threads at once; objects that share weights are independent.
template <class Id, std::floating_point Scalar = float>
class transformer_batch {
public:
    explicit transformer_batch(std::shared_ptr<const transformer_weights<Scalar>> weights,
                               const transformer_settings& settings = {})
        : weights_(std::move(weights)), features_of_(settings.features) {
        require_that(weights_ != nullptr, source, "weights",
                     "expected weights, found a null pointer");
        const transformer_config& c = config();
        validate(*weights_);
        validate(settings, c);
        capacity_ =
            settings.capacity > 0 ? settings.capacity : std::min<std::size_t>(c.context, 4096);
        vocabulary_size_ =
            settings.vocabulary_size > 0 ? settings.vocabulary_size : c.vocabulary_size;
        sequences_.assign(settings.sequences, sequence{key_value_cache<Scalar>(c, capacity_)});
        for (sequence& at : sequences_)
            at.reserve(capacity_);
    }

    [[nodiscard]] std::size_t sequences() const { return sequences_.size(); }
    [[nodiscard]] std::size_t size(std::size_t s) const { return sequences_[s].tokens.size(); }
    [[nodiscard]] std::size_t capacity() const { return capacity_; }
    [[nodiscard]] std::size_t vocabulary_size() const { return vocabulary_size_; }
    [[nodiscard]] held_tokens<Id> held(std::size_t s) const { return sequences_[s].tokens.held(); }
    [[nodiscard]] const transformer_config& config() const { return weights_->config; }

    void append(std::size_t s, std::span<const Id> ids) {
        const sequence_nodes<Id> part{s, ids, {}};
        pass({&part, 1}, [](const matrix<Scalar>&) {});
    }
    [[nodiscard]] logits_rows<Id> score(std::span<const sequence_tokens<Id>> parts) {
        return score_tree(nodes_of(parts));
    }
    [[nodiscard]] logits_rows<Id> score_tree(std::span<const sequence_nodes<Id>> parts) {
        pass(parts, [&](const matrix<Scalar>& hidden) {
            logits_ = hidden * weights_->lm_head().topRows(index(vocabulary_size_)).transpose();
            rows_ = logits_.template cast<float>();
        });
        return {rows_.data(), count_tokens(parts), vocabulary_size_, vocabulary_size_};
    }
    /// Does the same without the LM head: returns what the head would be multiplied with.
    [[nodiscard]] hidden_states hidden(std::span<const sequence_tokens<Id>> parts) {
        return hidden_tree(nodes_of(parts));
    }
    [[nodiscard]] hidden_states hidden_tree(std::span<const sequence_nodes<Id>> parts) {
        pass(parts, [&](const matrix<Scalar>& hidden) { states_ = hidden.template cast<float>(); });
        return states_of(states_);
    }
    void keep_path(std::size_t s, std::span<const std::size_t> nodes) {
        require_sequence(s, sequences(), source);
        sequence& at = sequences_[s];
        require_path(nodes, at.parents, source);
        const std::size_t before = at.tokens.size();
        for (std::size_t i = 0; i < nodes.size(); ++i) { // a node's number is at least its depth
            at.cache.copy_row(before + nodes[i], before + i);
            at.tokens.fed({&at.nodes[nodes[i]], 1});
        }
        at.forget_nodes();
    }
    /// Pre: n <= size(s).
    void truncate(std::size_t s, std::size_t n) {
        sequences_[s].tokens.truncated(n);
        sequences_[s].forget_nodes();
    }

    [[nodiscard]] std::size_t feature_width() const { return features_of_.size() * config().width; }
    /// The features of the tokens of the latest pass, of append and hidden, too.
    [[nodiscard]] hidden_states features() const { return states_of(features_); }

    /// The logits of the latest score or score_tree. Shape: n x vocabulary_size().
    [[nodiscard]] const matrix<Scalar>& logits() const { return logits_; }
    [[nodiscard]] const key_value_cache<Scalar>& cache(std::size_t s) const {
        return sequences_[s].cache;
    }

private:
    static constexpr const char* source = "reference transformer";

    struct sequence {
        key_value_cache<Scalar> cache;
        context_tracker<Id> tokens{};
        std::vector<Id> nodes{};            // of a tree after them
        std::vector<std::size_t> parents{}; // [nodes]

        void forget_nodes() {
            nodes.clear();
            parents.clear();
        }
        /// Allocates, so that nothing throws after a pass.
        void reserve(std::size_t rows) {
            tokens.reserve(rows);
            nodes.reserve(rows);
            parents.reserve(rows);
        }
    };

    [[nodiscard]] std::span<const sequence_nodes<Id>>
    nodes_of(std::span<const sequence_tokens<Id>> parts) {
        chains_.clear();
        for (const auto& [s, ids] : parts)
            chains_.push_back({s, ids, {}});
        return chains_;
    }
    [[nodiscard]] static hidden_states states_of(const matrix<float>& rows) {
        const auto width = static_cast<std::size_t>(rows.cols());
        return {rows.data(), static_cast<std::size_t>(rows.rows()), width, width};
    }

    /// Errors: specdec::error, before anything changes.
    void require(std::span<const sequence_nodes<Id>> parts) const {
        std::vector<bool> met(sequences());
        for (const auto& [s, ids, parents] : parts) {
            require_sequence(s, sequences(), source);
            require_that(!met[s], source, "parts", "expected no sequence twice");
            met[s] = true;
            require_that(!ids.empty(), source, "ids", "expected at least one");
            require_ids(ids, vocabulary_size_, source, "ids");
            const std::size_t nodes = parents.empty() ? 0 : sequences_[s].parents.size();
            if (!parents.empty())
                require_parents(ids.size(), parents, nodes, source);
            const std::size_t room = capacity_ - size(s) - nodes;
            require_that(ids.size() <= room, source, "context",
                         "expected at most the " + std::to_string(room) +
                             " tokens that have room, found " + std::to_string(ids.size()));
        }
    }

    /// What the last n nodes of a tree with these parents see of the cache: the context, their
    /// ancestors, themselves. Shape: n x m, m := context + parents.size().
    [[nodiscard]] static matrix<Scalar> visible_to(std::size_t n, std::size_t context,
                                                   const std::vector<std::size_t>& parents) {
        const Eigen::Index nodes = index(parents.size());
        matrix<Scalar> ancestors(nodes, nodes);
        fill_ancestor_mask<Scalar>(parents, {ancestors.data(), parents.size() * parents.size()});
        matrix<Scalar> visible = matrix<Scalar>::Ones(index(n), index(context) + nodes);
        visible.rightCols(nodes) = ancestors.bottomRows(index(n));
        return visible;
    }

    /// The forward pass over parts. use(hidden) makes the requested rows; then the sequences hold
    /// the new tokens, or the new nodes of parts that have parents.
    template <class Use>
    void pass(std::span<const sequence_nodes<Id>> parts, const Use& use) {
        require(parts);
        on_throw guard([&] {
            for (const auto& [s, ids, parents] : parts)
                if (parents.empty()) // tokens take the rows of nodes
                    sequences_[s].forget_nodes();
        });
        std::vector<pass_part<Scalar>> given;
        for (const auto& part : parts)
            given.push_back(given_of(part));
        const Eigen::Index d = index(config().width);
        matrix<float> features(index(count_tokens(parts)), index(feature_width()));
        use(forward<Scalar>(*weights_, given, [&](std::size_t layer, const matrix<Scalar>& x) {
            for (std::size_t k = 0; k < features_of_.size(); ++k)
                if (features_of_[k] == layer)
                    features.middleCols(index(k) * d, d) = x.template cast<float>();
        }));
        features_ = std::move(features);
        guard.done();
        for (const auto& [s, ids, parents] : parts) {
            sequence& at = sequences_[s];
            if (parents.empty()) {
                at.tokens.fed(ids);
                at.forget_nodes();
            } else {
                at.nodes.insert(at.nodes.end(), ids.begin(), ids.end());
                at.parents.insert(at.parents.end(), parents.begin(), parents.end());
            }
        }
    }

    [[nodiscard]] pass_part<Scalar> given_of(const sequence_nodes<Id>& part) {
        const auto& [s, ids, parents] = part;
        sequence& at = sequences_[s];
        std::vector<std::size_t> all; // parents; tokens without parents form a chain
        if (!parents.empty())
            all = at.parents;
        for (std::size_t i = 0; i < ids.size(); ++i)
            all.push_back(!parents.empty() ? parents[i] : i == 0 ? tree_root : i - 1);
        at.cache.reserve(at.tokens.size() + all.size());
        pass_part<Scalar> given{{}, visible_to(ids.size(), at.tokens.size(), all), &at.cache};
        for (const Id id : ids)
            given.ids.push_back(id.index());
        return given;
    }

    std::shared_ptr<const transformer_weights<Scalar>> weights_;
    std::vector<std::size_t> features_of_; // layers
    std::size_t capacity_ = 0, vocabulary_size_ = 0;
    std::vector<sequence> sequences_;
    std::vector<sequence_nodes<Id>> chains_; // of the latest call
    matrix<Scalar> logits_;
    matrix<float> rows_, states_, features_;
};

} // namespace specdec::reference
