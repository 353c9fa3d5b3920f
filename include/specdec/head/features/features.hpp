// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <span>

#include <specdec/core/concepts.hpp>
#include <specdec/core/model/context_window.hpp>
#include <specdec/core/token_id.hpp>
#include <specdec/core/traits.hpp>
#include <specdec/head/lm_head.hpp>

/// What an engine supplies for drafters that read the target's features (EAGLE: Li et al. 2024;
/// HASS, CORAL and EAGLE-3 are other trainings of the same form): a target that shows its features,
/// and a drafter's body that reads them. Optional: who has neither is asked for nothing.
///
///     feature_recorder     keeps the features that the target's passes make, in feature_records
///     feature_model       a drafter's model: body and records; a draft head makes its rows
namespace specdec {

/// A model that shows a feature of every token that it is fed: one or several hidden states of the
/// pass, side by side. The drafter was trained for the same ones.
///
///     m.feature_width()   numbers of a feature
///     m.features()        the features behind the tokens of the latest append or score, in order;
///                         they live until the next one
///
/// A feature depends on its token and on those before it, and on nothing else. All else as in
/// ModelOf. testing/contract/feature_contract.hpp checks all this.
template <class M>
concept ShowsFeatures = requires(M& m) {
    { m.feature_width() } -> std::convertible_to<std::size_t>;
    { m.features() } -> std::convertible_to<hidden_states>;
};
template <class M, class Id>
concept FeatureModelOf = ScoringModelOf<M, Id> && ShowsFeatures<M>;

/// The same for several sequences: the features of the first part, then those of the second, ...
template <class M, class Id>
concept FeatureBatchModelOf = ScoringBatchModelOf<M, Id> && ShowsFeatures<M>;

/// What a body gives for each of its places.
struct body_output {
    hidden_states states; ///< what the drafter's head is multiplied with
    hidden_states own;    ///< the body's own features: a draft's next place reads them
};

/// The features that a body is given.
struct body_input {
    hidden_states rows;
    bool own = false; ///< true: the body's own, of own_width(); false: the target's
};

/// A drafter's body that reads features. It holds places. A place is a token together with the
/// feature behind the token before it, so a text of n tokens has n - 1 places.
///
///     b.sequences(), b.size(s), b.capacity(), b.vocabulary_size(), b.truncate(s, n)
///                            as of a model of several sequences, counted in places
///     b.feature_width()      numbers of a target's feature
///     b.own_width()          of a feature of its own
///     b.width()              of a hidden state that its head is multiplied with
///     b.read(s, ids, given)  holds a place more for each of ids, with the feature of the same
///                            index; the rows behind them live until the next read
///
/// Throws as a model's append does, and changes nothing then. A row depends on the places before it
/// and on its own.
template <class B>
concept FeatureBody =
    requires(B& b, const B& c, std::size_t n, std::span<const draft_id> ids, body_input given) {
        { c.sequences() } -> std::convertible_to<std::size_t>;
        { c.size(n) } -> std::convertible_to<std::size_t>;
        { c.capacity() } -> std::convertible_to<std::size_t>;
        { c.vocabulary_size() } -> std::convertible_to<std::size_t>;
        { c.feature_width() } -> std::convertible_to<std::size_t>;
        { c.own_width() } -> std::convertible_to<std::size_t>;
        { c.width() } -> std::convertible_to<std::size_t>;
        { b.read(n, ids, given) } -> std::convertible_to<body_output>;
        b.truncate(n, n);
    };

/// The optional members of a body, which it declares (traits_of).
struct body_traits {
    bool window = false; ///< b.window(): the window_settings of texts longer than it was trained on

    template <class B>
    static consteval body_traits found() {
        return {.window = requires(const B& b){b.window();
    }
};
} // namespace specdec
bool operator==(const body_traits&) const = default;
}
;

/// The window that a body declares; without a length where it declares none.
template <FeatureBody B>
[[nodiscard]] window_settings window_of(const B& body) {
    if constexpr (traits_of<body_traits, B>.window)
        return body.window();
    else
        return {};
}

/// A body that reads places of several sequences in one pass, as texts that draft together want:
///
///     b.read(parts, given)   holds a place more for each id of each part; `given` and the rows are
///                            those of the first part, then those of the second, ...
template <class B>
concept FeatureBatchBody =
    FeatureBody<B> &&
    requires(B& b, std::span<const sequence_tokens<draft_id>> parts, body_input given) {
        { b.read(parts, given) } -> std::convertible_to<body_output>;
    };

/// A body that reads nodes of a tree, too (TreeModelOf, in places):
///
///     b.read_tree(s, ids, parents, given)   adds nodes behind the places of sequence s; rows as
///                                           read's
///     b.keep_path(s, nodes)                 the places go on with these nodes
template <class B>
concept FeatureTreeBody =
    FeatureBody<B> && requires(B& b, std::size_t s, std::span<const draft_id> ids, body_input given,
                               std::span<const std::size_t> nodes) {
        { b.read_tree(s, ids, nodes, given) } -> std::convertible_to<body_output>;
        b.keep_path(s, nodes);
    };

} // namespace specdec
