// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include <specdec/core/concepts.hpp>
#include <specdec/core/error.hpp>
#include <specdec/core/law_mark.hpp>
#include <specdec/core/require.hpp>
#include <specdec/head/lm_head.hpp>

namespace specdec {

/// A draft head for a model: Model makes the hidden states that Head is given.
template <class Head, class Model>
concept HeadFor = DraftHeadOf<Head, typename Head::id_type> &&
                  (HiddenModelOf<Model, typename Head::id_type> ||
                   HiddenBatchModelOf<Model, typename Head::id_type>);

/// The base of models that are made of a hidden-state model and a draft head. It forwards the
/// context's functions to the model, and checks the hidden states. Borrows both. Errors:
/// specdec::error that names `source`, if model and head are of different vocabularies or widths.
/// Allocates nothing.
template <class Model, HeadFor<Model> Head>
class headed_context {
    using Id = typename Head::id_type;

public:
    [[nodiscard]] std::size_t capacity() const { return model_.capacity(); }
    [[nodiscard]] std::size_t vocabulary_size() const { return head_.vocabulary_size(); }

    [[nodiscard]] std::size_t size() const
        requires HiddenModelOf<Model, Id>
    {
        return model_.size();
    }
    void append(std::span<const Id> ids)
        requires HiddenModelOf<Model, Id>
    {
        model_.append(ids);
    }
    void truncate(std::size_t n)
        requires HiddenModelOf<Model, Id>
    {
        model_.truncate(n);
    }

    [[nodiscard]] std::size_t sequences() const
        requires HiddenBatchModelOf<Model, Id>
    {
        return model_.sequences();
    }
    [[nodiscard]] std::size_t size(std::size_t sequence) const
        requires HiddenBatchModelOf<Model, Id>
    {
        return model_.size(sequence);
    }
    void append(std::size_t sequence, std::span<const Id> ids)
        requires HiddenBatchModelOf<Model, Id>
    {
        model_.append(sequence, ids);
    }
    void truncate(std::size_t sequence, std::size_t n)
        requires HiddenBatchModelOf<Model, Id>
    {
        model_.truncate(sequence, n);
    }

    void keep_path(std::span<const std::size_t> nodes)
        requires HiddenTreeModelOf<Model, Id>
    {
        model_.keep_path(nodes);
    }
    void keep_path(std::size_t sequence, std::span<const std::size_t> nodes)
        requires HiddenTreeBatchModelOf<Model, Id>
    {
        model_.keep_path(sequence, nodes);
    }

    void begin_round(std::size_t n)
        requires RoundAware<Model>
    {
        model_.begin_round(n);
    }
    void begin_round(std::size_t sequence, std::size_t n)
        requires RoundAwareBatch<Model>
    {
        model_.begin_round(sequence, n);
    }
    [[nodiscard]] bool reads_features() const { return specdec::reads_features(model_); }
    [[nodiscard]] law_mark mark() const
        requires HiddenModelOf<Model, Id>
    {
        return mark_of(model_) + mark_of(head_);
    }
    [[nodiscard]] law_mark mark(std::size_t sequence) const
        requires HiddenBatchModelOf<Model, Id>
    {
        return mark_of(model_, sequence) + mark_of(head_);
    }

protected:
    headed_context(Model& model, Head& head, const char* source)
        : model_(model), head_(head), source_(source) {
        require_size<Id>(model.vocabulary_size(), head.vocabulary_size(), source, "head");
    }

    [[nodiscard]] Head& head() { return head_; }

    /// Feeds ids and returns the hidden state behind each of them.
    [[nodiscard]] hidden_states states(std::span<const Id> ids) {
        return checked(model_.hidden(ids), ids.size());
    }
    [[nodiscard]] hidden_states states(std::span<const sequence_tokens<Id>> parts) {
        return checked(model_.hidden(parts), count(parts));
    }
    /// The same of nodes of a tree.
    [[nodiscard]] hidden_states states(std::span<const Id> ids,
                                       std::span<const std::size_t> parents) {
        return checked(model_.hidden_tree(ids, parents), ids.size());
    }
    [[nodiscard]] hidden_states states(std::span<const sequence_nodes<Id>> parts) {
        return checked(model_.hidden_tree(parts), count(parts));
    }

private:
    [[nodiscard]] static std::size_t count(auto parts) {
        std::size_t n = 0;
        for (const auto& part : parts)
            n += part.ids.size();
        return n;
    }
    [[nodiscard]] hidden_states checked(const hidden_states& x, std::size_t n) const {
        if (x.size() != n || x.width() != head_.width())
            fail(source_, "hidden states",
                 "expected " + std::to_string(n) + " of width " + std::to_string(head_.width()) +
                     ", got " + std::to_string(x.size()) + " of width " +
                     std::to_string(x.width()));
        return x;
    }

    Model& model_;
    Head& head_;
    const char* source_;
};

} // namespace specdec
