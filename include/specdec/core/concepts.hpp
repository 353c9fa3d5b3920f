// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include <specdec/core/rows.hpp>
#include <specdec/core/token_id.hpp>
#include <specdec/core/traits.hpp>

/// What an engine supplies: a model and a tokenizer for each side. The library keeps references,
/// owns no memory of theirs and calls nothing but what stands here.
namespace specdec {

/// The context of a model: all that ModelOf requires but score.
template <class M, class Id>
concept ContextOf = requires(M& m, const M& c, std::span<const Id> ids, std::size_t n) {
    { c.size() } -> std::convertible_to<std::size_t>;
    { c.capacity() } -> std::convertible_to<std::size_t>;
    { c.vocabulary_size() } -> std::convertible_to<std::size_t>;
    m.append(ids);
    m.truncate(n);
};

/// A language model with a context (KV cache) of its own.
///
///     m.size()              tokens held in the context
///     m.capacity()          the most tokens the context can hold
///     m.vocabulary_size()   logical vocabulary: length of every row (not the padded LM head), and
///                           the side's tokenizer's vocabulary_size()
///     m.append(ids)         holds ids after what is held; computes no rows
///     m.score(ids)          append, and returns ids.size() rows: row i is the law of the token
///                           after ids[i]. The rows live until the next append, score or truncate
///                           of m, whatever other models do meanwhile.
///     m.truncate(n)         forgets all but the first n tokens; n <= size(), 0 and size() included
///
/// ids is never empty, and holds ids of the vocabulary only. It may be as long as the room that is
/// left (a prompt): an engine with a limit for one forward pass splits it. Logits are finite or
/// -infinity; a target's row allows at least one token.
///
/// Semantics: a row depends on the tokens before it and on nothing else (not on what was
/// truncated). The library's guarantees are given "for the rows that score returns". Failure:
/// append and score may throw, and do so where ids exceed the room that is left; size(), the tokens
/// held and the room are then as they were. An engine that cannot forget tokens refuses when it is
/// made, not in truncate. testing/contract/engine_contract.hpp checks all this.
///
/// One user owns a context, unless the model has held(): then users may take turns (shared_model).
/// A model may have further members and declare them: see model_traits.
template <class M, class Id>
concept ModelOf = ContextOf<M, Id> && requires(M& m, std::span<const Id> ids) {
    { m.score(ids) } -> std::convertible_to<logits_rows<Id>>;
};

/// A model or drafter that is told where a draft's round begins (feature_model, windowed_drafter):
///
///     m.begin_draft_round(n)   a round begins after n tokens: until the next call the context has
///                              at least n tokens, and those after the first n are drafted. The
///                              model may truncate itself here; size() then says how many are left
///
/// A model of several sequences has m.begin_draft_round(s, n). A wrapper passes the call on.
template <class M>
concept RoundAware = requires(M& m, std::size_t n) { m.begin_draft_round(n); } ||
                     requires(M& m, std::size_t n) { m.begin_draft_round(n, n); };

/// The optional members of a model, or of a drafter, which it declares (traits_of). A wrapper of
/// any model has the first six and answers as its model does.
struct model_traits {
    bool begin_draft_round = false; ///< see RoundAware
    /// Whether the model reads the target's features: then its context must be the target's, token
    /// for token.
    bool reads_features = false;
    /// Whether the model does no work for appended tokens until a row needs it: then rows that
    /// nobody reads should not be asked for.
    bool lazy_append = false;
    /// Whether tokens that stay after a truncation may be fed again, as by checkpointed_model: a
    /// rejection then costs what those positions do.
    bool replays_on_reject = false;
    bool scores_trees = false;    ///< see scores_trees() in tree_scoring.hpp
    bool trained_context = false; ///< see trained_context()
    bool request_row = false;     ///< of a drafter: see ask_for_row
    bool room_for_nodes = false;  ///< of a drafter: see TreeDrafter
    /// m.copy_prefix(to, from, n), of a model of several sequences: `to` then holds the first n
    /// tokens of `from` and nothing else, as if it had been fed them. False: it cannot, and nothing
    /// has changed. Precondition: to != from, n <= size(from), both have one key.
    bool copies_prefix = false;

    template <class M>
    static consteval model_traits found() {
        model_traits t{.begin_draft_round = RoundAware<M>};
        t.reads_features = requires(M& m) { m.reads_features(); };
        t.lazy_append = requires(M& m) { m.lazy_append(); };
        t.replays_on_reject = requires(M& m) { m.replays_on_reject(); };
        t.scores_trees = requires(M& m) { m.scores_trees(); };
        t.trained_context = requires(M& m) { m.trained_context(); };
        t.request_row = requires(M& m) { m.request_row(); };
        t.room_for_nodes = requires(M& m) { m.room_for_nodes(); };
        t.copies_prefix = requires(M& m, std::size_t n) { m.copy_prefix(n, n, n); };
        return t;
    }
    bool operator==(const model_traits&) const = default;
};
inline constexpr model_traits all_model_traits{true, true, true, true, true, true};

/// What the model says of itself; false if it declares no such member.
template <class M>
[[nodiscard]] constexpr bool reads_features(const M& m) {
    if constexpr (traits_of<model_traits, M>.reads_features)
        return m.reads_features();
    else
        return false;
}
template <class M>
[[nodiscard]] constexpr bool lazy_append(const M& m) {
    if constexpr (traits_of<model_traits, M>.lazy_append)
        return m.lazy_append();
    else
        return false;
}
template <class M>
[[nodiscard]] constexpr bool replays_on_reject(const M& m) {
    if constexpr (traits_of<model_traits, M>.replays_on_reject)
        return m.replays_on_reject();
    else
        return false;
}

/// The length in tokens of the texts that the model was trained on, as its files say: its rows
/// behind longer contexts are worse. 0: unknown. A drafter's longer contexts are windowed to it
/// (context_window): by `speculation`, or by the model itself where it reads features.
template <class M>
[[nodiscard]] constexpr std::size_t trained_context(const M& m) {
    if constexpr (traits_of<model_traits, M>.trained_context)
        return m.trained_context();
    else
        return 0;
}

/// Tells a model or drafter that a round begins, of sequence s if there are several. No-op if it is
/// not RoundAware.
template <class M>
constexpr void begin_draft_round(M& m, std::size_t n) {
    if constexpr (traits_of<model_traits, M>.begin_draft_round)
        m.begin_draft_round(n);
}
template <class M>
constexpr void begin_draft_round(M& m, std::size_t s, std::size_t n) {
    if constexpr (requires { m.begin_draft_round(s, n); } &&
                  traits_of<model_traits, M>.begin_draft_round)
        m.begin_draft_round(s, n);
    else
        specdec::begin_draft_round(m, n);
}

/// A model whose rows depend on the texts that it served before, as those of a list that follows
/// the text (adaptive_model): m.forget_learnt() makes it as it was before the first of them. Called
/// between texts, where none is under way. Whatever wraps such a model hands it on.
template <class M>
concept LearnsFromTexts = requires(M& m) { m.forget_learnt(); };

/// The same with rows of any kind: of halves, of probabilities, lists of a sampler. A session whose
/// law factory takes such rows has a target of this kind; a drafter's model gives logits, or lists.
template <class M, class Id>
concept ScoringModelOf =
    ModelOf<M, Id> || (ContextOf<M, Id> && requires(M& m, std::span<const Id> ids) {
        { m.score(ids) } -> RowsOf<Id>;
    });

/// New tokens of one sequence of a model that holds several.
template <class Id>
struct sequence_tokens {
    std::size_t sequence = 0;
    std::span<const Id> ids;
};

/// The tokens, or nodes, of all parts of a pass.
[[nodiscard]] constexpr std::size_t count_tokens(const auto& parts) {
    std::size_t n = 0;
    for (const auto& part : parts)
        n += part.ids.size();
    return n;
}

/// call(s) of a model of several sequences, call() of a model of one.
template <bool Several, class Call>
constexpr decltype(auto) at_sequence([[maybe_unused]] std::size_t s, const Call& call) {
    if constexpr (Several)
        return call(s);
    else
        return call();
}

/// The contexts of such a model: all that BatchModelOf requires but score.
template <class M, class Id>
concept BatchContextOf =
    requires(M& m, const M& c, std::size_t s, std::span<const Id> ids, std::size_t n) {
        { c.sequences() } -> std::convertible_to<std::size_t>;
        { c.size(s) } -> std::convertible_to<std::size_t>;
        { c.capacity() } -> std::convertible_to<std::size_t>;
        { c.vocabulary_size() } -> std::convertible_to<std::size_t>;
        m.append(s, ids);
        m.truncate(s, n);
    };

/// A language model that holds several sequences side by side, numbered from 0. Each sequence
/// behaves like a model's context (see ModelOf), and none changes another's rows.
///
///     m.sequences()           how many it holds
///     m.size(s)               tokens held of sequence s
///     m.capacity()            the most tokens that each sequence can hold
///     m.vocabulary_size()     as a model's
///     m.append(s, ids)        as a model's, for sequence s
///     m.score(parts)          one pass over all parts (sequence_tokens; no sequence twice): the
///                             rows of the first part, then those of the second, ...
///     m.truncate(s, n)        as a model's, for sequence s
///     m.held(s)               optional: the tokens of sequence s (TellsHeldBatch), for those who
///                             would use what another text has left
///
/// A pass that throws leaves all of its sequences as they were.
/// testing/contract/engine_contract.hpp checks all this.
template <class M, class Id>
concept BatchModelOf =
    BatchContextOf<M, Id> && requires(M& m, std::span<const sequence_tokens<Id>> parts) {
        { m.score(parts) } -> std::convertible_to<logits_rows<Id>>;
    };

/// The same with rows of any kind, of which rows.middle(first, n) are some.
template <class M, class Id>
concept ScoringBatchModelOf =
    BatchModelOf<M, Id> ||
    (BatchContextOf<M, Id> && requires(M& m, std::span<const sequence_tokens<Id>> parts) {
        { m.score(parts) } -> RowsOf<Id>;
    });

/// Calls model.score(what): of tokens, or of parts for a model of several sequences. Logits come
/// back as logits_rows<Id>, other rows as they are.
template <class Id, class M, class What>
[[nodiscard]] auto score_rows(M& model, std::span<const What> what) {
    if constexpr (std::convertible_to<decltype(model.score(what)), logits_rows<Id>>)
        return logits_rows<Id>(model.score(what));
    else
        return model.score(what);
}

/// Where in a text the bytes stand that a tokenizer encodes.
enum class encode_mode {
    start,        ///< at the beginning: a tokenizer that adds a leading space does so
    continuation, ///< directly after other tokens: nothing is added in front
};

/// A tokenizer seen as bytes. Tokens are byte strings; none needs to be valid UTF-8 by itself.
///
///     t.vocabulary_size()            ids are 0 .. vocabulary_size()-1
///     t.bytes(id)                    the exact bytes the token adds to a text (in a continuation);
///                                    empty for control tokens, which are never text. A view that
///                                    lives as long as t (a std::string would leave it dangling)
///     t.encode(text, position, out)  appends the ids of the text to out; control tokens' names in
///                                    the text are plain text; no BOS or EOS is added; the empty
///                                    text has no tokens. The same ids for the same arguments
///
/// The text may be any bytes: a zero, or half a character where a text is not yet complete.
/// bytes(encode(text)) may differ from text (normalisation): the library allows for it.
/// testing/contract/engine_contract.hpp checks all this.
template <class T, class Id>
concept TokenizerOf =
    requires(const T& t, Id id, std::string_view text, encode_mode where, std::vector<Id>& out) {
        { t.vocabulary_size() } -> std::convertible_to<std::size_t>;
        { t.bytes(id) } -> std::same_as<std::string_view>;
        t.encode(text, where, out);
    };

} // namespace specdec
