// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>

#include <nlohmann/json.hpp>

#include "support/program/files.hpp"
#include <specdec/core/error.hpp>
#include <specdec/core/token_id.hpp>
#include <specdec/vocab/table/equivalences.hpp>
#include <specdec_engine/file/json_fields.hpp>
#include <specdec_engine/file/mapped_file.hpp>

/// The special-token equivalences that a drafter's folder may hold, in a file equivalences.json:
///
///     {"pairs": [["</s>", "<|im_end|>"], [1, 151644]]}
///
/// Each pair names a token of the drafter and the token of the target that means the same, by
/// printed name or by id. Whether the names exist is seen where the map is built (intersect).
namespace specdec::examples {

/// Errors: specdec::error that names the file and the field.
inline equivalences read_equivalences(const std::filesystem::path& path) {
    using nlohmann::json;
    const json root = engine::parse_json(read_input(path.string(), 16), path.string(), "file");
    if (!root.is_object() || !root.contains("pairs") || !root["pairs"].is_array())
        throw error(path.string(), "pairs", "expected a list of pairs [draft token, target token]");

    equivalences result;
    for (std::size_t i = 0; i < root["pairs"].size(); ++i) {
        const json& pair = root["pairs"][i];
        const std::string field = "pairs[" + std::to_string(i) + "]";
        if (!pair.is_array() || pair.size() != 2)
            throw error(path.string(), field, "expected [draft token, target token]");
        const auto token = [&]<class Id>(const json& value, Id) -> equivalences::token<Id> {
            if (value.is_string())
                return value.get<std::string>();
            if (value.is_number_unsigned() &&
                value.get<std::uint64_t>() <= std::numeric_limits<std::int32_t>::max())
                return Id{value.get<std::int32_t>()};
            throw error(path.string(), field, "expected printed names or ids");
        };
        result.add(token(pair[0], draft_id{}), token(pair[1], target_id{}));
    }
    return result;
}

/// Those beside a drafter: of its folder, or of the folder its file lies in; none if there is no
/// such file.
inline equivalences equivalences_beside(const std::filesystem::path& drafter) {
    const auto folder = engine::is_folder(drafter) ? drafter : drafter.parent_path();
    const auto path = folder / "equivalences.json";
    return engine::is_there(path) ? read_equivalences(path) : equivalences{};
}

} // namespace specdec::examples
