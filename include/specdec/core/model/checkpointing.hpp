// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <span>

#include <specdec/core/concepts.hpp>

namespace specdec {

/// A model whose state cannot lose its last tokens one by one, as that of recurrent and hybrid
/// models (Mamba, RWKV, linear attention): all that ModelOf<Id> requires but truncate, and
///
///     m.clear()        forgets all tokens
///     m.checkpoint()   remembers the state as it is, in place of what it remembered before
///     m.restore()      the state is the remembered one again, as often as it is asked for. Never
///                      called before a checkpoint, or behind a clear() and before the next one
///
/// A call that throws leaves the state as it was, and the checkpoint, too.
/// testing/contract/checkpoint_contract.hpp checks all this; checkpointed_model makes it a model.
template <class M, class Id>
concept CheckpointingModelOf = requires(M& m, const M& c, std::span<const Id> ids) {
    { c.size() } -> std::convertible_to<std::size_t>;
    { c.capacity() } -> std::convertible_to<std::size_t>;
    { c.vocabulary_size() } -> std::convertible_to<std::size_t>;
    m.append(ids);
    { m.score(ids) } -> RowsOf<Id>;
    m.clear();
    m.checkpoint();
    m.restore();
};

/// The same of several sequences, each with a checkpoint of its own: all that BatchModelOf<Id>
/// requires but truncate, and m.clear(s), m.checkpoint(s), m.restore(s).
template <class M, class Id>
concept CheckpointingBatchModelOf =
    requires(M& m, const M& c, std::size_t s, std::span<const Id> ids,
             std::span<const sequence_tokens<Id>> parts) {
        { c.sequences() } -> std::convertible_to<std::size_t>;
        { c.size(s) } -> std::convertible_to<std::size_t>;
        { c.capacity() } -> std::convertible_to<std::size_t>;
        { c.vocabulary_size() } -> std::convertible_to<std::size_t>;
        m.append(s, ids);
        { m.score(parts) } -> RowsOf<Id>;
        m.clear(s);
        m.checkpoint(s);
        m.restore(s);
    };

namespace detail {

/// Either of them, with the calls of several sequences. Borrows it.
template <class Id, class M>
class checkpointing_sequences {
    static constexpr bool several = CheckpointingBatchModelOf<M, Id>;

public:
    explicit checkpointing_sequences(M& model) : model_(&model) {}

    [[nodiscard]] M& model() const { return *model_; }
    [[nodiscard]] std::size_t sequences() const {
        if constexpr (several)
            return model_->sequences();
        else
            return 1;
    }
    [[nodiscard]] std::size_t size(std::size_t s) const {
        return at_sequence<several>(s, [&](auto... at) { return model_->size(at...); });
    }
    void append(std::size_t s, std::span<const Id> ids) {
        at_sequence<several>(s, [&](auto... at) { model_->append(at..., ids); });
    }
    [[nodiscard]] auto score(std::span<const sequence_tokens<Id>> parts) {
        if constexpr (several)
            return score_rows<Id>(*model_, parts);
        else
            return score_rows<Id>(*model_, parts.front().ids);
    }
    void clear(std::size_t s) {
        at_sequence<several>(s, [&](auto... at) { model_->clear(at...); });
    }
    void checkpoint(std::size_t s) {
        at_sequence<several>(s, [&](auto... at) { model_->checkpoint(at...); });
    }
    void restore(std::size_t s) {
        at_sequence<several>(s, [&](auto... at) { model_->restore(at...); });
    }

private:
    M* model_;
};

} // namespace detail

} // namespace specdec
