// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>
#include <span>
#include <vector>

#include <specdec_engine/team/thread_pool.hpp>
#include <specdec_engine/transformer/transformer.hpp>

#include "question.hpp"

/// What the benchmarks of the CPU engine share: plain reads, and a model of random weights.
namespace bench {

#if defined(__x86_64__)
[[gnu::target("avx512f")]] inline std::uint64_t read_wide(const std::byte* at, std::size_t n) {
    using line [[gnu::vector_size(64)]] = std::uint64_t;
    line sum[4] = {};
    for (std::size_t i = 0; i + 256 <= n; i += 256)
        for (std::size_t j = 0; j < 4; ++j) {
            line next;
            __builtin_memcpy(&next, at + i + 64 * j, sizeof next);
            sum[j] ^= next;
        }
    sum[0] ^= sum[1] ^ sum[2] ^ sum[3];
    return sum[0][0] ^ sum[0][3] ^ sum[0][6];
}
#endif

inline std::uint64_t read_plain(const std::byte* at, std::size_t n) {
    std::uint64_t sum[8] = {};
    for (std::size_t i = 0; i + 64 <= n; i += 64)
        for (std::size_t j = 0; j < 8; ++j) {
            std::uint64_t next;
            __builtin_memcpy(&next, at + i + 8 * j, sizeof next);
            sum[j] ^= next;
        }
    return sum[0] ^ sum[1] ^ sum[2] ^ sum[3] ^ sum[4] ^ sum[5] ^ sum[6] ^ sum[7];
}

/// A plain read of the bytes by all threads: what no pass over weights can beat.
inline void read(std::span<const std::byte> bytes, specdec::engine::thread_pool& team) {
    namespace ref = specdec::engine;
    [[maybe_unused]] static volatile std::uint64_t sink;
    team.run(bytes.size() / 4096, 16, [&](ref::pool_share s) {
        const std::byte* at = bytes.data() + s.begin * 4096;
        const std::size_t n = (s.end - s.begin) * 4096;
#if defined(__x86_64__)
        sink = ref::best_isa() >= ref::isa::avx512 ? read_wide(at, n) : read_plain(at, n);
#else
        sink = read_plain(at, n);
#endif
    });
}

/// The shape of SmolLM2-135M.
inline specdec::engine::model_config smollm2_shape() {
    specdec::engine::model_config c;
    c.dimension = 576;
    c.layers = 30;
    c.heads = 9;
    c.kv_heads = 3;
    c.head_dimension = 64;
    c.hidden_dimension = 1536;
    c.vocabulary_size = 49152;
    c.context = 8192;
    c.tied = true;
    return c;
}

/// Weights of that shape with random values: no file is needed to time a pass.
template <specdec::engine::NumberFormat Format>
std::shared_ptr<const specdec::engine::model_weights<Format>>
random_weights(const specdec::engine::model_config& config) {
    namespace ref = specdec::engine;
    auto weights = std::make_shared<ref::model_weights<Format>>(config);
    std::minstd_rand bits(1);
    std::vector<float> pool(1 << 16);
    for (float& value : pool)
        value = (static_cast<float>(bits() % 2001) - 1000.0F) * 3e-5F;
    const auto fill = [&](auto& m) {
        for (std::size_t row = 0; row < m.rows(); ++row)
            m.write_row(row, {pool.data() + bits() % (pool.size() - m.columns()), m.columns()});
    };
    for (auto& block : weights->blocks) {
        fill(block.qkv);
        fill(block.output);
        fill(block.gate_up);
        fill(block.down);
        std::fill_n(block.attention_norm.begin(), config.dimension, 1.0F);
        std::fill_n(block.ffn_norm.begin(), config.dimension, 1.0F);
    }
    fill(weights->head);
    std::fill_n(weights->final_norm.begin(), config.dimension, 1.0F);
    return weights;
}

} // namespace bench
