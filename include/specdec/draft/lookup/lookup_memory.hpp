// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>

#include <specdec/draft/lookup/best_lookup.hpp>
#include <specdec/draft/lookup/byte_index.hpp>
#include <specdec/draft/lookup/ngram_table.hpp>
#include <specdec/draft/lookup/suffix_lookup.hpp>

namespace specdec {

/// What all texts know of each other, whatever target wrote them: their last million bytes and the
/// n-grams of more. 14 MB, all of it at construction, unless told otherwise.
struct lookup_memory {
    byte_index texts{{.bytes = std::size_t{1} << 20, .short_ends = false}};
    ngram_table ngrams{};
};

struct lookup_settings {
    /// Under rules with a drafter: whether text is looked up beside it, too. A round is the
    /// lookup's where that promises more (lookup_or_draft); of trees what was found is a branch
    /// (lookup_branch).
    bool beside = false;
    /// Whether texts find what other texts said: those of one decoder, or all that use `memory`.
    /// Where nobody may learn from a text's speed that another said the same: false.
    bool shared = true;
    lookup_memory* memory = nullptr; ///< borrowed; null: the decoder's own
};

/// The usual lookup: a text's own words, those of other texts, and their n-grams.
using default_lookup =
    best_lookup<suffix_lookup<byte_index>, std::optional<suffix_lookup<byte_index&>>,
                std::optional<ngram_lookup>>;

/// For a text of at most `capacity` tokens, up to a million bytes of which are remembered; drafts
/// of at most `most` bytes. memory: null where nothing is shared. Borrows it.
[[nodiscard]] inline default_lookup make_default_lookup(std::size_t capacity, std::size_t most,
                                                        lookup_memory* memory) {
    constexpr std::size_t least_bytes = 4096, most_bytes = std::size_t{1} << 20;
    std::size_t bytes = 6 * capacity;
    bytes = bytes < least_bytes ? least_bytes : bytes > most_bytes ? most_bytes : bytes;
    std::optional<suffix_lookup<byte_index&>> others;
    std::optional<ngram_lookup> ngrams;
    if (memory != nullptr) {
        others.emplace(memory->texts);
        ngrams.emplace(memory->ngrams);
    }
    return default_lookup(most, own_suffixes(bytes), std::move(others), std::move(ngrams));
}

} // namespace specdec
