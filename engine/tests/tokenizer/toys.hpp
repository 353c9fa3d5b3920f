// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <specdec/core/error.hpp>
#include <specdec_engine/tokenizer/byte_level.hpp>
#include <specdec_engine/tokenizer/tokenizer.hpp>

/// Small hand-made tokenizer files for the tests of the loaders.
namespace toys {

using ids = std::vector<std::int32_t>;
using json = nlohmann::json;

inline ids encode(const specdec::engine::tokenizer& t, std::string_view text,
                  specdec::encode_mode where = specdec::encode_mode::start) {
    ids out;
    t.encode(text, where, out);
    return out;
}

inline ids encode_with_control(const specdec::engine::tokenizer& t, std::string_view text,
                               specdec::encode_mode where = specdec::encode_mode::start) {
    ids out;
    t.encode_with_control(text, where, out);
    return out;
}

inline std::string decode(const specdec::engine::tokenizer& t, const ids& tokens) {
    std::string out;
    for (const std::int32_t id : tokens)
        out += t.bytes(id);
    return out;
}

/// What a specdec::error says; empty if there is none.
template <class F>
std::string error_of(F&& f) {
    try {
        f();
    } catch (const specdec::error& e) {
        return e.what();
    }
    return {};
}

inline std::string byte_character(unsigned char byte) {
    static constexpr auto map = specdec::engine::byte_level_characters();
    std::string out;
    specdec::engine::append_utf8(out, map[byte]);
    return out;
}

/// GPT-2's style: ids 0..255 are the bytes, then one token a merge. U+0120 is written '_' here.
inline json byte_level(std::initializer_list<std::pair<std::string, std::string>> merges = {}) {
    const auto spell = [](const std::string& text) {
        std::string out;
        for (const char c : text)
            out += c == '_' ? byte_character(' ') : std::string(1, c);
        return out;
    };
    json vocab = json::object(), list = json::array();
    for (int b = 0; b < 256; ++b)
        vocab[byte_character(static_cast<unsigned char>(b))] = b;
    for (const auto& [left, right] : merges) {
        vocab.emplace(spell(left + right), vocab.size());
        list.push_back(spell(left) + " " + spell(right));
    }
    return {{"added_tokens", json::array()},
            {"normalizer", nullptr},
            {"pre_tokenizer",
             {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", true}}},
            {"post_processor", nullptr},
            {"decoder", {{"type", "ByteLevel"}}},
            {"model", {{"type", "BPE"}, {"vocab", vocab}, {"merges", list}}}};
}

/// SentencePiece's style: <unk> <s> </s>, the 256 bytes (3..258), then these pieces ('_' is
/// U+2581).
inline std::string piece(const std::string& text) {
    std::string out;
    for (const char c : text)
        out += c == '_' ? "\xE2\x96\x81" : std::string(1, c);
    return out;
}

inline std::string byte_name(int b) {
    const char* digits = "0123456789ABCDEF";
    return {'<', '0', 'x', digits[b / 16], digits[b % 16], '>'};
}

inline json added(std::int32_t id, const std::string& content, bool special) {
    return {{"id", id},        {"content", content}, {"special", special},  {"normalized", false},
            {"lstrip", false}, {"rstrip", false},    {"single_word", false}};
}

inline json space_sign(std::initializer_list<std::string> pieces,
                       std::initializer_list<std::pair<std::string, std::string>> merges) {
    json vocab = {{"<unk>", 0}, {"<s>", 1}, {"</s>", 2}}, list = json::array();
    for (int b = 0; b < 256; ++b)
        vocab[byte_name(b)] = b + 3;
    for (const std::string& text : pieces)
        vocab.emplace(piece(text), vocab.size());
    for (const auto& [left, right] : merges)
        list.push_back({piece(left), piece(right)});
    json normalizers = json::array();
    normalizers.push_back({{"type", "Prepend"}, {"prepend", piece("_")}});
    normalizers.push_back(
        {{"type", "Replace"}, {"pattern", {{"String", " "}}}, {"content", piece("_")}});
    return {
        {"added_tokens", {added(0, "<unk>", true), added(1, "<s>", true), added(2, "</s>", true)}},
        {"normalizer", {{"type", "Sequence"}, {"normalizers", normalizers}}},
        {"pre_tokenizer", nullptr},
        {"decoder", {{"type", "Replace"}, {"pattern", {{"String", piece("_")}}}, {"content", " "}}},
        {"model",
         {{"type", "BPE"},
          {"unk_token", "<unk>"},
          {"byte_fallback", true},
          {"vocab", vocab},
          {"merges", list}}}};
}

/// Little-endian bytes of a value.
template <class T>
std::string raw(T value) {
    std::string out(sizeof(T), '\0');
    std::memcpy(out.data(), &value, sizeof(T));
    return out;
}

} // namespace toys
