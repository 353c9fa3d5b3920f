// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <specdec/core/concepts.hpp>
#include <specdec/core/token_id.hpp>

namespace specdec::testing {

/// Ids of these numbers, the drafter's unless said otherwise.
template <class Id = draft_id>
std::vector<Id> ids_of(const std::vector<int>& numbers) {
    std::vector<Id> ids;
    for (const int n : numbers)
        ids.emplace_back(n);
    return ids;
}

/// What a view shows, to be kept or compared.
template <class View>
auto copy_of(const View& view) {
    return std::vector(view.begin(), view.end());
}

/// The numbers of ids.
template <class Ids>
std::vector<int> values_of(const Ids& ids) {
    std::vector<int> numbers;
    for (const auto id : ids)
        numbers.push_back(id.value);
    return numbers;
}

/// The tokens of a text, the target's unless said otherwise.
template <class Id = target_id, class Tokenizer>
std::vector<Id> encoded(const Tokenizer& tokenizer, std::string_view text,
                        encode_mode where = encode_mode::start) {
    std::vector<Id> ids;
    tokenizer.encode(text, where, ids);
    return ids;
}

/// The bytes of tokens, joined.
template <class Tokenizer, class Ids>
std::string text_of(const Tokenizer& tokenizer, const Ids& ids) {
    std::string text;
    for (const auto id : ids)
        text += tokenizer.bytes(id);
    return text;
}

} // namespace specdec::testing
