// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>

#include <specdec/core/law.hpp>
#include <specdec/core/rows.hpp>
#include <specdec/core/token_id.hpp>
#include <specdec/sampling/law/parameters.hpp>
#include <specdec/sampling/law/softmax_law.hpp>

namespace specdec {

/// How a session makes the target's laws of what its model scores.
///
///     f.reserve(places, tokens)     called first: at most `places` laws are alive at a time, and
///                                   texts have at most `tokens` tokens; f may allocate now
///     f(row, i, tokens, sampling)   p at place i of a round, i = 0 .. places-1: of the token
///                                   behind `tokens`, which are the text and the i first proposals
///
/// Called at most once for each place of a round, in ascending order; for a tree (i = 1 + node,
/// `tokens` end with the node's path) in any order. All laws of a round live until its end. A law
/// is a function of row, tokens and sampling, not of earlier calls, because a round may be made
/// again. Models: softmax_rows, processed_rows, given_laws.
template <class F, class Row>
concept LawFactory = requires(F& make, const Row& row, std::size_t n,
                              std::span<const target_id> tokens, const sampling_parameters& s) {
    make.reserve(n, n);
    { make(row, n, tokens, s) } -> LawOf<target_id>;
};

/// Rows that a law factory takes.
template <class R, class F>
concept RowsFor = RowsOf<R, target_id> &&
                  LawFactory<F, std::remove_cvref_t<decltype(std::declval<const R&>()[0])>>;

/// The law factory of plain logits: softmax_law. No state, no copy.
struct softmax_rows {
    void reserve(std::size_t, std::size_t) {}
    [[nodiscard]] softmax_law<target_id> operator()(logits_row<target_id> row, std::size_t,
                                                    std::span<const target_id>,
                                                    const sampling_parameters& sampling) const {
        return make_law(row, sampling);
    }
};
static_assert(LawFactory<softmax_rows, logits_row<target_id>>);

} // namespace specdec
