// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <specdec/core/concepts.hpp>
#include <specdec/core/law_version.hpp>
#include <specdec/core/model/context_tracker.hpp>
#include <specdec/core/model/tree_scoring.hpp>
#include <specdec/head/lm_head.hpp>
#include <specdec_engine/transformer/transformer.hpp>

namespace specdec::engine {

/// A transformer as a specdec::TreeModelOf<Id>. It has held(), so sessions may take turns with it.
template <class Id>
class model {
public:
    explicit model(transformer engine) : engine_(std::move(engine)) {
        ids_.reserve(engine_.capacity());
        nodes_.reserve(engine_.capacity());
        mirror_.reserve(engine_.capacity());
    }

    [[nodiscard]] std::size_t size() const { return engine_.size(); }
    [[nodiscard]] std::size_t capacity() const { return engine_.capacity(); }
    [[nodiscard]] std::size_t vocabulary_size() const { return engine_.vocabulary_size(); }
    static constexpr model_traits traits{.trained_context = true};
    [[nodiscard]] std::size_t trained_context() const { return engine_.config().trained_context; }

    /// The tokens of the context. If engine() was used directly, they are not size() many.
    [[nodiscard]] held_tokens<Id> held() const { return mirror_.held(); }

    void append(std::span<const Id> ids) {
        engine_.append(plain(ids));
        fed(ids);
    }
    [[nodiscard]] logits_rows<Id> score(std::span<const Id> ids) {
        engine_.score(plain(ids));
        fed(ids);
        return rows(ids.size());
    }
    /// The same without the LM head (specdec::HiddenModelOf<Id>; see lm_head.hpp).
    [[nodiscard]] hidden_states hidden(std::span<const Id> ids) {
        const sequence_part part{0, plain(ids)};
        engine_.hidden({&part, 1});
        fed(ids);
        return states(ids.size());
    }
    /// The features of the latest append or score, if context_options ask for them
    /// (FeatureModelOf).
    [[nodiscard]] std::size_t feature_width() const { return engine_.feature_width(); }
    [[nodiscard]] hidden_states features() const {
        return {engine_.features().data(), engine_.passed(), feature_width(), feature_width()};
    }
    void truncate(std::size_t n) {
        engine_.truncate(n);
        mirror_.truncated(n);
        nodes_.clear();
    }

    [[nodiscard]] logits_rows<Id> score_tree(std::span<const Id> ids,
                                             std::span<const std::size_t> parents) {
        require_parents(ids.size(), parents, nodes_.size(), "model");
        const sequence_part part{0, plain(ids), parents};
        engine_.score({&part, 1});
        nodes_.insert(nodes_.end(), ids.begin(), ids.end());
        return rows(ids.size());
    }
    [[nodiscard]] hidden_states hidden_tree(std::span<const Id> ids,
                                            std::span<const std::size_t> parents) {
        require_parents(ids.size(), parents, nodes_.size(), "model");
        const sequence_part part{0, plain(ids), parents};
        engine_.hidden({&part, 1});
        nodes_.insert(nodes_.end(), ids.begin(), ids.end());
        return states(ids.size());
    }
    void keep_path(std::span<const std::size_t> nodes) {
        engine_.keep_path(nodes);
        for (const std::size_t node : nodes)
            mirror_.fed({&nodes_[node], 1});
        nodes_.clear();
    }

    /// See transformer: which adapters the context is computed with (specdec::TakesKey).
    void set_key(context_key key) {
        const bool another = key != engine_.key();
        engine_.set_key(key);
        if (another)
            truncate(0); // what is recorded, too
    }
    [[nodiscard]] context_key key() const { return engine_.key(); }
    [[nodiscard]] law_version version() const { return engine_.version(); }
    [[nodiscard]] transformer& engine() { return engine_; }
    [[nodiscard]] const transformer& engine() const { return engine_; }

private:
    void fed(std::span<const Id> ids) {
        mirror_.fed(ids);
        nodes_.clear();
    }
    [[nodiscard]] logits_rows<Id> rows(std::size_t n) const {
        return {engine_.logits().data(), n, vocabulary_size(), engine_.logits().shape(1)};
    }
    [[nodiscard]] hidden_states states(std::size_t n) const {
        return {engine_.states().data(), n, engine_.states().shape(1), engine_.states().shape(1)};
    }
    std::span<const std::int32_t> plain(std::span<const Id> ids) {
        ids_.clear();
        for (const Id id : ids)
            ids_.push_back(id.value);
        return ids_;
    }

    transformer engine_;
    std::vector<std::int32_t> ids_; ///< of the latest call
    context_tracker<Id> mirror_;
    std::vector<Id> nodes_; ///< behind the context
};

} // namespace specdec::engine
