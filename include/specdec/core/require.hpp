// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <span>
#include <string>
#include <type_traits>

#include <specdec/core/error.hpp>
#include <specdec/core/rows.hpp>
#include <specdec/core/token_id.hpp>

/// Checks of what an engine hands to the library, made in every build: rows and ids that break the
/// concepts would otherwise be read out of bounds. Each function throws specdec::error that names
/// the caller (`source`), the side, what was expected and what came.
namespace specdec {

/// The side whose ids these are, for messages.
template <class Id>
[[nodiscard]] constexpr const char* side_of() {
    return std::same_as<Id, target_id> ? "target" : "drafter";
}

/// Requires that something holds, whatever the side.
inline void require_that(bool holds, const char* source, const char* field,
                         const std::string& expected) {
    if (!holds)
        fail(source, field, expected);
}

/// Requires `count` rows, each of `vocabulary` logits. O(1).
template <class Rows>
void require_rows(const Rows& rows, std::size_t count, std::size_t vocabulary, const char* source) {
    using Id = typename std::remove_cvref_t<decltype(rows[0])>::id_type;
    if (rows.size() != count)
        fail(source, std::string(side_of<Id>()) + "'s rows",
             "expected " + std::to_string(count) + ", one for each token, found " +
                 std::to_string(rows.size()));
    if (rows.vocabulary() != vocabulary)
        fail(source, std::string(side_of<Id>()) + "'s rows",
             "expected " + std::to_string(vocabulary) +
                 " logits each, one for each id of the vocabulary, found " +
                 std::to_string(rows.vocabulary()));
}

/// Requires ids from 0 to vocabulary - 1. Linear in the ids.
template <class Id>
void require_ids(std::span<const Id> ids, std::size_t vocabulary, const char* source,
                 const char* what) {
    for (const Id id : ids)
        if (!id.valid() || id.index() >= vocabulary)
            fail(source, std::string(side_of<Id>()) + "'s " + what,
                 "expected ids from 0 to " + std::to_string(vocabulary) + " - 1, found " +
                     std::to_string(id.value));
}

/// Requires a sequence that a model of several has. O(1).
inline void require_sequence(std::size_t sequence, std::size_t sequences, const char* source) {
    if (sequence >= sequences)
        fail(source, "sequence " + std::to_string(sequence),
             "expected a sequence below " + std::to_string(sequences));
}

/// Requires that two tables of one vocabulary have the same size. O(1).
template <class Id>
void require_size(std::size_t got, std::size_t expected, const char* source, const char* of) {
    if (got != expected)
        fail(source, std::string(side_of<Id>()) + "'s vocabulary",
             "expected the " + std::to_string(expected) + " ids of the " + of + ", found " +
                 std::to_string(got));
}

/// Whether [first, first + count) lies in [0, size). O(1).
[[nodiscard]] constexpr bool is_part(std::size_t first, std::size_t count, std::size_t size) {
    return first <= size && count <= size - first;
}

/// A row of logits that makes a law. side: whose, as far as it is known.
inline void require_logits(bool holds, const char* side = nullptr) {
    if (!holds)
        fail("logits row", side != nullptr ? std::string(side) + "'s values" : "values",
             "expected no NaN, no +infinity and at least one finite value");
}

} // namespace specdec
