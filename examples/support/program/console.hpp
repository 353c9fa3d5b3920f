// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

namespace specdec::examples {

/// Whether to colour what goes to a file descriptor: `mode` is always, never or auto (a terminal,
/// and NO_COLOR not set: https://no-color.org).
[[nodiscard]] bool wants_color(const std::string& mode, int descriptor);

/// Columns a text takes on a terminal, near enough: its characters.
[[nodiscard]] std::size_t columns(std::string_view text);
/// The text, filled up with spaces to `width` columns.
[[nodiscard]] std::string padded(std::string_view text, std::size_t width);

/// Bytes of the character that text[i] begins; 0 where it is broken or nothing that a terminal
/// shows: controls, also those of the direction of writing.
[[nodiscard]] std::size_t visible_bytes(std::string_view text, std::size_t i);
/// The text with all other bytes in hexadecimal (\x1b): what came out of a file or an argument says
/// what it is, and tells no terminal what to do.
[[nodiscard]] std::string visible(std::string_view text);

/// "1 thread", "2 threads".
[[nodiscard]] std::string counted(std::size_t n, const std::string& what);

/// One line on the terminal that standard error is; nothing where it is none. Wiped when done.
class progress_bar {
public:
    explicit progress_bar(const std::string& what);
    ~progress_bar();
    progress_bar(const progress_bar&) = delete;
    progress_bar& operator=(const progress_bar&) = delete;

    /// From 0 to 1. Draws at most ten times a second, and nothing at first: quick work shows no
    /// bar.
    void show(double fraction);

private:
    std::string what_;
    bool terminal_;
    bool drawn_ = false;
    std::chrono::steady_clock::time_point next_;
};

} // namespace specdec::examples
