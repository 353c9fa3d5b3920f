// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <specdec/verify/verdict.hpp>
#include <specdec/vocab/encoding/utf8_edges.hpp>

namespace specdec {

/// How many bytes at the end of a text begin a UTF-8 character whose rest is still to come: 0 to 3.
/// Bytes that can never become valid are not counted, as they are passed on unchanged.
[[nodiscard]] inline std::size_t incomplete_utf8(std::string_view text) {
    const std::size_t open = utf8_tail(text);
    if (open == 0)
        return 0;
    const auto lead = static_cast<unsigned char>(text[text.size() - open]);
    return lead >= 0xC2 && lead < 0xF5 ? open : 0;
}

/// Turns committed tokens' bytes into a stream for a reader: whole UTF-8 characters only, nothing
/// of a stop string, every byte once. Bytes are held back while they may still become part of a
/// character or of a stop string.
///
///     stream.push(bytes, origin)   a token's bytes
///     stream.give(sink)            what has become certain
///
/// A sink is called as sink(std::string_view bytes, token_origin origin), with a run of characters
/// of one origin. A character made by several tokens has the origin of the first. If a sink throws,
/// the next give() begins with the same run. Allocates when more bytes are held back than ever
/// before; if that throws (std::bad_alloc), the bytes were not pushed.
class text_stream {
public:
    explicit text_stream(std::vector<std::string> stop_strings = {})
        : stops_(std::move(stop_strings)) {
        std::size_t longest = 0;
        for (const std::string& stop : stops_)
            longest = stop.size() > longest ? stop.size() : longest;
        make_room(longest + default_token);
    }

    /// Appends a token's bytes. Returns true if a stop string is complete: the text ends before it.
    bool push(std::string_view bytes, token_origin origin) {
        make_room(held_.size() + bytes.size());
        held_.append(bytes);
        origins_.resize(held_.size(), origin);
        const std::size_t stop = first_stop();
        if (stop != std::string::npos) {
            held_.resize(stop);
            origins_.resize(stop);
            certain_ = stop;
            return true;
        }
        const std::size_t partial = partial_stop();
        const std::size_t incomplete = incomplete_utf8(held_);
        const std::size_t certain = held_.size() - (partial > incomplete ? partial : incomplete);
        certain_ = certain > certain_ ? certain : certain_;
        return false;
    }

    /// The text ends here: what was held back is part of it.
    void finish() { certain_ = held_.size(); }

    /// Gives the sink what is certain.
    template <class Sink>
    void give(Sink&& sink) {
        while (certain_ > 0) {
            std::size_t end = 1;
            while (end < certain_ && (origins_[end] == origins_[0] || is_utf8_inner(held_[end])))
                ++end;
            sink(std::string_view(held_).substr(0, end), origins_[0]);
            held_.erase(0, end);
            origins_.erase(origins_.begin(), origins_.begin() + static_cast<std::ptrdiff_t>(end));
            certain_ -= end;
        }
    }

private:
    /// Where the stop string begins that is complete first in the text. So it does not matter how
    /// the text is cut into tokens, even if one stop string stands inside another.
    [[nodiscard]] std::size_t first_stop() const {
        std::size_t first = std::string::npos, first_end = std::string::npos;
        for (const std::string& stop : stops_) {
            const std::size_t found = stop.empty() ? std::string::npos : held_.find(stop);
            if (found == std::string::npos)
                continue;
            const std::size_t end = found + stop.size();
            if (end > first_end || (end == first_end && found > first))
                continue;
            first = found;
            first_end = end;
        }
        return first;
    }

    /// Length of the longest end of held_ that begins a stop string.
    [[nodiscard]] std::size_t partial_stop() const {
        const std::string_view held = held_;
        std::size_t longest = 0;
        for (const std::string& stop : stops_)
            for (std::size_t n = stop.size() < held.size() ? stop.size() : held.size(); n > longest;
                 --n)
                if (held.substr(held.size() - n) == std::string_view(stop).substr(0, n))
                    longest = n;
        return longest;
    }

    void make_room(std::size_t bytes) {
        held_.reserve(bytes);
        origins_.reserve(bytes);
    }

    static constexpr std::size_t default_token = 256; // bytes, at most

    std::vector<std::string> stops_;
    std::string held_;                  // bytes not given yet
    std::vector<token_origin> origins_; // [held_.size()]
    std::size_t certain_ = 0;           // of them: text, whatever follows
};

} // namespace specdec
