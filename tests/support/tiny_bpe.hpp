// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <specdec/core/concepts.hpp>
#include <specdec/vocab/table/vocabulary.hpp>

namespace specdec::testing {

/// Byte-pair encoding over a handful of tokens: the text is cut before every space (pre-tokens),
/// and in each part the leftmost pair that makes the earliest token is joined, again and again.
/// Single letters first, joins in order of rank. Models TokenizerOf<Id> and offers its table.
template <class Id>
class tiny_bpe {
public:
    explicit tiny_bpe(const std::vector<std::string>& tokens) {
        for (const std::string& token : tokens)
            table_.add(token, token_kind::normal);
    }

    [[nodiscard]] const vocabulary& table() const { return table_; }
    [[nodiscard]] std::size_t vocabulary_size() const { return table_.size(); }
    [[nodiscard]] std::string_view bytes(Id id) const { return table_.text(id.index()); }

    void encode(std::string_view text, encode_mode, std::vector<Id>& out) const {
        while (!text.empty()) {
            const std::size_t space = text.find(' ', 1);
            const std::string_view part = text.substr(0, space);
            join(part, out);
            text.remove_prefix(part.size());
        }
    }

private:
    [[nodiscard]] std::size_t rank(const std::string& token) const {
        std::size_t i = 0;
        while (i < table_.size() && table_.text(i) != token)
            ++i;
        return i;
    }

    void join(std::string_view part, std::vector<Id>& out) const {
        std::vector<std::string> pieces;
        for (const char c : part)
            pieces.emplace_back(1, c);
        for (;;) {
            std::size_t best = table_.size(), at = 0;
            for (std::size_t i = 0; i + 1 < pieces.size(); ++i)
                if (const std::size_t r = rank(pieces[i] + pieces[i + 1]); r < best) {
                    best = r;
                    at = i;
                }
            if (best == table_.size())
                break;
            pieces[at] += pieces[at + 1];
            pieces.erase(pieces.begin() + static_cast<std::ptrdiff_t>(at) + 1);
        }
        for (const std::string& piece : pieces) {
            if (rank(piece) == table_.size())
                throw "tiny_bpe: no such letter";
            out.push_back(id_at<Id>(rank(piece)));
        }
    }

    vocabulary table_;
};

} // namespace specdec::testing
