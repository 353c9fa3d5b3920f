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
#include <specdec_engine/tokenizer/regex_syntax.hpp>
#include <specdec_engine/tokenizer/utf8.hpp>

namespace specdec::engine {

/// A compiled regular expression over UTF-8 text (PCRE2, Unicode properties, JIT where available).
/// A cheap value; one object may be used by many threads, each with a matcher of its own.
///
/// A pattern may backtrack, and PCRE2 counts its steps. At each place of a text a search takes up
/// to free_steps. If it needs more, it takes them from the text's allowance: all_steps, and
/// steps_a_byte for each of its bytes. So runs of a million equal characters pass, and no pattern
/// backtracks for long. Memory is bounded in the same way. What PCRE2 does not count is the reading
/// ahead of a single repeat, as in (?=.*x): at worst that is quadratic in the text.
///
/// Errors: specdec::error that names source and field, for a pattern that PCRE2 refuses or that
/// takes more steps or memory.
class regex {
public:
    static constexpr std::uint32_t free_steps = 256;
    static constexpr std::uint64_t all_steps = std::uint64_t{1} << 25;
    static constexpr std::uint64_t steps_a_byte = 64;
    static constexpr std::uint64_t all_memory = std::uint64_t{64} << 20; ///< bytes
    static constexpr std::uint64_t memory_a_byte = 256;

    /// Matching state of one thread and the allowance of one text, for any number of expressions.
    class matcher {
    public:
        /// `bytes`: the size of the text.
        explicit matcher(std::size_t bytes = 0)
            : data_(pcre2_match_data_create_8(1, nullptr), &pcre2_match_data_free_8),
              limits_(pcre2_match_context_create_8(nullptr), &pcre2_match_context_free_8),
              steps_(all_steps + steps_a_byte * bytes) {
            if (!data_ || !limits_)
                throw error("regular expression", "memory", "expected enough of it");
            const std::uint64_t kib = (all_memory + memory_a_byte * bytes) >> 10;
            pcre2_set_heap_limit_8(limits_.get(),
                                   kib < UINT32_MAX ? static_cast<std::uint32_t>(kib) : UINT32_MAX);
        }

    private:
        friend class regex;

        /// Takes the steps off the allowance; false if it has not that many.
        bool take(std::uint64_t steps) {
            if (steps > steps_)
                return false;
            steps_ -= steps;
            return true;
        }

        std::unique_ptr<pcre2_match_data_8, void (*)(pcre2_match_data_8*)> data_;
        std::unique_ptr<pcre2_match_context_8, void (*)(pcre2_match_context_8*)> limits_;
        std::uint64_t steps_;
    };

    /// A pattern in the syntax of tokenizer.json (Oniguruma).
    regex(std::string_view pattern, white_space_rule spaces, const std::string& source,
          const std::string& field)
        : regex("(*LF)" + to_pcre2_syntax(pattern, spaces, source, field),
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
        int found = match(text, from, 0, free_steps, m);
        if (found == PCRE2_ERROR_MATCHLIMIT)
            found = find_at_length(text, from, m);
        if (found == PCRE2_ERROR_NOMATCH)
            return false;
        if (found < 0)
            refuse(found);
        const std::size_t* bounds = pcre2_get_ovector_pointer_8(m.data_.get());
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
        // A group that only groups costs nothing; where a pattern refers to groups, all are kept.
        int code = compile(pattern, options | PCRE2_NO_AUTO_CAPTURE);
        if (code != 0)
            code = compile(pattern, options);
        if (code != 0)
            throw error(source, field, "expected a regular expression: " + message(code));
        std::size_t state = 0;
        pcre2_pattern_info_8(code_.get(), PCRE2_INFO_FRAMESIZE, &state);
        if (state > most_state)
            throw error(source, field,
                        "expected a regular expression that refers to its groups to have fewer");
    }

    /// Sets code_ and returns 0, or PCRE2's error.
    int compile(std::string_view pattern, std::uint32_t options) {
        int code = 0;
        std::size_t at = 0;
        pcre2_code_8* const compiled =
            pcre2_compile_8(reinterpret_cast<PCRE2_SPTR8>(pattern.data()), pattern.size(),
                            PCRE2_UTF | options, &code, &at, nullptr);
        if (compiled == nullptr)
            return code;
        pcre2_jit_compile_8(compiled, PCRE2_JIT_COMPLETE); // without it, matching interprets
        code_ = std::shared_ptr<const pcre2_code_8>(compiled,
                                                    [](pcre2_code_8* c) { pcre2_code_free_8(c); });
        return 0;
    }

    /// PCRE2's result of a search that takes at most so many steps from each place of the text.
    int match(std::string_view text, std::size_t from, std::uint32_t options, std::uint32_t steps,
              matcher& m) const {
        pcre2_set_match_limit_8(m.limits_.get(), steps);
        const auto run = [&](std::uint32_t all_options) {
            return pcre2_match_8(code_.get(), reinterpret_cast<PCRE2_SPTR8>(text.data()),
                                 text.size(), from, all_options, m.data_.get(), m.limits_.get());
        };
        const int found = run(options | PCRE2_NO_UTF_CHECK);
        return found == PCRE2_ERROR_JIT_STACKLIMIT
                   ? run(options | PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT)
                   : found;
    }

    /// The same search from place to place, since PCRE2 does not tell which of them takes more than
    /// the free steps. Such a place has as many as the last one needed, and twice as many as long
    /// as these do not do: the allowance pays.
    int find_at_length(std::string_view text, std::size_t from, matcher& m) const {
        std::uint32_t steps = 2 * free_steps;
        for (std::size_t at = from; at <= text.size(); at += next(text, at)) {
            int found = match(text, at, PCRE2_ANCHORED, free_steps, m);
            while (found == PCRE2_ERROR_MATCHLIMIT && m.take(steps)) {
                found = match(text, at, PCRE2_ANCHORED, steps, m);
                if (found == PCRE2_ERROR_MATCHLIMIT && steps <= UINT32_MAX / 2)
                    steps *= 2;
            }
            if (found != PCRE2_ERROR_NOMATCH)
                return found;
        }
        return PCRE2_ERROR_NOMATCH;
    }
    static std::size_t next(std::string_view text, std::size_t at) {
        return at < text.size() ? decode_utf8(text, at).bytes : 1;
    }

    [[noreturn]] void refuse(int code) const {
        const auto number = [](std::uint64_t n) { return std::to_string(n); };
        if (code == PCRE2_ERROR_MATCHLIMIT || code == PCRE2_ERROR_DEPTHLIMIT)
            throw error(where_ + ": expected a pattern that takes at most " + number(all_steps) +
                        " steps and " + number(steps_a_byte) +
                        " for each byte of the text: this one backtracks without end");
        if (code == PCRE2_ERROR_HEAPLIMIT || code == PCRE2_ERROR_NOMEMORY)
            throw error(where_ + ": expected a pattern that takes at most " +
                        number(all_memory >> 20) + " MiB of memory and " + number(memory_a_byte) +
                        " bytes for each byte of the text");
        throw error(where_ + ": matching failed: " + message(code));
    }

    static std::string message(int code) {
        PCRE2_UCHAR8 text[160] = {};
        pcre2_get_error_message_8(code, text, sizeof text);
        return reinterpret_cast<const char*>(text);
    }

    static constexpr std::size_t most_state = 4096; // bytes that a step may have to copy

    std::shared_ptr<const pcre2_code_8> code_;
    std::string where_;
};

} // namespace specdec::engine
