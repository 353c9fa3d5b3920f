// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <specdec/core/concepts.hpp>
#include <specdec/core/model/context_mirror.hpp>
#include <specdec/head/lm_head.hpp>
#include <specdec/reference/transformer/transformer.hpp>

namespace specdec::reference {

/// A transformer as a specdec::ModelOf<Id>. It has held(), so sessions may take turns with it.
template <class Id>
class model {
public:
    explicit model(transformer engine) : engine_(std::move(engine)) {
        ids_.reserve(engine_.capacity());
        mirror_.reserve(engine_.capacity());
    }

    [[nodiscard]] std::size_t size() const { return engine_.size(); }
    [[nodiscard]] std::size_t capacity() const { return engine_.capacity(); }
    [[nodiscard]] std::size_t vocabulary_size() const { return engine_.vocabulary_size(); }

    /// The tokens of the context. If engine() was used directly, they are not size() many.
    [[nodiscard]] std::span<const Id> held() const { return mirror_.held(); }

    void append(std::span<const Id> ids) {
        engine_.append(plain(ids));
        mirror_.fed(ids);
    }
    [[nodiscard]] logits_rows<Id> score(std::span<const Id> ids) {
        engine_.score(plain(ids));
        mirror_.fed(ids);
        return {engine_.logits().data(), ids.size(), vocabulary_size(), engine_.logits().shape(1)};
    }
    /// The same without the LM head (specdec::HiddenModelOf<Id>; see lm_head.hpp).
    [[nodiscard]] hidden_states hidden(std::span<const Id> ids) {
        const sequence_part part{0, plain(ids)};
        engine_.hidden({&part, 1});
        mirror_.fed(ids);
        return {engine_.states().data(), ids.size(), engine_.states().shape(1),
                engine_.states().shape(1)};
    }
    /// The features of the latest append or score, if context_options ask for them
    /// (FeatureModelOf).
    [[nodiscard]] std::size_t feature_width() const { return engine_.feature_width(); }
    [[nodiscard]] hidden_states features() const {
        return {engine_.features().data(), ids_.size(), feature_width(), feature_width()};
    }
    void truncate(std::size_t n) {
        engine_.truncate(n);
        mirror_.truncated(n);
    }

    [[nodiscard]] transformer& engine() { return engine_; }
    [[nodiscard]] const transformer& engine() const { return engine_; }

private:
    std::span<const std::int32_t> plain(std::span<const Id> ids) {
        ids_.clear();
        for (const Id id : ids)
            ids_.push_back(id.value);
        return ids_;
    }

    transformer engine_;
    std::vector<std::int32_t> ids_; ///< of the latest call
    context_mirror<Id> mirror_;
};

} // namespace specdec::reference
