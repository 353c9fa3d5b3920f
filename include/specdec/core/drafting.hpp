// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

#include <specdec/core/rows.hpp>
#include <specdec/core/token_id.hpp>

/// The concepts in which drafter, stop rule and bridge meet. None knows the others' types.
namespace specdec {

/// A drafter: the draft law q over the drafter's own vocabulary D, given a context of draft tokens.
///
///     d.capacity()                the most draft tokens a context may have
///     d.sync(context, unchanged)  the next row() is for this context; its first `unchanged`
///                                 tokens are those of the last sync. The span lives until the
///                                 round's end.
///     d.row()                     the logits of the token behind the context and what was pushed
///     d.push(id)                  the context is hypothetically one draft token longer
///
/// Called as sync, row, push, row, push, ...; a new sync may come at any time.
/// Cost: sync is linear in the changed tail; row is one forward pass. Pushed tokens are forgotten
/// at the next sync unless its context holds them.
template <class D>
concept Drafter =
    requires(D& d, std::span<const draft_id> context, std::size_t unchanged, draft_id id) {
        { d.capacity() } -> std::convertible_to<std::size_t>;
        d.sync(context, unchanged);
        { d.row() } -> std::convertible_to<logits_row<draft_id>>;
        d.push(id);
    };

/// A drafter that has more to offer to bridges that look at several drafts:
///
///     d.rows(n)   directly behind sync: the rows behind each of the context's last n tokens, in
///                 one forward pass
template <class D>
concept ManyRowsDrafter = Drafter<D> && requires(D& d, std::size_t n) {
    { d.rows(n) } -> std::convertible_to<logits_rows<draft_id>>;
};

/// A drafter that has to know where a round begins, as windowed_drafter does:
///
///     d.begin_round(n)   a round begins: until the next call contexts have at least n tokens, and
///                        what follows the first n is drafted
template <class D>
concept FollowsRounds = Drafter<D> && requires(D& d, std::size_t n) { d.begin_round(n); };

/// When to stop drafting. Asked before every draft token, the first included (a draft may be
/// empty):
///
///     stop.more(drafted, last)    drafted: draft tokens so far
///                                 last: the probability q of the last of them, 1 before the first
///
/// The answer may depend on what was drafted so far and on nothing random besides: it may end a
/// draft behind the token it looked at but never drop that token, which would bias the law.
template <class S>
concept StopRule = requires(const S& stop, std::size_t drafted, double last) {
    { stop.more(drafted, last) } -> std::convertible_to<bool>;
};

/// Why a round has no proposals, or `none` when it has some. No silent fallback: every round says.
enum class no_draft : std::uint8_t {
    none,           ///< something was proposed
    no_drafter,     ///< decoding without a drafter
    stop_rule,      ///< the stop rule asked for an empty draft
    no_room,        ///< token limit or context of the target leaves no room for a proposal
    drafter_full,   ///< the drafter cannot hold the text and a draft (see windowed_drafter)
    nothing_shared, ///< the vocabularies share no token the drafter could propose
    nothing_to_say, ///< the draft's text gave no target token
};
inline constexpr std::size_t no_draft_reasons = 7;

} // namespace specdec
