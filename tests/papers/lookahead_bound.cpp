// SPDX-License-Identifier: MIT
#include "papers/lookahead_bound.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <support/tables.hpp>
#include <support/vocab_tsv.hpp>

namespace lookahead_bound_tests {

using namespace specdec;
using namespace specdec::papers;
using testing::table_of;

TEST_CASE("lookahead bound: the paper's example, and edges") {
    std::vector<std::string> words{"hello_", "world", "wo", "rld"};
    const vocabulary draft = table_of(words);
    words.push_back("hello_world");
    CHECK(lookahead_bound(draft, table_of(words)) == 3);

    CHECK(lookahead_bound(table_of({"a"}), {}) == 1);
    CHECK(lookahead_bound(table_of({"a"}), table_of({"a", "b"})) == 1);
    CHECK(lookahead_bound(table_of({"a", "bb"}), table_of({"aaaa", "bbbbb"})) == 4);
    CHECK(lookahead_bound(table_of({"xaaaa", "xa", "y"}), table_of({"xay", "yyxa"})) == 3);
    vocabulary bytes; // byte tokens can be drafted; control tokens end the text
    bytes.add("aaa", token_kind::normal);
    bytes.add("a", token_kind::byte);
    vocabulary target = table_of({"aaa"});
    target.add("aaaaaaaa", token_kind::control);
    CHECK(lookahead_bound(bytes, target) == 3);
}

/// The first token by longest match, and whether more text could change it.
std::size_t first_token(const vocabulary& target, std::string_view text) {
    std::size_t best = target.size(), size = 0;
    for (std::size_t t = 0; t < target.size(); ++t)
        if (text.starts_with(target.text(t)) && target.text(t).size() > size) {
            best = t;
            size = target.text(t).size();
        }
    return best;
}

TEST_CASE("lookahead bound: behind it the first token of a longest match stays, before it not") {
    const vocabulary draft = table_of({"a", "b", "ba", "abb"});
    const vocabulary target = table_of({"a", "b", "ab", "abba", "babab"});
    const std::size_t bound = lookahead_bound(draft, target);
    CHECK(bound == 5);
    std::vector<std::string> drafts{""};
    bool changes_before = false;
    for (std::size_t n = 0; n < bound + 2; ++n) {
        std::vector<std::string> longer;
        for (const std::string& s : drafts)
            for (std::size_t d = 0; d < draft.size(); ++d) {
                longer.push_back(s + std::string(draft.text(d)));
                const bool same = first_token(target, s) == first_token(target, longer.back());
                if (n >= bound)
                    REQUIRE(same);
                else if (n + 1 == bound && !same)
                    changes_before = true;
            }
        drafts = longer;
    }
    CHECK(changes_before);
}

/// Of drafters that have every byte.
void check_longest(const std::string& drafter, const std::string& of_target, std::size_t bytes) {
    const vocabulary draft = test::read_vocabulary(drafter);
    const vocabulary target = test::read_vocabulary(of_target);
    std::size_t longest = 0;
    for (std::size_t t = 0; t < target.size(); ++t)
        longest = std::max(longest, target.text(t).size());
    CHECK(longest == bytes);
    CHECK(lookahead_bound(draft, target) == longest);
}

TEST_CASE("lookahead bound: with every byte in the drafter, the longest target token's bytes") {
    check_longest("stories512", "qwen2_part", 72);
}

TEST_CASE("lookahead bound of whole vocabularies", "[shared]") {
    if (test::has_vocabularies())
        check_longest("llama2", "qwen2", 128);
}

} // namespace lookahead_bound_tests
