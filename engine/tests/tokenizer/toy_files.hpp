// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "toys.hpp"

/// Small hand-made binary tokenizer files: SentencePiece .model, llama2.c .bin, GGUF.
namespace toys {

/// Writes Protocol Buffers fields.
struct protobuf {
    std::string bytes;

    protobuf& varint(std::uint64_t value) {
        for (; value >= 0x80; value >>= 7)
            bytes += static_cast<char>(0x80 | (value & 0x7F));
        bytes += static_cast<char>(value);
        return *this;
    }
    protobuf& integer(std::uint64_t number, std::uint64_t value) {
        return varint(number << 3).varint(value);
    }
    protobuf& real(std::uint64_t number, float value) {
        varint(number << 3 | 5).bytes += raw(value);
        return *this;
    }
    protobuf& text(std::uint64_t number, std::string_view value) {
        varint(number << 3 | 2).varint(value.size()).bytes += value;
        return *this;
    }
};

/// One piece of SentencePiece's types: 1 normal, 2 unknown, 3 control, 4 user, 5 unused, 6 byte.
struct scored {
    std::string text;
    float score = 0;
    int type = 1;
};

/// <unk> <s> </s>, the 256 bytes, then these ('_' is U+2581).
inline std::vector<scored> scored_pieces(std::vector<scored> more) {
    std::vector<scored> out = {{"<unk>", 0, 2}, {"<s>", 0, 3}, {"</s>", 0, 3}};
    for (int b = 0; b < 256; ++b)
        out.push_back({byte_name(b), 0, 6});
    for (scored& s : more)
        out.push_back({piece(s.text), s.score, s.type});
    return out;
}

inline std::string model_piece(const scored& s) {
    return protobuf{}
        .text(1, s.text)
        .real(2, s.score)
        .integer(3, static_cast<unsigned>(s.type))
        .bytes;
}

/// A BPE .model with the identity normalization; `trainer` and `normalizer` are added to the specs.
inline std::string sentencepiece(const std::vector<scored>& pieces, const protobuf& trainer = {},
                                 const protobuf& normalizer = {}) {
    protobuf out;
    for (const scored& s : pieces)
        out.text(1, model_piece(s));
    out.text(2, protobuf{}.integer(3, 2).bytes + trainer.bytes);
    out.text(3, protobuf{}.text(1, "identity").integer(4, 0).bytes + normalizer.bytes);
    return out.bytes;
}

inline std::string llama2c(const std::vector<scored>& pieces, std::int32_t longest = 6) {
    std::string out = raw(longest);
    for (const scored& s : pieces)
        out += raw(s.score) + raw(static_cast<std::int32_t>(s.text.size())) + s.text;
    return out;
}

/// A GGUF file of metadata only.
struct gguf {
    std::string pairs;
    std::uint64_t count = 0;

    static std::string text(std::string_view value) {
        return raw(static_cast<std::uint64_t>(value.size())) + std::string(value);
    }
    gguf& put(std::string_view key, std::uint32_t type, std::string_view value) {
        ++count;
        pairs += text(key) + raw(type) + std::string(value);
        return *this;
    }
    gguf& string(std::string_view key, std::string_view value) { return put(key, 8, text(value)); }
    gguf& boolean(std::string_view key, bool value) { return put(key, 7, std::string(1, value)); }
    gguf& integer(std::string_view key, std::uint32_t value) { return put(key, 4, raw(value)); }
    gguf& strings(std::string_view key, const std::vector<std::string>& values) {
        std::string all = raw(std::uint32_t{8}) + raw(static_cast<std::uint64_t>(values.size()));
        for (const std::string& value : values)
            all += text(value);
        return put(key, 9, all);
    }
    template <class T>
    gguf& numbers(std::string_view key, std::uint32_t type, const std::vector<T>& values) {
        std::string all = raw(type) + raw(static_cast<std::uint64_t>(values.size()));
        for (const T value : values)
            all += raw(value);
        return put(key, 9, all);
    }
    [[nodiscard]] std::string file() const {
        return "GGUF" + raw(std::uint32_t{3}) + raw(std::uint64_t{0}) + raw(count) + pairs;
    }
};

} // namespace toys
