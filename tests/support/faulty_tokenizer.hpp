// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm> // std::copy
#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <specdec/core/concepts.hpp>
#include <specdec/vocab/encoding/utf8_edges.hpp>
#include <specdec/vocab/table/vocabulary.hpp>

#include "toy_tokenizer.hpp"

namespace specdec::testing {

/// What can go wrong in an adapter.
enum class tokenizer_fault {
    none,
    refuses,               ///< throws at a text
    out_of_range,          ///< vocabulary_size() leaves out the added tokens
    clears_out,            ///< encode sets `out` instead of appending
    clears_out_at_start,   ///< the same, at the beginning of a text only
    depends_on_out,        ///< what is there already changes the encoding
    adds_bos,              ///< to every text
    empty_text_is_a_space, ///< a leading space without a text
    one_buffer,            ///< bytes() writes to one buffer
    replaced_pieces,       ///< pieces of characters are shown as U+FFFD
    space_signs,           ///< U+2581 for a space
    byte_names,            ///< <0xE4> for a byte
    prints_control,        ///< control tokens have their names for bytes
    parses_names,          ///< names of control tokens become control tokens
    space_everywhere,      ///< the leading space of a text in continuations too
    two_spaces,            ///< at the start
    lower_case,            ///< a stable normalisation
    doubles_z,             ///< a normalisation that is not stable
    cut_at_zero,           ///< texts are C strings
    throws_at_invalid,     ///< UTF-8 only
    stops_at_invalid,      ///< the rest of the text is lost
};

/// Longest match over the bytes, some words and two control tokens, with one fault.
template <class Id>
class faulty_tokenizer {
public:
    static constexpr Id bos{256}, eos{257};

    explicit faulty_tokenizer(tokenizer_fault f = tokenizer_fault::none) : fault_(f) {
        for (int b = 0; b < 256; ++b)
            table_.add(shown(std::string(1, static_cast<char>(b))), token_kind::normal);
        for (const char* name : {"<s>", "</s>"})
            table_.add(name, has(fault::prints_control) ? token_kind::normal : token_kind::control);
        for (const char* word : {"the", " the", " quick", "\u00e9", "\xe4\xbd", " f", "  "}) {
            words_.push_back(word);
            table_.add(shown(word), token_kind::normal);
        }
    }

    [[nodiscard]] std::size_t vocabulary_size() const {
        return has(fault::out_of_range) ? 256 : table_.size();
    }

    [[nodiscard]] std::string_view bytes(Id id) const {
        const std::string_view text = table_.text(id.index());
        if (!has(fault::one_buffer))
            return text;
        std::copy(text.begin(), text.end(), buffer_);
        return {buffer_, text.size()};
    }

    void encode(std::string_view text, encode_mode where, std::vector<Id>& out) const {
        std::string changed = normalised(text);
        if (has(fault::clears_out) ||
            (has(fault::clears_out_at_start) && where == encode_mode::start))
            out.clear();
        if (has(fault::depends_on_out) && !out.empty())
            changed += 'e';
        if (has(fault::adds_bos))
            out.push_back(bos);
        if (has(fault::space_everywhere) || has(fault::two_spaces))
            if (!text.empty() && (where == encode_mode::start || has(fault::space_everywhere)))
                changed.insert(0, has(fault::two_spaces) ? "  " : " ");
        if (has(fault::empty_text_is_a_space) && text.empty())
            changed = " ";
        for (std::string_view rest = changed; !rest.empty();)
            rest.remove_prefix(put_longest(rest, out));
    }

private:
    using fault = tokenizer_fault;

    [[nodiscard]] bool has(fault f) const { return fault_ == f; }

    [[nodiscard]] std::string normalised(std::string_view text) const {
        const bool invalid = test::whole_characters(text).size() != text.size() ||
                             test::whole_characters(text) != text;
        if (has(fault::refuses) || (has(fault::throws_at_invalid) && invalid))
            throw std::runtime_error("not a text");
        std::string result;
        for (std::size_t i = 0; i < text.size(); ++i) {
            const char c = text[i];
            if (has(fault::cut_at_zero) && c == '\0')
                break;
            if (has(fault::stops_at_invalid) && invalid && static_cast<unsigned char>(c) >= 0x80)
                break;
            result +=
                has(fault::lower_case) && c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
            if (has(fault::doubles_z) && c == 'z')
                result += c;
        }
        return result;
    }

    [[nodiscard]] std::string shown(std::string piece) const {
        if (has(fault::replaced_pieces))
            return test::whole_characters(piece);
        if (has(fault::space_signs))
            return test::replace_all(piece, " ", "\u2581");
        if (has(fault::byte_names) && piece.size() == 1 &&
            static_cast<unsigned char>(piece[0]) >= 0x80) {
            const char* const digits = "0123456789ABCDEF";
            const auto byte = static_cast<unsigned char>(piece[0]);
            return std::string("<0x") + digits[byte >> 4] + digits[byte & 15] + '>';
        }
        return piece;
    }

    std::size_t put_longest(std::string_view text, std::vector<Id>& out) const {
        if (has(fault::parses_names))
            for (const Id id : {bos, eos})
                if (text.starts_with(table_.entry(id.index()))) {
                    out.push_back(id);
                    return table_.entry(id.index()).size();
                }
        std::size_t longest = 1, id = static_cast<unsigned char>(text[0]);
        for (std::size_t w = 0; w < words_.size(); ++w)
            if (words_[w].size() > longest && text.starts_with(words_[w])) {
                longest = words_[w].size();
                id = 258 + w;
            }
        out.push_back(id_at<Id>(id));
        return longest;
    }

    fault fault_;
    vocabulary table_;
    std::vector<std::string> words_;
    mutable char buffer_[16] = {};
};

} // namespace specdec::testing
