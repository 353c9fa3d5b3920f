// SPDX-License-Identifier: MIT
#include <specdec/speculation/any/any_grammar.hpp>

#include <string>
#include <string_view>
#include <vector>

#include <catch2/catch.hpp>

#include "support/ids.hpp"
#include "support/toys/piece_tokenizer.hpp"

using namespace specdec;
using Catch::Contains;

namespace any_grammar_tests {

/// One text alone.
struct only {
    using state_type = std::size_t;
    std::string_view text;
    int* copies = nullptr;

    explicit only(std::string_view t, int* counter = nullptr) : text(t), copies(counter) {}
    only(const only& other) : text(other.text), copies(other.copies) {
        if (copies != nullptr)
            ++*copies;
    }
    only(only&&) = default;
    [[nodiscard]] static std::size_t begin() { return 0; }
    bool step(std::size_t& at, char byte) const {
        return at < text.size() && text[at] == byte && (++at, true);
    }
    [[nodiscard]] bool complete(std::size_t at) const { return at == text.size(); }
};

TEST_CASE("any grammar: none is not active, and none of it forces anything") {
    CHECK_FALSE(any_grammar().active());
    any_forced_text none;
    none.start();
    none.follow("a");
    lookup_hit out;
    out.push('?', 0.5);
    none.guide(9, out);
    CHECK(out.bytes == "?");
}

TEST_CASE("any grammar: one grammar serves masks, forced text and copies") {
    int copies = 0;
    any_grammar first = only("abba", &copies);
    CHECK(first.active());
    const int before = copies;
    any_grammar second = first;
    const any_tokenizer<target_id> words(piece_tokenizer<target_id>({"<end>", "a", "b", "ab"}));
    const byte_order<target_id> order(words);
    any_row_processor<target_id> mask = second.mask(words, order, 1, {target_id{0}});
    any_forced_text forced = second.forced(1);
    first = second = any_grammar(); // who uses it keeps it
    CHECK(copies == before);

    const auto left = [&](const std::vector<target_id>& tokens) {
        std::vector<float> row(4, 1);
        mask(tokens, row);
        return row;
    };
    constexpr float no = -__builtin_inff();
    CHECK(left({target_id{2}}) == std::vector<float>{no, 1, no, 1});
    CHECK(left({target_id{2}, target_id{3}}) == std::vector<float>{no, no, 1, no});
    CHECK(left({target_id{2}, target_id{3}, target_id{2}, target_id{1}}) ==
          std::vector<float>{1, no, no, no});
    lookup_hit out;
    for (int i = 0; i < 2; ++i) {
        forced.start();
        forced.follow("ba");
        out.clear();
        forced.guide(9, out);
        CHECK(out.bytes == "bba");
    }
}

TEST_CASE("any grammar: one that allows no text is refused, the empty text alone is not") {
    struct nothing {
        using state_type = int;
        [[nodiscard]] static int begin() { return 0; }
        static bool step(int&, char) { return false; }
        [[nodiscard]] static bool complete(int) { return false; }
    };
    CHECK_THROWS_WITH(any_grammar(nothing{}),
                      Contains("grammar: begin: expected a grammar that allows some text"));
    CHECK(any_grammar(only("")).active());
    CHECK(any_grammar(only("\xff")).active());
}

} // namespace any_grammar_tests
