// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <span>

#include <specdec/core/basic/builtins.hpp>
#include <specdec/core/concepts.hpp>
#include <specdec/core/model/tree_scoring.hpp>
#include <specdec/core/rows.hpp>

/// What an engine supplies if its LM head can be reached apart from the rest of its model.
/// Optional: a model that only scores can be a drafter or a target, too.
namespace specdec {

/// What an LM head is multiplied with: the model's state behind a token, after the last norm.
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

/// Where products are written: those of hidden state i begin at data + i * stride.
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
/// All else as in ModelOf. It need not have score.
template <class M, class Id>
concept HiddenModelOf = ContextOf<M, Id> && requires(M& m, std::span<const Id> ids) {
    { m.hidden(ids) } -> std::convertible_to<hidden_states>;
};

/// The same for several sequences: the states of the first part, then those of the second, ...
template <class M, class Id>
concept HiddenBatchModelOf =
    BatchContextOf<M, Id> && requires(M& m, std::span<const sequence_tokens<Id>> parts) {
        { m.hidden(parts) } -> std::convertible_to<hidden_states>;
    };

/// The same of nodes of a tree, which TreeModelOf and BatchTreeModelOf score.
template <class M, class Id>
concept HiddenTreeModelOf = HiddenModelOf<M, Id> && requires(M& m, std::span<const Id> ids,
                                                             std::span<const std::size_t> nodes) {
    { m.hidden_tree(ids, nodes) } -> std::convertible_to<hidden_states>;
    m.keep_path(nodes);
};
template <class M, class Id>
concept HiddenTreeBatchModelOf =
    HiddenBatchModelOf<M, Id> &&
    requires(M& m, std::size_t s, std::span<const sequence_nodes<Id>> parts,
             std::span<const std::size_t> nodes) {
        { m.hidden_tree(parts) } -> std::convertible_to<hidden_states>;
        m.keep_path(s, nodes);
    };

/// Writes a row of which only some logits are known: row[ids[k]] = known[k], -infinity elsewhere.
template <class Id>
void scatter(std::span<const float> known, std::span<const Id> ids, std::span<float> row) {
    for (float& logit : row)
        logit = -builtin::infinity;
    for (std::size_t k = 0; k < ids.size(); ++k)
        row[ids[k].index()] = known[k];
}

/// An LM head: one row of weights for each id. It multiplies all rows, a run of rows, or a list of
/// rows in any order.
///
///     h.vocabulary_size()           ids 0 .. vocabulary_size()-1; rows of padding are not part
///     h.width()                     numbers of a hidden state
///     h.multiply(x, out)            out[i][r] = row of id r times x[i]
///     h.multiply(x, first, n, out)  out[i][k] = row of id first + k times x[i], k < n
///     h.multiply(x, ids, out)       out[i][k] = row of ids[k] times x[i]
///
/// Ids are of the vocabulary; x has states of that width. The three functions agree up to rounding.
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

/// A head that can copy some of its rows, one behind the other, because a stream is read faster
/// than gathered rows.
///
///     s = h.select(ids)     an LM head of ids.size() rows; its k-th row is a copy of ids[k]'s
///     s.replace(k, h, id)   makes the k-th row a copy of id's
template <class H, class Id>
concept SelectableHeadOf = LmHeadOf<H, Id> && requires(H& h, std::span<const Id> ids, Id id) {
    { h.select(ids) } -> LmHeadOf<Id>;
    h.select(ids).replace(std::size_t{}, h, id);
};

/// Makes rows of logits from hidden states: of a whole head, or of a part of it with -infinity
/// elsewhere.
///
///     H::id_type                       Id
///     h.vocabulary_size(), h.width()   as an LM head's
///     h.rows(x, out)                   out[i] = the logits [vocabulary_size()] behind x[i]
///
/// A row is a function of its hidden state; h may be changed between rounds only. Models:
/// full_head, trimmed_head, routed_head, reduced_vocabulary_head.
template <class H, class Id>
concept DraftHeadOf = requires(H& h, const hidden_states& x, scores_out out) {
    requires std::same_as<typename H::id_type, Id>;
    { h.vocabulary_size() } -> std::convertible_to<std::size_t>;
    { h.width() } -> std::convertible_to<std::size_t>;
    h.rows(x, out);
};

/// A draft head that can also list the tokens that it computed, so that nobody reads the rest.
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
