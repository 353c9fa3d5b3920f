// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <specdec_engine/transformer/transformer.hpp>

/// The logits of all given tokens, which a transformer's context then holds.
inline std::vector<float> scores(specdec::engine::transformer& t,
                                 const std::vector<std::int32_t>& ids) {
    t.score(ids);
    std::vector<float> out;
    for (std::size_t i = 0; i < ids.size(); ++i)
        out.insert(out.end(), &t.logits()(i, 0), &t.logits()(i, 0) + t.vocabulary_size());
    return out;
}
