// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm> // std::ranges::all_of, std::find_if, std::stable_sort
#include <cstddef>
#include <cstdint>
#include <iterator> // std::ssize
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <utf8proc.h>

#include <specdec/core/error.hpp>
#include <specdec_engine/tokenizer/regex.hpp>
#include <specdec_engine/tokenizer/utf8.hpp>

namespace specdec::engine {

enum class normalizer_kind { prepend, replace, nfc, nfd, nfkc, nfkd, lowercase };

struct normalizer_step {
    normalizer_kind kind;
    std::string find{};             ///< of replace: a plain text, unless `pattern` is there
    std::optional<regex> pattern{}; ///< of replace
    std::string content{};          ///< of replace and prepend
};

/// What happens to a text before it is cut: tokenizer.json's normalizers. Bytes that are not valid
/// UTF-8 pass unchanged.
/// Complexity: a step is linear in the text, but n log n in a run of n combining marks. A pattern
/// is bounded as regex.hpp says. Errors: specdec::error if steps blow a text up beyond all reason.
class normalizer {
public:
    void add(normalizer_step step) { steps_.push_back(std::move(step)); }
    [[nodiscard]] bool empty() const { return steps_.empty(); }

    /// Normalises in place; `prefix`: the text stands where something may be put in front.
    void apply(std::string& text, bool prefix, regex::matcher& matcher) const {
        const std::size_t most = (std::size_t{1} << 16) + 64 * text.size();
        for (const normalizer_step& step : steps_) {
            if (text.empty())
                return;
            switch (step.kind) {
            case normalizer_kind::prepend:
                if (prefix)
                    text.insert(0, step.content);
                break;
            case normalizer_kind::replace:
                step.pattern ? replace_pattern(text, step, most, matcher)
                             : replace_text(text, step, most);
                break;
            case normalizer_kind::nfc:
            case normalizer_kind::nfd:
            case normalizer_kind::nfkc:
            case normalizer_kind::nfkd:
            case normalizer_kind::lowercase:
                map_spans(text, step.kind);
            }
            if (text.size() > most)
                grown();
        }
    }

private:
    [[noreturn]] static void grown() {
        throw error("normalizer", "result", "expected at most 64 times the length of the text");
    }

    static void replace_text(std::string& text, const normalizer_step& step, std::size_t most) {
        std::size_t at = step.find.empty() ? std::string::npos : text.find(step.find);
        if (at == std::string::npos)
            return;
        std::string out;
        out.reserve(text.size() + text.size() / 2);
        std::size_t done = 0;
        for (; at != std::string::npos; at = text.find(step.find, done)) {
            out.append(text, done, at - done).append(step.content);
            done = at + step.find.size();
            if (out.size() > most)
                grown();
        }
        text = std::move(out.append(text, done, std::string::npos));
    }

    static void replace_pattern(std::string& text, const normalizer_step& step, std::size_t most,
                                regex::matcher& matcher) {
        std::string out;
        const auto keep = [&](std::size_t begin, std::size_t end) {
            out.append(text, begin, end - begin);
        };
        const auto valid = [&](std::size_t begin, std::size_t end) {
            const std::string_view span = std::string_view(text).substr(begin, end - begin);
            std::size_t done = 0, at = 0, from = 0, to = 0;
            while (at <= span.size() && step.pattern->find(span, at, matcher, from, to)) {
                if (to == from) {
                    at = to < span.size() ? to + decode_utf8(span, to).bytes : to + 1;
                    continue;
                }
                out.append(span, done, from - done).append(step.content);
                done = at = to;
                if (out.size() > most)
                    grown();
            }
            out.append(span, done);
        };
        for_each_utf8_span(text, valid, keep);
        text = std::move(out);
    }

    /// Normalization forms and lower case: maps every valid span.
    static void map_spans(std::string& text, normalizer_kind kind) {
        if (kind != normalizer_kind::lowercase && needs_no_mapping(text, kind))
            return;
        std::string out;
        out.reserve(text.size());
        const auto keep = [&](std::size_t begin, std::size_t end) {
            out.append(text, begin, end - begin);
        };
        const auto valid = [&](std::size_t begin, std::size_t end) {
            const std::string_view span = std::string_view(text).substr(begin, end - begin);
            kind == normalizer_kind::lowercase ? lower(span, out) : form(span, kind, out);
        };
        for_each_utf8_span(text, valid, keep);
        text = std::move(out);
    }

    /// ASCII is in every form; below U+0300 everything is in NFC.
    static bool needs_no_mapping(const std::string& text, normalizer_kind kind) {
        const unsigned limit = kind == normalizer_kind::nfc ? 0xCC : 0x80; // lead byte of U+0300
        return std::ranges::all_of(text, [=](unsigned char c) { return c < limit; });
    }

    static void lower(std::string_view span, std::string& out) {
        for (std::size_t i = 0; i < span.size();) {
            const code_point c = decode_utf8(span, i);
            i += c.bytes;
            if (c.value == 0x130) // the one letter whose lower case is two code points
                out += "i\xCC\x87";
            else
                append_utf8(out, static_cast<char32_t>(
                                     utf8proc_tolower(static_cast<std::int32_t>(c.value))));
        }
    }

    /// utf8proc_map without its sort, which is quadratic in a run of combining marks.
    static void form(std::string_view span, normalizer_kind kind, std::string& out) {
        const bool compose = kind == normalizer_kind::nfc || kind == normalizer_kind::nfkc;
        const bool compatible = kind == normalizer_kind::nfkc || kind == normalizer_kind::nfkd;
        const auto options = static_cast<utf8proc_option_t>(
            UTF8PROC_STABLE | (compose ? UTF8PROC_COMPOSE : UTF8PROC_DECOMPOSE) |
            (compatible ? UTF8PROC_COMPAT : 0));
        std::vector<utf8proc_int32_t> characters;
        characters.reserve(span.size());
        for (std::size_t i = 0; i < span.size();) {
            const code_point c = decode_utf8(span, i);
            i += c.bytes;
            utf8proc_int32_t parts[64]; // Unicode's longest are 18
            int boundary = UTF8PROC_BOUNDCLASS_START;
            const auto count =
                checked(utf8proc_decompose_char(static_cast<utf8proc_int32_t>(c.value), parts,
                                                std::ssize(parts), options, &boundary));
            characters.insert(characters.end(), parts, parts + count);
        }
        order_marks(characters);
        if (compose)
            characters.resize(static_cast<std::size_t>(checked(
                utf8proc_normalize_utf32(characters.data(), std::ssize(characters), options))));
        for (const utf8proc_int32_t c : characters)
            append_utf8(out, static_cast<char32_t>(c));
    }
    static utf8proc_ssize_t checked(utf8proc_ssize_t size) {
        if (size < 0)
            throw error("normalizer", "form", utf8proc_errmsg(size));
        return size;
    }

    /// The canonical order: of each run of combining marks, by their classes, else as they stand.
    static void order_marks(std::vector<utf8proc_int32_t>& characters) {
        const auto mark = [](utf8proc_int32_t c) {
            return utf8proc_get_property(c)->combining_class;
        };
        const auto before = [&](utf8proc_int32_t a, utf8proc_int32_t b) {
            return mark(a) < mark(b);
        };
        const auto is_mark = [&](utf8proc_int32_t c) { return mark(c) != 0; };
        for (auto begin = characters.begin(); begin != characters.end();) {
            begin = std::find_if(begin, characters.end(), is_mark);
            const auto end = std::find_if_not(begin, characters.end(), is_mark);
            if (!std::is_sorted(begin, end, before))
                std::stable_sort(begin, end, before);
            begin = end;
        }
    }

    std::vector<normalizer_step> steps_;
};

} // namespace specdec::engine
