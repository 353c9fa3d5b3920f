// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <specdec/core/error.hpp>
#include <specdec/core/token_id.hpp>
#include <specdec/decode/text_run.hpp>
#include <specdec/vocab/table/vocabulary.hpp>

namespace specdec {

/// The end ids of a session under these limits (session_settings::end_ids): the ids in `ends`, the
/// control tokens whose name is a stop string, and all control tokens if limits.end_at_control.
/// Such a stop string still ends a text whose bytes are the same. Complexity: a pass over the table
/// for each stop string. Allocates. Errors: specdec::error for a stop string that contains the name
/// of a control token and more, because it can never be found in a text.
[[nodiscard]] inline std::vector<target_id> end_ids_of(const vocabulary& table,
                                                       std::span<const target_id> ends,
                                                       const generation_limits& limits) {
    std::vector<target_id> all(ends.begin(), ends.end());
    const auto each_control = [&](const auto& use) {
        for (std::size_t i = 0; i < table.size(); ++i)
            if (table.kind(i) == token_kind::control)
                use(id_at<target_id>(i), table.entry(i));
    };
    const auto add = [&](target_id id) {
        if (!is_one_of(std::span<const target_id>(all), id))
            all.push_back(id);
    };
    for (const std::string& stop : limits.stop_strings) {
        bool is_control = false;
        std::string_view contained;
        each_control([&](target_id id, std::string_view name) {
            if (name == stop) {
                is_control = true;
                add(id);
            } else if (!name.empty() && stop.find(name) != std::string::npos) {
                contained = name;
            }
        });
        if (!is_control && !contained.empty())
            fail("limits", "stop_strings",
                 "expected text, or the name of one control token, found \"" + stop +
                     "\", which contains the control token " + std::string(contained) +
                     ": it adds no text, so the string is never found");
    }
    if (limits.end_at_control)
        each_control([&](target_id id, std::string_view) { add(id); });
    return all;
}

} // namespace specdec
