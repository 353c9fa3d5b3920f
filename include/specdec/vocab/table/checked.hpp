// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <specdec/core/concepts.hpp>
#include <specdec/core/error.hpp>
#include <specdec/core/require.hpp>
#include <specdec/vocab/table/id_map.hpp>
#include <specdec/vocab/table/vocabulary.hpp>

/// Checks of tokenizers and of the tables made from them.
namespace specdec {

/// Calls tokenizer.encode() and checks its ids. Errors: specdec::error for an id outside the
/// tokenizer's own vocabulary.
template <class Id, TokenizerOf<Id> Tokenizer>
void encode(const Tokenizer& tokenizer, std::string_view text, encode_mode where,
            std::vector<Id>& out) {
    const std::size_t before = out.size();
    tokenizer.encode(text, where, out);
    require_ids(std::span<const Id>(out).subspan(before < out.size() ? before : 0),
                tokenizer.vocabulary_size(), "tokenizer", "encoding");
}

/// Whether a map was built from this tokenizer, by its table's fingerprint; true if it has no
/// table, or the map no fingerprint.
template <class Tokenizer>
[[nodiscard]] bool has_fingerprint(const Tokenizer& tokenizer, std::uint64_t fingerprint) {
    if constexpr (KeepsFingerprint<Tokenizer>)
        return fingerprint == 0 || tokenizer.fingerprint() == fingerprint;
    else if constexpr (KeepsTable<Tokenizer>)
        return fingerprint == 0 || tokenizer.table().fingerprint() == fingerprint;
    else
        return true;
}

/// Requires that the map leads from the drafter's vocabulary to the target's. Errors:
/// specdec::error if it was built from other tokenizers, or the other way around. It compares
/// sizes, and fingerprints if map and tokenizers (tokenizer.table()) have them. Complexity: O(1) if
/// the tokenizers know theirs, else linear in the bytes.
template <TokenizerOf<target_id> TargetTokenizer, TokenizerOf<draft_id> DraftTokenizer>
void require_map(const id_map& map, const TargetTokenizer& target, const DraftTokenizer& draft,
                 const char* source) {
    const std::size_t draft_size = draft.vocabulary_size(), target_size = target.vocabulary_size();
    if (map.draft_size() != draft_size || map.target_size() != target_size)
        fail(source, "id map",
             "expected a map from the drafter's " + std::to_string(draft_size) +
                 " ids to the target's " + std::to_string(target_size) + ", found a map from " +
                 std::to_string(map.draft_size()) + " to " + std::to_string(map.target_size()));
    if (!has_fingerprint(draft, map.draft_fingerprint()) ||
        !has_fingerprint(target, map.target_fingerprint()))
        fail(source, "id map",
             "expected a map from the drafter's vocabulary to the target's, found a map of other "
             "vocabularies");
}

} // namespace specdec
