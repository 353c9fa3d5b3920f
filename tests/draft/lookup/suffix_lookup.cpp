// SPDX-License-Identifier: MIT
#include <specdec/draft/lookup/suffix_lookup.hpp>

#include <string>

#include <catch2/catch.hpp>

using namespace specdec;

namespace suffix_lookup_tests {

template <class Lookup>
lookup_hit found(Lookup& lookup, std::size_t most = 8) {
    lookup_hit out;
    lookup.find(most, out);
    REQUIRE(out.chances.size() == out.bytes.size());
    for (const float chance : out.chances) {
        CHECK(chance > 0);
        CHECK(chance <= 1);
    }
    return out;
}

TEST_CASE("suffix lookup: what follows most often") {
    auto lookup = own_suffixes(4096);
    CHECK(found(lookup).bytes.empty());
    for (const char* line :
         {"1 the answer is yes.", "2 the answer is yes.", "3 the answer is no. "})
        lookup.follow(line);
    lookup.follow("4 the answer is ");
    CHECK(found(lookup).bytes == "yes.3 th");
    CHECK(found(lookup, 1).chances[0] < 0.7F); // one of three said otherwise
    lookup.follow("no. 5 the answer is no. 6 the answer is ");
    CHECK(found(lookup, 3).bytes == "no.");
    lookup.start();
    CHECK(found(lookup).bytes.empty());
    lookup.follow("6 the answer is ");
    CHECK(found(lookup).bytes.empty());
}

TEST_CASE("suffix lookup: a long match outweighs several short ones") {
    auto lookup = own_suffixes(4096);
    lookup.follow("when the long winter had come to the old village, they slept. ");
    lookup.follow("a village, ours. my village, his. your village, his. ");
    lookup.follow("when the long winter had come to the old village, ");
    CHECK(found(lookup, 10).bytes == "they slept");
    CHECK(found(lookup, 1).match == 50);
    // What is followed has its say behind more later places than are asked.
    auto followed = own_suffixes(4096);
    followed.follow("when the winter had come to the old village, they slept. ");
    for (int i = 0; i < 20; ++i)
        followed.follow("in the old village, he ate. ");
    followed.follow("when the winter had come");
    followed.follow(" to the old village, ");
    CHECK(found(followed, 10).bytes == "they slept");
}

TEST_CASE("suffix lookup: a repetition that is left for a word goes on behind it") {
    const std::string first = "Anna took the bread to the old man, and the old man thanked her. ";
    auto lookup = own_suffixes(4096);
    lookup.follow(first + "He had the bread with a cup of tea. So: ");
    lookup.follow("Anna took the bread to the old man");
    CHECK(found(lookup).bytes == ", and th");
    lookup.follow("'s wife, and");
    CHECK(found(lookup, 12).bytes == " the old man");
    // "the " stood elsewhere, too, and later: being where the text was left tells which it is.
    auto renamed = own_suffixes(4096);
    renamed.follow(first + "Now the cat sat. Maria took the bread to the old man. ");
    renamed.follow("So: Anna took the bread to the young");
    renamed.follow(" man,");
    CHECK(found(renamed, 9).bytes == " and the ");
}

TEST_CASE("suffix lookup: texts that share an index find each other's words at once") {
    byte_index index({.bytes = 1 << 16, .short_ends = false});
    auto one = shared_suffixes(index), other = shared_suffixes(index);
    one.start();
    other.start();
    one.follow("the harbour was full of small ");
    other.follow("we saw that the harbour was");
    CHECK(found(other, 14).bytes == " full of small");
    one.follow("boats");
    CHECK(found(other, 20).bytes == " full of small boats");
    CHECK(found(one).bytes.empty());
    auto third = shared_suffixes(index); // a text later on
    third.start();
    third.follow("harbour was full of");
    CHECK(found(third, 12).bytes == " small boats");
}

TEST_CASE("suffix lookup: what it finds is a part of what was said, whatever is asked") {
    auto lookup = own_suffixes(1024); // which makes room again and again
    std::string text;
    std::uint64_t seed = 1;
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < 2000; ++i) {
        seed = seed * 6364136223846793005U + 1442695040888963407U;
        const std::string word = "w" + std::to_string((seed >> 33) % 12) + " ";
        lookup.follow(word);
        text += word;
        const lookup_hit out = found(lookup, 40);
        bytes += out.bytes.size();
        if (out.bytes.size() > 4)
            REQUIRE(text.find(out.bytes.substr(0, 4)) != std::string::npos);
    }
    CHECK(bytes > 1000);
}

} // namespace suffix_lookup_tests
