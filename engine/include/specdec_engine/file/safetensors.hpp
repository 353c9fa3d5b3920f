// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm> // std::sort, std::adjacent_find
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <specdec/core/error.hpp>
#include <specdec_engine/file/byte_reader.hpp>
#include <specdec_engine/file/json_fields.hpp>
#include <specdec_engine/file/tensor.hpp>

/// The safetensors format: 64-bit length of the header, a JSON header, and the data.
///
///     {"name": {"dtype": "BF16", "shape": [2, 3], "data_offsets": [0, 12]}, "__metadata__": {...}}
namespace specdec::engine {

namespace detail {

/// Size of one value; 0 for a type safetensors does not have.
inline std::size_t safetensors_width(const std::string& type) {
    static constexpr std::pair<const char*, std::size_t> known[] = {
        {"F64", 8}, {"F32", 4}, {"F16", 2},  {"BF16", 2},    {"I64", 8},
        {"I32", 4}, {"I16", 2}, {"I8", 1},   {"U64", 8},     {"U32", 4},
        {"U16", 2}, {"U8", 1},  {"BOOL", 1}, {"F8_E4M3", 1}, {"F8_E5M2", 1}};
    for (const auto& [name, width] : known)
        if (type == name)
            return width;
    return 0;
}

inline tensor safetensors_entry(const std::string& source, const std::string& name,
                                const nlohmann::json& entry, std::span<const std::byte> data) {
    const json_fields fields(entry, source, "tensor " + name);
    tensor t;
    t.source = source;
    t.name = name;
    t.type_name = fields.text("dtype");
    t.type = dtype_named(t.type_name);
    t.shape = fields.sizes("shape");
    const std::size_t width = safetensors_width(t.type_name);
    if (width == 0)
        fields.fail("dtype", "expected a safetensors type, found " + t.type_name);
    const std::vector<std::size_t> offsets = fields.sizes("data_offsets");
    if (offsets.size() != 2 || offsets[0] > offsets[1] || offsets[1] > data.size())
        fields.fail("data_offsets", "expected [begin, end] inside the " +
                                        std::to_string(data.size()) + " bytes of data");
    std::size_t values = 1;
    for (const std::size_t length : t.shape) {
        if (length != 0 && values > data.size() / length)
            fields.fail("shape",
                        "expected a shape that fits into the file, found " + shape_text(t.shape));
        values *= length;
    }
    if (values * width != offsets[1] - offsets[0])
        fields.fail("data_offsets", "expected " + std::to_string(values * width) +
                                        " bytes for shape " + shape_text(t.shape) + " of " +
                                        t.type_name + ", found " +
                                        std::to_string(offsets[1] - offsets[0]));
    t.bytes = data.subspan(offsets[0], offsets[1] - offsets[0]);
    return t;
}

} // namespace detail

/// The tensors of one safetensors file: views of `bytes`.
/// Errors: specdec::error naming file, tensor and field for a header that is too long or no JSON,
/// names that stand there twice, unknown types, shapes that disagree with their offsets, and
/// offsets outside the file or overlapping.
[[nodiscard]] inline std::vector<tensor> read_safetensors(std::span<const std::byte> bytes,
                                                          const std::string& source) {
    byte_reader in(bytes, source);
    const auto length = in.read<std::uint64_t>("header length");
    const std::string_view text = in.take(length, "header");
    std::vector<std::string> names;
    const nlohmann::json header = parse_json(text, source, "header", &names);
    if (!header.is_object())
        throw error(source, "header", "expected a JSON object");
    std::sort(names.begin(), names.end());
    if (const auto twice = std::adjacent_find(names.begin(), names.end()); twice != names.end())
        throw error(source, "tensor " + *twice, "expected it once in the header, found it twice");
    const std::span<const std::byte> data = bytes.subspan(in.position());

    std::vector<tensor> tensors;
    for (const auto& [name, entry] : header.items()) {
        if (name == "__metadata__")
            continue;
        tensors.push_back(detail::safetensors_entry(source, name, entry, data));
    }
    require_apart(tensors);
    return tensors;
}

/// The shard of each tensor that a model.safetensors.index.json names, a plain file name.
[[nodiscard]] inline std::map<std::string, std::string> tensor_shards(std::string_view index_text,
                                                                      const std::string& source) {
    const nlohmann::json index = parse_json(index_text, source, "index");
    const json_fields fields(index, source, "");
    std::map<std::string, std::string> shards;
    for (const auto& [tensor_name, shard] : fields.object("weight_map").items()) {
        const auto* text = shard.get_ptr<const std::string*>();
        if (text == nullptr || text->empty() || std::filesystem::path(*text).has_parent_path())
            throw error(source, "weight_map." + tensor_name, "expected a file name");
        shards.emplace(tensor_name, *text);
    }
    return shards;
}

} // namespace specdec::engine
