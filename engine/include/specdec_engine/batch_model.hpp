// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <specdec/core/concepts.hpp>
#include <specdec/core/law_version.hpp>
#include <specdec/core/model/tree_scoring.hpp>
#include <specdec/head/lm_head.hpp>
#include <specdec_engine/transformer/transformer.hpp>

namespace specdec::engine {

/// A transformer whose context holds several sequences (context_options::sequences), as a
/// specdec::BatchTreeModelOf<Id>. A sequence's rows are bit for bit those that it gets alone.
/// Allocates only if a pass has more tokens or rows than ever before.
template <class Id>
class batch_model {
public:
    explicit batch_model(transformer engine) : engine_(std::move(engine)) {
        parts_.reserve(engine_.sequences());
    }

    [[nodiscard]] std::size_t sequences() const { return engine_.sequences(); }
    [[nodiscard]] std::size_t size(std::size_t sequence) const { return engine_.size(sequence); }
    [[nodiscard]] std::size_t capacity() const { return engine_.capacity(); }
    [[nodiscard]] std::size_t vocabulary_size() const { return engine_.vocabulary_size(); }
    static constexpr model_traits traits{.trained_context = true, .copies_prefix = true};
    [[nodiscard]] std::size_t trained_context() const { return engine_.config().trained_context; }

    void append(std::size_t sequence, std::span<const Id> ids) {
        const sequence_tokens<Id> part{sequence, ids};
        engine_.append(plain(std::span(&part, 1)).front().ids, sequence);
    }
    [[nodiscard]] logits_rows<Id> score(std::span<const sequence_tokens<Id>> parts) {
        engine_.score(plain(parts));
        return rows();
    }
    [[nodiscard]] logits_rows<Id> score_tree(std::span<const sequence_nodes<Id>> parts) {
        engine_.score(plain(parts));
        return rows();
    }
    [[nodiscard]] hidden_states hidden_tree(std::span<const sequence_nodes<Id>> parts) {
        engine_.hidden(plain(parts));
        return {engine_.states().data(), ids_.size(), engine_.states().shape(1),
                engine_.states().shape(1)};
    }
    void keep_path(std::size_t sequence, std::span<const std::size_t> nodes) {
        engine_.keep_path(nodes, sequence);
    }
    /// The same without the LM head (specdec::HiddenBatchModelOf<Id>; see lm_head.hpp).
    [[nodiscard]] hidden_states hidden(std::span<const sequence_tokens<Id>> parts) {
        engine_.hidden(plain(parts));
        return {engine_.states().data(), ids_.size(), engine_.states().shape(1),
                engine_.states().shape(1)};
    }
    /// The features of the latest append or score, if context_options ask for them
    /// (FeatureBatchModelOf).
    [[nodiscard]] std::size_t feature_width() const { return engine_.feature_width(); }
    [[nodiscard]] hidden_states features() const {
        return {engine_.features().data(), engine_.passed(), feature_width(), feature_width()};
    }
    void truncate(std::size_t sequence, std::size_t n) { engine_.truncate(n, sequence); }

    [[nodiscard]] bool copy_prefix(std::size_t to, std::size_t from, std::size_t n) {
        if (feature_width() > 0) // whose features are of what was fed
            return false;
        engine_.copy_prefix(to, from, n);
        return true;
    }

    /// See transformer::use: between the rounds of all sequences, which are then empty.
    template <PanelValue Value>
    void use(std::shared_ptr<const model_weights<Value>> weights) {
        engine_.use(std::move(weights));
    }
    /// See transformer: which adapters a sequence computes with (specdec::TakesKeys).
    void set_adapters(context_key key, std::shared_ptr<const model_adapters> adapters) {
        engine_.set_adapters(key, std::move(adapters));
    }
    void set_key(std::size_t sequence, context_key key) { engine_.set_key(key, sequence); }
    [[nodiscard]] context_key key(std::size_t sequence) const { return engine_.key(sequence); }
    [[nodiscard]] law_version version(std::size_t sequence = 0) const {
        return engine_.version(sequence);
    }

    [[nodiscard]] const transformer& engine() const { return engine_; }

private:
    template <class Part>
    std::span<const sequence_part> plain(std::span<const Part> parts) {
        ids_.clear();
        for (const Part& part : parts)
            for (const Id id : part.ids)
                ids_.push_back(id.value);
        parts_.clear();
        std::span<const std::int32_t> rest = ids_;
        for (const Part& part : parts) {
            parts_.push_back({part.sequence, rest.first(part.ids.size())});
            if constexpr (std::same_as<Part, sequence_nodes<Id>>)
                parts_.back().parents = part.parents;
            rest = rest.subspan(part.ids.size());
        }
        return parts_;
    }
    [[nodiscard]] logits_rows<Id> rows() const {
        return {engine_.logits().data(), ids_.size(), vocabulary_size(), engine_.logits().shape(1)};
    }

    transformer engine_;
    std::vector<std::int32_t> ids_; ///< of the latest call
    std::vector<sequence_part> parts_;
};

} // namespace specdec::engine
