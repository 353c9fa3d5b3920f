// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <specdec/core/concepts.hpp>
#include <specdec/core/error.hpp>
#include <specdec/vocab/table/vocabulary.hpp>

namespace specdec {

/// Longest match over a handful of pieces: the smallest tokenizer that makes two vocabularies
/// differ. A piece in angle brackets is a control token. Models TokenizerOf<Id> and offers its
/// table. Errors: specdec::error for text that no piece matches.
template <class Id>
class piece_tokenizer {
public:
    explicit piece_tokenizer(const std::vector<std::string>& pieces) {
        for (const std::string& piece : pieces)
            table_.add(piece, piece.size() > 1 && piece.front() == '<' ? token_kind::control
                                                                       : token_kind::normal);
    }

    [[nodiscard]] const vocabulary& table() const { return table_; }
    [[nodiscard]] std::size_t vocabulary_size() const { return table_.size(); }
    [[nodiscard]] std::string_view bytes(Id id) const { return table_.text(id.index()); }

    void encode(std::string_view text, encode_mode, std::vector<Id>& out) const {
        while (!text.empty()) {
            std::size_t best = 0, id = 0;
            for (std::size_t i = 0; i < table_.size(); ++i)
                if (const std::string_view piece = table_.text(i);
                    piece.size() > best && text.starts_with(piece)) {
                    best = piece.size();
                    id = i;
                }
            if (best == 0)
                fail("piece tokenizer", "text", "expected pieces of the table");
            out.push_back(id_at<Id>(id));
            text.remove_prefix(best);
        }
    }

private:
    vocabulary table_;
};

} // namespace specdec
