// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <stdexcept> // std::runtime_error
#include <string>
#include <string_view>

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
///
/// The three parts can be read one by one, as a server does that reports the field of a request.
/// They are views, which live as long as the error. An error that was made from one text has no
/// source and no field: expected() is all of it.
class error : public std::runtime_error {
public:
    explicit error(const std::string& what)
        : std::runtime_error(error_detail::with_visible_controls(what)) {}
    error(const std::string& source, const std::string& field, const std::string& expected)
        : error(source + ": " + field + ": " + expected) {
        source_ = error_detail::with_visible_controls(source).size();
        field_ = error_detail::with_visible_controls(field).size();
        parts_ = true;
    }

    /// What was wrong: a file, an argument, a part of the library.
    [[nodiscard]] std::string_view source() const { return message().substr(0, source_); }
    /// The field in it.
    [[nodiscard]] std::string_view field() const {
        return parts_ ? message().substr(source_ + separator, field_) : std::string_view();
    }
    /// What was expected there, and usually what was found.
    [[nodiscard]] std::string_view expected() const {
        return message().substr(parts_ ? source_ + field_ + 2 * separator : 0);
    }
    /// The same error, whose source begins with the place that it came from: "PLACE: SOURCE".
    [[nodiscard]] error at(const std::string& place) const {
        return parts_ ? error(place + ": " + std::string(source()), std::string(field()),
                              std::string(expected()))
                      : error(place + ": " + what());
    }

private:
    static constexpr std::size_t separator = 2; // ": "
    [[nodiscard]] std::string_view message() const { return what(); }

    std::size_t source_ = 0, field_ = 0; // bytes of the message; a copy cannot throw
    bool parts_ = false;
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
