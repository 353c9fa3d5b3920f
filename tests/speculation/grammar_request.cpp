// SPDX-License-Identifier: MIT
#include <specdec/speculation/grammar_request.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/vocab/table/intersection.hpp>

#include "support/ids.hpp"
#include "support/toys/piece_tokenizer.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace grammar_request_tests {

/// ab, any number of times.
struct pairs {
    using state_type = bool; // inside one
    [[nodiscard]] static bool begin() { return false; }
    static bool step(bool& inside, char byte) {
        const bool fits = byte == (inside ? 'b' : 'a');
        inside = !inside;
        return fits;
    }
    [[nodiscard]] static bool complete(bool inside) { return !inside; }
};

struct fixture {
    any_tokenizer<target_id> words{
        piece_tokenizer<target_id>({"<end>", "a", "b", "ab", "<mark>", std::string(1, '\0')})};
    any_tokenizer<draft_id> pieces{piece_tokenizer<draft_id>({"b", "a", "<stop>", "ba"})};
    id_map map = intersect(pieces.table(), words.table(), [] {
        equivalences same;
        same.add("<stop>", "<end>");
        return same;
    }());
    shared_tables tables{words, &pieces, &map, {}};
    // <mark>, a zero byte, ab: three bytes for the masks, of which forced text counts two.
    std::vector<target_id> prompt{target_id{4}, target_id{5}, target_id{3}};
    std::vector<target_id> ends{target_id{0}};

    [[nodiscard]] text_request request() const {
        text_request r{.prompt = prompt};
        r.grammar = pairs{};
        return r;
    }
    [[nodiscard]] text_request masked(text_request r) {
        return with_masks(std::move(r), words, ends, &pieces, &map, tables);
    }
};

template <class Id>
std::string left(any_row_processor<Id>& process, const any_tokenizer<Id>& words,
                 const std::vector<Id>& tokens) {
    std::vector<float> row(words.vocabulary_size(), 1);
    process(tokens, row);
    std::string names;
    for (std::size_t i = 0; i < row.size(); ++i)
        if (row[i] >= 1)
            names += (names.empty() ? "" : " ") + std::string(words.table().entry(i));
    return names;
}

TEST_CASE("grammar request: masks of both sides begin behind the prompt's bytes") {
    fixture f;
    text_request r = f.masked(f.request());
    std::vector<target_id> text = f.prompt;
    CHECK(left(r.process, f.words, text) == "<end> a ab");
    text.push_back(target_id{1});
    CHECK(left(r.process, f.words, text) == "b");
    // Any draft tokens of the prompt's three bytes.
    const draft_id a{1}, ba{3};
    CHECK(left(r.process_draft, f.pieces, {ba, a}) == "a <stop>");
    CHECK(left(r.process_draft, f.pieces, {ba, a, a}) == "b ba");
}

TEST_CASE("grammar request: masks stand behind the request's own processors") {
    fixture f;
    text_request r = f.request();
    int asked = 0;
    r.process = [&](std::span<const target_id>, std::span<float> row) {
        ++asked;
        row[1] = row[2] = 5; // also where the grammar says no
    };
    r = f.masked(r);
    std::vector<target_id> text = f.prompt;
    text.push_back(target_id{1});
    CHECK(left(r.process, f.words, text) == "b");
    CHECK(asked == 1);
}

TEST_CASE("grammar request: without a grammar, or where others mask, nothing is masked") {
    fixture f;
    text_request none{.prompt = f.prompt};
    CHECK_FALSE(f.masked(none).process.active());
    text_request others = f.request();
    others.grammar_masks = false;
    CHECK_FALSE(f.masked(others).process.active());
    CHECK_FALSE(f.masked(others).process_draft.active());
    const text_request alone = with_masks(f.request(), f.words, f.ends, nullptr, nullptr, f.tables);
    CHECK(alone.process.active());
    CHECK_FALSE(alone.process_draft.active());
}

TEST_CASE("grammar request: forced text begins behind the prompt") {
    fixture f;
    const auto forced_behind = [&](const text_request& r, std::string_view text) {
        any_forced_text forced = forced_text_of(r, f.words);
        forced.start();
        forced.follow(text);
        lookup_hit out;
        forced.guide(9, out);
        return out.bytes;
    };
    const std::string_view prompt("\0\0ab", 4);        // control token, zero byte, ab
    CHECK(forced_behind(f.request(), prompt).empty()); // the text may end
    CHECK(forced_behind(f.request(), std::string(prompt) + "a") == "b");
    CHECK(forced_behind(text_request{.prompt = f.prompt}, std::string(prompt) + "a").empty());
}

} // namespace grammar_request_tests
