// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include <Eigen/Core>

#include <specdec_engine/file/config.hpp>
#include <specdec_engine/learn/reverse/lora.hpp>
#include <specdec_engine/learn/reverse/projection.hpp>
#include <specdec_engine/transformer/adapters.hpp>
#include <specdec_engine/transformer/packed_rows.hpp>

namespace specdec::engine {

/// Adapters as a model that decodes adds them (transformer::set_adapters): one set of weights then
/// serves several targets or tasks.
///
///     drafter.set_adapters(7, pack_adapters(read_peft_folder("adapter", c), c));
///     ... requests with text_request::key = 7 are drafted with them
///
/// They compute what lora::merge into the same weights does, but for the rounding of merged
/// weights. Rows of q and k stand as in the half-split form, which PEFT and learners have, whatever
/// the form of the model's file. c: of the model; other shapes than the adapters' are a broken
/// precondition. Complexity: a read of the adapters.
[[nodiscard]] inline std::shared_ptr<const model_adapters>
pack_adapters(const lora<float>& adapters, const model_config& c) {
    model_config half_split = c;
    half_split.rotary.interleaved = false;
    const packed_rows rows(half_split);
    const std::size_t r = adapters.rank();
    auto packed = std::make_shared<model_adapters>(model_adapters{c, {}});
    for (std::size_t layer = 0; layer < c.layers; ++layer) {
        const auto pack = [&](std::size_t outputs, auto... parts) {
            std::size_t rank = 0, inputs = 0;
            ((rank += adapters.adapts(parts.first) ? r : 0, inputs = inputs_of(c, parts.first)),
             ...);
            if (rank == 0)
                return low_rank();
            low_rank out(rank, inputs, outputs);
            std::size_t first = 0; // of the projection's rank
            const auto take = [&](projection p, const auto& row) {
                if (!adapters.adapts(p))
                    return;
                const auto a = adapters.a(layer, p), b = adapters.b(layer, p);
                const auto number = [](const auto& m, std::size_t i, std::size_t j) {
                    return m(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j));
                };
                for (std::size_t k = 0; k < r; ++k) {
                    for (std::size_t j = 0; j < inputs; ++j)
                        out.a(first + k, j) = number(a, j, k);
                    for (std::size_t i = 0; i < outputs_of(c, p); ++i)
                        out.b(row(i), first + k) = adapters.scale() * number(b, k, i);
                }
                first += r;
            };
            (take(parts.first, parts.second), ...);
            return out;
        };
        const auto as_it_is = [](std::size_t i) { return i; };
        packed->blocks.push_back(
            {.qkv = pack(c.query_size() + 2 * c.kv_size(),
                         std::pair(projection::q, [&](std::size_t i) { return rows.query(i); }),
                         std::pair(projection::k, [&](std::size_t i) { return rows.key(i); }),
                         std::pair(projection::v, [&](std::size_t i) { return rows.value(i); })),
             .output = pack(c.dimension, std::pair(projection::o, as_it_is)),
             .gate_up = pack(round_up(c.hidden_dimension, 16) * 2,
                             std::pair(projection::gate, &packed_rows::gate),
                             std::pair(projection::up, &packed_rows::up)),
             .down = pack(c.dimension, std::pair(projection::down, as_it_is))});
    }
    return packed;
}

} // namespace specdec::engine
