// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>

#include <specdec_engine/file/checkpoint.hpp>
#include <specdec_engine/kernel/isa.hpp>
#include <specdec_engine/kernel/quantised_panels.hpp>
#include <specdec_engine/transformer/precision.hpp>
#include <specdec_engine/transformer/weights.hpp>

/// In which numbers a checkpoint has its matrices.
namespace specdec::engine {

namespace detail {

/// The type of a matrix that is put together from these tensors: theirs, where it has panels and is
/// the same, otherwise Q8_0.
inline dtype common_type(const checkpoint& c, std::initializer_list<std::string> names) {
    dtype common = dtype::other;
    for (const std::string& name : names) {
        const auto found = c.tensors.find(name);
        const dtype type = found != c.tensors.end() ? found->second.type : dtype::other;
        if (!has_panels(type) || (common != dtype::other && type != common))
            return dtype::q8_0;
        common = type;
    }
    return common;
}

} // namespace detail

/// What quantised weights of a checkpoint are kept in: Q8_0, Q4_0 and Q4_1 in their own types. Q8_0
/// are matrices of other numbers (BF16, Q4_K, ...), and those put together from several types.
[[nodiscard]] inline model_types own_types(const checkpoint& c) {
    model_types types;
    for (std::size_t i = 0; i < c.config.layers; ++i) {
        const std::string block = "model.layers." + std::to_string(i) + ".";
        const std::string attention = block + "self_attn.";
        types.blocks.push_back(
            {detail::common_type(c, {attention + "q_proj.weight", attention + "k_proj.weight",
                                     attention + "v_proj.weight"}),
             detail::common_type(c, {attention + "o_proj.weight"}),
             detail::common_type(c, {block + "mlp.gate_proj.weight", block + "mlp.up_proj.weight"}),
             detail::common_type(c, {block + "mlp.down_proj.weight"})});
    }
    types.embedding = detail::common_type(c, {"model.embed_tokens.weight"});
    types.head = c.config.tied ? types.embedding : detail::common_type(c, {"lm_head.weight"});
    return types;
}

/// What a model is computed in where `asked` is: f32, bf16 or native.
///
///     native      quantised where a matrix of the file is; otherwise the file's own: bf16, or f32
///                 for F32 and F16 (which bf16 would round)
///     q8          quantised in any case
///     automatic   what is fastest without rounding a quantised file further: quantised where a
///                 matrix of the file is and the CPU, which has the instructions `cpu`, more than
///                 the portable kernel (there bf16 is faster for one position), otherwise bf16
[[nodiscard]] inline precision precision_of(const checkpoint& c, precision asked,
                                            isa cpu = best_isa()) {
    if (asked == precision::automatic && usable(cpu) == isa::portable)
        return precision::bf16;
    if (asked == precision::q8)
        return precision::native;
    if (asked != precision::native && asked != precision::automatic)
        return asked;
    bool rounded = true; // BF16 at most
    for (const auto& [name, t] : c.tensors) {
        if (t.shape.size() != 2)
            continue;
        if (is_quantised(t.type))
            return precision::native;
        rounded = rounded && t.type == dtype::bf16;
    }
    return asked == precision::automatic || rounded ? precision::bf16 : precision::f32;
}

} // namespace specdec::engine
