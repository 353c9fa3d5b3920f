// SPDX-License-Identifier: MIT
#pragma once

#include <bit> // std::bit_cast
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <specdec/core/error.hpp>
#include <specdec_engine/file/byte_reader.hpp>

namespace specdec::engine {

/// Reads the fields of one Protocol Buffers message in the order of the file, never past its end.
///
///     protobuf_reader in(bytes, source, "pieces[3]");
///     while (in.next())
///         if (in.number() == 1) text = in.bytes("piece");
///
/// A field that is not asked for is skipped. Asking for a value of another wire type than the
/// field's is an error. Borrows all its arguments.
class protobuf_reader {
public:
    protobuf_reader(std::string_view message, const std::string& source, const std::string& field)
        : in_(std::as_bytes(std::span(message)), source), source_(&source), field_(&field) {}

    /// Goes to the next field; false at the end.
    bool next() {
        if (in_.left() == 0)
            return false;
        const std::uint64_t key = varint();
        number_ = key >> 3;
        wire_ = static_cast<unsigned>(key & 7);
        switch (wire_) {
        case 0:
            value_ = varint();
            return true;
        case 1:
            value_ = in_.read<std::uint64_t>(*field_);
            return true;
        case 2:
            bytes_ = in_.take(varint(), *field_);
            return true;
        case 5:
            value_ = in_.read<std::uint32_t>(*field_);
            return true;
        default:
            throw error(*source_, *field_,
                        "expected a field of a known wire type, found " + std::to_string(wire_));
        }
    }

    [[nodiscard]] std::uint64_t number() const { return number_; }

    [[nodiscard]] std::int32_t integer(const char* name) const {
        expect(0, name);
        return static_cast<std::int32_t>(static_cast<std::uint32_t>(value_));
    }
    [[nodiscard]] bool boolean(const char* name) const {
        expect(0, name);
        return value_ != 0;
    }
    [[nodiscard]] float real(const char* name) const {
        expect(5, name);
        return std::bit_cast<float>(static_cast<std::uint32_t>(value_));
    }
    /// A string, bytes or a message.
    [[nodiscard]] std::string_view bytes(const char* name) const {
        expect(2, name);
        return bytes_;
    }

private:
    std::uint64_t varint() {
        std::uint64_t value = 0;
        for (unsigned shift = 0; shift < 64; shift += 7) {
            const auto byte = in_.read<std::uint8_t>(*field_);
            value |= static_cast<std::uint64_t>(byte & 0x7Fu) << shift;
            if ((byte & 0x80u) == 0)
                return value;
        }
        throw error(*source_, *field_, "expected integers of at most 10 bytes");
    }

    void expect(unsigned wire, const char* name) const {
        if (wire_ != wire)
            throw error(*source_, *field_ + "." + name,
                        "expected wire type " + std::to_string(wire) + ", found " +
                            std::to_string(wire_));
    }

    byte_reader in_;
    const std::string* source_;
    const std::string* field_;
    std::uint64_t number_ = 0;
    unsigned wire_ = 0;
    std::uint64_t value_ = 0;
    std::string_view bytes_;
};

} // namespace specdec::engine
