// SPDX-License-Identifier: MIT
#pragma once

namespace specdec {

/// What a request takes over from earlier requests: by default everything. If a field is false, the
/// request begins like the first request of a new object. For given logits no choice changes the
/// distribution of an output. A seed has the same output again without `lengths`, `ngrams`,
/// `drafter` and `lookups`. It has to be without `contexts`, too, if the engine's logits depend on
/// how positions are grouped, or if the drafter reads the tokens that the target found likely.
///
/// Some state is always shared: the tables of the vocabularies, measured costs (give
/// length_settings::costs instead), the state of your own predictor (length_settings::predictor)
/// and the weights of a drafter that is trained while it serves. The tables depend on no request.
struct reuse_settings {
    /// Whether a request reuses the tokens that a sequence of the models holds. False: its whole
    /// prompt is fed.
    bool contexts = true;
    /// Whether requests of one kind learn draft lengths and tree shapes together. A kind has one
    /// rule, temperature, kind of lengths and longest draft, and one choice of trees, of lookup
    /// with a drafter, and of a grammar. The last 64 kinds are kept. False: the request learns for
    /// itself.
    bool lengths = true;
    /// Whether a request uses the shared n-gram cache of the rules `merge` and `merge_paper`.
    /// False: it has one of its own, which begins with the content of cache_settings::file.
    bool ngrams = true;
    /// Whether the drafter's model keeps what it has learnt from outputs, such as a token list (see
    /// LearnsFromTexts). False: it forgets that when the request begins, and no other request may
    /// use the drafter at that time.
    bool drafter = true;
    /// Whether a request looks up in the text of other requests, and under rule::recycling in the
    /// successors of their tokens (see lookup_settings::shared). False: it finds its own text only,
    /// and others do not find it.
    bool lookups = true;

    /// All fields false: each request begins like the first one.
    [[nodiscard]] static constexpr reuse_settings nothing() {
        return {false, false, false, false, false};
    }
};

} // namespace specdec
