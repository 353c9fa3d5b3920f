// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility> // std::move
#include <vector>

#include <nlohmann/json.hpp>

#include <specdec/core/error.hpp>
#include <specdec/head/token_list.hpp>
#include <specdec/vocab/table/atomic_file.hpp>
#include <specdec_engine/file/json_fields.hpp>
#include <specdec_engine/file/mapped_file.hpp>
#include <specdec_engine/file/safetensors.hpp>
#include <specdec_engine/file/tensor.hpp>
#include <specdec_engine/file/write_safetensors.hpp>

/// Files of token lists, in the two forms in use, each as safetensors or as JSON:
///
///     ids        the kept ids, ascending                     I64 or I32 [kept]    [0, 3, 17]
///     d2t        EAGLE-3's offsets: row i is that of id i + d2t[i]     I64 or I32 [kept]
///     t2d        beside them, where there is one: which ids are kept    BOOL or U8 [vocabulary]
///
/// In JSON they are fields of an object, t2d of true and false; a bare array is `ids`. Other
/// tensors and fields are left alone: d2t and t2d of a drafter's checkpoint are read from it.
namespace specdec::engine {

namespace detail {

/// What a file says, each where it is there.
struct raw_token_list {
    std::optional<std::vector<std::int64_t>> ids, d2t;
    std::optional<std::vector<bool>> t2d;
};

inline raw_token_list token_list_of_tensors(std::span<const std::byte> bytes,
                                            const std::string& source) {
    raw_token_list list;
    for (const tensor& t : read_safetensors(bytes, source)) {
        if (t.name == "ids")
            list.ids = read_integers(t);
        if (t.name == "d2t")
            list.d2t = read_integers(t);
        if (t.name != "t2d")
            continue;
        if ((t.type_name != "BOOL" && t.type_name != "U8") || t.shape.size() != 1)
            throw error(source, "tensor t2d",
                        "expected BOOL or U8 of one dimension, found " + t.type_name + " " +
                            shape_text(t.shape));
        list.t2d.emplace();
        for (const std::byte b : t.bytes)
            list.t2d->push_back(b != std::byte{0});
    }
    return list;
}

inline std::vector<std::int64_t> integers_of(const nlohmann::json& array, const std::string& source,
                                             const std::string& field) {
    std::vector<std::int64_t> out;
    if (!array.is_array())
        throw error(source, field, "expected an array of integers");
    for (const nlohmann::json& value : array) {
        if (!value.is_number_integer() ||
            (value.is_number_unsigned() && value.get<std::uint64_t>() > 0x7FFFFFFFU))
            throw error(source, field + "[" + std::to_string(out.size()) + "]",
                        "expected an integer below 2^31");
        out.push_back(value.get<std::int64_t>());
    }
    return out;
}

inline raw_token_list token_list_of_json(std::string_view text, const std::string& source) {
    const nlohmann::json file = parse_json(text, source, "file");
    raw_token_list list;
    if (file.is_array()) {
        list.ids = integers_of(file, source, "ids");
        return list;
    }
    const json_fields fields(file, source, "");
    if (fields.has("ids"))
        list.ids = integers_of(file["ids"], source, "ids");
    if (fields.has("d2t"))
        list.d2t = integers_of(file["d2t"], source, "d2t");
    if (!fields.has("t2d"))
        return list;
    if (!file["t2d"].is_array())
        throw error(source, "t2d", "expected an array of true and false");
    list.t2d.emplace();
    for (const nlohmann::json& value : file["t2d"]) {
        if (!value.is_boolean())
            throw error(source, "t2d[" + std::to_string(list.t2d->size()) + "]",
                        "expected true or false");
        list.t2d->push_back(value.get<bool>());
    }
    return list;
}

/// The absolute ids.
inline std::vector<std::int64_t> ids_of(raw_token_list& list, const std::string& source) {
    if (list.ids.has_value() == list.d2t.has_value())
        throw error(source, "file", "expected either `ids` or `d2t`");
    if (list.ids)
        return std::move(*list.ids);
    std::vector<std::int64_t> ids = std::move(*list.d2t);
    for (std::size_t i = 0; i < ids.size(); ++i)
        if (__builtin_add_overflow(ids[i], static_cast<std::int64_t>(i), &ids[i]))
            throw error(source, "d2t[" + std::to_string(i) + "]",
                        "expected an offset, it is too large");
    return ids;
}

} // namespace detail

/// The list that a file's bytes hold, of a vocabulary of that size. Errors: specdec::error naming
/// source and tensor or field for what is neither form, other types, ids that do not ascend or are
/// outside the vocabulary, and a t2d that keeps other ids than d2t.
template <class Id>
[[nodiscard]] token_list<Id> parse_token_list(std::span<const std::byte> bytes,
                                              std::size_t vocabulary, const std::string& source) {
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    // Tensors begin with a length of 8 bytes, any of which may look like white space or a bracket.
    const bool json = first != text.npos && (text[first] == '{' || text[first] == '[') &&
                      !(text.size() > 8 && text[7] == 0 && text[8] == '{');
    detail::raw_token_list raw = json ? detail::token_list_of_json(text, source)
                                      : detail::token_list_of_tensors(bytes, source);
    std::vector<Id> ids;
    for (const std::int64_t id : detail::ids_of(raw, source)) {
        if (id < 0 || static_cast<std::uint64_t>(id) >= vocabulary)
            throw error(source, "id " + std::to_string(id),
                        "expected ids from 0 to " + std::to_string(vocabulary) + " - 1");
        ids.push_back(id_at<Id>(static_cast<std::size_t>(id)));
    }
    token_list<Id> list(std::move(ids), vocabulary, source);
    if (!raw.t2d)
        return list;
    if (raw.t2d->size() != vocabulary)
        throw error(source, "t2d",
                    "expected " + std::to_string(vocabulary) + " values, found " +
                        std::to_string(raw.t2d->size()));
    for (std::size_t v = 0; v < vocabulary; ++v)
        if ((*raw.t2d)[v] != list.contains(id_at<Id>(v)))
            throw error(source, "t2d[" + std::to_string(v) + "]",
                        std::string("expected ") + ((*raw.t2d)[v] ? "false" : "true") +
                            ", as the ids have it");
    return list;
}

/// Reads a file. Errors: as above, and for a file that cannot be read.
template <class Id>
[[nodiscard]] token_list<Id> read_token_list(const std::filesystem::path& path,
                                             std::size_t vocabulary) {
    const mapped_file file(path);
    return parse_token_list<Id>(file.bytes(), vocabulary, file.source());
}

/// Writes a file at once or not at all: d2t and t2d as safetensors where the path ends so,
/// otherwise `ids` as JSON. Errors: specdec::error with the system's reason.
template <class Id>
void write_token_list(const std::filesystem::path& path, const token_list<Id>& list) {
    if (path.extension() != ".safetensors") {
        std::string text;
        for (const Id id : list.ids())
            text += (text.empty() ? "{\"ids\": [" : ", ") + std::to_string(id.value);
        replace_file(path.string(), text + "]}\n");
        return;
    }
    std::vector<std::int64_t> d2t;
    std::vector<std::uint8_t> t2d(list.vocabulary_size());
    for (std::size_t k = 0; k < list.size(); ++k) {
        d2t.push_back(static_cast<std::int64_t>(list.ids()[k].index() - k));
        t2d[list.ids()[k].index()] = 1;
    }
    const tensor tensors[] = {
        {"", "d2t", dtype::other, "I64", {d2t.size()}, std::as_bytes(std::span(d2t))},
        {"", "t2d", dtype::other, "BOOL", {t2d.size()}, std::as_bytes(std::span(t2d))}};
    write_safetensors(path.string(), tensors, {});
}

} // namespace specdec::engine
