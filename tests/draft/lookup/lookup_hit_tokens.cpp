// SPDX-License-Identifier: MIT
#include <specdec/draft/lookup/lookup_hit_tokens.hpp>

#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/draft/lookup/prompt_lookup.hpp>
#include <specdec/draft/stop_rule.hpp>

#include "support/ids.hpp"
#include "support/tiny_tokenizer.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace lookup_hit_tokens_tests {

using words_type = tiny_tokenizer<target_id>;

struct fixture {
    words_type words{{"a", "b", "c", "d", " ", "ab", "<mark>"}};
    lookup_hit_tokens<prompt_lookup, words_type> found{prompt_lookup(1024), words, 4};

    fixture() { found.start(); }
    [[nodiscard]] std::vector<target_id> tokens(const std::string& text) const {
        return encoded(words, text);
    }
};
constexpr fixed_length any{32};

TEST_CASE("found tokens: what followed, in tokens, as many as are wanted") {
    fixture f;
    f.found.follow(f.tokens("abcd abcd "));
    CHECK_FALSE(f.found.asked());
    REQUIRE(f.found.find(any));
    CHECK(f.found.asked());
    CHECK(copy_of(f.found.ids()) == f.tokens("abcd "));
    REQUIRE(f.found.steps().size() == 4);
    CHECK(f.found.steps()[0].sure < f.found.steps()[1].sure); // two bytes, one
    f.found.forget();
    CHECK(f.found.ids().empty());
    CHECK_FALSE(f.found.asked());
}

TEST_CASE("found tokens: what would have become of them") {
    fixture f;
    f.found.follow(f.tokens("abcd abcd "));
    REQUIRE(f.found.find(any)); // ab c d _
    const draft_outcome part = f.found.outcome(f.tokens("abcc"));
    CHECK(part.kept == 2);
    CHECK(part.rejected);
    CHECK(part.steps.size() == 4);
    const draft_outcome shorter = f.found.outcome(f.tokens("ab"));
    CHECK(shorter.kept == 1);
    CHECK_FALSE(shorter.rejected); // the text has not told yet
    CHECK(f.found.outcome(f.tokens("abcd a")).kept == 4);
    f.found.follow(f.tokens("b"));
    CHECK(f.found.ids().empty());
    CHECK_FALSE(f.found.find(any)); // "d b" is new
    CHECK(f.found.asked());
}

/// Finds "abcd", whose first three bytes are certain, or all.
struct half_certain {
    bool all = false;
    void start() {}
    void follow(std::string_view) {}
    void find(std::size_t, lookup_hit& out) const {
        out.clear();
        for (const char byte : std::string_view("abcd"))
            out.push(byte, all || byte != 'd' ? 1 : 0.5);
    }
};

TEST_CASE("found tokens: of certain bytes, forced, and the last one at the end of the text") {
    const words_type words{{"a", "b", "c", "d", " ", "ab", "<mark>"}};
    const auto certainty_of = [&](auto lookup) {
        lookup_hit_tokens found(std::move(lookup), words, 4);
        found.start();
        REQUIRE(found.find(any));
        std::vector<token_certainty> all;
        for (const draft_progress& now : found.steps())
            all.push_back(now.certainty);
        return all;
    };
    using enum token_certainty;
    CHECK(certainty_of(half_certain{.all = true}) == std::vector{forced, forced, forced_end});
    CHECK(certainty_of(half_certain{}) == std::vector{forced, forced, guessed});
    fixture f;
    f.found.follow(f.tokens("abcd abcd "));
    REQUIRE(f.found.find(any));
    for (const draft_progress& now : f.found.steps())
        CHECK(now.certainty == guessed);
}

struct breaks_off : fixed_length {
    static constexpr rule_traits traits{.predict = true};
    [[nodiscard]] double predict(const draft_progress& now) const {
        return now.drafted == 2 ? throw error("stop rule") : 1;
    }
};

TEST_CASE("found tokens: nothing is told of those that a rule broke off at") {
    fixture f;
    f.found.follow(f.tokens("abcd abcd "));
    CHECK_THROWS_AS(f.found.find(breaks_off{}), error);
    const draft_outcome o = f.found.outcome(f.tokens("abcd "));
    CHECK(o.kept == 1);
    CHECK(o.steps.size() == 1);
    CHECK_FALSE(o.rejected);
}

TEST_CASE("found tokens: another text knows nothing of the last") {
    fixture f;
    f.found.follow(f.tokens("abcd abcd "));
    f.found.start();
    f.found.follow(f.tokens("abcd "));
    CHECK_FALSE(f.found.find(any));
}

} // namespace lookup_hit_tokens_tests
