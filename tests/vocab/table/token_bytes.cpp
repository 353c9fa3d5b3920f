// SPDX-License-Identifier: MIT
#include <specdec/vocab/table/token_bytes.hpp>

#include <catch2/catch.hpp>

#include <vector>

#include <specdec/core/token_id.hpp>
#include <support/toy_tokenizer.hpp>

namespace {

using namespace specdec;

TEST_CASE("tokens are compared with the text they stand for") {
    const test::toy_bpe<target_id> tokenizer({"ab", "abc"}); // ids 256 and 257
    const std::vector<target_id> tokens{target_id{257}, target_id{'d'}, target_id{256}}; // abc d ab

    CHECK(bytes_equal(tokenizer, tokens, "abcdab"));
    CHECK_FALSE(bytes_equal(tokenizer, tokens, "abcda"));
    CHECK_FALSE(bytes_equal(tokenizer, tokens, "abcdabc"));
    CHECK(bytes_equal(tokenizer, std::vector<target_id>{}, ""));

    CHECK(bytes_end_with(tokenizer, tokens, ""));
    CHECK(bytes_end_with(tokenizer, tokens, "b"));
    CHECK(bytes_end_with(tokenizer, tokens, "cdab"));
    CHECK(bytes_end_with(tokenizer, tokens, "abcdab"));
    CHECK_FALSE(bytes_end_with(tokenizer, tokens, "xabcdab"));
    CHECK_FALSE(bytes_end_with(tokenizer, tokens, "xab"));

    CHECK(boundary_behind(tokenizer, tokens, "") == 0);
    CHECK(boundary_behind(tokenizer, tokens, "abc") == 1);
    CHECK(boundary_behind(tokenizer, tokens, "abcdab") == 3);
    CHECK(boundary_behind(tokenizer, tokens, "ab") == 4);      // within a token
    CHECK(boundary_behind(tokenizer, tokens, "abcdabc") == 4); // longer than all
}

} // namespace
