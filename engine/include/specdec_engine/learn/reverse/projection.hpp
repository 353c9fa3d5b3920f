// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include <specdec_engine/file/config.hpp>

namespace specdec::engine {

/// The matrices of a block, in the order in which they lie in the array of weights.
enum class projection : unsigned char { q, k, v, o, gate, up, down };

inline constexpr std::array<projection, 7> all_projections = {
    projection::q,    projection::k,  projection::v,   projection::o,
    projection::gate, projection::up, projection::down};

[[nodiscard]] constexpr std::size_t number_of(projection p) {
    return static_cast<std::size_t>(p);
}

/// "q_proj": as PEFT's target_modules have it.
[[nodiscard]] constexpr std::string_view name(projection p) {
    constexpr std::array<std::string_view, 7> names = {"q_proj",    "k_proj",  "v_proj",   "o_proj",
                                                       "gate_proj", "up_proj", "down_proj"};
    return names[number_of(p)];
}

/// "model.layers.0.self_attn.q_proj": the module as Hugging Face names it.
[[nodiscard]] inline std::string module_name(std::size_t layer, projection p) {
    return "model.layers." + std::to_string(layer) +
           (p < projection::gate ? ".self_attn." : ".mlp.") + std::string(name(p));
}

[[nodiscard]] inline std::size_t inputs_of(const model_config& c, projection p) {
    return p == projection::o      ? c.query_size()
           : p == projection::down ? c.hidden_dimension
                                   : c.dimension;
}
[[nodiscard]] inline std::size_t outputs_of(const model_config& c, projection p) {
    switch (p) {
    case projection::q:
        return c.query_size();
    case projection::k:
    case projection::v:
        return c.kv_size();
    case projection::gate:
    case projection::up:
        return c.hidden_dimension;
    case projection::o:
    case projection::down:
        break;
    }
    return c.dimension;
}

} // namespace specdec::engine
