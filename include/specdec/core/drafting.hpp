// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

#include <specdec/core/law_version.hpp>
#include <specdec/core/rows.hpp>
#include <specdec/core/token_id.hpp>
#include <specdec/core/traits.hpp>

/// The concepts in which drafter, stop rule and bridge meet. None knows the others' types.
namespace specdec {

/// The part of a drafter that holds its context, in tokens of its own vocabulary D.
///
///     d.capacity()                the most draft tokens a context may have
///     d.sync(context, unchanged)  sets the context; its first `unchanged` tokens are those of the
///                                 last sync. The span stays alive until the round's end.
///     d.push(id)                  adds a drafted token to the context, until the next sync
///     d.version()                 another number whenever what it tells of the same context may be
///                                 something else (law_version.hpp)
///
/// Pushed tokens are forgotten at the next sync unless its context holds them. Cost: sync is linear
/// in the changed tail. Optional members: model_traits.
template <class D>
concept DraftContextHolder = requires(D& d, const D& c, std::span<const draft_id> context,
                                      std::size_t unchanged, draft_id id) {
    { d.capacity() } -> std::convertible_to<std::size_t>;
    d.sync(context, unchanged);
    d.push(id);
    { c.version() } -> std::convertible_to<law_version>;
};

/// A drafter: the draft law q over its vocabulary, given its context.
///
///     d.row()    the logits of the token behind the context and what was pushed
///
/// Called as sync, row, push, row, push, ...; a new sync may come at any time. Cost: row is one
/// forward pass. (A drafter that lists a few tokens instead: ListingDrafter.)
template <class D>
concept Drafter = DraftContextHolder<D> && requires(D& d) {
    { d.row() } -> std::convertible_to<logits_row<draft_id>>;
};

/// A drafter that also gives several rows in one pass, for bridges that look at several drafts:
///
///     d.rows(n)   directly behind sync: the rows behind each of the context's last n tokens, in
///                 one forward pass
template <class D>
concept ManyRowsDrafter = Drafter<D> && requires(D& d, std::size_t n) {
    { d.rows(n) } -> std::convertible_to<logits_rows<draft_id>>;
};

/// How a draft token came about.
enum class token_certainty : std::uint8_t {
    guessed, ///< a drafter or a lookup expects it
    forced,  ///< a grammar allows no other text there (forced_text)
    /// The same, where the forced text ends: the target may write a longer token, which begins with
    /// this one.
    forced_end,
};

/// How far a draft d_1 .. d_n has come, as a stop rule sees it. d_n was drawn from q_n.
struct draft_progress {
    std::size_t drafted = 0; ///< n
    double last = 1;         ///< q_n(d_n); 1 before the first
    /// Probability of d_n at temperature 1 without cutoffs: how sure the drafter was, even where it
    /// drafts greedily. Set for rules that read rows; else, and for lists, equal to `last`.
    double sure = 1;
    double entropy = 0; ///< of that row or list, in nats; set for rules that read it, else 0
    double kept = 1;    ///< the rule's prediction that d_1 .. d_n are all kept; 1 if it has none
    draft_id token{};   ///< d_n; invalid before the first, and where it left the vocabulary
    token_certainty certainty = token_certainty::guessed; ///< of d_n
};

/// What a stop rule reads of a row beside the drawn token's probability, each by a pass over it.
enum class row_reading : unsigned char { none, sureness, entropy };

/// When to stop drafting. Asked before every draft token, also the first (a draft may be empty):
///
///     stop.more(progress)      whether to draft another token
///     stop.version()           another number whenever the answers may be others
///                              (law_version.hpp)
///     stop.reads()             optional (rule_traits): the row_reading it needs; else none
///     stop.predict(progress)   optional (rule_traits): the chance that d_n is kept if those before
///                              it are; it makes progress.kept (in `progress`, that of the tokens
///                              before d_n)
///
/// The answers may depend on what was drafted so far, on rounds that were committed, and on nothing
/// random besides: a rule may end a draft behind the token it looked at but never drop that token,
/// which would bias the law. They are the same from the draft to its decision: a round whose stop
/// rule has another mark by then is refused.
template <class S>
concept StopRule = requires(const S& stop, const draft_progress& progress) {
    { stop.more(progress) } -> std::convertible_to<bool>;
    { stop.version() } -> std::convertible_to<law_version>;
};

struct draft_outcome; // draft/draft_outcome.hpp

/// The optional members of a stop rule, a tree's shape or an acceptance predictor, which it
/// declares (traits_of).
struct rule_traits {
    bool reads = false, predict = false, learn = false;

    template <class R>
    static consteval rule_traits found() {
        rule_traits t;
        t.reads = requires(R& r) { r.reads(); };
        t.predict = requires(R& r, draft_progress now) { r.predict(now); };
        t.learn = requires(R& r, const draft_outcome& o) { r.learn(o); };
        return t;
    }
    bool operator==(const rule_traits&) const = default;
};

/// What a stop rule or a tree's shape reads of a row.
template <class S>
[[nodiscard]] row_reading reading_of(const S& rule) {
    if constexpr (traits_of<rule_traits, S>.reads)
        return rule.reads();
    else
        return row_reading::none;
}

/// The chance that a stop rule predicts for the last token of a draft; 1 if it predicts none.
template <StopRule S>
[[nodiscard]] double predicted_acceptance(const S& stop, const draft_progress& now) {
    if constexpr (traits_of<rule_traits, S>.predict)
        return stop.predict(now);
    else
        return 1;
}

/// The progress behind one more token d, drawn with probability `last`.
template <StopRule S>
[[nodiscard]] draft_progress extend_progress(const draft_progress& before, const S& stop,
                                             draft_id d, double last, double sure, double entropy,
                                             token_certainty certainty = token_certainty::guessed) {
    draft_progress now{before.drafted + 1, last, sure, entropy, before.kept, d, certainty};
    now.kept *= predicted_acceptance(stop, now);
    return now;
}

/// Why a round has no proposals. Every round without one says why.
enum class no_draft : std::uint8_t {
    none,           ///< the round has proposals
    no_drafter,     ///< decoding goes without a drafter
    stop_rule,      ///< the stop rule asked for an empty draft
    no_room,        ///< the limits or the target's context leave no room for a proposal
    drafter_full,   ///< the drafter cannot hold the sequence and a draft (see windowed_drafter)
    nothing_shared, ///< the vocabularies share no token that the drafter could propose
    nothing_to_say, ///< the text of the draft gave no target token
    nothing_found,  ///< lookup found no earlier text that ends like the sequence
    drafter_failed, ///< the drafter threw, in this round or shortly before it
    drafter_reads,  ///< the drafter is fed its prompt in pieces, and has not had all of it
};
inline constexpr std::size_t no_draft_reasons = 10;

} // namespace specdec
