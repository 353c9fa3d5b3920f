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

/// Prompt lookup: proposals from text that was seen before.
struct lookup_settings {
    /// Whether rules with a drafter look up text, too. A round proposes the looked-up continuation
    /// if it promises more than the draft (lookup_or_draft). In a tree it becomes one branch
    /// (lookup_branch). Rules without a drafter ignore this.
    bool beside = false;
    /// Whether requests find the text of other requests: those of one object, or all that use
    /// `memory`. False: nobody can infer from the speed of a request that another one contains the
    /// same text.
    bool shared = true;
    /// The memory that is shared; borrowed. Null: the object's own.
    lookup_memory* memory = nullptr;
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
