// SPDX-License-Identifier: MIT
#pragma once

#include <bit> // std::endian
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>

#include <nlohmann/json.hpp>

#include <specdec/core/error.hpp>
#include <specdec/vocab/table/atomic_file.hpp>
#include <specdec_engine/file/tensor.hpp>

namespace specdec::engine {

static_assert(std::endian::native == std::endian::little, "safetensors is little-endian");

/// The bytes of a safetensors file (safetensors.hpp) with these tensors, each under its name and
/// type name, one behind the other, and metadata. Its header is padded so that the data begins at a
/// multiple of 8, as the format's own writer does. Errors: specdec::error(source, "metadata", ..)
/// for text that is no UTF-8.
[[nodiscard]] inline std::string
safetensors_bytes(std::span<const tensor> tensors,
                  const std::map<std::string, std::string>& metadata, const std::string& source) {
    nlohmann::json header = nlohmann::json::object();
    if (!metadata.empty())
        header["__metadata__"] = metadata;
    std::size_t end = 0;
    for (const tensor& t : tensors) {
        const std::size_t begin = end;
        end += t.bytes.size();
        header[t.name] = {
            {"dtype", t.type_name}, {"shape", t.shape}, {"data_offsets", {begin, end}}};
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
    for (const tensor& t : tensors)
        bytes.append(reinterpret_cast<const char*>(t.bytes.data()), t.bytes.size());
    return bytes;
}

/// Writes such a file, whole or not at all (atomic_file.hpp). Errors: specdec::error.
inline void write_safetensors(const std::string& path, std::span<const tensor> tensors,
                              const std::map<std::string, std::string>& metadata = {
                                  {"format", "pt"}}) {
    replace_file(path, safetensors_bytes(tensors, metadata, path));
}

} // namespace specdec::engine
