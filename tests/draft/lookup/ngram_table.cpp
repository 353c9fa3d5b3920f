// SPDX-License-Identifier: MIT
#include <specdec/draft/lookup/ngram_table.hpp>

#include <string>

#include <catch2/catch.hpp>

using namespace specdec;

namespace ngram_table_tests {

std::string found(ngram_lookup& lookup, std::size_t most = 12) {
    lookup_hit out;
    lookup.find(most, out);
    CHECK(out.chances.size() == out.bytes.size());
    return out.bytes;
}

TEST_CASE("n-gram table: texts teach it and each other, byte by byte") {
    ngram_table table({.entries = 4096, .order = 6});
    ngram_lookup one(table), other(table);
    one.start();
    other.start();
    one.follow("all the king's horses and all the king's men");
    CHECK(found(one).empty());
    other.follow("look: all the");
    CHECK(found(other) == " king's men"); // the last time
    other.follow(" king's horses, all the king's horses, all the king's ");
    CHECK(found(other, 8) == "horses, ");
    CHECK(found(one).empty());
    one.follow(" and the king's ");
    CHECK(found(one, 6) == "horses");
}

TEST_CASE("n-gram table: what is no longer said gives way, and a new text begins with nothing") {
    ngram_table table({.entries = 4096, .order = 4});
    ngram_lookup text(table);
    text.start();
    for (int i = 0; i < 5; ++i)
        text.follow("key=1;");
    text.follow("key=");
    CHECK(found(text, 1) == "1");
    text.follow("2;key=");
    CHECK(found(text, 1) == "1"); // once is not enough
    text.follow("2;key=2;key=2;key=2;key=");
    CHECK(found(text, 2) == "2;");
    text.start();
    CHECK(found(text).empty()); // of its own it has said nothing
    text.follow("key");
    CHECK(found(text).empty());
    text.follow("=");
    CHECK(found(text, 2) == "2;");
    CHECK(table.memory() == 4 * 4096);
}

TEST_CASE("n-gram table: nothing goes on across what is no text") {
    ngram_table table({.entries = 4096, .order = 4});
    ngram_lookup text(table);
    text.follow("good bye");
    text.follow({&no_text, 1});
    text.follow("so good");
    CHECK(found(text) == " bye");
}

TEST_CASE("n-gram table: long texts find what they said last") {
    ngram_table table{};
    ngram_lookup text(table);
    for (int i = 0; i < 300; ++i)
        text.follow("line " + std::to_string(i) + " of a long text.\n");
    text.follow("line 123 of a");
    CHECK(found(text) == " long text.\n");
}

TEST_CASE("n-gram table: orders and sizes that it can have") {
    CHECK_THROWS_WITH(ngram_table({.order = 3}), "n-gram table: order: expected 4 to 32 bytes");
    CHECK_THROWS_WITH(ngram_table({.order = 33}), "n-gram table: order: expected 4 to 32 bytes");
    CHECK_THROWS_WITH(ngram_table({.entries = 8}),
                      "n-gram table: entries: expected at least 16 and less than 2^32");
    for (const std::size_t order : {4U, 7U, 8U, 13U, 32U}) {
        ngram_table table({.entries = 1500000, .order = order});
        CHECK(table.memory() == 4 << 20);
        ngram_lookup text(table);
        const std::string said = "0123456789abcdefghijklmnopqrstuvwxyz";
        text.follow(said + "." + said.substr(0, order));
        CHECK(found(text, 4) == said.substr(order, 4));
    }
}

} // namespace ngram_table_tests
