// SPDX-License-Identifier: MIT
#pragma once

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include <specdec/vocab/table/vocabulary.hpp>

namespace specdec::testing {

/// A vocabulary of these entries.
inline vocabulary table_of(std::initializer_list<std::pair<const char*, token_kind>> entries) {
    vocabulary table;
    for (const auto& [entry, kind] : entries)
        table.add(entry, kind);
    return table;
}
/// Of normal tokens.
inline vocabulary table_of(const std::vector<std::string>& tokens) {
    vocabulary table;
    for (const std::string& token : tokens)
        table.add(token, token_kind::normal);
    return table;
}

} // namespace specdec::testing
