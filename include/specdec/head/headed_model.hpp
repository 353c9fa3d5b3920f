// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <specdec/core/error.hpp>
#include <specdec/core/require.hpp>
#include <specdec/head/lm_head.hpp>

namespace specdec {

/// A model whose rows a draft head makes: trimmed, routed or full.
///
///     trimmed_head few(head, list);
///     headed_model draft(model, few);
///
/// The rows stand over the whole vocabulary, with -infinity where the head computed nothing. So
/// every bridge, drafter and verifier takes them as they are, and q is the law over what was
/// computed, renormalised. Models ModelOf<Id>, and BatchModelOf<Id> where Model holds several
/// sequences. Borrows both. Memory: `rows` rows, allocated at construction, more where a call asks
/// for more than ever before. Cost beside the model's and the head's: none. Errors: specdec::error
/// where model and head are of different vocabularies or widths.
template <class Model, class Head>
    requires DraftHeadOf<Head, typename Head::id_type> &&
             (HiddenModelOf<Model, typename Head::id_type> ||
              HiddenBatchModelOf<Model, typename Head::id_type>)
class headed_model {
    using Id = typename Head::id_type;

public:
    headed_model(Model& model, Head& head, std::size_t rows = 16)
        : model_(model), head_(head), logits_(rows * head.vocabulary_size()) {
        require_size<Id>(model.vocabulary_size(), head.vocabulary_size(), "headed model", "head");
    }

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
    [[nodiscard]] logits_rows<Id> score(std::span<const Id> ids)
        requires HiddenModelOf<Model, Id>
    {
        return rows_of(model_.hidden(ids), ids.size());
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
    [[nodiscard]] logits_rows<Id> score(std::span<const sequence_tokens<Id>> parts)
        requires HiddenBatchModelOf<Model, Id>
    {
        std::size_t n = 0;
        for (const sequence_tokens<Id>& part : parts)
            n += part.ids.size();
        return rows_of(model_.hidden(parts), n);
    }
    void truncate(std::size_t sequence, std::size_t n)
        requires HiddenBatchModelOf<Model, Id>
    {
        model_.truncate(sequence, n);
    }

    void begin_round(std::size_t n)
        requires KnowsRounds<Model>
    {
        model_.begin_round(n);
    }
    void begin_round(std::size_t sequence, std::size_t n)
        requires KnowsRoundsOfSequences<Model>
    {
        model_.begin_round(sequence, n);
    }
    [[nodiscard]] bool reads_features() const { return specdec::reads_features(model_); }

private:
    logits_rows<Id> rows_of(const hidden_states& x, std::size_t n) {
        if (x.size() != n || x.width() != head_.width())
            fail("headed model", "hidden states",
                 "expected " + std::to_string(n) + " of width " + std::to_string(head_.width()) +
                     ", got " + std::to_string(x.size()) + " of width " +
                     std::to_string(x.width()));
        const std::size_t vocabulary = head_.vocabulary_size();
        if (logits_.size() < n * vocabulary)
            logits_.resize(n * vocabulary);
        head_.rows(x, {logits_.data(), vocabulary});
        return {logits_.data(), n, vocabulary, vocabulary};
    }

    Model& model_;
    Head& head_;
    std::vector<float> logits_; // [rows, vocabulary]
};

} // namespace specdec
