// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring> // std::memcpy
#include <span>
#include <string>
#include <string_view>

#include <specdec/core/error.hpp>

namespace specdec::engine {

/// Reads little-endian values of a file one after the other and never past its end.
/// Errors: specdec::error("SOURCE", FIELD, ...) where the file is too short for what it announces.
class byte_reader {
public:
    /// Borrows both.
    byte_reader(std::span<const std::byte> bytes, const std::string& source)
        : bytes_(bytes), source_(&source) {}

    [[nodiscard]] std::size_t position() const { return position_; }
    [[nodiscard]] std::size_t left() const { return bytes_.size() - position_; }

    std::string_view take(std::uint64_t n, const std::string& field) {
        if (n > left())
            throw error(*source_, field,
                        "expected " + std::to_string(n) + " more bytes, the file has " +
                            std::to_string(left()));
        const auto* start = reinterpret_cast<const char*>(bytes_.data() + position_);
        position_ += static_cast<std::size_t>(n);
        return {start, static_cast<std::size_t>(n)};
    }

    template <class T>
    T read(const std::string& field) {
        T value;
        std::memcpy(&value, take(sizeof(T), field).data(), sizeof(T));
        return value;
    }

    /// A number of things of at least `smallest` bytes each that are still to come.
    template <class T>
    std::size_t count(const std::string& field, std::size_t smallest) {
        const T value = read<T>(field);
        if (value > left() / smallest)
            throw error(*source_, field,
                        "expected at most the " + std::to_string(left() / smallest) +
                            " entries that fit into the file, found " + std::to_string(value));
        return static_cast<std::size_t>(value);
    }

    /// A string as GGUF writes it: 64-bit length and bytes.
    std::string_view string(const std::string& field) {
        const auto length = read<std::uint64_t>(field);
        return take(length, field);
    }

private:
    std::span<const std::byte> bytes_;
    const std::string* source_;
    std::size_t position_ = 0;
};

} // namespace specdec::engine
