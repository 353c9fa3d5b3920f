// SPDX-License-Identifier: MIT
#include <specdec/vocab/encoding/safe_cuts.hpp>

#include <set>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "support/ids.hpp"
#include "support/property/any.hpp"
#include "support/property/check_property.hpp"
#include "support/tiny_bpe.hpp"
#include "support/tiny_tokenizer.hpp"

using namespace specdec;
using namespace specdec::testing;

// What is borrowed has a name: a temporary would be gone before use.
static_assert(std::is_constructible_v<safe_cuts, tiny_tokenizer<target_id>&>);
static_assert(!std::is_constructible_v<safe_cuts, tiny_tokenizer<target_id>>);

TEST_CASE("between two bytes that no token holds side by side") {
    const tiny_tokenizer<target_id> words({"a", "b", "ab", "bca", "\xC3\xA9", "\xC3", "<a\xFF>"});
    const safe_cuts edges(words);
    const std::set<std::string> joined{"ab", "bc", "ca", "\xC3\xA9"};
    for (int before = 0; before < 256; ++before)
        for (int after = 0; after < 256; ++after) {
            const std::string pair{static_cast<char>(before), static_cast<char>(after)};
            const bool inner = after >= 0x80 && after < 0xC0; // inside a character
            CAPTURE(before, after);
            REQUIRE(edges.between(pair[0], pair[1]) == (!inner && !joined.contains(pair)));
        }
}

TEST_CASE("an encoding of any text has a border at every seam") {
    std::size_t seen = 0;
    const property_report report = check_property([&] {
        std::vector<std::string> pieces{"a", "b", " "};
        for (const std::string& more :
             *up_to(4, any_of(std::vector<std::string>{"ba", "aa", " b", "aab", "ab", " a", "bb",
                                                       "aaa", "a b"})))
            pieces.push_back(more);
        const std::string text = *rc::gen::container<std::string>(rc::gen::element('a', 'b', ' '));
        const tiny_bpe<target_id> words(pieces);
        const safe_cuts edges(words);
        std::set<std::size_t> borders;
        std::size_t end = 0;
        for (const target_id id : testing::encoded(words, text, encode_mode::continuation))
            borders.insert(end += words.bytes(id).size());
        RC_ASSERT(end == text.size());
        for (std::size_t i = 1; i < text.size(); ++i)
            if (edges.between(text[i - 1], text[i])) {
                RC_ASSERT(borders.contains(i));
                ++seen;
            }
    });
    INFO(report.text);
    CHECK(report.holds);
    CHECK(seen > 100);
}

TEST_CASE("the bytes with which some token goes on") {
    const tiny_tokenizer<target_id> words({"a", "ab", "ab", "abc", "a\xFF", "b", "<aa>"});
    const safe_cuts edges(words);
    const auto next = [&](const std::string& text) {
        byte_set bytes;
        edges.add_next(text, bytes);
        std::string found;
        for (int byte = 0; byte < 256; ++byte)
            if (bytes.has(static_cast<char>(byte)))
                found += static_cast<char>(byte);
        CHECK(edges.extends(text) == !found.empty());
        return found;
    };
    CHECK(next("a") == "b\xFF");
    CHECK(next("ab") == "c");
    CHECK(next("abc").empty());
    CHECK(next("b").empty());
    CHECK(next("") == "ab");
}
