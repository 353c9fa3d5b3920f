// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/any_model.hpp"
#include "support/decoder.hpp"
#include <specdec/vocab/vocabulary.hpp>

namespace specdec::examples {

/// Where the files of one side of a pair lie.
struct side_paths {
    std::filesystem::path model, tokenizer;
};

/// One side of a pair, loaded: what an engine gives the programs.
template <class Id>
struct side {
    any_batch_model<Id> models; ///< one a sequence
    any_tokenizer<Id> tokenizer;
    vocabulary table;
    std::optional<Id> bos;
    bool begins_with_bos = false; ///< every text does
    std::vector<Id> ends;         ///< tokens that end a text, the usual one first
    model_facts facts;
    compute_facts computing;
};

/// The control token of that printed name.
[[nodiscard]] inline std::optional<std::size_t> find_control(const vocabulary& table,
                                                             std::string_view name) {
    for (std::size_t i = 0; i < table.size(); ++i)
        if (table.kind(i) == token_kind::control && table.entry(i) == name)
            return i;
    return std::nullopt;
}

} // namespace specdec::examples
