// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include <specdec_engine/attention/rotary.hpp>
#include <specdec_engine/file/config.hpp>
#include <specdec_engine/kernel/panels.hpp>

namespace specdec::engine {

/// Where rows of a block's projections stand in its packed matrices (block_weights): queries, keys
/// and values in one, those of the first two as the half-split form has them; gates and up
/// projections in one, 16 rows each in turns.
class packed_rows {
public:
    explicit packed_rows(const model_config& c)
        : q_(c.query_size()), kv_(c.kv_size()), head_(c.rotary.interleaved ? c.head_dimension : 0) {
    }

    [[nodiscard]] std::size_t query(std::size_t r) const { return turned(r); }
    [[nodiscard]] std::size_t key(std::size_t r) const { return q_ + turned(r); }
    [[nodiscard]] std::size_t value(std::size_t r) const { return q_ + kv_ + r; }
    [[nodiscard]] static constexpr std::size_t gate(std::size_t unit) {
        return unit / 16 * panel_rows + unit % 16;
    }
    [[nodiscard]] static constexpr std::size_t up(std::size_t unit) { return gate(unit) + 16; }

    /// Of a head, too: a row of queries or keys in the half-split form.
    [[nodiscard]] std::size_t turned(std::size_t r) const {
        return head_ > 0 ? r / head_ * head_ + half_split_row(r % head_, head_) : r;
    }

private:
    std::size_t q_, kv_;
    std::size_t head_; ///< 0: rows are in that form
};

} // namespace specdec::engine
