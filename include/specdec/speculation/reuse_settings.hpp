// SPDX-License-Identifier: MIT
#pragma once

namespace specdec {

/// What a text takes over from those before it: all of it, as it is. Without one of these it begins
/// as the first text of a new speculation does. Given the target's rows, no choice changes the law
/// of a text. A seed's text is the same again without `lengths`, `ngrams`, `drafter` and `lookups`
/// (and without `contexts` where rows depend on how positions are grouped, or where the drafter
/// reads what the target found likely).
///
/// What stays beside these: the tables of the vocabularies, which depend on no text; measured
/// costs, in place of which length_settings::costs may be given; what a caller's own predictor
/// learns (length_settings::predictor), and the weights of a drafter that is trained while it
/// serves.
struct reuse_settings {
    /// What the sequences of both models hold: a text is not fed what one of them begins with.
    bool contexts = true;
    /// What texts of one kind teach about draft lengths and the shapes of trees: of one rule,
    /// temperature, kind of lengths and longest draft, all with trees or none, all with lookup
    /// beside a drafter or none, all with a grammar or none. The last 64 kinds are kept. Without it
    /// a text teaches itself alone.
    bool lengths = true;
    /// The n-gram cache of the merge rules. Without it a text has one of its own, which begins with
    /// what cache_settings::file holds.
    bool ngrams = true;
    /// What the drafter's model keeps beside its context, as a list that follows the text (see
    /// LearnsFromTexts). Without it, it forgets where the text begins, for which no other text may
    /// be using it.
    bool drafter = true;
    /// The words of other texts, and under rule::recycling the successors of their tokens, where
    /// texts look up in one memory (lookup_settings::shared). Without it a text finds its own, and
    /// teaches none.
    bool lookups = true;

    [[nodiscard]] static constexpr reuse_settings nothing() {
        return {false, false, false, false, false};
    }
};

} // namespace specdec
