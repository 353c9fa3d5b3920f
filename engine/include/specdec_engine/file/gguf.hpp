// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm> // std::min
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iterator> // std::make_move_iterator
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <specdec/core/error.hpp>
#include <specdec_engine/file/byte_reader.hpp>
#include <specdec_engine/file/gguf_value.hpp>
#include <specdec_engine/file/mapped_file.hpp>
#include <specdec_engine/file/tensor.hpp>

namespace specdec::engine {

/// A GGUF container, version 2 or 3, little endian: metadata by key, and tensors; or the shards of
/// one (NAME-00001-of-00003.gguf, ...), of which any is named: the first has the metadata.
///
///     gguf_file file(path);
///     file.at("llama.block_count").integer()
///     if (const gguf_value* v = file.find("tokenizer.ggml.tokens")) v->strings()
///
/// Every count, offset and alignment is checked against the size of the file before use; values and
/// tensors are views of it (views of `bytes` for the second constructor).
/// Errors: specdec::error that names the file and the key, tensor or field.
class gguf_file {
public:
    explicit gguf_file(const std::filesystem::path& path)
        : gguf_file(std::make_shared<const mapped_file>(path)) {}
    explicit gguf_file(std::shared_ptr<const mapped_file> file) : source_(file->source()) {
        parse(file->bytes());
        files_.push_back(std::move(file));
        if (shards() > 1)
            read_shards();
    }
    /// Borrows the bytes.
    gguf_file(std::span<const std::byte> bytes, std::string source) : source_(std::move(source)) {
        parse(bytes);
    }

    [[nodiscard]] const std::string& source() const { return source_; }

    /// The metadata value of that key; nullptr where there is none.
    [[nodiscard]] const gguf_value* find(std::string_view key) const {
        const auto found = values_.find(std::string(key));
        return found == values_.end() ? nullptr : &found->second;
    }
    /// The same; an error where there is none.
    [[nodiscard]] const gguf_value& at(std::string_view key) const {
        if (const gguf_value* value = find(key))
            return *value;
        require_whole();
        throw error(source_, std::string(key), "expected this metadata key, it is missing");
    }

    /// Errors: specdec::error for one of the shards of a model that was given as bytes, which lacks
    /// what the others have.
    void require_whole() const {
        if (files_.empty() && shards() > 1)
            throw error(source_, "split.count",
                        "expected 1, this is one of " + std::to_string(shards()) +
                            " shards: read it by its path, with the others in the same folder");
    }

    /// In the order of the files; shapes outermost axis first (the reverse of the file's).
    [[nodiscard]] const std::vector<tensor>& tensors() const { return tensors_; }
    /// The mappings the views live in, those of all shards; none for borrowed bytes.
    [[nodiscard]] const std::vector<std::shared_ptr<const mapped_file>>& mappings() const {
        return files_;
    }

private:
    /// Shards of the model: what a key of the split says; 1 where it is none.
    [[nodiscard]] std::uint64_t shards() const { return split_number("split.count", 1); }
    [[nodiscard]] std::uint64_t split_number(std::string_view key, std::uint64_t otherwise) const {
        const gguf_value* const value = find(key);
        if (value == nullptr)
            return otherwise;
        if (const std::int64_t n = value->integer(); n >= 0 && n < 100000)
            return static_cast<std::uint64_t>(n);
        throw error(source_, std::string(key), "expected a number from 0 to 99999");
    }

    /// The name of shard n (from 0 on) of `count`: five digits each.
    static std::string shard_ending(std::uint64_t n, std::uint64_t count) {
        const auto digits = [](std::uint64_t x) {
            const std::string text = std::to_string(x);
            return std::string(5 - std::min<std::size_t>(text.size(), 5), '0') + text;
        };
        return "-" + digits(n + 1) + "-of-" + digits(count) + ".gguf";
    }

    /// Takes the place of what was read: the first shard's metadata, the tensors of all.
    void read_shards() {
        const std::uint64_t count = shards(), mine = split_number("split.no", count);
        const std::string ending = shard_ending(mine, count), named = source_;
        if (!named.ends_with(ending))
            throw error(named, "file name",
                        mine < count ? "expected a name with " + ending +
                                           " at its end, as split.no and split.count say"
                                     : "expected split.no below split.count");
        const std::string stem = named.substr(0, named.size() - ending.size());
        std::vector<std::shared_ptr<const mapped_file>> files;
        std::vector<tensor> all;
        std::unordered_map<std::string, gguf_value> first;
        std::uint64_t promised = 0;
        for (std::uint64_t n = 0; n < count; ++n) {
            files.push_back(
                n == mine ? files_.front()
                          : std::make_shared<const mapped_file>(stem + shard_ending(n, count)));
            gguf_file shard(files.back()->bytes(), files.back()->source());
            if (shard.shards() != count || shard.split_number("split.no", count) != n)
                throw error(shard.source_, "split.no",
                            "expected shard " + std::to_string(n + 1) + " of " +
                                std::to_string(count) + ", as its name says");
            all.insert(all.end(), std::make_move_iterator(shard.tensors_.begin()),
                       std::make_move_iterator(shard.tensors_.end()));
            if (n == 0) {
                source_ = shard.source_;
                if (const gguf_value* const tensors = shard.find("split.tensors.count"))
                    promised = static_cast<std::uint64_t>(tensors->integer());
                first = std::move(shard.values_);
            }
        }
        values_ = std::move(first);
        tensors_ = std::move(all);
        files_ = std::move(files);
        if (promised != 0 && promised != tensors_.size())
            throw error(source_, "split.tensors.count",
                        "expected the " + std::to_string(tensors_.size()) +
                            " tensors of all shards, found " + std::to_string(promised));
    }

    void parse(std::span<const std::byte> bytes) {
        byte_reader in(bytes, source_);
        if (in.take(4, "magic") != std::string_view("GGUF"))
            throw error(source_, "magic", "expected GGUF");
        // Version 3 says of the same bytes that they may be big endian.
        if (const auto version = in.read<std::uint32_t>("version"); version != 2 && version != 3)
            throw error(source_, "version", "expected 2 or 3, found " + std::to_string(version));
        // The smallest tensor entry has 24 bytes, the smallest pair 13: an absurd count fails here.
        const std::size_t tensors = in.count<std::uint64_t>("tensor count", 24);
        const std::size_t pairs = in.count<std::uint64_t>("metadata count", 13);
        for (std::size_t i = 0; i < pairs; ++i) {
            const std::string key(in.string("metadata key"));
            const auto type = in.read<std::uint32_t>(key);
            if (!values_.emplace(key, gguf_value(in, type, source_, key)).second)
                throw error(source_, key, "expected each key once");
        }
        std::vector<std::uint64_t> offsets;
        tensors_.reserve(tensors);
        offsets.reserve(tensors);
        for (std::size_t i = 0; i < tensors; ++i)
            offsets.push_back(entry(in));
        place(bytes, in.position(), offsets);
        require_apart(tensors_);
    }

    /// Reads one tensor entry; returns its offset in the data.
    std::uint64_t entry(byte_reader& in) {
        tensor t;
        t.source = source_;
        t.name = in.string("tensor name");
        const std::string field = "tensor " + t.name;
        const auto axes = in.read<std::uint32_t>(field + " axes");
        if (axes == 0 || axes > 4)
            throw error(source_, field, "expected 1 to 4 axes, found " + std::to_string(axes));
        for (std::uint32_t a = 0; a < axes; ++a) {
            const auto length = in.read<std::uint64_t>(field + " shape");
            if (length == 0 || length > (std::uint64_t{1} << 40))
                throw error(source_, field, "expected axes of 1 to 2^40 values");
            t.shape.insert(t.shape.begin(), static_cast<std::size_t>(length));
        }
        const auto type = in.read<std::uint32_t>(field + " type");
        t.type_name = type_name(type);
        t.type = dtype_named(t.type_name);
        tensors_.push_back(std::move(t));
        return in.read<std::uint64_t>(field + " offset");
    }

    void place(std::span<const std::byte> bytes, std::size_t header_end,
               std::span<const std::uint64_t> offsets) {
        std::size_t alignment = 32;
        if (const gguf_value* value = find("general.alignment")) {
            const std::int64_t given = value->integer();
            // The format asks for a multiple of 8, ggml for a power of two: either is taken.
            if (given < 1 || given > (1 << 20) || ((given & (given - 1)) != 0 && given % 8 != 0))
                throw error(source_, "general.alignment",
                            "expected a power of two or a multiple of 8, up to 2^20, found " +
                                std::to_string(given));
            alignment = static_cast<std::size_t>(given);
        }
        const std::size_t start = (header_end + alignment - 1) / alignment * alignment;
        const std::size_t room = bytes.size() > start ? bytes.size() - start : 0;
        for (std::size_t i = 0; i < tensors_.size(); ++i) {
            tensor& t = tensors_[i];
            const std::string field = "tensor " + t.name;
            if (offsets[i] % alignment != 0 || offsets[i] > room)
                throw error(source_, field, "expected an aligned offset inside the file");
            if (t.type == dtype::other) {
                place_integers(t, bytes, start + static_cast<std::size_t>(offsets[i]));
                continue;
            }
            if (t.shape.back() % block_values(t.type) != 0)
                throw error(source_, field,
                            "expected rows of whole blocks of " +
                                std::to_string(block_values(t.type)));
            // No product exceeds what the file can hold, so none overflows.
            std::size_t size = t.shape.back() / block_values(t.type);
            const std::size_t most = room / block_bytes(t.type);
            for (std::size_t a = 0; a + 1 < t.shape.size() && size <= most; ++a)
                size = t.shape[a] > most / size ? most + 1 : size * t.shape[a];
            if (size > most || size * block_bytes(t.type) > room - offsets[i])
                throw error(source_, field,
                            shape_text(t.shape) + " of " + t.type_name +
                                " does not fit into the file");
            t.bytes = bytes.subspan(start + static_cast<std::size_t>(offsets[i]),
                                    size * block_bytes(t.type));
        }
    }

    /// I32 and I64 of one axis, where read_integers finds them.
    void place_integers(tensor& t, std::span<const std::byte> bytes, std::size_t at) const {
        const std::size_t width = t.type_name == "I64" ? 8 : t.type_name == "I32" ? 4 : 0;
        if (width == 0 || t.shape.size() != 1)
            return;
        if (at > bytes.size() || t.shape[0] > (bytes.size() - at) / width)
            throw error(source_, "tensor " + t.name,
                        shape_text(t.shape) + " of " + t.type_name + " does not fit into the file");
        t.bytes = bytes.subspan(at, t.shape[0] * width);
    }

    static std::string type_name(std::uint32_t type) {
        static constexpr std::string_view names[] = {
            "F32",     "F16",    "Q4_0",    "Q4_1",  "Q4_2",   "Q4_3",  "Q5_0",  "Q5_1",
            "Q8_0",    "Q8_1",   "Q2_K",    "Q3_K",  "Q4_K",   "Q5_K",  "Q6_K",  "Q8_K",
            "IQ2_XXS", "IQ2_XS", "IQ3_XXS", "IQ1_S", "IQ4_NL", "IQ3_S", "IQ2_S", "IQ4_XS",
            "I8",      "I16",    "I32",     "I64",   "F64",    "IQ1_M", "BF16"};
        return type < std::size(names) ? std::string(names[type]) : "type " + std::to_string(type);
    }

    std::vector<std::shared_ptr<const mapped_file>> files_; ///< empty: the bytes are borrowed
    std::string source_;
    std::unordered_map<std::string, gguf_value> values_;
    std::vector<tensor> tensors_;
};

/// The token that a key names, below `end`; nothing where the key is missing or has llama.cpp's own
/// "none". Errors: specdec::error for another number.
[[nodiscard]] inline std::optional<std::int32_t>
gguf_token_id(const gguf_file& file, const char* key, std::size_t end = std::size_t{1} << 31) {
    const gguf_value* const value = file.find(key);
    if (value == nullptr)
        return std::nullopt;
    const std::int64_t id = value->integer();
    if (id == -1 || id == 0xFFFFFFFF)
        return std::nullopt;
    if (id < 0 || static_cast<std::uint64_t>(id) >= end)
        throw error(file.source(), key,
                    "expected an id from 0 to " + std::to_string(end) + " (exclusive), found " +
                        std::to_string(id));
    return static_cast<std::int32_t>(id);
}

} // namespace specdec::engine
