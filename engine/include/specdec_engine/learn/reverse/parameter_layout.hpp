// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <specdec/core/error.hpp>
#include <specdec_engine/file/tensor.hpp>
#include <specdec_engine/kernel/numbers.hpp>

namespace specdec::engine {

/// A tensor of what is learnt: its place in one flat array of numbers.
struct parameter {
    std::string name;               ///< as files have it
    std::vector<std::size_t> shape; ///< [n], or [outputs, inputs] by rows
    std::size_t offset = 0;
    std::size_t size = 0;

    [[nodiscard]] bool is_matrix() const { return shape.size() == 2; }
};

/// Named tensors, one behind the other in one flat array, without gaps: what optimisers, clipping
/// and files loop over. Gradients and moments are arrays of the same layout.
class parameter_layout {
public:
    /// A tensor behind all others; returns its offset.
    std::size_t add(std::string name, std::vector<std::size_t> shape) {
        std::size_t n = 1;
        for (const std::size_t length : shape)
            n *= length;
        tensors_.push_back({std::move(name), std::move(shape), size_, n});
        size_ += n;
        return size_ - n;
    }

    [[nodiscard]] std::span<const parameter> tensors() const { return tensors_; }
    /// Numbers of all tensors.
    [[nodiscard]] std::size_t size() const { return size_; }
    /// Errors: specdec::error for a name that is none of the layout's. Complexity: O(tensors).
    [[nodiscard]] const parameter& at(const std::string& name) const {
        for (const parameter& p : tensors_)
            if (p.name == name)
                return p;
        throw error("parameters", "tensor " + name, "expected this tensor, it is missing");
    }

private:
    std::vector<parameter> tensors_;
    std::size_t size_ = 0;
};

/// The tensors of an array of that layout, under their names behind a prefix, as views for packing
/// and saving. `source` names them in errors.
[[nodiscard]] inline std::vector<tensor> tensors_of(const parameter_layout& layout,
                                                    std::span<const float> values,
                                                    const std::string& prefix = "",
                                                    const std::string& source = "learnt weights") {
    std::vector<tensor> out;
    for (const parameter& p : layout.tensors())
        out.push_back({source, prefix + p.name, dtype::f32, "F32", p.shape,
                       std::as_bytes(values.subspan(p.offset, p.size))});
    return out;
}

} // namespace specdec::engine
