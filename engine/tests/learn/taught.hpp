// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <specdec/learn/distillation_sample.hpp>
#include <specdec/vocab/table/id_map.hpp>

/// Texts of a target of 90 tokens for the toy model of 77, of which 70 are shared, two of them by
/// two draft ids each.
namespace learning_toys {

inline specdec::id_map toy_map() {
    std::vector<std::int32_t> forward(77, -1), back(90, -1);
    for (std::int32_t d = 0; d < 70; ++d) {
        forward[static_cast<std::size_t>(d)] = d < 68 ? 89 - d : 89 - (d - 68);
        if (d < 68)
            back[static_cast<std::size_t>(89 - d)] = d;
    }
    return {forward, back, 1, 2};
}

/// n tokens, a row behind most of them; two merges of unshared target tokens.
inline specdec::distillation_sample toy_text(const specdec::id_map& map, std::size_t n,
                                             std::size_t seed) {
    using namespace specdec;
    distillation_sample text;
    for (std::size_t i = 0; i < n; ++i)
        text.tokens.push_back(id_at<draft_id>((i * i + 7 * i + 5 * seed) % 66));
    const auto row = [&](std::size_t behind, target_id likeliest) {
        text.rows.push_back({behind, text.entries.size(), 4});
        std::size_t entries = 0;
        for (std::size_t t = 0; t < map.target_size() && entries < 4; ++t) {
            const bool chosen = id_at<target_id>(t) == likeliest;
            const bool before = likeliest.index() > t || entries == 3;
            if (chosen || (before && t % 23 == (behind + seed) % 11 && entries < 3))
                text.entries.push_back({id_at<target_id>(t), chosen ? 0.6F : 0.1F}), ++entries;
        }
        text.rows.back().count = entries;
    };
    const auto merge = [&](std::size_t first, std::size_t count, std::size_t token) {
        row(first - 1, id_at<target_id>(token));
        text.merges.push_back({first, count, 0.6F, id_at<target_id>(token)});
    };
    std::size_t i = 0;
    for (; i + 1 < 4; ++i)
        row(i, map.to_target(text.tokens[i + 1]));
    merge(4, 2, 3); // tokens 4 and 5
    merge(6, 3 < n - 6 ? 3 : 2, 5);
    for (i = 8; i + 1 < n; i += 1 + i % 3 / 2)
        row(i, map.to_target(text.tokens[i + 1]));
    return text;
}

} // namespace learning_toys
