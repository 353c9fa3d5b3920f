// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <vector>

#include <specdec_engine/file/config.hpp>
#include <specdec_engine/kernel/aligned_allocator.hpp>
#include <specdec_engine/kernel/elementwise.hpp>
#include <specdec_engine/kernel/number_format.hpp>

namespace specdec::engine {

/// What a forward pass writes on its way, for up to `chunk` positions; columns padded with zeros.
template <NumberFormat Format>
struct activations {
    using stored = typename format_parts<Format>::stored;

    /// What a member of the team has to itself.
    struct private_memory {
        aligned_vector<typename format_parts<Format>::input> input; ///< [chunk][input stride]
        aligned_vector<stored> line;                                ///< a column
    };

    activations(const model_config& c, std::size_t chunk, std::size_t input_stride,
                std::size_t members)
        : dimension_stride(round_up(c.dimension, 32)),
          qkv_stride(round_up(c.query_size() + 2 * c.kv_size(), panel_rows)),
          attended_stride(round_up(c.query_size(), 32)),
          hidden_stride(round_up(c.hidden_dimension, 32)), residual(chunk * dimension_stride),
          qkv(chunk * qkv_stride), attended(chunk * attended_stride),
          gate_up(chunk * 2 * hidden_stride), hidden(chunk * hidden_stride),
          added(c.post_norms ? chunk * dimension_stride : 0) {
        for (std::size_t m = 0; m < members; ++m)
            of_member.push_back(
                {aligned_vector<typename format_parts<Format>::input>(chunk * input_stride),
                 aligned_vector<stored>(dimension_stride)});
    }

    std::size_t dimension_stride;
    std::size_t qkv_stride;
    std::size_t attended_stride;
    std::size_t hidden_stride;
    aligned_vector<float> residual;  ///< [chunk][dimension stride]
    aligned_vector<float> qkv;       ///< [chunk][qkv stride]
    aligned_vector<stored> attended; ///< [chunk][attended stride]
    aligned_vector<float> gate_up;   ///< [panel][column][gate 16, up 16]
    aligned_vector<stored> hidden;   ///< [chunk][hidden stride]
    aligned_vector<float> added;     ///< [chunk][dimension stride], where it passes a norm
    std::vector<private_memory> of_member;
};

} // namespace specdec::engine
