// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <span>

#include <specdec/core/concepts.hpp>
#include <specdec/core/rows.hpp>

/// What an engine supplies whose LM head can be reached apart from the rest of its model. Optional:
/// models that only score are drafters and targets as well.
namespace specdec {

/// What an LM head is multiplied with: the model's state behind a token, normed and all.
struct hidden_state {
    std::span<const float> values; ///< [width]
};

/// Hidden states of consecutive positions, borrowed from the engine as rows are.
class hidden_states : public strided_rows<hidden_state> {
public:
    using strided_rows::strided_rows;
    explicit(false) hidden_states(const strided_rows& rows) : strided_rows(rows) {}
    [[nodiscard]] std::size_t width() const { return vocabulary(); }
};

/// Where products go: those of hidden state i begin at data + i * stride.
struct scores_out {
    float* data = nullptr;
    std::size_t stride = 0;

    [[nodiscard]] std::span<float> row(std::size_t i, std::size_t n) const {
        return {data + i * stride, n};
    }
};

/// A model that stops before its LM head.
///
///     m.hidden(ids)   append, and the hidden state behind each of ids; they live until the next
///                     append, hidden, score or truncate of m
///
/// Otherwise as ModelOf, score included where the engine has it.
template <class M, class Id>
concept HiddenModelOf = ContextOf<M, Id> && requires(M& m, std::span<const Id> ids) {
    { m.hidden(ids) } -> std::convertible_to<hidden_states>;
};

/// The same of several sequences; the states of one part stand behind those of the part before.
template <class M, class Id>
concept HiddenBatchModelOf =
    BatchContextOf<M, Id> && requires(M& m, std::span<const sequence_tokens<Id>> parts) {
        { m.hidden(parts) } -> std::convertible_to<hidden_states>;
    };

/// A row of logits of which only those of ids are known: row[ids[k]] = known[k], -infinity
/// elsewhere.
template <class Id>
void scatter(std::span<const float> known, std::span<const Id> ids, std::span<float> row) {
    for (float& logit : row)
        logit = -__builtin_inff();
    for (std::size_t k = 0; k < ids.size(); ++k)
        row[ids[k].index()] = known[k];
}

/// The rows of an LM head, one for each id of a vocabulary, as products: of all, of some in a row,
/// of a list in any order.
///
///     h.vocabulary_size()           ids 0 .. vocabulary_size()-1; rows of padding are not part
///     h.width()                     numbers of a hidden state
///     h.multiply(x, out)            out[i][r] = row of id r times x[i]
///     h.multiply(x, first, n, out)  out[i][k] = row of id first + k times x[i], k < n
///     h.multiply(x, ids, out)       out[i][k] = row of ids[k] times x[i]
///
/// Ids are of the vocabulary; x has states of that width. The three agree up to rounding: which
/// rows stand beside a row does not change its product otherwise.
/// testing/contract/head_contract.hpp checks all this.
template <class H, class Id>
concept LmHeadOf =
    requires(H& h, const hidden_states& x, std::size_t n, std::span<const Id> ids, scores_out out) {
        { h.vocabulary_size() } -> std::convertible_to<std::size_t>;
        { h.width() } -> std::convertible_to<std::size_t>;
        h.multiply(x, out);
        h.multiply(x, n, n, out);
        h.multiply(x, ids, out);
    };

/// A head of which some rows can be copied into memory of their own, one behind the other, since
/// gathered rows are read more slowly than a stream.
///
///     s = h.select(ids)     k-th of s's rows: that of ids[k]; an LM head of ids.size() rows
///     s.replace(k, h, id)   from now on the k-th is that of id
template <class H, class Id>
concept SelectableHeadOf = LmHeadOf<H, Id> && requires(H& h, std::span<const Id> ids, Id id) {
    { h.select(ids) } -> LmHeadOf<Id>;
    h.select(ids).replace(std::size_t{}, h, id);
};

/// A way to make rows of logits of hidden states: all of a head, or a part and -infinity elsewhere.
///
///     H::id_type                       Id
///     h.vocabulary_size(), h.width()   as an LM head's
///     h.rows(x, out)                   out[i] = the logits [vocabulary_size()] behind x[i]
///
/// A row is a function of its hidden state, until something is done to h between rounds. Models:
/// full_head, trimmed_head, routed_head.
template <class H, class Id>
concept DraftHeadOf = requires(H& h, const hidden_states& x, scores_out out) {
    requires std::same_as<typename H::id_type, Id>;
    { h.vocabulary_size() } -> std::convertible_to<std::size_t>;
    { h.width() } -> std::convertible_to<std::size_t>;
    h.rows(x, out);
};

/// A draft head that also tells what it computed, so that nobody touches the rest.
///
///     h.most_listed()   the most tokens of a row
///     h.list(x, f)      f(i, ids, logits) for each x[i]: the tokens that its row has a logit for,
///                       ascending, and these logits, which live until f returns
///
/// Models: trimmed_head, routed_head, reduced_vocabulary_head.
template <class H, class Id>
concept ListingHeadOf =
    DraftHeadOf<H, Id> &&
    requires(H& h, const hidden_states& x,
             void (*f)(std::size_t, std::span<const Id>, std::span<const float>)) {
        { h.most_listed() } -> std::convertible_to<std::size_t>;
        h.list(x, f);
    };

} // namespace specdec
