// SPDX-License-Identifier: MIT
#pragma once

#include <bit> // std::endian
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <specdec/core/error.hpp>
#include <specdec/reference/learn/parameter_layout.hpp>
#include <specdec/vocab/atomic_file.hpp>

namespace specdec::reference {

static_assert(std::endian::native == std::endian::little, "safetensors is little-endian");

/// An F32 tensor on its way into a file.
struct float_tensor {
    std::string name;
    std::span<const std::size_t> shape;
    std::span<const float> values;
};

/// The tensors of an array of that layout, under their names behind a prefix.
inline void add_tensors(std::vector<float_tensor>& out, const parameter_layout& layout,
                        std::span<const float> values, const std::string& prefix = "") {
    for (const parameter& p : layout.tensors())
        out.push_back({prefix + p.name, p.shape, values.subspan(p.offset, p.size)});
}

/// The bytes of a safetensors file (safetensors.hpp) with these tensors, one behind the other, and
/// metadata. Its header is padded so that the data begins at a multiple of 8, as the format's
/// own writer does. Errors: specdec::error(source, "metadata", ..) for text that is no UTF-8.
[[nodiscard]] inline std::string
safetensors_bytes(std::span<const float_tensor> tensors,
                  const std::map<std::string, std::string>& metadata, const std::string& source) {
    nlohmann::json header = nlohmann::json::object();
    if (!metadata.empty())
        header["__metadata__"] = metadata;
    std::size_t end = 0;
    for (const float_tensor& t : tensors) {
        const std::size_t begin = end;
        end += t.values.size_bytes();
        header[t.name] = {{"dtype", "F32"},
                          {"shape", std::vector<std::size_t>(t.shape.begin(), t.shape.end())},
                          {"data_offsets", {begin, end}}};
    }
    std::string text;
    try {
        text = header.dump();
    } catch (const nlohmann::json::exception& cause) {
        throw error(source, "metadata", std::string("expected UTF-8: ") + cause.what());
    }
    text.resize((text.size() + 7) / 8 * 8, ' ');
    const std::uint64_t length = text.size();
    std::string bytes(reinterpret_cast<const char*>(&length), sizeof length);
    bytes.reserve(bytes.size() + text.size() + end);
    bytes += text;
    for (const float_tensor& t : tensors)
        bytes.append(reinterpret_cast<const char*>(t.values.data()), t.values.size_bytes());
    return bytes;
}

/// Writes such a file, whole or not at all (atomic_file.hpp). Errors: specdec::error.
inline void write_safetensors(const std::string& path, std::span<const float_tensor> tensors,
                              const std::map<std::string, std::string>& metadata = {
                                  {"format", "pt"}}) {
    replace_file(path, safetensors_bytes(tensors, metadata, path));
}

} // namespace specdec::reference
