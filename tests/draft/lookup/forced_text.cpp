// SPDX-License-Identifier: MIT
#include <specdec/draft/lookup/forced_text.hpp>

#include <string>
#include <string_view>

#include <catch2/catch.hpp>

#include <specdec/draft/lookup/guided_lookup.hpp>

using namespace specdec;

namespace forced_text_tests {

/// Texts of a frame: `*` stands for any number of letters, `.` for one; what stands behind a `|`
/// may be left out. Counts its steps.
struct frame {
    using state_type = std::size_t; // place in the frame
    std::string_view text;
    std::size_t* steps = nullptr;

    [[nodiscard]] static std::size_t begin() { return 0; }
    [[nodiscard]] bool complete(std::size_t at) const {
        return at == text.size() || text[at] == '|';
    }
    bool step(std::size_t& at, char byte) const {
        if (steps != nullptr)
            ++*steps;
        if (at < text.size() && text[at] == '|')
            ++at;
        const bool letter = byte >= 'a' && byte <= 'z';
        if (at < text.size() && text[at] == '*') {
            if (letter)
                return true;
            ++at;
        }
        return at < text.size() && (text[at] == '.' ? letter : text[at] == byte) && (++at, true);
    }
};
static_assert(ByteGrammar<frame> && TextLookup<forced_text<frame>> &&
              TextGuide<forced_text<frame>>);

constexpr std::string_view record = R"({"name":"*","key":"."})";

/// What is found behind a text.
template <class Lookup>
std::string found_behind(Lookup lookup, std::string_view text, std::size_t most = 64) {
    lookup.start();
    lookup.follow(text);
    lookup_hit out;
    out.push('?', 0.5);
    lookup.find(most, out);
    CHECK(out.bytes.size() == out.chances.size());
    return out.bytes;
}
std::string forced_behind(std::string_view text, std::size_t most = 64,
                          std::string_view grammar = record) {
    return found_behind(forced_text(frame{grammar}, 0), text, most);
}

TEST_CASE("forced text: the bytes that have to follow, as long as there is no choice") {
    CHECK(forced_behind("") == R"({"name":")");
    CHECK(forced_behind(R"({"na)") == R"(me":")");
    CHECK(forced_behind(R"({"name":")").empty()); // a letter or the quote
    CHECK(forced_behind(R"({"name":"ab)").empty());
    CHECK(forced_behind(R"({"name":"ab")") == R"(,"key":")");
    CHECK(forced_behind(R"({"name":"ab","key":"z)") == R"("})");
    CHECK(forced_behind(R"({"name":"ab","key":"z"})").empty());
    CHECK(forced_behind("", 3) == R"({"n)");
    CHECK(forced_behind("", 0).empty());

    lookup_hit out;
    forced_text text(frame{record}, 0);
    text.start();
    text.find(64, out);
    for (const float chance : out.chances)
        CHECK(chance == 1);
    CHECK(out.expected() == 9);
}

TEST_CASE("forced text: where the text may end nothing is forced") {
    CHECK(forced_behind("", 64, "ab|cd") == "ab");
    CHECK(forced_behind("ab", 64, "ab|cd").empty());
    CHECK(forced_behind("abc", 64, "ab|cd") == "d");
}

TEST_CASE("forced text: after refused text nothing is found, until another text begins") {
    CHECK(forced_behind("x").empty());
    CHECK(forced_behind(R"(x{"name":"b")").empty());
    CHECK(forced_behind(R"({"name":"b"})").empty());
    forced_text text(frame{record}, 0);
    lookup_hit out;
    text.follow("x");
    text.find(64, out);
    CHECK(out.bytes.empty());
    text.start();
    text.find(64, out);
    CHECK(out.bytes == R"({"name":")");
}

TEST_CASE("forced text: a grammar that allows nothing forces nothing") {
    CHECK(forced_behind("", 64, "").empty());
    struct nothing {
        using state_type = int;
        [[nodiscard]] static int begin() { return 0; }
        static bool step(int&, char) { return false; }
        [[nodiscard]] static bool complete(int) { return false; }
    };
    CHECK(found_behind(forced_text(nothing{}, 0), "").empty());
    CHECK(found_behind(forced_text(nothing{}, 0), "a").empty());
}

TEST_CASE("forced text: the grammar begins behind the prompt's bytes, control tokens left out") {
    const auto behind = [](std::string_view text) {
        return found_behind(forced_text(frame{record}, 4), text);
    };
    CHECK(behind("").empty()); // the prompt is longer than the text
    CHECK(behind("abc").empty());
    CHECK(behind("abcd") == R"({"name":")");
    CHECK(behind(R"(abcd{"name)") == R"(":")");
    const std::string_view marked("\0ab\0cd\0{\"na\0me", 14);
    CHECK(behind(marked) == R"(":")");
    CHECK(count_text_bytes(marked.substr(0, 7)) == 4);
    CHECK(count_text_bytes("") == 0);

    forced_text text(frame{record}, 4);
    lookup_hit out;
    for (int i = 0; i < 2; ++i) { // each text has its prompt
        text.start();
        text.follow("ab");
        text.find(64, out);
        CHECK(out.bytes.empty());
        text.follow("cd{");
        text.find(64, out);
        CHECK(out.bytes == R"("name":")");
    }
}

TEST_CASE("forced text: looking changes nothing, and takes the steps that it says") {
    std::size_t steps = 0;
    forced_text text(frame{record, &steps}, 0);
    text.start();
    text.follow(R"({"na)");
    CHECK(steps == 4);
    lookup_hit out;
    for (int i = 0; i < 3; ++i) {
        steps = 0;
        text.find(64, out);
        CHECK(out.bytes == R"(me":")");
        CHECK(steps <= 257 * out.bytes.size() + 256);
        CHECK(steps > 0);
    }
    text.follow("me");
    text.find(64, out);
    CHECK(out.bytes == R"(":")");
    steps = 0;
    text.find(1, out);
    CHECK(steps <= 257); // nothing is looked for behind what is wanted
}

TEST_CASE("forced text: a guide corrects what was found") {
    const auto guided = [](std::string_view text, std::string_view found, std::size_t most = 64) {
        forced_text guide(frame{record}, 0);
        guide.start();
        guide.follow(text);
        lookup_hit out;
        for (const char byte : found)
            out.push(byte, 0.5);
        guide.guide(most, out);
        std::string shown;
        for (std::size_t i = 0; i < out.bytes.size(); ++i)
            shown += out.chances[i] == 1 ? out.bytes[i] : '_'; // a guess
        return shown + " " + out.bytes;
    };
    // Forced bytes are certain, wherever they stand.
    CHECK(guided(R"({"name":"a)", R"(b","ke)") == R"(__,"key":" b","key":")");
    CHECK(guided(R"({"name":"a)", R"(b","key":"x")") == R"(__,"key":"_"} b","key":"x"})");
    // What the grammar refuses is cut; what is forced there follows in its place.
    CHECK(guided("", R"({"title":"x)") == R"({"name":" {"name":")");
    CHECK(guided(R"({"name":")", "b1c") == "_ b");
    CHECK(guided(R"({"name":"a",)", "no") == R"("key":" "key":")");
    CHECK(guided(R"({"name":"a)", R"(b","ke)", 6) == R"(__,"ke b","ke)");
    // Behind refused text a grammar knows nothing.
    CHECK(guided("x", "yz") == "__ yz");
}

/// Says the same whatever was said.
struct fixed_lookup {
    std::string says;
    std::string* heard;
    void start() { heard->clear(); }
    void follow(std::string_view bytes) { *heard += bytes; }
    void find(std::size_t most, lookup_hit& out) const {
        out.clear();
        for (const char byte : says.substr(0, most))
            out.push(byte, 0.5);
    }
};

TEST_CASE("guided lookup: forced text first, then what was found, if the grammar allows it") {
    std::string heard;
    const auto behind = [&](std::string_view text, const std::string& says) {
        return found_behind(
            guided_lookup(fixed_lookup{says, &heard}, forced_text(frame{record}, 2)), text);
    };
    CHECK(behind("hi", R"({"name":"bob","key":"q"})") == R"({"name":"bob","key":"q"})");
    CHECK(heard == "hi");
    CHECK(behind("hi", "bob") == R"({"name":")");
    CHECK(behind(R"(hi{"name":")", "bob") == "bob");
    CHECK(behind(R"(hi{"name":")", "bob 2") == "bob");
    CHECK(behind("h", "i {") == "i {"); // in the prompt
    CHECK(behind("hi?", "?!") == "?!");
    CHECK(found_behind(guided_lookup(std::optional<fixed_lookup>(), forced_text(frame{record}, 2)),
                       "hi") == R"({"name":")");
}

} // namespace forced_text_tests
