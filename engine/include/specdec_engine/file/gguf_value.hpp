// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring> // std::memcpy
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <specdec/core/error.hpp>
#include <specdec_engine/file/byte_reader.hpp>

namespace specdec::engine {

enum class gguf_type : std::uint32_t {
    u8,
    i8,
    u16,
    i16,
    u32,
    i32,
    f32,
    boolean,
    string,
    array,
    u64,
    i64,
    f64,
};

/// One metadata value of a GGUF file: a scalar, a string or an array of them (views of the file).
/// Asking for what it is not is a specdec::error that names file and key.
class gguf_value {
public:
    /// Reads the value behind a key, which has announced its type.
    gguf_value(byte_reader& in, std::uint32_t type, std::string source, std::string key)
        : source_(std::move(source)), key_(std::move(key)), type_(known(type)) {
        if (type_ != gguf_type::array) {
            payload_ = read_elements(in, type_, 1);
            return;
        }
        element_ = known(in.read<std::uint32_t>(key_));
        if (element_ == gguf_type::array)
            fail("an array of scalars or strings (not of arrays)");
        const std::size_t smallest = element_ == gguf_type::string ? 8 : width(element_);
        size_ = in.count<std::uint64_t>(key_, smallest);
        payload_ = read_elements(in, element_, size_);
    }

    [[nodiscard]] gguf_type type() const { return type_; }
    /// Length of an array; 1 for scalars and strings.
    [[nodiscard]] std::size_t size() const { return size_; }

    /// An integer of any width (a boolean is none).
    [[nodiscard]] std::int64_t integer() const { return integer_at(type_, 0, "an integer"); }
    /// A floating-point number or an integer.
    [[nodiscard]] double number() const { return number_at(type_, 0, "a number"); }
    [[nodiscard]] bool boolean() const {
        if (type_ != gguf_type::boolean)
            fail("a boolean");
        return payload_[0] != 0;
    }
    [[nodiscard]] std::string_view string() const {
        if (type_ != gguf_type::string)
            fail("a string");
        return payload_.substr(8);
    }

    [[nodiscard]] std::vector<std::string_view> strings() const {
        if (type_ != gguf_type::array || element_ != gguf_type::string)
            fail("an array of strings");
        std::vector<std::string_view> out;
        out.reserve(size_);
        for (std::size_t at = 0, i = 0; i < size_; ++i) {
            std::uint64_t length = 0; // checked when it was read
            std::memcpy(&length, payload_.data() + at, sizeof length);
            out.push_back(payload_.substr(at + 8, static_cast<std::size_t>(length)));
            at += 8 + static_cast<std::size_t>(length);
        }
        return out;
    }
    /// An array of numbers (floating-point or integer).
    [[nodiscard]] std::vector<float> floats() const {
        std::vector<float> out(array_size("an array of numbers"));
        for (std::size_t i = 0; i < out.size(); ++i)
            out[i] = static_cast<float>(number_at(element_, i, "an array of numbers"));
        return out;
    }
    /// An array of integers or booleans.
    [[nodiscard]] std::vector<std::int64_t> integers() const {
        std::vector<std::int64_t> out(array_size("an array of integers"));
        for (std::size_t i = 0; i < out.size(); ++i)
            out[i] = integer_at(element_, i, "an array of integers");
        return out;
    }

private:
    [[noreturn]] void fail(const std::string& expected) const {
        throw error(source_, key_, "expected " + expected);
    }

    [[nodiscard]] gguf_type known(std::uint32_t type) const {
        if (type > static_cast<std::uint32_t>(gguf_type::f64))
            fail("a value type from 0 to 12, found " + std::to_string(type));
        return static_cast<gguf_type>(type);
    }

    /// Bytes, by the type's number. Precondition: no string, no array.
    static std::size_t width(gguf_type type) {
        constexpr std::size_t bytes[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
        return bytes[static_cast<std::size_t>(type)];
    }

    std::string_view read_elements(byte_reader& in, gguf_type type, std::size_t n) const {
        if (type != gguf_type::string)
            return in.take(n * width(type), key_);
        std::string_view all;
        for (std::size_t i = 0; i < n; ++i) {
            const std::string_view text = in.string(key_);
            if (i == 0)
                all = {text.data() - 8, 0};
            all = {all.data(), static_cast<std::size_t>(text.data() + text.size() - all.data())};
        }
        return all;
    }

    [[nodiscard]] std::size_t array_size(const char* expected) const {
        if (type_ != gguf_type::array)
            fail(expected);
        return size_;
    }

    template <class T>
    [[nodiscard]] T load(std::size_t i) const {
        T value;
        std::memcpy(&value, payload_.data() + i * sizeof(T), sizeof(T));
        return value;
    }

    [[nodiscard]] std::int64_t integer_at(gguf_type type, std::size_t i,
                                          const char* expected) const {
        switch (type) {
        case gguf_type::u8:
            return load<std::uint8_t>(i);
        case gguf_type::i8:
            return load<std::int8_t>(i);
        case gguf_type::u16:
            return load<std::uint16_t>(i);
        case gguf_type::i16:
            return load<std::int16_t>(i);
        case gguf_type::u32:
            return load<std::uint32_t>(i);
        case gguf_type::i32:
            return load<std::int32_t>(i);
        case gguf_type::i64:
            return load<std::int64_t>(i);
        case gguf_type::boolean:
            if (type_ == gguf_type::array)
                return load<std::uint8_t>(i) != 0;
            break;
        case gguf_type::u64: {
            const auto value = load<std::uint64_t>(i);
            if (value <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
                return static_cast<std::int64_t>(value);
            fail("an integer below 2^63");
        }
        case gguf_type::f32:
        case gguf_type::string:
        case gguf_type::array:
        case gguf_type::f64:
            break;
        }
        fail(expected);
    }

    [[nodiscard]] double number_at(gguf_type type, std::size_t i, const char* expected) const {
        if (type == gguf_type::f32)
            return static_cast<double>(load<float>(i));
        if (type == gguf_type::f64)
            return load<double>(i);
        return static_cast<double>(integer_at(type, i, expected));
    }

    std::string source_;
    std::string key_;
    gguf_type type_;
    gguf_type element_ = gguf_type::u8;
    std::size_t size_ = 1;
    std::string_view payload_; ///< the value's bytes; a string's begin with their 64-bit length
};

} // namespace specdec::engine
