// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <boost/container_hash/hash.hpp>
#include <boost/unordered/unordered_flat_map.hpp>

#include <specdec/vocab/table/vocabulary.hpp>

/// The joins of the papers, on the strings that tokenizers' files display. FOR COMPARISON ONLY:
/// they reproduce published counts and show what a join on bytes (intersection.hpp) does better. No
/// bridge uses them.
namespace specdec::papers {

/// How a vocabulary's files spell its tokens.
enum class display_family {
    byte_level,   ///< every byte a letter (GPT-2's map): a space is U+0120, the bytes of an e acute
                  ///< two
    sentencepiece ///< text as it is, a space as U+2581, byte tokens as <0x0A>
};

/// The family of a table: byte-level if it has a normal token that is one byte of a longer
/// character (and no byte tokens), SentencePiece otherwise.
[[nodiscard]] inline display_family display_family_of(const vocabulary& table) {
    auto family = display_family::sentencepiece;
    for (std::size_t i = 0; i < table.size(); ++i) {
        if (table.kind(i) == token_kind::byte)
            return display_family::sentencepiece;
        if (table.kind(i) == token_kind::normal && table.entry(i).size() == 1 &&
            static_cast<unsigned char>(table.entry(i)[0]) >= 0x80)
            family = display_family::byte_level;
    }
    return family;
}

/// The sign that stands for a space in front of a word.
[[nodiscard]] constexpr std::string_view space_sign(display_family family) {
    return family == display_family::byte_level ? "\xc4\xa0" : "\xe2\x96\x81"; // U+0120, U+2581
}

namespace detail {

/// GPT-2's letter of a byte: itself where it is a printable Latin-1 letter, else the next of U+0100
/// on.
inline void append_byte_letter(std::string& out, unsigned char byte) {
    const auto is_plain = [](unsigned b) {
        return (b >= 0x21 && b <= 0x7e) || (b >= 0xa1 && b <= 0xac) || b >= 0xae;
    };
    unsigned letter = byte;
    if (!is_plain(byte)) {
        letter = 0x100;
        for (unsigned b = 0; b < byte; ++b)
            if (!is_plain(b))
                ++letter;
    }
    if (letter < 0x80) {
        out += static_cast<char>(letter);
    } else {
        out += static_cast<char>(0xc0 | (letter >> 6));
        out += static_cast<char>(0x80 | (letter & 0x3f));
    }
}

} // namespace detail

/// The displayed string of a token: what stands in tokenizer.json or in the SentencePiece model.
/// Control and unused entries are displayed as they are; user entries, too, but for the sign that
/// SentencePiece has for a space (Gemma's runs of spaces are such). Pre: i < table.size().
[[nodiscard]] inline std::string displayed(const vocabulary& table, std::size_t i,
                                           display_family family) {
    const std::string_view entry = table.entry(i);
    const token_kind kind = table.kind(i);
    std::string out;
    if (kind == token_kind::byte) {
        const auto byte = static_cast<unsigned char>(entry[0]);
        constexpr const char* digits = "0123456789ABCDEF";
        out.append("<0x").append(1, digits[byte >> 4]).append(1, digits[byte & 15]).append(">");
    } else if (!table.is_text(i) ||
               (kind == token_kind::user && family == display_family::byte_level)) {
        out = entry;
    } else if (family == display_family::byte_level) {
        for (const char c : entry)
            detail::append_byte_letter(out, static_cast<unsigned char>(c));
    } else {
        for (const char c : entry) {
            if (c == ' ')
                out += space_sign(family);
            else
                out += c;
        }
    }
    return out;
}

/// What a join on displayed strings finds.
struct string_join {
    std::size_t pairs = 0; ///< draft ids with a partner: equal displayed strings
    /// Of these, pairs whose tokens differ: other bytes, or text with a token that is none. Each
    /// makes the drafter propose, and read, something other than it says.
    std::size_t false_pairs = 0;
};

namespace detail {

inline string_join join_displayed(const vocabulary& draft, const vocabulary& target,
                                  bool swap_sign) {
    const display_family draft_family = display_family_of(draft);
    const display_family target_family = display_family_of(target);
    boost::unordered_flat_map<std::string, std::size_t> partner;
    partner.reserve(target.size());
    for (std::size_t t = 0; t < target.size(); ++t)
        partner.try_emplace(displayed(target, t, target_family), t);

    const std::string_view draft_sign = space_sign(draft_family);
    string_join join;
    for (std::size_t d = 0; d < draft.size(); ++d) {
        std::string name = displayed(draft, d, draft_family);
        if (swap_sign && name.starts_with(draft_sign))
            name.replace(0, draft_sign.size(), space_sign(target_family));
        if (name.empty())
            continue; // an id without a token
        const auto found = partner.find(name);
        if (found == partner.end())
            continue;
        ++join.pairs;
        const std::size_t t = found->second;
        if (draft.is_text(d) != target.is_text(t) || draft.text(d) != target.text(t))
            ++join.false_pairs;
    }
    return join;
}

} // namespace detail

/// Equal displayed strings as they stand (Timor et al., Tables 4 and 5).
[[nodiscard]] inline string_join join_on_strings(const vocabulary& draft,
                                                 const vocabulary& target) {
    return detail::join_displayed(draft, target, false);
}

/// The same after the drafter's leading space sign has been replaced by the target's; counted by
/// draft id (OmniDraft, Table 8). Only the sign in front of a token is replaced: replacing all of
/// them would give 15 more pairs (runs of spaces) than the paper counts for its drafter.
[[nodiscard]] inline string_join join_on_signs(const vocabulary& draft, const vocabulary& target) {
    return detail::join_displayed(draft, target, true);
}

} // namespace specdec::papers
