// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include <gguf.h>
#include <llama.h>

/// Two vocabularies of about 300 tokens that spell the same words in different pieces.
namespace specdec::tiny {

struct vocabulary_parts {
    std::string model; ///< "llama" (SentencePiece), "gpt2" (byte-level BPE) or "none"
    std::vector<std::string> tokens;
    std::vector<std::int32_t> types;
    std::vector<float> scores;
    std::vector<std::string> merges;

    std::int32_t add(const std::string& token, llama_token_type type, float score = 0) {
        tokens.push_back(token);
        types.push_back(type);
        scores.push_back(score);
        return static_cast<std::int32_t>(tokens.size() - 1);
    }
    [[nodiscard]] std::int32_t id(const std::string& token) const {
        for (std::size_t i = 0; i < tokens.size(); ++i)
            if (tokens[i] == token)
                return static_cast<std::int32_t>(i);
        return -1;
    }
};

/// <unk>, <s>, </s>, 256 bytes, letters, and pieces by score.
inline vocabulary_parts sentencepiece() {
    const std::string sign = "\xE2\x96\x81";
    vocabulary_parts v{"llama", {}, {}, {}, {}};
    v.add("<unk>", LLAMA_TOKEN_TYPE_UNKNOWN);
    v.add("<s>", LLAMA_TOKEN_TYPE_CONTROL);
    v.add("</s>", LLAMA_TOKEN_TYPE_CONTROL);
    for (int byte = 0; byte < 256; ++byte) {
        char name[8];
        std::snprintf(name, sizeof name, "<0x%02X>", byte);
        v.add(name, LLAMA_TOKEN_TYPE_BYTE);
    }
    float score = -1;
    const std::vector<std::string> pieces{"th",  "the",        sign + "the", "at",
                                          "cat", sign + "cat", "er",         "ea",
                                          "her", "on",         sign + "on",  sign + sign};
    for (const std::string& piece : pieces)
        v.add(piece, LLAMA_TOKEN_TYPE_NORMAL, score--);
    v.add(sign, LLAMA_TOKEN_TYPE_NORMAL, score--);
    for (char c = 'a'; c <= 'z'; ++c)
        v.add(std::string(1, c), LLAMA_TOKEN_TYPE_NORMAL, score--);
    v.add("\xC3\xA9", LLAMA_TOKEN_TYPE_NORMAL, score--); // e with an acute accent
    v.add("<tool>", LLAMA_TOKEN_TYPE_USER_DEFINED);
    v.add("<left over>", LLAMA_TOKEN_TYPE_UNUSED);
    v.add("<|im_end|>", LLAMA_TOKEN_TYPE_CONTROL);
    return v;
}

/// GPT-2's letter for a byte, in UTF-8.
inline std::string byte_letter(int byte) {
    const auto has_own = [](int b) {
        return (b >= '!' && b <= '~') || (b >= 0xA1 && b <= 0xAC) || b >= 0xAE;
    };
    int letter = byte;
    if (!has_own(byte)) { // those without one, in order from U+0100 on
        letter = 256;
        for (int b = 0; b < byte; ++b)
            letter += has_own(b) ? 0 : 1;
    }
    if (letter < 0x80)
        return {static_cast<char>(letter)};
    return {static_cast<char>(0xC0 | letter >> 6), static_cast<char>(0x80 | (letter & 0x3F))};
}

/// 256 bytes, some merges, <|end|>.
inline vocabulary_parts byte_level() {
    vocabulary_parts v{"gpt2", {}, {}, {}, {}};
    for (int byte = 0; byte < 256; ++byte)
        v.add(byte_letter(byte), LLAMA_TOKEN_TYPE_NORMAL);
    const std::string space = byte_letter(' ');
    const std::vector<std::pair<std::string, std::string>> merges{
        {space, "t"}, {space + "t", "h"}, {"h", "e"},          {space + "t", "he"},
        {"a", "t"},   {space, "c"},       {space + "c", "at"}, {"r", "e"}};
    for (const auto& [left, right] : merges) {
        v.merges.push_back(left + " " + right);
        v.add(left + right, LLAMA_TOKEN_TYPE_NORMAL);
    }
    v.add("<|end|>", LLAMA_TOKEN_TYPE_CONTROL);
    v.add("<|im_end|>", LLAMA_TOKEN_TYPE_CONTROL);
    v.add("<tool>", LLAMA_TOKEN_TYPE_USER_DEFINED);
    return v;
}

inline void write_vocabulary(gguf_context* file, const vocabulary_parts& v) {
    const auto strings = [&](const char* key, const std::vector<std::string>& all) {
        std::vector<const char*> pointers;
        for (const std::string& text : all)
            pointers.push_back(text.c_str());
        gguf_set_arr_str(file, key, pointers.data(), pointers.size());
    };
    gguf_set_val_str(file, "tokenizer.ggml.model",
                     v.model == "none" ? "no_vocab" : v.model.c_str());
    if (v.model == "none") {
        gguf_set_val_u32(file, "llama.vocab_size", static_cast<std::uint32_t>(v.tokens.size()));
        return;
    }
    strings("tokenizer.ggml.tokens", v.tokens);
    gguf_set_arr_data(file, "tokenizer.ggml.token_type", GGUF_TYPE_INT32, v.types.data(),
                      v.types.size());
    const bool pieces = v.model == "llama";
    if (pieces) {
        gguf_set_arr_data(file, "tokenizer.ggml.scores", GGUF_TYPE_FLOAT32, v.scores.data(),
                          v.scores.size());
    } else {
        strings("tokenizer.ggml.merges", v.merges);
        gguf_set_val_str(file, "tokenizer.ggml.pre", "gpt-2");
    }
    const auto special = [&](const char* key, const char* name) {
        gguf_set_val_u32(file, key, static_cast<std::uint32_t>(v.id(name)));
    };
    special("tokenizer.ggml.bos_token_id", pieces ? "<s>" : "<|end|>");
    special("tokenizer.ggml.eos_token_id", pieces ? "</s>" : "<|end|>");
    gguf_set_val_bool(file, "tokenizer.ggml.add_bos_token", pieces);
}

} // namespace specdec::tiny
