// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "feature_toys.hpp"
#include <specdec/learn/feature_sample.hpp>
#include <specdec_engine/learn/features/target_ends.hpp>

/// Samples for a body of the toy checkpoint's target.
namespace feature_toys {

/// The toy target's embedding, and rows of its head: of every second token.
inline target_ends some_ends() {
    static const toy::checkpoint files;
    target_ends ends;
    ends.dimension = 36;
    ends.embedding = [](std::size_t token, std::span<float> out) {
        static const std::vector<float>& all = files.tensors.at("model.embed_tokens.weight").values;
        for (std::size_t k = 0; k < out.size(); ++k)
            out[k] = all[token * out.size() + k];
    };
    const std::vector<float>& head = files.tensors.at("lm_head.weight").values;
    std::vector<std::int32_t> forward, back(77, -1);
    for (std::int32_t id = 0; id < 77; id += 2) {
        back[static_cast<std::size_t>(id)] = static_cast<std::int32_t>(forward.size());
        forward.push_back(id);
        for (std::size_t k = 0; k < 36; ++k)
            ends.head.push_back(head[static_cast<std::size_t>(id) * 36 + k]);
    }
    ends.map = specdec::id_map(std::move(forward), std::move(back), 0, 0);
    return ends;
}

/// A text of n tokens whose rounds drafted none to three tokens, of which the last is rejected
/// where there is one; the rows behind a rejected token are there, too.
inline specdec::feature_sample some_sample(std::size_t n, unsigned seed) {
    using namespace specdec;
    feature_sample s;
    s.width = 36;
    s.values = some_numbers((n - 1) * 36, seed);
    for (std::size_t i = 0; i < n; ++i)
        s.tokens.push_back(id_at<draft_id>(2 * ((i * i + 3 * i + 5 * seed) % 38)));
    const auto row = [&](std::size_t which) {
        s.rows.push_back({s.entries.size(), 3});
        for (std::size_t k = 0; k < 3; ++k)
            s.entries.push_back(
                {id_at<target_id>(4 * ((which + seed) % 6) + 24 * k + k), k == 1 ? 0.7F : 0.1F});
    };
    std::size_t begin = 5;
    for (std::size_t r = 0; begin + 4 < n; ++r) {
        const std::size_t drafted = r % 4, kept = drafted > 0 ? drafted - 1 : 0;
        s.rounds.push_back({begin, s.drafted.size(), s.rows.size(), drafted + 1});
        for (std::size_t j = 0; j < drafted; ++j)
            s.drafted.push_back(j < kept ? s.tokens[begin + j]
                                         : id_at<draft_id>((s.tokens[begin + j].index() + 6) % 77));
        for (std::size_t j = 0; j <= drafted; ++j)
            row(r + j);
        begin += kept + 1;
    }
    return s;
}

} // namespace feature_toys
