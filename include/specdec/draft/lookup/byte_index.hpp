// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include <specdec/core/error.hpp>

namespace specdec {

struct byte_index_settings {
    std::size_t bytes = std::size_t{1} << 20; ///< of text that it holds; the oldest make room
    /// Whether it knows, too, where the last 4 bytes of a text stood last: for an index of one
    /// text, where that says something.
    bool short_ends = true;
};

/// Texts as bytes, and where the end of each stood before, in itself or in another. Bytes, not
/// tokens: one index serves every target, and survives a change of model.
///
///     writer w = index.begin()      a text begins
///     index.append(w, bytes)        it goes on: any bytes, cut anywhere
///     index.each(w, most, f)        f(place, match) for places where the text's last bytes stood,
///                                   the latest first, until it says false, at most so many;
///                                   `match` bytes before and with the one at the place are those
///                                   of the text's end
///     index.next(place)             moves to the byte behind it; false: nothing is known behind
///
/// Every byte is chained to the last one that ended in the same 8 bytes, by hash. A place is shown
/// only where its bytes are those of the text's end, so nothing that was overwritten is ever taken
/// for a match. Texts are held in pages of 256 bytes, so that several may be written in turns; the
/// oldest page makes room for a new one.
///
/// Complexity: append O(1) a byte; each O(1) a place. Memory, all of it at construction: 9 bytes a
/// byte, 13 with short ends, and 13 a page. Not for several threads at a time. Errors:
/// specdec::error for fewer than 1,024 bytes or 4 GB and more.
class byte_index {
public:
    using place = std::uint32_t;
    static constexpr place nowhere = ~place{0};
    static constexpr std::size_t order = 8, short_order = 4; ///< bytes that are hashed
    static constexpr std::size_t longest = 64;               ///< matches are counted up to

    class writer {
    public:
        /// The place of the last byte; nowhere before the first.
        [[nodiscard]] place last() const { return last_; }
        /// The last bytes, at least `longest` of them if there are so many.
        [[nodiscard]] std::string_view tail() const { return {tail_.data(), size_}; }

    private:
        friend class byte_index;
        std::uint32_t text_ = 0;
        place last_ = nowhere;
        place short_before_ = nowhere; // where the last 4 bytes stood before
        std::size_t size_ = 0;         // of the tail
        std::array<char, 2 * longest> tail_{};
    };

    explicit byte_index(byte_index_settings settings = {})
        : pages_((settings.bytes + page_size - 1) / page_size), short_ends_(settings.short_ends) {
        if (settings.bytes < std::size_t{4} * page_size || settings.bytes > nowhere - page_size)
            fail("byte index", "bytes", "expected from 1,024 to 4 GB");
        const std::size_t bytes = pages_ * page_size, buckets = std::bit_floor(bytes);
        shift_ = 64 - std::countr_zero(buckets);
        bytes_.resize(bytes);
        before_.assign(bytes, nowhere);
        heads_.assign(buckets, nowhere);
        short_heads_.assign(short_ends_ ? buckets : 0, nowhere);
        page_.assign(pages_, page{});
    }

    /// Forgets all texts; their writers must not be used again.
    void clear() {
        for (place& head : heads_)
            head = nowhere;
        for (place& head : short_heads_)
            head = nowhere;
        for (page& x : page_)
            x = {};
        next_page_ = 0;
    }

    [[nodiscard]] writer begin() {
        writer w;
        w.text_ = ++texts_;
        return w;
    }

    void append(writer& w, std::string_view bytes) {
        for (const char byte : bytes)
            append(w, byte);
    }

    template <class F>
    void each(const writer& w, std::size_t most, const F& f) const {
        const std::string_view tail = w.tail();
        if (tail.size() >= order) {
            place p = heads_[hash(tail, order)];
            for (std::size_t i = 0; i < most && p != nowhere; ++i, p = before_[p])
                if (const std::size_t n = match(tail, p); p != w.last_ && n >= order && !f(p, n))
                    return;
        }
        if (const place p = w.short_before_; short_ends_ && p != nowhere)
            if (const std::size_t n = match(tail, p); n >= short_order && n < order)
                (void)f(p, n);
    }

    /// How many bytes before and with the one at p are the last of `tail`.
    [[nodiscard]] std::size_t match(std::string_view tail, place p) const {
        if (p % page_size >= page_[p / page_size].used)
            return 0; // overwritten
        const std::size_t most = tail.size() < longest ? tail.size() : longest;
        std::size_t n = 0, left = p % page_size + 1; // of the page
        for (std::uint32_t at = p / page_size;; left = page_size) {
            const char* const bytes = bytes_.data() + std::size_t{at} * page_size;
            for (std::size_t same = 8; same == 8 && left >= 8 && n + 8 <= most; n += same) {
                same = same_bytes(bytes + left, tail.data() + tail.size() - n);
                left -= 8;
                if (same < 8)
                    return n + same;
            }
            for (; left > 0 && n < most; --left, ++n)
                if (bytes[left - 1] != tail[tail.size() - 1 - n])
                    return n;
            at = page_[at].last;
            if (n == most || at == nowhere)
                return n;
        }
    }

    [[nodiscard]] char at(place p) const { return bytes_[p]; }
    [[nodiscard]] bool next(place& p) const {
        const page& x = page_[p / page_size];
        if (p % page_size + 1 < x.used) {
            ++p;
            return true;
        }
        if (x.next == nowhere || page_[x.next].used == 0)
            return false;
        p = x.next * page_size;
        return true;
    }

    [[nodiscard]] std::size_t memory() const {
        return bytes_.size() + sizeof(place) * (before_.size() + heads_.size()) +
               sizeof(place) * short_heads_.size() + sizeof(page) * page_.size();
    }

private:
    static constexpr std::uint32_t page_size = 256;
    struct page {
        std::uint32_t text = 0;                       // that is written here
        std::uint32_t last = nowhere, next = nowhere; // pages of that text
        std::uint16_t used = 0;
    };

    [[nodiscard]] std::size_t hash(std::string_view tail, std::size_t n) const {
        std::uint64_t key = 0;
        std::memcpy(&key, tail.data() + tail.size() - n, n);
        return static_cast<std::size_t>((key * 0x9e3779b97f4a7c15U) >> shift_);
    }

    /// How many of the 8 bytes before each are the same, from behind.
    static std::size_t same_bytes(const char* a, const char* b) {
        std::uint64_t x = 0, y = 0;
        std::memcpy(&x, a - 8, 8);
        std::memcpy(&y, b - 8, 8);
        const std::uint64_t other = x ^ y;
        const int same = std::endian::native == std::endian::little ? std::countl_zero(other)
                                                                    : std::countr_zero(other);
        return static_cast<std::size_t>(same) / 8;
    }

    void append(writer& w, char byte) {
        std::uint32_t at = w.last_ == nowhere ? nowhere : w.last_ / page_size;
        const bool lost = at != nowhere && page_[at].text != w.text_; // its page made room
        if (at == nowhere || lost || page_[at].used == page_size)
            at = take_page(w.text_, lost ? nowhere : at);
        const place p = at * page_size + page_[at].used++;
        bytes_[p] = byte;
        w.last_ = p;
        if (w.size_ == w.tail_.size()) {
            std::memmove(w.tail_.data(), w.tail_.data() + longest, longest);
            w.size_ = longest;
        }
        w.tail_[w.size_++] = byte;
        before_[p] = nowhere;
        if (const std::string_view tail = w.tail(); tail.size() >= order) {
            place& head = heads_[hash(tail, order)];
            before_[p] = head;
            head = p;
        }
        if (const std::string_view tail = w.tail(); short_ends_ && tail.size() >= short_order) {
            place& head = short_heads_[hash(tail, short_order)];
            w.short_before_ = head;
            head = p;
        }
    }

    /// The oldest page, behind page `last` of the text.
    std::uint32_t take_page(std::uint32_t text, std::uint32_t last) {
        const std::uint32_t n = next_page_;
        last = last == n ? nowhere : last; // it makes room itself
        next_page_ = n + 1 == pages_ ? 0 : n + 1;
        if (page_[n].last != nowhere)
            page_[page_[n].last].next = nowhere;
        if (page_[n].next != nowhere)
            page_[page_[n].next].last = nowhere;
        page_[n] = {text, last, nowhere, 0};
        if (last != nowhere)
            page_[last].next = n;
        return n;
    }

    std::size_t pages_;
    bool short_ends_;
    int shift_ = 0; // of a hash, which leaves a bucket
    std::vector<char> bytes_;
    std::vector<place> before_; // [bytes] the last place of the same hash
    std::vector<place> heads_, short_heads_;
    std::vector<page> page_;
    std::uint32_t next_page_ = 0; // the oldest
    std::uint32_t texts_ = 0;
};

} // namespace specdec
