// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <span>

#include <specdec/core/concepts.hpp>
#include <specdec/core/rows.hpp>
#include <specdec/core/token_id.hpp>

/// What an engine supplies for drafters with several exits (S2D: Kavehzadeh et al. 2024): one model
/// whose first layers are models, too, with one embedding, one head and one KV cache for all.
///
///     early_exit_model               a drafter's model: such a model, and a choice of exits
///     confidence_exit, sampled_token_exit    the choices
namespace specdec {

/// A model that can stop behind some of its layers. It holds sequences as BatchContextOf says.
///
///     m.exits()                       how many; the first is the shallowest, the last the whole
///                                     model
///     m.append(s, ids)                holds ids; its layers may run when a row needs them
///     m.exit_rows(s, exit, first, n)  the rows of that exit behind the tokens first ..
///                                     first + n - 1 of sequence s; they live until the next call
///                                     that is not const
///
/// Exit e is the model of its layers alone: a row depends on the exit and on the tokens before it,
/// and not on what was asked for before. So the model fills in skipped layers of earlier tokens
/// when a deeper row needs them; a deeper row behind the same token costs only the layers between.
/// If exit_rows throws, no size has changed. testing/contract/exit_contract.hpp checks all this.
template <class M, class Id>
concept ExitModelOf = BatchContextOf<M, Id> && requires(M& m, const M& c, std::size_t n) {
    { c.exits() } -> std::convertible_to<std::size_t>;
    { m.exit_rows(n, n, n, n) } -> std::convertible_to<logits_rows<Id>>;
};

/// Chooses the exit whose row is the drafter's (it "speaks"). Exits are asked from the shallowest
/// on.
///
///     c.check(exits, sequences)        throws specdec::error where c is for other models
///     c.asks(exit)                     false: it never speaks, its row is not computed
///     c.speaks(s, place, exit, row)    whether this exit speaks behind the first `place` tokens of
///                                      sequence s; `row` is its row, of which c may forbid tokens
///                                      (-infinity) then. Where the last one does not, the draft
///                                      ends
///
/// The answers are the same for the same arguments, because bridges ask again for rows of a round.
/// c may be changed between rounds only; a choice that can be changed has a mark (law_version.hpp).
template <class C>
concept ExitChoice = requires(C& c, std::size_t n, std::span<float> row) {
    c.check(n, n);
    { c.asks(n) } -> std::same_as<bool>;
    { c.speaks(n, n, n, row) } -> std::same_as<bool>;
};

} // namespace specdec
