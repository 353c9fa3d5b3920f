// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include <specdec/core/token_id.hpp>

namespace specdec {

/// How far a token moves the place in a text: by its number of bytes, or by 1 if it has none. So no
/// two tokens of a text begin at the same place.
[[nodiscard]] constexpr std::uint32_t text_width(std::string_view bytes) {
    return bytes.empty() ? 1U : static_cast<std::uint32_t>(bytes.size());
}

/// A place in a text: the sum of the widths of all tokens before it. Drafter and target count it
/// alike, whatever their vocabularies, so coupled rules give both draws of the token at a place the
/// same noise (ours). It grows strictly from token to token.
///
///     place.value()      what goes into draw_site::place; 0: unknown
///     place.pass(token)  moves behind a token of the target, or behind a token's bytes
///
/// A small value that views the target's widths (text_keys::widths(), [vocabulary]). An id outside
/// them moves it by 1. A default-constructed place is and stays unknown. O(1), allocates nothing.
class text_offset {
public:
    constexpr text_offset() = default;
    /// The beginning of a text.
    constexpr explicit text_offset(std::span<const std::uint32_t> widths)
        : widths_(widths), known_(true) {}

    [[nodiscard]] constexpr std::uint64_t value() const { return value_; }

    /// The same place, moved by tokens of these widths.
    [[nodiscard]] constexpr text_offset moved_by(std::span<const std::uint32_t> widths) const {
        text_offset place = *this;
        place.widths_ = widths;
        return place;
    }

    constexpr void pass(target_id token) {
        if (known_)
            value_ += token.valid() && token.index() < widths_.size() ? widths_[token.index()] : 1U;
    }
    constexpr void pass(std::string_view bytes) {
        if (known_)
            value_ += text_width(bytes);
    }

private:
    std::span<const std::uint32_t> widths_;
    std::uint64_t value_ = 0;
    bool known_ = false;
};

} // namespace specdec
