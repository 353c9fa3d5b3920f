// SPDX-License-Identifier: MIT
#pragma once

#include <stdexcept> // std::runtime_error
#include <string>

#include <specdec/core/basic/builtins.hpp>

namespace specdec {

namespace error_detail {

/// A text whose control bytes are written out (\x00). Messages quote files, and a NUL would end
/// what(), an escape sequence would reach a terminal.
[[nodiscard]] inline std::string with_visible_controls(const std::string& text) {
    constexpr const char* digits = "0123456789abcdef";
    std::string out;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte < 0x20 || byte == 0x7f)
            out += {'\\', 'x', digits[byte >> 4], digits[byte & 0xf]};
        else
            out += c;
    }
    return out;
}

} // namespace error_detail

/// What every part of the library throws for bad input: files, tables, prompts, settings.
/// The text names the source (a file, an argument), the field in it, and what was expected there,
/// in the form "SOURCE: FIELD: EXPECTED", on one line: control bytes are written as \x00. A round
/// throws it for rows that break their contract and for calls out of order.
class error : public std::runtime_error {
public:
    explicit error(const std::string& what)
        : std::runtime_error(error_detail::with_visible_controls(what)) {}
    error(const std::string& source, const std::string& field, const std::string& expected)
        : error(source + ": " + field + ": " + expected) {}
};

#if !defined(__cpp_exceptions)
/// Receives errors where exceptions are off (-fno-exceptions). The program defines it once, in any
/// source file; without a definition it does not link. It must not return: it ends the program or
/// leaves by std::longjmp, after which whatever was called must not be used again (objects in
/// between are not destroyed). If it returns, the program traps. All of a program is compiled with
/// exceptions, or all without.
void on_error(const error& problem);
#endif

/// Throws error(source, field, expected); without exceptions it calls on_error and traps. All
/// layers that compile without exceptions use it instead of a throw.
[[noreturn]] inline void fail(const std::string& source, const std::string& field,
                              const std::string& expected) {
#if defined(__cpp_exceptions)
    throw error(source, field, expected);
#else
    on_error(error(source, field, expected));
    builtin::trap();
#endif
}

} // namespace specdec
