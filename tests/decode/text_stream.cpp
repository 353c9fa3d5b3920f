// SPDX-License-Identifier: MIT
#include <specdec/decode/text_stream.hpp>

#include <random>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

using namespace specdec;

namespace {

/// What a reader was given.
struct reading {
    std::string text;
    std::vector<token_origin> origins; // one a byte
    std::vector<std::string> runs;

    void operator()(std::string_view bytes, token_origin origin) {
        text += bytes;
        origins.resize(text.size(), origin);
        runs.emplace_back(bytes);
    }
};

constexpr auto accepted = token_origin::accepted;
constexpr auto corrected = token_origin::corrected;

bool push(text_stream& stream, std::string_view bytes, token_origin origin, reading& r) {
    const bool stopped = stream.push(bytes, origin);
    stream.give(r);
    return stopped;
}
void finish(text_stream& stream, reading& r) {
    stream.finish();
    stream.give(r);
}

/// Pushes the pieces and finishes; returns whether a stop string was met.
bool read(reading& r, const std::vector<std::string>& pieces,
          const std::vector<std::string>& stops) {
    text_stream stream(stops);
    for (const std::string& piece : pieces)
        if (push(stream, piece, accepted, r))
            return true;
    finish(stream, r);
    return false;
}

std::string read(const std::vector<std::string>& pieces,
                 const std::vector<std::string>& stops = {}) {
    reading r;
    (void)read(r, pieces, stops);
    return r.text;
}

std::vector<std::string> random_pieces(std::mt19937& random, const std::string& text) {
    std::vector<std::string> pieces;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t n = random() % 4;
        pieces.push_back(text.substr(at, n));
        at += n;
    }
    return pieces;
}

} // namespace

TEST_CASE("the length of an incomplete character") {
    CHECK(incomplete_utf8("") == 0);
    CHECK(incomplete_utf8("a") == 0);
    CHECK(incomplete_utf8("\xC3") == 1);
    CHECK(incomplete_utf8("\xC3\xA9") == 0);
    CHECK(incomplete_utf8("a\xE2") == 1);
    CHECK(incomplete_utf8("a\xE2\x82") == 2);
    CHECK(incomplete_utf8("a\xE2\x82\xAC") == 0);
    CHECK(incomplete_utf8("\xF0\x9F\x98") == 3);
    CHECK(incomplete_utf8("\xF0\x9F\x98\x80") == 0);
    CHECK(incomplete_utf8("\x80") == 0); // no beginning
    CHECK(incomplete_utf8("\x80\x80\x80\x80") == 0);
    CHECK(incomplete_utf8("\xC0") == 0); // begins nothing valid
    CHECK(incomplete_utf8("\xC1") == 0);
    CHECK(incomplete_utf8("\xF5\x80") == 0);
    CHECK(incomplete_utf8("\xFF") == 0);
    CHECK(incomplete_utf8("\xC3\xC3") == 1); // the first is lost, the second may still become one
}

TEST_CASE("a run given to the reader never cuts a character, even one of two origins") {
    reading r;
    text_stream stream;
    push(stream, "a\xC3", accepted, r);
    push(stream, "\xA9z", corrected, r);
    CHECK(r.runs == std::vector<std::string>{"a", "\xC3\xA9", "z"});
    CHECK(r.origins == std::vector{accepted, accepted, accepted, corrected});
}

TEST_CASE("the beginning of a stop string is held back, and released when it was none") {
    reading r;
    text_stream stream({"END"});
    CHECK_FALSE(push(stream, "xE", accepted, r));
    CHECK(r.text == "x");
    CHECK_FALSE(push(stream, "N", corrected, r));
    CHECK(r.text == "x");
    CHECK_FALSE(push(stream, "E", accepted, r)); // ENE: the second E may begin another
    CHECK(r.text == "xEN");
    CHECK(r.origins == std::vector{accepted, accepted, corrected});
    CHECK(push(stream, "NDy", accepted, r));
    CHECK(r.text == "xEN");
}

TEST_CASE("stop strings: at the start, inside a token, across tokens, overlapping themselves") {
    CHECK(read({"stop it"}, {"stop"}).empty());
    CHECK(read({"a stop b"}, {"stop"}) == "a ");
    CHECK(read({"a s", "to", "p b"}, {"stop"}) == "a ");
    CHECK(read({"aa", "ab"}, {"aab"}) == "a");
    CHECK(read({"abab", "ac"}, {"abac"}) == "ab");
    CHECK(read({"nothing"}, {}) == "nothing");
    CHECK(read({"nothing"}, {""}) == "nothing"); // an empty one stops nothing
    CHECK(read({"unfinished sto"}, {"stop"}) == "unfinished sto");
    CHECK(read({"é", "\xC3", "\xA9!"}, {"é!"}) == "é");
}

TEST_CASE("the stop string that is complete first ends the text, however the text is cut") {
    const std::vector<std::string> stops{"abc", "b"}; // one inside the other
    CHECK(read({"xabcy"}, stops) == "xa");
    CHECK(read({"x", "a", "b", "c", "y"}, stops) == "xa");
    const std::vector<std::string> same_end{"b", "ab"}; // complete at once: the longer one
    CHECK(read({"xab"}, same_end) == "x");
    CHECK(read({"x", "a", "b"}, same_end) == "x");
}

TEST_CASE("random texts, cuts and stop strings: as the whole text at once, every byte once") {
    std::mt19937 random(6);
    const auto random_text = [&](std::size_t most) {
        static const char* const parts[] = {
            "a", "b", "ab", "\xC3\xA9", "\xF0\x9F\x98\x80", "\xE2\x82", "\xFF", " "};
        std::string text;
        for (std::size_t n = random() % (most + 1); n > 0; --n)
            text += parts[random() % 8];
        return text;
    };
    for (int run = 0; run < 2000; ++run) {
        const std::string text = random_text(12);
        std::vector<std::string> stops;
        for (std::size_t n = random() % 3; n > 0; --n)
            stops.push_back(random_text(3));
        reading whole, parts;
        const bool stopped = read(whole, {text}, stops);
        const auto pieces = random_pieces(random, text);
        REQUIRE(read(parts, pieces, stops) == stopped);
        REQUIRE(parts.text == whole.text);
        if (!stopped)
            REQUIRE(parts.text == text);
        REQUIRE(text.starts_with(parts.text));
        for (const std::string& stop : stops)
            if (!stop.empty())
                REQUIRE(parts.text.find(stop) == std::string::npos);
    }
}

TEST_CASE("random cuts of valid text: every run is whole characters") {
    std::mt19937 random(8);
    const std::string text = "aé€😀b ü😀€é";
    for (int run = 0; run < 300; ++run) {
        reading r;
        text_stream stream({"zz"});
        for (const std::string& piece : random_pieces(random, text))
            push(stream, piece, random() % 2 == 0 ? accepted : corrected, r);
        finish(stream, r);
        REQUIRE(r.text == text);
        for (const std::string& part : r.runs) {
            REQUIRE(incomplete_utf8(part) == 0);
            REQUIRE((static_cast<unsigned char>(part[0]) & 0xC0) != 0x80);
        }
    }
}

TEST_CASE("a run whose sink threw is given again, nothing else is") {
    const std::vector<std::string> pieces{"a\xC3",
                                          "\xA9"
                                          "bS",
                                          "T",
                                          "c",
                                          "de",
                                          "STO",
                                          "x",
                                          "STOP"};
    const auto origin_of = [](std::size_t i) { return i % 2 == 0 ? accepted : corrected; };
    reading whole;
    text_stream alone({"STOP"});
    for (std::size_t i = 0; i < pieces.size(); ++i)
        REQUIRE(push(alone, pieces[i], origin_of(i), whole) == (i + 1 == pieces.size()));
    REQUIRE(whole.text == "a\xC3\xA9"
                          "bSTcdeSTOx");
    for (std::size_t fails = 0; fails < whole.runs.size(); ++fails) {
        reading r;
        std::size_t calls = 0;
        const auto sink = [&](std::string_view bytes, token_origin origin) {
            if (calls++ == fails)
                throw "sink";
            r(bytes, origin);
        };
        text_stream stream({"STOP"});
        for (std::size_t i = 0; i < pieces.size(); ++i) {
            stream.push(pieces[i], origin_of(i));
            try {
                stream.give(sink);
            } catch (const char*) {
                stream.give(sink);
            }
        }
        CHECK(r.runs == whole.runs);
        CHECK(r.origins == whole.origins);
    }
}

TEST_CASE("runs that were not taken wait for the next token, and for the end") {
    text_stream stream({"ab"});
    reading r;
    const auto refuses = [](std::string_view, token_origin) { throw "sink"; };
    stream.push("xa", accepted);
    CHECK_THROWS(stream.give(refuses));
    CHECK(stream.push("bc", accepted)); // before it: x
    CHECK_THROWS(stream.give(refuses));
    stream.finish();
    stream.give(r);
    CHECK(r.text == "x");
}
