// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include <specdec/core/concepts.hpp>

namespace specdec::testing {

/// A model that does nothing, from which others derive that miss a concept by one member.
struct whole_model {
    std::size_t size() const { return 0; }
    std::size_t capacity() const { return 0; }
    std::size_t vocabulary_size() const { return 0; }
    void append(std::span<const target_id>) {}
    logits_rows<target_id> score(std::span<const target_id>) { return {}; }
    void truncate(std::size_t) {}
};
/// The same of a tokenizer.
struct whole_tokenizer {
    std::size_t vocabulary_size() const { return 0; }
    std::string_view bytes(target_id) const { return {}; }
    void encode(std::string_view, encode_mode, std::vector<target_id>&) const {}
};

} // namespace specdec::testing
