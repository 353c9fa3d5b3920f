// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include <specdec/core/error.hpp>
#include <specdec/core/require.hpp>
#include <specdec/head/token_groups.hpp>
#include <specdec_engine/file/mapped_file.hpp>
#include <specdec_engine/file/quantised.hpp>
#include <specdec_engine/file/safetensors.hpp>
#include <specdec_engine/file/tensor.hpp>

namespace specdec::engine {

/// The weights of CORAL's router (residual_router), row by row. Its file is a safetensors file:
///
///     router.inner.weight     W1 [width, width]
///     router.groups.weight    W2 [groups, width]
///     router.group_of         the group of each token, I32 or I64 [vocabulary]; without it they
///                             are equal parts of the vocabulary
struct router_weights {
    std::vector<float> inner, outer;
    std::size_t width = 0;
    std::vector<std::uint32_t> group_of{}; ///< empty: equal parts

    [[nodiscard]] std::size_t groups() const { return width == 0 ? 0 : outer.size() / width; }
    [[nodiscard]] std::size_t bytes() const {
        return (inner.size() + outer.size()) * sizeof(float);
    }
};

/// The tokens that a router chooses among. Errors: specdec::error for groups of another vocabulary,
/// and as token_groups.
template <class Id>
[[nodiscard]] token_groups<Id> groups_of(const router_weights& router, std::size_t vocabulary) {
    if (router.group_of.empty())
        return token_groups<Id>::equal_parts(vocabulary, router.groups());
    require_size<Id>(router.group_of.size(), vocabulary, "router", "head");
    return {router.group_of, router.groups()};
}

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
            read_weights(t, r, std::span(out).subspan(r * t.columns(), t.columns()));
        return out;
    };
    const tensor& inner = matrix("router.inner.weight");
    const tensor& outer = matrix("router.groups.weight");
    const std::size_t width = inner.columns();
    require_shape(inner, std::vector{width, width});
    require_shape(outer, std::vector{outer.rows(), width});
    if (width == 0 || outer.rows() == 0)
        throw error(source, "tensor router.groups.weight", "expected at least one group");
    router_weights router{values(inner), values(outer), width};
    for (const tensor& t : tensors) {
        if (t.name != "router.group_of")
            continue;
        for (const std::int64_t g : read_integers(t)) {
            if (g < 0 || static_cast<std::size_t>(g) >= router.groups())
                throw error(source, "tensor " + t.name,
                            "expected groups from 0 to " + std::to_string(router.groups() - 1) +
                                ", found " + std::to_string(g));
            router.group_of.push_back(static_cast<std::uint32_t>(g));
        }
        if (router.group_of.empty())
            throw error(source, "tensor " + t.name, "expected the group of each token, found none");
    }
    return router;
}

/// Reads a file. Errors: as above, and for a file that cannot be read.
[[nodiscard]] inline router_weights read_router(const std::filesystem::path& path) {
    const mapped_file file(path);
    return parse_router(file.bytes(), file.source());
}

} // namespace specdec::engine
