// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include <specdec/core/concepts.hpp>

#include "tiny_tokenizer.hpp"

namespace specdec::testing {

/// Another tokenizer, borrowed, that counts how often it is asked to encode a text.
template <class Id>
struct counting_tokenizer {
    const tiny_tokenizer<Id>& words;
    mutable std::size_t encodes = 0;

    [[nodiscard]] std::size_t vocabulary_size() const { return words.vocabulary_size(); }
    [[nodiscard]] std::string_view bytes(Id id) const { return words.bytes(id); }
    void encode(std::string_view text, encode_mode where, std::vector<Id>& out) const {
        ++encodes;
        words.encode(text, where, out);
    }
};

} // namespace specdec::testing
