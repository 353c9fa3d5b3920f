// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <span>
#include <type_traits>

namespace specdec {

/// A view of elements that somebody else keeps, where it is kept longer than an expression:
/// std::span<const T>, but for a container that ends with the expression, which does not compile.
///
///     borrowed_span<int> view = numbers;            // of a vector by name
///     borrowed_span<int> view = make_numbers();     // error: use of a deleted function
template <class T>
class borrowed_span : public std::span<const T> {
    using span_type = std::span<const T>;

public:
    constexpr borrowed_span() = default;
    constexpr borrowed_span(const T* data, std::size_t size) : span_type(data, size) {}
    template <class Range>
        requires(!std::same_as<std::remove_cvref_t<Range>, borrowed_span> &&
                 std::ranges::borrowed_range<Range> && std::convertible_to<Range, span_type>)
    explicit(false) constexpr borrowed_span(Range&& elements) : span_type(elements) {}
    template <class Range>
        requires(!std::same_as<std::remove_cvref_t<Range>, borrowed_span> &&
                 !std::ranges::borrowed_range<Range> && std::convertible_to<Range, span_type>)
    explicit(false) borrowed_span(Range&& gone_before_use) = delete;
};

} // namespace specdec
