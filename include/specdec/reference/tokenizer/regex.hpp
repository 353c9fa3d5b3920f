// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#ifndef PCRE2_CODE_UNIT_WIDTH
#define PCRE2_CODE_UNIT_WIDTH 8
#endif
#include <pcre2.h>

#include <specdec/core/error.hpp>
#include <specdec/reference/tokenizer/regex_syntax.hpp>

namespace specdec::reference {

/// A compiled regular expression over UTF-8 text (PCRE2, Unicode properties, JIT where available).
/// A cheap value; one object may be used by many threads, each with a matcher of its own.
/// Errors: a pattern that PCRE2 does not take is a specdec::error that names source and field.
class regex {
public:
    /// Matching state of one thread, for any number of expressions.
    class matcher {
    public:
        matcher() : data_(pcre2_match_data_create_8(1, nullptr), &pcre2_match_data_free_8) {
            if (!data_)
                throw error("regular expression", "memory", "expected enough of it");
        }

    private:
        friend class regex;
        std::unique_ptr<pcre2_match_data_8, void (*)(pcre2_match_data_8*)> data_;
    };

    /// A pattern in the syntax of tokenizer.json (Oniguruma).
    regex(std::string_view pattern, white_space_rule spaces, const std::string& source,
          const std::string& field)
        // A pattern that backtracks without end gives an error instead.
        : regex("(*LF)(*LIMIT_MATCH=1000000)" + to_pcre2_syntax(pattern, spaces, source, field),
                PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C, source, field) {}

    /// A pattern that matches just this text.
    static regex of_text(std::string_view text, const std::string& source,
                         const std::string& field) {
        return {text, PCRE2_LITERAL, source, field};
    }

    /// The first match from `from` on: sets [begin, end) and returns true.
    /// Precondition: the text is valid UTF-8 and `from` stands between code points.
    bool find(std::string_view text, std::size_t from, matcher& m, std::size_t& begin,
              std::size_t& end) const {
        const auto* subject = reinterpret_cast<PCRE2_SPTR8>(text.data());
        int found = pcre2_match_8(code_.get(), subject, text.size(), from, PCRE2_NO_UTF_CHECK,
                                  m.data_.get(), nullptr);
        if (found == PCRE2_ERROR_JIT_STACKLIMIT)
            found = pcre2_match_8(code_.get(), subject, text.size(), from,
                                  PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT, m.data_.get(), nullptr);
        if (found == PCRE2_ERROR_NOMATCH)
            return false;
        const std::size_t* bounds = pcre2_get_ovector_pointer_8(m.data_.get());
        if (found < 0)
            throw error(where_ + ": matching failed: " + message(found));
        begin = bounds[0];
        end = bounds[1];
        if (begin < from || end < begin || end > text.size())
            throw error(where_ + ": expected matches in order (no \\K)");
        return true;
    }

private:
    regex(std::string_view pattern, std::uint32_t options, const std::string& source,
          const std::string& field)
        : where_(source + ": " + field) {
        int code = 0;
        std::size_t at = 0;
        pcre2_code_8* compiled =
            pcre2_compile_8(reinterpret_cast<PCRE2_SPTR8>(pattern.data()), pattern.size(),
                            PCRE2_UTF | options, &code, &at, nullptr);
        if (compiled == nullptr)
            throw error(source, field, "expected a regular expression: " + message(code));
        pcre2_jit_compile_8(compiled, PCRE2_JIT_COMPLETE); // without it, matching interprets
        code_ = std::shared_ptr<const pcre2_code_8>(compiled,
                                                    [](pcre2_code_8* c) { pcre2_code_free_8(c); });
    }

    static std::string message(int code) {
        PCRE2_UCHAR8 text[160] = {};
        pcre2_get_error_message_8(code, text, sizeof text);
        return reinterpret_cast<const char*>(text);
    }

    std::shared_ptr<const pcre2_code_8> code_;
    std::string where_;
};

} // namespace specdec::reference
