// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <deque>
#include <utility>
#include <vector>

#include "quantised_rows.hpp"
#include <specdec_engine/file/quantised.hpp>
#include <specdec_engine/load.hpp>

namespace toy {

/// A checkpoint whose matrices were quantised, those of a name by type_of(name); dtype::other: as
/// it is.
struct quantised_checkpoint {
    specdec::engine::checkpoint files;
    std::deque<std::vector<std::byte>> memory;

    template <class TypeOf>
    quantised_checkpoint(specdec::engine::checkpoint from, const TypeOf& type_of)
        : files(std::move(from)) {
        using specdec::engine::dtype;
        for (auto& [name, t] : files.tensors) {
            const dtype type = type_of(name);
            if (t.shape.size() != 2 || type == dtype::other)
                continue;
            std::vector<std::byte>& bytes = memory.emplace_back();
            std::vector<float> row(t.columns());
            for (std::size_t r = 0; r < t.rows(); ++r) {
                specdec::engine::read_row(t, r, row);
                const std::vector<std::byte> blocks = quantised_numbers(type, row);
                bytes.insert(bytes.end(), blocks.begin(), blocks.end());
            }
            t.type = type;
            t.bytes = bytes;
        }
    }
    quantised_checkpoint(const quantised_checkpoint&) = delete;
    quantised_checkpoint& operator=(const quantised_checkpoint&) = delete;
};

} // namespace toy
