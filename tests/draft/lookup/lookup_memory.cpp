// SPDX-License-Identifier: MIT
#include <specdec/draft/lookup/lookup_memory.hpp>

#include <string>

#include <catch2/catch.hpp>

using namespace specdec;

namespace lookup_memory_tests {

std::string found(default_lookup& lookup) {
    lookup_hit out;
    lookup.find(12, out);
    return out.bytes;
}

TEST_CASE("lookup memory: texts find each other's words where they share one, and else their own") {
    lookup_memory memory;
    default_lookup one = make_default_lookup(512, 64, &memory),
                   other = make_default_lookup(512, 64, &memory),
                   alone = make_default_lookup(512, 64, nullptr);
    for (default_lookup* x : {&one, &other, &alone})
        x->start();
    one.follow("the ferry leaves the island at noon. ");
    other.follow("a ferry leaves the ");
    alone.follow("a ferry leaves the ");
    CHECK(found(other) == "island at no");
    CHECK(found(alone).empty());
    alone.follow("city. a ferry leaves the ");
    CHECK(found(alone) == "city. a ferr");
    CHECK(memory.texts.memory() + memory.ngrams.memory() <= std::size_t{15} << 20);
}

TEST_CASE("lookup memory: a long text may have a large index, a short one a small one") {
    default_lookup tiny = make_default_lookup(1, 64, nullptr); // 4 KB
    tiny.start();
    tiny.follow("over and over and ");
    CHECK(found(tiny) == "over and ove");
    default_lookup huge = make_default_lookup(std::size_t{1} << 24, 64, nullptr); // a million bytes
    huge.start();
    huge.follow("over and over and ");
    CHECK(found(huge) == "over and ove");
}

} // namespace lookup_memory_tests
