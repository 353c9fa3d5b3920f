// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <specdec/head/token_list.hpp>
#include <specdec/vocab/table/id_map.hpp>
#include <specdec_engine/kernel/aligned_allocator.hpp>
#include <specdec_engine/transformer/transformer.hpp>

namespace specdec::engine {

/// What a drafter's body that reads features has of its target while it learns, and does not
/// change: the embedding, and the rows of its head, all or those of a list, in F32.
struct target_ends {
    std::size_t dimension = 0;
    std::function<void(std::size_t token, std::span<float> out)> embedding;
    aligned_vector<float> head; ///< [rows, dimension]
    id_map map;                 ///< rows of the head, and the target's tokens

    [[nodiscard]] std::size_t rows() const { return map.draft_size(); }
};

/// Of a target; kept: null: all rows of its head, which are then copied. It shares the target's
/// weights. Reading an embedding is safe beside the target's passes.
[[nodiscard]] inline target_ends ends_of(const transformer& target,
                                         const token_list<draft_id>* kept = nullptr) {
    const token_list<draft_id> all =
        kept != nullptr ? *kept : every_token<draft_id>(target.vocabulary_size());
    target_ends ends;
    ends.dimension = target.config().dimension;
    std::vector<std::int32_t> forward, back(target.vocabulary_size(), -1);
    for (const draft_id id : all.ids()) {
        back[id.index()] = static_cast<std::int32_t>(forward.size());
        forward.push_back(id.value);
    }
    ends.map = id_map(std::move(forward), std::move(back), 0, 0);
    ends.head.resize(all.size() * ends.dimension);
    target.with_pass([&](const auto& pass) {
        for (std::size_t k = 0; k < all.size(); ++k)
            pass.weights().head.read_row(
                all.ids()[k].index(),
                std::span(ends.head).subspan(k * ends.dimension, ends.dimension));
        ends.embedding = [weights = pass.shared_weights()](std::size_t token,
                                                           std::span<float> out) {
            weights->embedding.read_row(token, out);
        };
    });
    return ends;
}

} // namespace specdec::engine
