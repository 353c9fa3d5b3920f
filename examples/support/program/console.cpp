// SPDX-License-Identifier: MIT
#include "support/program/console.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include <unistd.h>

#include <specdec_engine/tokenizer/utf8.hpp>

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

std::size_t visible_bytes(std::string_view text, std::size_t i) {
    const auto [value, bytes] = engine::decode_utf8(text, i);
    const auto within = [v = value](char32_t first, char32_t last) {
        return v >= first && v <= last;
    };
    const bool hidden = within(0, 0x1F) || within(0x7F, 0x9F) || within(0x200B, 0x200F) ||
                        within(0x2028, 0x202E) || within(0x2060, 0x206F) || value == 0xFEFF;
    return hidden ? 0 : bytes;
}

std::string visible(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size();) {
        const std::size_t bytes = visible_bytes(text, i);
        char hex[8];
        std::snprintf(hex, sizeof hex, "\\x%02x", static_cast<unsigned char>(text[i]));
        out += bytes > 0 ? text.substr(i, bytes) : std::string_view(hex);
        i += bytes > 0 ? bytes : 1;
    }
    return out;
}

std::string counted(std::size_t n, const std::string& what) {
    return std::to_string(n) + ' ' + what + (n == 1 ? "" : "s");
}

progress_bar::progress_bar(const std::string& what)
    : what_(visible(what)), terminal_(isatty(STDERR_FILENO) != 0),
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
