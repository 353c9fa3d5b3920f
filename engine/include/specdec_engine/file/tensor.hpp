// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm> // std::equal, std::sort
#include <cstddef>
#include <cstdint>
#include <cstring> // std::memcpy
#include <span>
#include <string>
#include <vector>

#include <specdec/core/error.hpp>
#include <specdec_engine/kernel/numbers.hpp>

namespace specdec::engine {

/// A named tensor of a checkpoint, as it lies in the (mapped) file: borrowed bytes.
/// Shape: outermost axis first, as Python prints it; the last axis is contiguous.
struct tensor {
    std::string source; ///< the file, for messages
    std::string name;
    dtype type = dtype::other;
    std::string type_name; ///< as the file calls it, also where type is other
    std::vector<std::size_t> shape;
    std::span<const std::byte>
        bytes; ///< empty where their number is not known (GGUF's other types)

    [[nodiscard]] std::size_t rows() const { return shape.size() == 2 ? shape[0] : 1; }
    [[nodiscard]] std::size_t columns() const { return shape.empty() ? 1 : shape.back(); }
};

/// "[960, 576]".
[[nodiscard]] inline std::string shape_text(std::span<const std::size_t> shape) {
    std::string text = "[";
    for (std::size_t i = 0; i < shape.size(); ++i)
        text += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
    return text + "]";
}

/// Throws unless the tensor can be read by the engine and has that shape. A vector may be stored
/// as [n] only, a matrix as [rows, columns] only.
inline void require_shape(const tensor& t, std::span<const std::size_t> shape) {
    if (t.type == dtype::other)
        throw error(
            t.source, "tensor " + t.name,
            "expected F32, F16, BF16, Q4_0, Q4_1, Q5_0, Q5_1, Q8_0 or Q2_K to Q6_K, found " +
                t.type_name);
    if (t.shape.size() != shape.size() ||
        !std::equal(t.shape.begin(), t.shape.end(), shape.begin()))
        throw error(t.source, "tensor " + t.name,
                    "expected shape " + shape_text(shape) + " from the configuration, found " +
                        shape_text(t.shape));
}

/// Throws unless no two tensors of a file share bytes.
inline void require_apart(std::span<const tensor> tensors) {
    std::vector<const tensor*> rising;
    for (const tensor& t : tensors)
        if (!t.bytes.empty())
            rising.push_back(&t);
    std::sort(rising.begin(), rising.end(),
              [](const tensor* a, const tensor* b) { return a->bytes.data() < b->bytes.data(); });
    for (std::size_t i = 1; i < rising.size(); ++i) {
        const tensor &before = *rising[i - 1], &t = *rising[i];
        if (before.bytes.data() + before.bytes.size() > t.bytes.data())
            throw error(t.source, "tensor " + t.name,
                        "expected bytes of its own, found those of tensor " + before.name);
    }
}

/// The values of a tensor of whole numbers. Errors: specdec::error unless of one axis, I64 or I32.
[[nodiscard]] inline std::vector<std::int64_t> read_integers(const tensor& t) {
    const bool wide = t.type_name == "I64";
    if ((!wide && t.type_name != "I32") || t.shape.size() != 1)
        throw error(t.source, "tensor " + t.name,
                    "expected I64 or I32 of one dimension, found " + t.type_name + " " +
                        shape_text(t.shape));
    std::vector<std::int64_t> out;
    for (std::size_t i = 0; i < t.shape[0]; ++i) {
        std::int64_t value = 0;
        std::int32_t narrow = 0;
        if (wide)
            std::memcpy(&value, t.bytes.data() + i * sizeof value, sizeof value);
        else
            std::memcpy(&narrow, t.bytes.data() + i * sizeof narrow, sizeof narrow);
        out.push_back(wide ? value : narrow);
    }
    return out;
}

} // namespace specdec::engine
