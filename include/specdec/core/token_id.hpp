// SPDX-License-Identifier: MIT
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>

namespace specdec {

/// A token id of one vocabulary. Ids of different vocabularies are different types, so a draft id
/// never reaches a place that expects a target id. Same layout as std::int32_t.
template <class Space>
struct token_id {
    std::int32_t value = -1;

    constexpr token_id() = default;
    constexpr explicit token_id(std::int32_t v) : value(v) {}

    /// Position in a row or table. Precondition: valid().
    [[nodiscard]] constexpr std::size_t index() const { return static_cast<std::size_t>(value); }
    /// A default-constructed id stands for "no token".
    [[nodiscard]] constexpr bool valid() const { return value >= 0; }

    friend constexpr auto operator<=>(token_id, token_id) = default;
};

/// An id of the target's vocabulary T.
using target_id = token_id<struct target_space>;
/// An id of the drafter's vocabulary D.
using draft_id = token_id<struct draft_space>;

/// The id at position i of a row of its vocabulary.
template <class Id>
[[nodiscard]] constexpr Id id_at(std::size_t i) {
    return Id{static_cast<std::int32_t>(i)};
}

/// Whether the id is one of these.
template <class Id>
[[nodiscard]] bool is_one_of(std::span<const Id> ids, Id id) {
    for (const Id one : ids)
        if (one == id)
            return true;
    return false;
}

/// How many of the first tokens are the same.
template <class Id>
[[nodiscard]] std::size_t common_prefix(std::span<const Id> a, std::span<const Id> b) {
    std::size_t n = 0;
    while (n < a.size() && n < b.size() && a[n] == b[n])
        ++n;
    return n;
}

} // namespace specdec
