// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string_view>

#include <specdec/draft/lookup/byte_index.hpp>

namespace specdec {

/// The bytes behind a place where the text's end stood before, one by one. Behind the text's own
/// end stands what is found: a text that repeats itself without pause goes on doing so.
class following_bytes {
public:
    following_bytes() = default;
    explicit following_bytes(byte_index::place p) : place_(p) {}

    /// Moves to the next one; false: nothing is known behind. last: where the text ends; found:
    /// what was found so far, the bytes that this one is behind.
    [[nodiscard]] bool advance(const byte_index& index, byte_index::place last,
                               std::string_view found) {
        if (!round_) {
            if (index.next(place_)) {
                byte_ = index.at(place_);
                return true;
            }
            if (place_ != last)
                return false;
            round_ = true;
        }
        if (at_ == found.size())
            return false; // the place is the text's end
        byte_ = found[at_++];
        return true;
    }
    [[nodiscard]] char byte() const { return byte_; }

private:
    byte_index::place place_ = byte_index::nowhere;
    std::size_t at_ = 0; // of what is found
    bool round_ = false; // it goes round
    char byte_ = 0;
};

} // namespace specdec
