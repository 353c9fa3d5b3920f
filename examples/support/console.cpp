// SPDX-License-Identifier: MIT
#include "support/console.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include <unistd.h>

namespace specdec::examples {

bool wants_color(const std::string& mode, int descriptor) {
    if (mode != "auto")
        return mode == "always";
    const char* no_color = std::getenv("NO_COLOR");
    const char* terminal = std::getenv("TERM");
    return isatty(descriptor) != 0 && (no_color == nullptr || *no_color == '\0') &&
           (terminal == nullptr || std::string_view(terminal) != "dumb");
}

std::size_t columns(std::string_view text) {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char byte) {
        return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U; // not inside a character
    }));
}

std::string padded(std::string_view text, std::size_t width) {
    std::string result(text);
    const std::size_t now = columns(text);
    if (now < width)
        result.append(width - now, ' ');
    return result;
}

std::string counted(std::size_t n, const std::string& what) {
    return std::to_string(n) + ' ' + what + (n == 1 ? "" : "s");
}

progress_bar::progress_bar(std::string what)
    : what_(std::move(what)), terminal_(isatty(STDERR_FILENO) != 0),
      next_(std::chrono::steady_clock::now() + std::chrono::milliseconds(300)) {}

progress_bar::~progress_bar() {
    if (drawn_)
        std::fputs("\r\x1b[K", stderr);
}

void progress_bar::show(double fraction) {
    const auto now = std::chrono::steady_clock::now();
    if (!terminal_ || now < next_)
        return;
    next_ = now + std::chrono::milliseconds(100);
    constexpr int width = 30;
    const double part = std::clamp(fraction, 0.0, 1.0);
    const int full = static_cast<int>(part * width);
    std::fprintf(stderr, "\r\x1b[K%s [%s%s] %3.0f %%", what_.c_str(),
                 std::string(static_cast<std::size_t>(full), '#').c_str(),
                 std::string(static_cast<std::size_t>(width - full), '.').c_str(), 100 * part);
    std::fflush(stderr);
    drawn_ = true;
}

} // namespace specdec::examples
