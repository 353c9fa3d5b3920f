// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm> // std::sort, std::min
#include <bit>       // std::endian
#include <cstddef>
#include <cstdint>
#include <cstring> // std::memcpy
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <Eigen/Core>
#include <range/v3/view/sliding.hpp>

#include <specdec/core/error.hpp>
#include <specdec/reference/json_object.hpp>
#include <specdec/reference/transformer_weights.hpp>
#include <specdec/vocab/table/atomic_file.hpp>

namespace specdec::reference {

static_assert(std::endian::native == std::endian::little, "safetensors is little-endian");

/// The tensors of a safetensors file, which is read as a whole: a 64-bit length, a JSON header of
/// that length, and the data without holes.
///
///     {"name": {"dtype": "BF16", "shape": [2, 3], "data_offsets": [0, 12]}, "__metadata__": {...}}
///
/// Errors: specdec::error(FILE, FIELD, ...) for a file that cannot be read, a header that is longer
/// than the file or no JSON, shapes that disagree with their offsets, offsets that lie outside the
/// data, and data that overlap or belong to no tensor.
class safetensors_file {
public:
    explicit safetensors_file(const std::string& path) : safetensors_file(read_file(path), path) {}
    /// source: the file's name in errors.
    safetensors_file(std::string content, std::string source)
        : source_(std::move(source)), content_(std::move(content)) {
        std::uint64_t length = 0;
        if (content_.size() < sizeof length)
            fail(source_, "header length", "expected 8 bytes");
        std::memcpy(&length, content_.data(), sizeof length);
        if (length > content_.size() - sizeof length)
            fail(source_, "header length",
                 "expected at most the " + std::to_string(content_.size() - sizeof length) +
                     " bytes after it, found " + std::to_string(length));
        data_ = sizeof length + static_cast<std::size_t>(length);
        const auto text = std::string_view(content_).substr(0, data_).substr(sizeof length);
        const nlohmann::json header = json_of(text, source_, "header");
        const json_object fields(header, source_, "header");
        for (const auto& [name, value] : header.items())
            if (name != "__metadata__")
                tensors_.emplace(name, read_entry(json_object(value, source_, "tensor " + name)));
        require_no_holes();
    }

    [[nodiscard]] const std::string& source() const { return source_; }
    [[nodiscard]] bool has(const std::string& name) const { return tensors_.contains(name); }
    [[nodiscard]] std::vector<std::string> names() const {
        std::vector<std::string> out;
        for (const auto& [name, of] : tensors_)
            out.push_back(name);
        return out;
    }

    /// Reads a tensor: one with one axis into a row vector, one with two axes into a matrix.
    /// Errors: specdec::error for one that is missing, has another shape, or other numbers than
    /// F32, F16 or BF16.
    template <class Tensor>
    void read(const std::string& name, Tensor& to, std::size_t rows, std::size_t columns) const {
        const std::string field = "tensor " + name;
        const auto found = tensors_.find(name);
        if (found == tensors_.end())
            fail(source_, field, "expected this tensor, it is missing");
        const entry& of = found->second;
        const std::vector<std::size_t> shape =
            Tensor::IsVectorAtCompileTime ? std::vector{columns} : std::vector{rows, columns};
        if (of.shape != shape)
            fail(source_, field,
                 "expected shape " + text_of(shape) + " from the configuration, found " +
                     text_of(of.shape));
        if (of.type == "F32")
            widen<float>(of, to, rows, columns);
        else if (of.type == "F16")
            widen<Eigen::half>(of, to, rows, columns);
        else if (of.type == "BF16")
            widen<Eigen::bfloat16>(of, to, rows, columns);
        else
            fail(source_, field, "expected F32, F16 or BF16, found " + of.type);
    }

private:
    struct entry {
        std::string type;
        std::vector<std::size_t> shape;
        std::size_t begin = 0, end = 0; // in the data
    };

    [[nodiscard]] static std::string text_of(const std::vector<std::size_t>& shape) {
        return nlohmann::json(shape).dump();
    }

    [[nodiscard]] entry read_entry(const json_object& fields) const {
        entry of{fields.text("dtype"), fields.sizes("shape")};
        const std::vector<std::size_t> offsets = fields.sizes("data_offsets");
        const std::size_t size = content_.size() - data_;
        if (offsets.size() != 2 || offsets[0] > offsets[1] || offsets[1] > size)
            fields.refuse("data_offsets", "expected [begin, end] within the " +
                                              std::to_string(size) + " bytes of data");
        of.begin = offsets[0];
        of.end = offsets[1];
        const std::size_t bytes = of.type == "F32"                        ? 4
                                  : of.type == "F16" || of.type == "BF16" ? 2
                                                                          : 0;
        std::size_t wanted = bytes;
        for (const std::size_t length : of.shape) {
            if (length > 0 && wanted > size / length)
                fields.refuse("shape", "expected a shape that fits into the file, found " +
                                           text_of(of.shape));
            wanted *= length;
        }
        if (bytes > 0 && wanted != of.end - of.begin)
            fields.refuse("data_offsets", "expected " + std::to_string(wanted) +
                                              " bytes for shape " + text_of(of.shape) + " of " +
                                              of.type + ", found " +
                                              std::to_string(of.end - of.begin));
        return of;
    }

    void require_no_holes() const {
        using bytes = std::pair<std::size_t, std::size_t>;
        std::vector<bytes> used{{0, 0}};
        for (const auto& [name, of] : tensors_)
            used.emplace_back(of.begin, of.end);
        std::sort(used.begin(), used.end());
        used.emplace_back(content_.size() - data_, 0);
        for (const auto& pair : ranges::views::sliding(used, 2))
            if (pair[0].second != pair[1].first)
                fail(source_, "data",
                     "expected each byte to belong to one tensor, unlike byte " +
                         std::to_string(std::min(pair[0].second, pair[1].first)));
    }

    template <class Number, class Tensor>
    void widen(const entry& of, Tensor& to, std::size_t rows, std::size_t columns) const {
        Eigen::Matrix<Number, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> stored(
            index(rows), index(columns));
        std::memcpy(stored.data(), content_.data() + data_ + of.begin, of.end - of.begin);
        to = stored.template cast<float>().template cast<typename Tensor::Scalar>();
    }

    std::string source_, content_;
    std::size_t data_ = 0; // where the data begin
    std::map<std::string, entry> tensors_;
};

} // namespace specdec::reference
