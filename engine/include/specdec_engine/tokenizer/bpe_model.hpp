// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional> // std::equal_to
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include <specdec_engine/tokenizer/merge_table.hpp>
#include <specdec_engine/tokenizer/utf8.hpp>

namespace specdec::engine {

/// What a piece of text is before any merge.
enum class bpe_alphabet {
    bytes,       ///< a symbol a byte (GPT-2 and its heirs)
    code_points, ///< a symbol a code point (SentencePiece), bytes for those without a token
};

/// From one pre-token to ids: first symbols, then merges. Built by a bpe_builder.
/// Strings are in the form the merges see: raw bytes, or '▁' for a space where the model has it so.
/// A byte that has no token becomes `unknown`, or nothing if there is no such token.
class bpe_model {
public:
    /// Buffers of encode(), reused between calls.
    struct scratch {
        std::vector<std::int32_t> symbols;
        merge_table::scratch merges;
    };

    /// Appends the ids of a pre-token.
    void encode(std::string_view text, std::vector<std::int32_t>& out, scratch& s) const {
        if (word_sign_.empty())
            return encode_word(text, out, s);
        // No token has the sign behind another character: no merge crosses such a place.
        std::size_t begin = 0;
        bool in_word = false; // a character that is no sign has been seen
        for (std::size_t i = 0; i < text.size();) {
            if (text[i] == word_sign_[0] && text.substr(i).starts_with(word_sign_)) {
                if (in_word) {
                    encode_word(text.substr(begin, i - begin), out, s);
                    begin = i;
                    in_word = false;
                }
                i += word_sign_.size();
            } else {
                in_word = true;
                ++i;
            }
        }
        if (begin < text.size())
            encode_word(text.substr(begin), out, s);
    }

private:
    friend class bpe_builder;

    struct whole_token {
        std::int32_t id = -1;
        bool direct = false; ///< a pre-token with this text has this id, without looking at merges
    };
    struct text_hash {
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const {
            return std::hash<std::string_view>{}(text);
        }
    };

    void encode_word(std::string_view text, std::vector<std::int32_t>& out, scratch& s) const {
        if (text.size() <= longest_) {
            const auto whole = tokens_.find(text);
            if (whole != tokens_.end() && whole->second.direct)
                return out.push_back(whole->second.id);
        }
        merge_symbols(text, s);
        const std::size_t begin = out.size();
        for (const std::int32_t symbol : s.symbols)
            put(symbol, begin, out);
    }

    void merge_symbols(std::string_view text, scratch& s) const {
        s.symbols.clear();
        if (alphabet_ == bpe_alphabet::bytes)
            for (const char byte : text)
                put_byte(byte, s.symbols);
        else
            for (std::size_t i = 0; i < text.size();)
                i += put_code_point(text, i, s.symbols);
        merges_.join(s.symbols, s.merges);
    }

    void put_byte(char byte, std::vector<std::int32_t>& symbols) const {
        const std::int32_t id = byte_ids_[static_cast<unsigned char>(byte)];
        if (id >= 0 || unknown_ >= 0)
            symbols.push_back(id >= 0 ? id : unknown_);
    }

    std::size_t put_code_point(std::string_view text, std::size_t i,
                               std::vector<std::int32_t>& symbols) const {
        const code_point c = decode_utf8(text, i);
        if (c.bytes == 0) {
            put_byte(text[i], symbols);
            return 1;
        }
        const std::int32_t id = c.value < 128 ? ascii_[c.value] : character(c.value);
        if (id >= 0)
            symbols.push_back(id);
        else
            put_fallback(text.substr(i, c.bytes), symbols);
        return c.bytes;
    }

    [[nodiscard]] std::int32_t character(char32_t value) const {
        const auto found = characters_.find(value);
        return found == characters_.end() ? -1 : found->second;
    }

    /// A code point without a token: all of its bytes, or one unknown token.
    void put_fallback(std::string_view text, std::vector<std::int32_t>& symbols) const {
        bool all = true;
        for (const char byte : text)
            all = all && byte_ids_[static_cast<unsigned char>(byte)] >= 0;
        if (all)
            for (const char byte : text)
                put_byte(byte, symbols);
        else if (unknown_ >= 0)
            symbols.push_back(unknown_);
    }

    void put(std::int32_t symbol, std::size_t begin, std::vector<std::int32_t>& out) const {
        if (symbol == unknown_ && fuse_unknown_ && out.size() > begin && out.back() == unknown_)
            return;
        if (const auto unused = unused_.find(symbol); unused != unused_.end()) {
            put(unused->second.first, begin, out);
            return put(unused->second.second, begin, out);
        }
        if (symbol < vocabulary_size_)
            return out.push_back(symbol);
        std::string text;
        append_utf8(text, helpers_[static_cast<std::size_t>(symbol - vocabulary_size_)]);
        std::vector<std::int32_t> bytes;
        put_fallback(text, bytes);
        for (const std::int32_t id : bytes)
            put(id, begin, out);
    }

    bpe_alphabet alphabet_ = bpe_alphabet::bytes;
    std::int32_t vocabulary_size_ = 0;
    std::array<std::int32_t, 256> byte_ids_{}; // -1: no token
    std::array<std::int32_t, 128> ascii_{};    // code points below 128; -1: no symbol
    boost::unordered_flat_map<char32_t, std::int32_t> characters_;
    /// Code points that are no tokens but parts of tokens: symbols vocabulary_size_, +1, ...
    std::vector<char32_t> helpers_;
    merge_table merges_;
    /// Tokens that are parts of others only: what they are made of.
    boost::unordered_flat_map<std::int32_t, std::pair<std::int32_t, std::int32_t>> unused_;
    boost::unordered_flat_map<std::string, whole_token, text_hash, std::equal_to<>> tokens_;
    std::size_t longest_ = 0; // of tokens_, in bytes
    std::string word_sign_;   // where words may be cut; empty: nowhere
    std::int32_t unknown_ = -1;
    bool fuse_unknown_ = false;
};

} // namespace specdec::engine
