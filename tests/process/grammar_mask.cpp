// SPDX-License-Identifier: MIT
#include <specdec/process/grammar_mask.hpp>

#include <string>
#include <string_view>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/process/row_processor.hpp>

#include "support/ids.hpp"
#include "support/tiny_tokenizer.hpp"

using namespace specdec;
using specdec::testing::tiny_tokenizer;

namespace {

/// a, then any number of bc, then d.
struct abcd {
    using state_type = int; // what was seen last: 0 nothing, 1 a or c, 2 b, 3 d
    [[nodiscard]] int begin() const { return 0; }
    bool step(int& state, char byte) const {
        const std::string_view next[] = {"a", "bd", "c", ""};
        const bool fits = next[state].find(byte) != std::string_view::npos;
        state = byte == 'b' ? 2 : byte == 'd' ? 3 : 1;
        return fits;
    }
    [[nodiscard]] bool complete(int state) const { return state == 3; }
};

using words_type = tiny_tokenizer<target_id>;
using mask_type = grammar_mask<target_id, abcd, words_type>;
static_assert(RowProcessor<mask_type, target_id> && !RowProcessor<mask_type, draft_id>);

const words_type words({"<end>", "<mark>", "a", "ab", "abc", "abx", "b", "bcbcd", "bcd", "c", "d",
                        "x", "abca"});
const byte_order<target_id> order(words);

/// What is left behind a text, by name.
std::string left(mask_type& mask, std::string_view text, std::size_t row_size = 13) {
    const std::vector<target_id> tokens = specdec::testing::encoded(words, text);
    std::vector<float> row(row_size, 1);
    mask(std::span<const target_id>(tokens), std::span<float>(row));
    std::string names;
    for (std::size_t i = 0; i < row.size(); ++i)
        if (row[i] == 1)
            names += (names.empty() ? "" : " ") +
                     (i < 13 ? std::string(words.table().entry(i)) : std::string("padding"));
    return names;
}

} // namespace

TEST_CASE("tokens with which a text cannot go on are forbidden") {
    mask_type mask(abcd{}, words, order, 0, {target_id{0}});
    CHECK(left(mask, "") == "a ab abc");
    CHECK(left(mask, "a") == "b bcbcd bcd d");
    CHECK(left(mask, "ab") == "c");
    CHECK(left(mask, "abcb") == "c");
    CHECK(left(mask, "abcd") == "<end>");          // no other control token, and that one only here
    CHECK(left(mask, "abc") == "b bcbcd bcd d");   // truncated
    CHECK(left(mask, "a", 15) == "b bcbcd bcd d"); // padding
    CHECK(left(mask, "a", 7) == "b");              // a shorter row
}

TEST_CASE("tokens that end a text are allowed where it may end, whatever their bytes") {
    mask_type mask(abcd{}, words, order, 0, {target_id{2}, target_id{11}}); // "a" and "x"
    CHECK(left(mask, "") == "ab abc");
    CHECK(left(mask, "abcd") == "a x");
    CHECK(left(mask, "abcd", 7) == "a"); // a shorter row
    mask_type nothing(abcd{}, words, order, 0, {target_id{99}});
    CHECK(left(nothing, "abcd").empty());
}

TEST_CASE("behind what the grammar refuses nothing may follow") {
    mask_type mask(abcd{}, words, order, 0, {target_id{0}});
    CHECK(left(mask, "x").empty());
    CHECK(left(mask, "xd").empty());
    CHECK(left(mask, "a") == "b bcbcd bcd d");
}

TEST_CASE("the grammar begins behind the bytes of the prompt, inside a token if need be") {
    mask_type mask(abcd{}, words, order, 3, {target_id{0}});
    const std::string all = "<end> <mark> a ab abc abx b bcbcd bcd c d x abca";
    CHECK(left(mask, "") == all);
    CHECK(left(mask, "xx") == all);
    CHECK(left(mask, "xxx") == "a ab abc");
    CHECK(left(mask, "abcab") == "c"); // the token abca, then b
    CHECK(left(mask, "xx") == all);
}
