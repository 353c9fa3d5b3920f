// SPDX-License-Identifier: MIT
#include <specdec/draft/counted/successor_counts_bytes.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/core/error.hpp>

#include "support/ids.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace successor_counts_bytes_tests {

constexpr std::size_t vocabulary = 40;
constexpr std::uint64_t fingerprint = 0x1234;

/// An endless text, of which counts were taught the first so many tokens.
draft_id token(std::size_t i) {
    return id_at<draft_id>((i * i + i / 7) % 37);
}
void teach(successor_counts& counts, std::size_t first, std::size_t last) {
    std::vector<draft_id> text;
    for (std::size_t i = first < 8 ? 0 : first - 8; i < last; ++i) {
        if (i >= first)
            counts.learn(text, token(i));
        text.push_back(token(i));
    }
}
std::string bytes_of(const successor_counts& counts) {
    return successor_counts_codec::write(counts, fingerprint);
}
successor_counts read(std::string_view bytes) {
    return successor_counts_codec::read(bytes, "FILE", fingerprint, vocabulary);
}
std::string message(const std::string& bytes, std::uint64_t of = fingerprint,
                    std::size_t tokens = vocabulary) {
    try {
        (void)successor_counts_codec::read(bytes, "FILE", of, tokens);
    } catch (const error& problem) {
        return problem.what();
    }
    return "";
}
/// With a number of 32 bits in place of what stands there, under a right checksum.
std::string with(std::string bytes, std::size_t at, std::uint32_t number) {
    std::string wanted;
    put_number(wanted, number);
    bytes.replace(at, 4, wanted);
    bytes.resize(bytes.size() - 8);
    put_number(bytes, checksum_of(bytes));
    return bytes;
}

TEST_CASE("counts that were read answer and learn as those that were written") {
    successor_counts counts(256);
    teach(counts, 0, 500);
    successor_counts again = read(bytes_of(counts));
    CHECK(bytes_of(again) == bytes_of(counts));
    teach(counts, 500, 900);
    teach(again, 500, 900);
    CHECK(bytes_of(again) == bytes_of(counts));
    CHECK(again.memory() == counts.memory());
    CHECK(bytes_of(read(bytes_of(successor_counts(16)))) == bytes_of(successor_counts(16)));
}

TEST_CASE("a small file takes no more memory than its reader gives") {
    const std::string small = bytes_of(successor_counts(16));
    REQUIRE(small.size() == 51);
    constexpr std::size_t entries = 15 + 4 + 8;
    const std::string usual = with(small, entries, 1 << 18), large = with(small, entries, 1 << 24);
    CHECK(bytes_of(read(usual)) == usual);
    CHECK(message(large) == "FILE: entries: expected at most 262144, the file has 16777216");
    CHECK(message(with(small, entries, 1 << 19)).find("FILE: entries: expected at most") == 0);
    const auto given = [&](std::size_t most) {
        return successor_counts_codec::read(with(small, entries, 1 << 19), "FILE", fingerprint,
                                            vocabulary, most);
    };
    CHECK(bytes_of(given(1 << 19)) == with(small, entries, 1 << 19));
    CHECK_THROWS_AS(given((1 << 19) - 1), error);
}

TEST_CASE("a torn, changed or foreign file of counts is refused by name") {
    successor_counts counts(64);
    teach(counts, 0, 30);
    const std::string good = bytes_of(counts);
    REQUIRE(message(good).empty());
    for (std::size_t n = 0; n < good.size(); ++n)
        CHECK(message(good.substr(0, n)).starts_with("FILE: "));
    for (std::size_t i = 0; i < good.size(); ++i) {
        std::string changed = good;
        changed[i] = static_cast<char>(changed[i] ^ 4);
        CHECK(message(changed).starts_with("FILE: "));
    }
    CHECK(message(good, 7).find("FILE: fingerprint: expected the drafter's vocabulary") == 0);
    CHECK(message(good, fingerprint, 5).find("FILE: token: expected a token of the vocab") == 0);
    constexpr std::size_t entries = 15 + 4 + 8, number = entries + 8, first = number + 8;
    CHECK(message(with(good, 15, 2)).find("FILE: version: expected 1, the file has 2") == 0);
    CHECK(message(with(good, entries, 48)).find("FILE: entries: expected a power of two") == 0);
    CHECK(message(with(good, entries, 8)).find("FILE: entries: expected a power of two") == 0);
    CHECK(message(with(good, entries + 4, 1)).find("FILE: entries: expected at most") == 0);
    CHECK(message(with(good, number, 65)).find("FILE: number of n-grams: expected at most") == 0);
    CHECK(message(with(good, number, 1)).find("FILE: end: expected nothing after") == 0);
    CHECK(message(with(good, first, 64)).find("FILE: place: expected every number") == 0);
    CHECK(message(with(good, first + 40, 0)).find("FILE: place: expected every number") == 0);
    const auto weight = [&](float w) {
        return message(with(good, first + 12, std::bit_cast<std::uint32_t>(w)));
    };
    CHECK(weight(-1).find("FILE: weight: expected 0 to 5") == 0);
    CHECK(weight(6).find("FILE: weight: expected 0 to 5") == 0);
    CHECK(weight(std::numeric_limits<float>::quiet_NaN()).find("FILE: weight: expected 0") == 0);
    CHECK(message(with(good, first + 8, 0xFFFFFFFF)).find("FILE: token: expected a token") == 0);
}

} // namespace successor_counts_bytes_tests
