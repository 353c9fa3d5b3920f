// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <specdec/core/error.hpp>
#include <specdec/core/token_id.hpp>
#include <specdec/speculation/any/any_model.hpp>
#include <specdec/speculation/any/any_tokenizer.hpp>
#include <specdec/vocab/table/equivalences.hpp>
#include <specdec/vocab/table/id_map.hpp>
#include <specdec/vocab/table/intersection.hpp>
#include <specdec/vocab/table/vocabulary.hpp>

namespace specdec {

/// The model and the tokenizer of one side of a pair, target or drafter, of any engine. What is
/// passed by name is borrowed, what is moved is owned.
template <class Id>
struct speculation_side {
    /// The model, of one or several sequences. Each request that is decoded uses one sequence.
    any_batch_model<Id> models;
    /// The tokenizer, whose vocabulary has the model's size.
    any_tokenizer<Id> tokenizer;
    /// The token that begins a text (BOS). None: the vocabulary has no such token.
    std::optional<Id> bos{};
    /// Whether every prompt begins with `bos`, which then has to be given.
    bool begins_with_bos = false;
    /// Tokens that end an output, such as EOS and end of turn; the usual one comes first.
    std::vector<Id> ends{};
};

/// What every engine owes: rows and tokens of one vocabulary. Errors: specdec::error.
template <class Id>
void require_side(const speculation_side<Id>& s, const std::string& name) {
    const std::size_t tokens = s.tokenizer.vocabulary_size();
    if (s.models.vocabulary_size() != tokens)
        fail(name, "vocabulary",
             "expected the tokenizer's " + std::to_string(tokens) + " tokens, the model has " +
                 std::to_string(s.models.vocabulary_size()));
    if (s.models.sequences() == 0)
        fail(name, "sequences", "expected at least one");
    for (const Id id : s.ends)
        if (!id.valid() || id.index() >= tokens)
            fail(name, "ends", "expected ids of the vocabulary");
    if (s.begins_with_bos && !s.bos)
        fail(name, "bos", "expected a token, as begins_with_bos is set");
    if (s.bos && (!s.bos->valid() || s.bos->index() >= tokens))
        fail(name, "bos", "expected an id of the vocabulary");
}

/// The map of the two vocabularies, by bytes. Control tokens meet as `given` says and, where it
/// says nothing of either, by kind: end of text with end of text, beginning with beginning.
/// Errors: see intersect.
[[nodiscard]] inline id_map build_id_map(const speculation_side<draft_id>& draft,
                                         const speculation_side<target_id>& target,
                                         const equivalences& given = {}) {
    const vocabulary &pieces = draft.tokenizer.table(), &words = target.tokenizer.table();
    std::vector<equivalences::id_pair> known = given.resolve(pieces, words);
    const auto pair = [&](draft_id d, target_id t) {
        if (pieces.is_text(d.index()) || words.is_text(t.index()))
            return;
        for (const auto& [kd, kt] : known)
            if (kd == d || kt == t)
                return;
        known.push_back({d, t});
    };
    if (!draft.ends.empty() && !target.ends.empty())
        pair(draft.ends.front(), target.ends.front());
    if (draft.bos && target.bos)
        pair(*draft.bos, *target.bos);
    equivalences equal;
    for (const auto& [d, t] : known)
        equal.add(d, t);
    return intersect(pieces, words, equal);
}

} // namespace specdec
