// SPDX-License-Identifier: MIT
#include "support/property/check_property.hpp"

#include <set>
#include <string>

#include <catch2/catch.hpp>

#include <specdec/core/token_id.hpp>

#include "support/ids.hpp"
#include "support/property/courses.hpp"
#include "support/property/laws.hpp"
#include "support/property/vocabularies.hpp"
#include "support/toys/piece_tokenizer.hpp"

using namespace specdec;
using Catch::Contains;

namespace check_property_tests {

TEST_CASE("what does not hold is shrunk to the smallest case") {
    const property_report steps =
        check_property([] { return (*courses({.texts = 1, .changes = true})).steps.size() < 3; });
    CHECK_FALSE(steps.holds);
    const std::string one = "commit all of draft 1 room 1; ";
    CHECK_THAT(steps.text, Contains(one + one + one + "the first 1"));

    const property_report pieces =
        check_property([] { return (*vocabularies()).target.size() < 3; });
    CHECK_THAT(pieces.text, Contains("T = {a, b, ab} D = {a, b}"));

    const property_report rows = check_property([] { return (*laws_of(3)).rows.size() < 2; });
    CHECK_THAT(rows.text, Contains("1 1 1 | 1 1 1"));
}

TEST_CASE("the same seed tries the same cases") {
    const auto drawn = [](std::uint64_t seed) {
        std::string all;
        const property_report report = check_property(
            [&] { all += (*courses({.texts = 2})).text() + "\n"; }, {.cases = 20, .seed = seed});
        CHECK(report.holds);
        return all;
    };
    CHECK(drawn(1) == drawn(1));
    CHECK(drawn(1) != drawn(2));
}

TEST_CASE("generated vocabularies write any text of their letters") {
    const property_report report = check_property([] {
        const vocabulary_pair words = *vocabularies();
        const std::string text = *rc::gen::container<std::string>(rc::gen::element('a', 'b'));
        const piece_tokenizer<draft_id> pieces(words.draft);
        RC_ASSERT(testing::text_of(pieces, testing::encoded<draft_id>(pieces, text)) == text);
        RC_ASSERT(std::set<std::string>(words.target.begin(), words.target.end()).size() ==
                  words.target.size());
    });
    INFO(report.text);
    CHECK(report.holds);
}

} // namespace check_property_tests
