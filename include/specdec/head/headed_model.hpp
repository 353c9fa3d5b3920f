// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <specdec/head/headed_context.hpp>
#include <specdec/head/lm_head.hpp>

namespace specdec {

/// A model made of a hidden-state model and a draft head (trimmed, routed or full), which makes its
/// rows (docs/adapt/heads.md). A row covers the whole vocabulary, with -infinity where the head
/// computed nothing, so q is the law over the computed tokens, renormalised: lossless with every
/// bridge and verifier. Models BatchModelOf<Id>, and ModelOf<Id> where Model is of one sequence,
/// and their trees where Model has hidden_tree. Borrows both. Memory: `rows` rows, allocated at
/// construction; a call that needs more allocates. Cost: the model's and the head's. Errors: as
/// headed_context.
template <class Model, HeadFor<Model> Head>
class headed_model : public headed_context<headed_model<Model, Head>, Model, Head> {
    using Id = typename Head::id_type;
    using base = headed_context<headed_model<Model, Head>, Model, Head>;

public:
    static constexpr bool wraps_trees = base::hidden_trees;

    headed_model(Model& model, Head& head, std::size_t rows = 16)
        : base(model, head, "headed model"), logits_(rows * head.vocabulary_size()) {}

    using base::score, base::score_tree;
    [[nodiscard]] logits_rows<Id> score(std::span<const sequence_tokens<Id>> parts) {
        return rows_of(this->states(parts));
    }
    [[nodiscard]] logits_rows<Id> score_tree(std::span<const sequence_nodes<Id>> parts)
        requires base::hidden_trees
    {
        return rows_of(this->states(parts));
    }

private:
    logits_rows<Id> rows_of(const hidden_states& x) {
        const std::size_t vocabulary = this->vocabulary_size();
        if (logits_.size() < x.size() * vocabulary)
            logits_.resize(x.size() * vocabulary);
        this->head().rows(x, {logits_.data(), vocabulary});
        return {logits_.data(), x.size(), vocabulary, vocabulary};
    }

    std::vector<float> logits_; // [rows, vocabulary]
};

} // namespace specdec
