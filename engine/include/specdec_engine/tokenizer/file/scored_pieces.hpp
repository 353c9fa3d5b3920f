// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <specdec/core/error.hpp>
#include <specdec_engine/tokenizer/bpe_builder.hpp>
#include <specdec_engine/tokenizer/piece_bytes.hpp>
#include <specdec_engine/tokenizer/tokenizer.hpp>

namespace specdec::engine {

/// A piece of SentencePiece's kind: '▁' stands for a space, the score is the order of its merge.
struct scored_piece {
    std::string text;
    float score = 0;
    token_kind kind = token_kind::normal;
    bool unknown = false; ///< the token of what has no token (its kind is control)
};

/// The kind that SentencePiece's and GGUF's files number so, 1 to 6; 2 is the unknown token's.
/// Errors: specdec::error for other numbers, naming source and field.
[[nodiscard]] inline token_kind piece_kind(std::int64_t number, const std::string& source,
                                           const std::string& field) {
    using enum token_kind;
    constexpr token_kind kinds[] = {normal, control, control, user, unused, byte};
    if (number < 1 || number > 6)
        throw error(source, field, "expected a type from 1 to 6, found " + std::to_string(number));
    return kinds[number - 1];
}

/// Where a text's user-defined tokens are found.
enum class user_token_rule {
    /// In the text with its prefix and its signs for spaces, the leftmost first (SentencePiece).
    sentencepiece,
    /// In the text as it comes, the longest first. At the start of a text the prefix is put after
    /// such a token, too (llama.cpp).
    llama_cpp,
};

/// How a text becomes the characters that are merged.
struct scored_rules {
    bool dummy_prefix = true; ///< a space is put before a text
    bool escape = true;       ///< spaces become '▁'
    user_token_rule user_tokens = user_token_rule::sentencepiece;
};

/// A tokenizer of scored pieces: SentencePiece BPE as .model files, GGUF and llama2.c keep it.
/// A piece of kind `byte` has a name "<0xNN>". A piece of kind `unused` is a part of others only:
/// what it was merged of stands for it. Errors: specdec::error(source, "FIELD[id]", ..).
[[nodiscard]] inline tokenizer_parts from_scored_pieces(const std::vector<scored_piece>& pieces,
                                                        scored_rules rules,
                                                        const std::string& source,
                                                        const std::string& field) {
    tokenizer_parts parts;
    if (rules.user_tokens == user_token_rule::llama_cpp)
        parts.literal.raw = parts.with_control.raw = added_tokens(added_order::longest);
    bpe_builder builder(bpe_alphabet::code_points, pieces.size(), source);
    std::vector<float> scores;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
        const scored_piece& piece = pieces[i];
        const auto id = static_cast<std::int32_t>(i);
        const std::string place = field + "[" + std::to_string(i) + "]";
        scores.push_back(piece.score);
        switch (piece.kind) {
        case token_kind::byte: {
            const std::optional<char> byte = byte_of_name(piece.text);
            if (!byte)
                throw error(source, place, "expected the name of a byte (<0x41>)");
            builder.add_byte(*byte, id);
            parts.table.add({&*byte, 1}, piece.kind);
            break;
        }
        case token_kind::normal:
            builder.add_token(piece.text, id, false, place);
            parts.table.add(with_spaces(piece.text), piece.kind);
            break;
        case token_kind::user:
            for (added_sets* found : {&parts.literal, &parts.with_control})
                switch (rules.user_tokens) {
                case user_token_rule::sentencepiece:
                    found->normalized.add(
                        {.content = rules.escape ? with_signs(piece.text) : piece.text, .id = id});
                    break;
                case user_token_rule::llama_cpp:
                    found->raw.add({.content = piece.text, .id = id});
                    break;
                }
            // Not found as such, a token with signs may still be merged.
            if (rules.user_tokens == user_token_rule::llama_cpp &&
                piece.text.find(space_sign) != std::string::npos)
                builder.add_token(piece.text, id, false, place);
            parts.table.add(with_spaces(piece.text), piece.kind);
            break;
        case token_kind::unused:
            builder.add_unused(piece.text, id, place);
            parts.table.add(piece.text, piece.kind);
            break;
        case token_kind::control:
            if (piece.unknown)
                builder.set_unknown(id, true);
            parts.with_control.raw.add({.content = piece.text, .id = id});
            parts.table.add(piece.text, piece.kind);
        }
    }
    builder.add_scores(scores, field);
    parts.model = std::move(builder).finish(false, rules.escape ? space_sign : " ");
    if (rules.dummy_prefix)
        parts.normalize.add({.kind = normalizer_kind::prepend, .content = " "});
    if (rules.escape)
        parts.normalize.add(
            {.kind = normalizer_kind::replace, .find = " ", .content = std::string(space_sign)});
    return parts;
}

} // namespace specdec::engine
