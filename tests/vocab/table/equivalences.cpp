// SPDX-License-Identifier: MIT
#include <specdec/vocab/table/equivalences.hpp>

#include <catch2/catch.hpp>

#include "support/tables.hpp"

namespace equivalences_tests {

using namespace specdec;
using Catch::Contains;
using testing::table_of;

const vocabulary draft = table_of({{"<s>", token_kind::control},
                                   {"</s>", token_kind::control},
                                   {"</s>", token_kind::normal},
                                   {"twice", token_kind::user},
                                   {"twice", token_kind::normal}});
const vocabulary target =
    table_of({{"<|im_start|>", token_kind::control}, {"<|im_end|>", token_kind::control}});

TEST_CASE("equivalences: by name and by id, control tokens first") {
    equivalences e;
    e.add("</s>", "<|im_end|>");
    e.add(draft_id{0}, "<|im_start|>");
    e.add(draft_id{4}, target_id{1});
    const auto ids = e.resolve(draft, target);
    REQUIRE(ids.size() == 3);
    CHECK(ids[0].draft == draft_id{1});
    CHECK(ids[0].target == target_id{1});
    CHECK(ids[1].draft == draft_id{0});
    CHECK(ids[1].target == target_id{0});
    CHECK(ids[2].draft == draft_id{4});
}

TEST_CASE("equivalences: errors name the token and what was expected") {
    equivalences unknown;
    unknown.add("<|eot|>", "<|im_end|>");
    CHECK_THROWS_WITH(
        unknown.resolve(draft, target),
        "equivalences: draft token \"<|eot|>\": expected the name of a token of the draft "
        "vocabulary (5 ids)");

    equivalences ambiguous;
    ambiguous.add("twice", "<|im_end|>");
    CHECK_THROWS_WITH(ambiguous.resolve(draft, target),
                      Contains("\"twice\"") && Contains("ids 3 and 4"));

    equivalences outside;
    outside.add("<s>", target_id{2});
    CHECK_THROWS_WITH(outside.resolve(draft, target),
                      "equivalences: target token 2: expected an id from 0 on, below 2");

    vocabulary with_unused = target;
    with_unused.add("", token_kind::unused);
    equivalences none; // of an end that was not found, say
    none.add("<s>", target_id{});
    CHECK_THROWS_WITH(none.resolve(draft, with_unused),
                      "equivalences: target token -1: expected an id from 0 on, below 3");
    equivalences nameless;
    nameless.add("<s>", "");
    CHECK_THROWS_WITH(nameless.resolve(draft, with_unused), Contains("target token \"\""));

    equivalences twofold;
    twofold.add("<s>", target_id{0});
    twofold.add(draft_id{0}, target_id{1});
    CHECK_THROWS_WITH(twofold.resolve(draft, target), Contains("one target token, not several"));

    equivalences repeated;
    repeated.add("<s>", target_id{0});
    repeated.add(draft_id{0}, target_id{0});
    CHECK(repeated.resolve(draft, target).size() == 2);
}

} // namespace equivalences_tests
