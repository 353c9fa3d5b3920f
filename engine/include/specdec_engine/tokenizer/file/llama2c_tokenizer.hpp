// SPDX-License-Identifier: MIT
#pragma once

#include <bit> // std::endian
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <specdec/core/error.hpp>
#include <specdec_engine/file/byte_reader.hpp>
#include <specdec_engine/tokenizer/file/scored_pieces.hpp>

namespace specdec::engine {

/// A tokenizer .bin of llama2.c from memory: the greatest length of a token, then for each token
/// its score, length and text, spaces written as they are. Token 0 is unknown, 1 BOS, 2 EOS, 3 to
/// 258 are the bytes. Texts begin with BOS by default.
/// Errors: specdec::error that names file and field.
[[nodiscard]] inline tokenizer read_llama2c_tokenizer(std::string_view bytes,
                                                      const std::string& source) {
    static_assert(std::endian::native == std::endian::little);
    constexpr std::size_t first_normal = 3 + 256;
    byte_reader in(std::as_bytes(std::span(bytes)), source);
    const auto longest = in.read<std::int32_t>("max_token_length");
    if (longest < 1)
        throw error(source, "max_token_length", "expected at least 1");
    std::vector<scored_piece> pieces;
    while (in.left() > 0) {
        const std::size_t id = pieces.size();
        const std::string field = "tokens[" + std::to_string(id) + "]";
        scored_piece piece;
        piece.score = in.read<float>(field);
        const auto length = in.read<std::int32_t>(field);
        // Names of control tokens come with line ends around them and may exceed the maximum.
        if (length < 0 || (id >= 3 && length > longest))
            throw error(source, field,
                        "expected a length from 0 to " + std::to_string(longest) + ", found " +
                            std::to_string(length));
        piece.text = in.take(static_cast<std::uint64_t>(length), field);
        if (id < 3) {
            piece.kind = token_kind::control;
            piece.unknown = id == 0;
            while (piece.text.ends_with('\n'))
                piece.text.pop_back();
            piece.text.erase(0, piece.text.find_first_not_of('\n'));
        } else if (id < first_normal) {
            piece.kind = token_kind::byte;
            const auto byte = byte_of_name(piece.text);
            if (!byte || static_cast<unsigned char>(*byte) != id - 3)
                throw error(source, field, "expected the name of byte " + std::to_string(id - 3));
        }
        pieces.push_back(std::move(piece));
    }
    if (pieces.size() < first_normal)
        throw error(source, "tokens",
                    "expected at least " + std::to_string(first_normal) + ", found " +
                        std::to_string(pieces.size()));
    tokenizer_parts parts = from_scored_pieces(pieces, {.escape = false}, source, "tokens");
    parts.special = {.bos = 1, .eos = {2}, .add_bos = true};
    return tokenizer(std::move(parts));
}

} // namespace specdec::engine
