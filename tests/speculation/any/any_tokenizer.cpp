// SPDX-License-Identifier: MIT
#include <specdec/speculation/any/any_tokenizer.hpp>

#include <string_view>
#include <vector>

#include <catch2/catch.hpp>

#include "support/toy_pair.hpp"

using namespace specdec;
using namespace specdec::testing;

static_assert(TokenizerOf<any_tokenizer<target_id>, target_id>);

namespace {

/// The toy's words without its table, or with a table that is another's.
struct no_table {
    const target_words* words;
    [[nodiscard]] std::size_t vocabulary_size() const { return words->vocabulary_size(); }
    [[nodiscard]] std::string_view bytes(target_id id) const { return words->bytes(id); }
    void encode(std::string_view text, encode_mode where, std::vector<target_id>& out) const {
        words->encode(text, where, out);
    }
};
struct wrong_table : no_table {
    [[nodiscard]] vocabulary table() const {
        vocabulary all;
        for (std::size_t i = 0; i < vocabulary_size(); ++i)
            all.add("x", token_kind::normal);
        return all;
    }
};

} // namespace

TEST_CASE("any tokenizer: the same bytes, ids and table, borrowed or kept") {
    const toy_pair pair;
    const any_tokenizer<target_id> view(pair.target), copy = view;
    CHECK(copy.table().fingerprint() == pair.target.table().fingerprint());
    CHECK(copy.fingerprint() == pair.target.table().fingerprint());
    for (std::size_t i = 0; i < pair.target.vocabulary_size(); ++i)
        CHECK(copy.bytes(id_at<target_id>(i)) == pair.target.bytes(id_at<target_id>(i)));
    std::vector<target_id> ids;
    any_tokenizer<target_id>(target_words{{"a", "b"}}).encode("ab", encode_mode::start, ids);
    CHECK(ids == std::vector{target_id{0}, target_id{1}});
}

TEST_CASE("any tokenizer: without a table what has no bytes is a control token") {
    const toy_pair pair;
    const any_tokenizer<target_id> all(no_table{&pair.target});
    CHECK(all.table().kind(0) == token_kind::control);
    CHECK(all.table().kind(1) == token_kind::normal);
    CHECK(all.bytes(target_id{1}) == "a");
    CHECK_THROWS_WITH(any_tokenizer<target_id>(wrong_table{{&pair.target}}),
                      Catch::Contains("tokenizer: table: expected the bytes"));
}
