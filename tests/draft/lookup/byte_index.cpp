// SPDX-License-Identifier: MIT
#include <specdec/draft/lookup/byte_index.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <catch2/catch.hpp>

using namespace specdec;

namespace byte_index_tests {

/// Bytes of a few letters, so that much of it repeats itself.
std::string letters(std::size_t n, std::uint64_t seed, std::uint64_t kinds = 3) {
    std::string text;
    for (std::size_t i = 0; i < n; ++i) {
        seed = seed * 6364136223846793005U + 1442695040888963407U;
        text += static_cast<char>('a' + (seed >> 33) % kinds);
    }
    return text;
}

/// The most bytes at the end of the text that also end before its byte `end`, as a search finds it.
std::size_t shared(const std::string& text, std::size_t end) {
    std::size_t n = 0;
    while (n < byte_index::longest && n < end && text[end - 1 - n] == text[text.size() - 1 - n])
        ++n;
    return n;
}
std::size_t longest_repeated(const std::string& text) {
    std::size_t longest = 0;
    for (std::size_t end = 1; end < text.size(); ++end)
        longest = std::max(longest, shared(text, end));
    return longest;
}

TEST_CASE("byte index: it finds the places that a search finds, the latest first") {
    byte_index index({.bytes = 4096});
    byte_index::writer w = index.begin();
    std::string text;
    std::size_t found = 0;
    for (std::uint64_t piece = 0; text.size() < 3000; ++piece) {
        const std::string more = letters(1 + piece % 7, piece);
        index.append(w, more);
        text += more;
        std::size_t longest = 0, eights = 0, last = text.size();
        index.each(w, 4096, [&](byte_index::place p, std::size_t match) {
            // One writer fills page after page, so places are offsets.
            REQUIRE(match == shared(text, p + 1));
            REQUIRE(index.at(p) == text[p]);
            longest = std::max(longest, match);
            if (match < byte_index::order)
                return true;
            REQUIRE(p < last);
            last = p;
            ++eights;
            return true;
        });
        const std::size_t best = longest_repeated(text);
        if (best >= byte_index::order)
            REQUIRE(longest == best);
        std::size_t expected = 0;
        for (std::size_t end = 1; end < text.size(); ++end)
            expected += shared(text, end) >= byte_index::order ? 1U : 0U;
        REQUIRE(eights == expected);
        found += eights;
    }
    CHECK(found > 100);
}

TEST_CASE("byte index: ends of four bytes are known from where they stood last") {
    byte_index index({.bytes = 1024});
    byte_index::writer w = index.begin();
    index.append(w, "abcd1 abcd2 ");
    std::size_t seen = 0;
    index.each(w, 8, [&](byte_index::place, std::size_t) { return ++seen, true; });
    CHECK(seen == 0);
    index.append(w, "abcd");
    index.each(w, 8, [&](byte_index::place p, std::size_t match) {
        ++seen;
        CHECK(match == 5); // with the space
        CHECK(index.next(p));
        CHECK(index.at(p) == '2');
        return true;
    });
    CHECK(seen == 1);
    byte_index without({.bytes = 1024, .short_ends = false});
    w = without.begin();
    without.append(w, "abcd1 abcd2 abcd");
    without.each(w, 8, [](byte_index::place, std::size_t) {
        FAIL();
        return true;
    });
}

TEST_CASE("byte index: texts that are written in turns stay apart") {
    byte_index index({.bytes = 1 << 16});
    std::vector<std::string> texts{letters(2000, 1, 20), letters(1500, 2, 20), letters(700, 3, 20)};
    std::vector<byte_index::writer> writers;
    std::vector<byte_index::place> first(3, byte_index::nowhere);
    for (std::size_t i = 0; i < 3; ++i)
        writers.push_back(index.begin());
    for (std::size_t at = 0; at < 2000; at += 13)
        for (std::size_t i = 0; i < 3; ++i)
            if (at < texts[i].size()) {
                index.append(writers[i], std::string_view(texts[i]).substr(at, 1));
                if (first[i] == byte_index::nowhere)
                    first[i] = writers[i].last();
                index.append(writers[i], std::string_view(texts[i]).substr(at + 1, 12));
            }
    for (std::size_t i = 0; i < 3; ++i) {
        byte_index::place p = first[i];
        std::string read(1, index.at(p));
        while (index.next(p))
            read += index.at(p);
        CHECK(read == texts[i]);
        CHECK(p == writers[i].last());
    }
    byte_index::writer other = index.begin(); // finds what another text said, across its pages
    index.append(other, std::string_view(texts[1]).substr(300, 100));
    std::size_t match = 0;
    index.each(other, 8, [&](byte_index::place p, std::size_t n) {
        match = n;
        std::string read;
        while (read.size() < 900 && index.next(p))
            read += index.at(p);
        CHECK(read == texts[1].substr(400, 900));
        return false;
    });
    CHECK(match == byte_index::longest);
}

TEST_CASE("byte index: what made room is never taken for a match") {
    byte_index index({.bytes = 1024}); // four pages
    byte_index::writer w = index.begin(), slow = index.begin();
    std::string text, other;
    std::size_t matches = 0;
    for (std::uint64_t i = 0; i < 3000; ++i) {
        const std::string more = letters(5, i, 2);
        index.append(w, more);
        text += more;
        if (i % 50 == 0) { // whose pages are taken away again and again
            index.append(slow, more);
            other += more;
        }
        index.each(w, 64, [&](byte_index::place p, std::size_t match) {
            REQUIRE(match >= byte_index::short_order);
            // What follows it stands in the text's last bytes, or in the other one.
            std::string read;
            for (byte_index::place next = p; read.size() < 8 && index.next(next);)
                read += index.at(next);
            ++matches;
            if (read.size() == 8 && text.size() > 1100)
                REQUIRE((text.find(read, text.size() - 1100) != std::string::npos ||
                         other.find(read) != std::string::npos));
            return true;
        });
    }
    CHECK(matches > 1000);
    index.clear();
    byte_index::writer fresh = index.begin();
    index.append(fresh, text.substr(text.size() - 100));
    index.clear();
    fresh = index.begin();
    index.append(fresh, text.substr(text.size() - 12));
    index.each(fresh, 64, [&](byte_index::place p, std::size_t) {
        CHECK(p < 12);
        return true;
    });
}

TEST_CASE("byte index: a text whose own last page makes room does not follow itself") {
    byte_index index({.bytes = 1024}); // four pages
    byte_index::writer slow = index.begin(), w = index.begin();
    index.append(slow, letters(256, 1));
    index.append(w, std::string(768, 'x'));
    index.append(slow, letters(256, 3));
    byte_index::place p = slow.last();
    CHECK_FALSE(index.next(p));
    CHECK(index.match(slow.tail(), 7) <= 8);
    index.append(w, "x"); // in place of its first page
    CHECK(index.match(w.tail(), 2 * 256 + 7) == 8);
}

TEST_CASE("byte index: at most 16 bytes a byte, and sizes that can be held") {
    for (const bool short_ends : {false, true})
        for (const std::size_t bytes : {std::size_t{1} << 20, std::size_t{1500000}}) {
            const byte_index index({.bytes = bytes, .short_ends = short_ends});
            CHECK(index.memory() >= bytes);
            CHECK(index.memory() <= (short_ends ? 14 : 10) * (bytes + 256));
        }
    CHECK_THROWS_WITH(byte_index({.bytes = 1023}),
                      "byte index: bytes: expected from 1,024 to 4 GB");
}

} // namespace byte_index_tests
