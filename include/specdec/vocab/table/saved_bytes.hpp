// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits> // std::make_unsigned_t

#include <specdec/core/error.hpp>

/// What the files of n-grams and counts are made of: a magic, a version, numbers, a checksum.
namespace specdec {

/// The step of vocabulary::fingerprint over the bytes and their number. Every step is a bijection
/// of what was before and of its byte: a single wrong byte never goes unseen.
[[nodiscard]] inline std::uint64_t checksum_of(std::string_view bytes) {
    std::uint64_t hash = 0xcbf29ce484222325u ^ bytes.size();
    for (const char c : bytes) {
        hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
        hash ^= hash >> 29;
    }
    return hash;
}

/// Appends a number, little-endian.
template <class T>
void put_number(std::string& out, T value) {
    const auto bits = static_cast<std::make_unsigned_t<T>>(value);
    for (std::size_t i = 0; i < sizeof(T); ++i)
        out += static_cast<char>(bits >> (8 * i) & 0xff);
}

/// Reads what was saved, from any bytes. Errors: specdec::error that names `source` and the field.
/// Borrows both.
class saved_bytes {
public:
    /// Behind the magic and the version, without the checksum, which is that of all before it.
    /// what: the bytes are, for errors.
    saved_bytes(std::string_view bytes, const std::string& source, std::string_view magic,
                std::uint32_t version, const std::string& what)
        : bytes_(bytes), source_(source) {
        expect(bytes.starts_with(magic), "magic", "expected the bytes of " + what);
        at_ = magic.size();
        const auto found = get<std::uint32_t>("version");
        expect(found == version, "version",
               "expected " + std::to_string(version) + ", the file has " + std::to_string(found));
        constexpr std::size_t sum = sizeof(std::uint64_t);
        expect(left() >= sum, "checksum", "expected a whole file, it is torn");
        const std::size_t behind = at_;
        at_ = bytes.size() - sum;
        expect(get<std::uint64_t>("checksum") == checksum_of(bytes.substr(0, bytes.size() - sum)),
               "checksum",
               "expected the checksum of the bytes before it, the file is torn or corrupt");
        bytes_.remove_suffix(sum);
        at_ = behind;
    }

    [[nodiscard]] std::size_t left() const { return bytes_.size() - at_; }
    void expect(bool good, std::string_view field, const std::string& what) const {
        if (!good)
            fail(source_, std::string(field), what);
    }
    std::string_view take(std::size_t n, std::string_view field) {
        expect(n <= left(), field, "expected more bytes, the file ends here");
        at_ += n;
        return bytes_.substr(at_ - n, n);
    }
    template <class T>
    T get(std::string_view field) {
        T value = 0;
        const std::string_view raw = take(sizeof(T), field);
        for (std::size_t i = 0; i < sizeof(T); ++i)
            value |= static_cast<T>(T{static_cast<unsigned char>(raw[i])} << (8 * i));
        return value;
    }
    std::uint64_t at_most(std::uint64_t most, std::string_view field) {
        return at_most(most, field, get<std::uint64_t>(field));
    }
    std::uint64_t at_most(std::uint64_t most, std::string_view field, std::uint64_t value) const {
        expect(value <= most, field,
               "expected at most " + std::to_string(most) + ", the file has " +
                   std::to_string(value));
        return value;
    }

private:
    std::string_view bytes_;
    const std::string& source_;
    std::size_t at_ = 0;
};

} // namespace specdec
