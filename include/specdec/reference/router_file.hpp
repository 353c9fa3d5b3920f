// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include <specdec/core/error.hpp>
#include <specdec/reference/mapped_file.hpp>
#include <specdec/reference/quantised.hpp>
#include <specdec/reference/safetensors.hpp>
#include <specdec/reference/tensor.hpp>

namespace specdec::reference {

/// The weights of CORAL's router (residual_router), row by row. Its file is a safetensors file:
///
///     router.inner.weight     W1 [width, width]
///     router.groups.weight    W2 [groups, width]
struct router_weights {
    std::vector<float> inner, outer;
    std::size_t width = 0;

    [[nodiscard]] std::size_t groups() const { return width == 0 ? 0 : outer.size() / width; }
    [[nodiscard]] std::size_t bytes() const {
        return (inner.size() + outer.size()) * sizeof(float);
    }
};

/// The router that a file's bytes hold. Errors: specdec::error naming source and tensor.
[[nodiscard]] inline router_weights parse_router(std::span<const std::byte> bytes,
                                                 const std::string& source) {
    const std::vector<tensor> tensors = read_safetensors(bytes, source);
    const auto matrix = [&](const std::string& name) -> const tensor& {
        for (const tensor& t : tensors)
            if (t.name == name && t.type != dtype::other && t.shape.size() == 2)
                return t;
        throw error(source, "tensor " + name, "expected a matrix of F32, F16 or BF16");
    };
    const auto values = [](const tensor& t) {
        std::vector<float> out(t.rows() * t.columns());
        for (std::size_t r = 0; r < t.rows(); ++r)
            read_row(t, r, std::span(out).subspan(r * t.columns(), t.columns()));
        return out;
    };
    const tensor& inner = matrix("router.inner.weight");
    const tensor& outer = matrix("router.groups.weight");
    const std::size_t width = inner.columns();
    require_shape(inner, std::vector{width, width});
    require_shape(outer, std::vector{outer.rows(), width});
    if (width == 0 || outer.rows() == 0)
        throw error(source, "tensor router.groups.weight", "expected at least one group");
    return {values(inner), values(outer), width};
}

/// Reads a file. Errors: as above, and for a file that cannot be read.
[[nodiscard]] inline router_weights read_router(const std::filesystem::path& path) {
    const mapped_file file(path);
    return parse_router(file.bytes(), file.source());
}

} // namespace specdec::reference
