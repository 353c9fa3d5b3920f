// SPDX-License-Identifier: MIT
#include <specdec/vocab/table/byte_order.hpp>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "support/tiny_tokenizer.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace {

/// Control tokens, a token twice, tokens that begin others, bytes above 127 (signed as char).
const std::vector<std::string> pieces{"b",    "<end>", "ab",   "\xC3\xA9", "a",    "abc",  "a\xFF",
                                      "\x01", "a",     "\xFF", "<bos>",    "\xC3", "b\x80"};

std::string text_of(const std::string& piece) {
    return piece.front() == '<' ? "" : piece;
}

std::vector<std::string> all_texts() {
    std::vector<std::string> texts{"", "abcd", "c", "\x80", "a\xFF\xFF", std::string("a\0", 2)};
    for (const std::string& piece : pieces)
        texts.push_back(text_of(piece));
    return texts;
}

/// The ids whose bytes are wanted, from the pieces themselves.
template <class Wanted>
std::set<int> ids_where(Wanted wanted) {
    std::set<int> ids;
    for (std::size_t i = 0; i < pieces.size(); ++i)
        if (wanted(text_of(pieces[i])))
            ids.insert(static_cast<int>(i));
    return ids;
}

std::set<int> ids_of(const byte_order<draft_id>& order, order_range range) {
    std::set<int> ids;
    for (std::size_t place = range.first; place < range.last; ++place)
        ids.insert(order.id(place).value);
    REQUIRE(ids.size() == range.size()); // none twice
    return ids;
}

} // namespace

TEST_CASE("every id once, by bytes without a sign, equal bytes by id") {
    const tiny_tokenizer<draft_id> words(pieces);
    const byte_order<draft_id> order(words);
    REQUIRE(order.size() == pieces.size());
    CHECK(order.longest() == 3);
    CHECK(ids_of(order, order.all()).size() == pieces.size());
    for (std::size_t place = 0; place < order.size(); ++place) {
        const draft_id id = order.id(place);
        REQUIRE(order.bytes(place) == text_of(pieces[id.index()]));
        if (place == 0)
            continue;
        const std::string_view before = order.bytes(place - 1), here = order.bytes(place);
        const auto less = [](char a, char b) {
            return static_cast<unsigned char>(a) < static_cast<unsigned char>(b);
        };
        REQUIRE((std::lexicographical_compare(before.begin(), before.end(), here.begin(),
                                              here.end(), less) ||
                 (before == here && order.id(place - 1) < id)));
    }
    const tiny_tokenizer<draft_id> none({});
    CHECK(byte_order<draft_id>(none).all().empty());
    static_assert(!std::is_constructible_v<byte_order<draft_id>, tiny_tokenizer<draft_id>>); // gone
}

TEST_CASE("tokens with given bytes, tokens that go on behind them, tokens without any") {
    const tiny_tokenizer<draft_id> words(pieces);
    const byte_order<draft_id> order(words);
    for (const std::string& text : all_texts()) {
        CAPTURE(text);
        REQUIRE(ids_of(order, order.exactly(text)) ==
                ids_where([&](const std::string& t) { return t == text; }));
        REQUIRE(ids_of(order, order.extending(text)) == ids_where([&](const std::string& t) {
                    return t.size() > text.size() && t.starts_with(text);
                }));
    }
    CHECK(ids_of(order, order.silent()) == std::set<int>{1, 10});
}

TEST_CASE("a range by its next byte: in order, each byte once, nothing left out") {
    const tiny_tokenizer<draft_id> words(pieces);
    const byte_order<draft_id> order(words);
    for (const std::string& text : all_texts()) {
        const order_range whole = order.extending(text);
        std::size_t reached = whole.first;
        int last = -1;
        order.by_byte(whole, text.size(), [&](char byte, order_range range) {
            REQUIRE(static_cast<unsigned char>(byte) > last);
            last = static_cast<unsigned char>(byte);
            REQUIRE(range.first == reached);
            REQUIRE_FALSE(range.empty());
            REQUIRE(ids_of(order, range) ==
                    ids_where([&](const std::string& t) { return t.starts_with(text + byte); }));
            reached = range.last;
        });
        REQUIRE(reached == whole.last);
    }
}

TEST_CASE("the place of a token among its equals") {
    const tiny_tokenizer<draft_id> words({"b", "a", "ab", "a", "<x>"});
    const byte_order<draft_id> order(words);
    for (int i = 0; i < 5; ++i)
        CHECK(order.id(order.place(draft_id{i}, words.bytes(draft_id{i}))) == draft_id{i});
}
