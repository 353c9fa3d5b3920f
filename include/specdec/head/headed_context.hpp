// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include <specdec/core/concepts.hpp>
#include <specdec/core/error.hpp>
#include <specdec/core/law_version.hpp>
#include <specdec/core/model/wrapped_model.hpp>
#include <specdec/core/require.hpp>
#include <specdec/head/lm_head.hpp>

namespace specdec {

/// A draft head for a model: Model makes the hidden states that Head is given.
template <class Head, class Model>
concept HeadFor = DraftHeadOf<Head, typename Head::id_type> &&
                  (HiddenModelOf<Model, typename Head::id_type> ||
                   HiddenBatchModelOf<Model, typename Head::id_type>);

/// The base of models that are made of a hidden-state model and a draft head: the model's contexts,
/// and its hidden states, checked. Borrows both. Errors: specdec::error that names `source`, if
/// model and head are of different vocabularies or widths. Allocates nothing.
template <class Self, class Model, HeadFor<Model> Head>
class headed_context : public wrapped_model<Self, typename Head::id_type, Model> {
    using Id = typename Head::id_type;
    using base = wrapped_model<Self, Id, Model>;

protected:
    static constexpr bool hidden_trees =
        HiddenTreeModelOf<Model, Id> || HiddenTreeBatchModelOf<Model, Id>;

public:
    using base::version;
    [[nodiscard]] std::size_t vocabulary_size() const { return head_.vocabulary_size(); }
    [[nodiscard]] law_version version(std::size_t s) const {
        return base::version(s) + version_of(head_);
    }

    using base::keep_path;
    void keep_path(std::size_t s, std::span<const std::size_t> nodes)
        requires hidden_trees
    {
        this->keep_in_model(s, nodes);
    }

protected:
    headed_context(Model& model, Head& head, const char* source)
        : base(model), head_(head), source_(source) {
        require_size<Id>(model.vocabulary_size(), head.vocabulary_size(), source, "head");
    }

    [[nodiscard]] Head& head() { return head_; }

    /// Feeds the parts and returns the hidden state behind each of their tokens.
    [[nodiscard]] hidden_states states(std::span<const sequence_tokens<Id>> parts) {
        if constexpr (HiddenBatchModelOf<Model, Id>)
            return checked(this->wrapped().hidden(parts), count_tokens(parts));
        else
            return checked(this->wrapped().hidden(parts.front().ids), count_tokens(parts));
    }
    /// The same of nodes of trees.
    [[nodiscard]] hidden_states states(std::span<const sequence_nodes<Id>> parts)
        requires hidden_trees
    {
        if constexpr (HiddenBatchModelOf<Model, Id>)
            return checked(this->wrapped().hidden_tree(parts), count_tokens(parts));
        else if (parts.front().parents.empty())
            return checked(this->wrapped().hidden(parts.front().ids), count_tokens(parts));
        else
            return checked(this->wrapped().hidden_tree(parts.front().ids, parts.front().parents),
                           count_tokens(parts));
    }

private:
    [[nodiscard]] hidden_states checked(const hidden_states& x, std::size_t n) const {
        if (x.size() != n || x.width() != head_.width())
            fail(source_, "hidden states",
                 "expected " + std::to_string(n) + " of width " + std::to_string(head_.width()) +
                     ", found " + std::to_string(x.size()) + " of width " +
                     std::to_string(x.width()));
        return x;
    }

    Head& head_;
    const char* source_;
};

} // namespace specdec
