// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <span>

#include <specdec/core/concepts.hpp>
#include <specdec/core/drafting.hpp>
#include <specdec/sampling/listed_rows.hpp>

/// Models and drafters that list the few tokens they computed, with their probabilities, instead of
/// writing a row over the whole vocabulary.
namespace specdec {

/// A model whose rows are lists, which are laws already. All else as in ModelOf. Models
/// ScoringModelOf.
template <class M, class Id>
concept ListingModelOf = ContextOf<M, Id> && requires(M& m, std::span<const Id> ids) {
    { m.score(ids) } -> std::convertible_to<listed_rows<Id>>;
};

/// A drafter that gives a list instead of a row. All else as in Drafter.
///
///     d.list()   instead of row(): the law of the token behind the context and what was pushed,
///                after its sampling parameters, as ascending ids of the drafter's vocabulary and
///                their weights, which need not sum to 1. It lives until the next call. An empty
///                list ends the draft.
///
/// So a draft token costs no more than its list. q is the law over the list; every rule is lossless
/// whatever the list leaves out.
template <class D>
concept ListingDrafter = DraftContextHolder<D> && requires(D& d) {
    { d.list() } -> std::convertible_to<listed_row<draft_id>>;
};

} // namespace specdec
