// SPDX-License-Identifier: MIT
#include <specdec/decode/end_ids.hpp>

#include <vector>

#include <catch2/catch.hpp>

#include "support/ids.hpp"

using namespace specdec;
using namespace specdec::testing;
using Catch::Contains;

namespace end_ids_tests {

/// Control tokens 1, 2 and 4; token 3 is text that is spelled like one of them.
vocabulary chat_table() {
    vocabulary table;
    table.add("a", token_kind::normal);
    table.add("<end>", token_kind::control);
    table.add("<turn>", token_kind::control);
    table.add("<turn>", token_kind::user);
    table.add("<turn", token_kind::control);
    table.add("<pad>", token_kind::unused);
    return table;
}

std::vector<int> ends_under(const generation_limits& limits) {
    const vocabulary table = chat_table();
    const std::vector<target_id> ends{target_id{1}};
    return values_of(end_ids_of(table, ends, limits));
}

TEST_CASE("end ids: a stop string that is a control token's name ends a text at that token") {
    CHECK(ends_under({}) == std::vector{1});
    CHECK(ends_under({.stop_strings = {"a", "nd>", "<"}}) == std::vector{1});
    CHECK(ends_under({.stop_strings = {"<turn>"}}) == std::vector{1, 2});
    CHECK(ends_under({.stop_strings = {"<end>", "<turn"}}) == std::vector{1, 4});
    CHECK(ends_under({.stop_strings = {"<pad>", ""}}) == std::vector{1});
}

TEST_CASE("end ids: a stop string that contains a control token's name is refused by name") {
    CHECK_THROWS_WITH(ends_under({.stop_strings = {"a", "x<end>"}}),
                      Contains("limits: stop_strings: expected text, or the name of one control "
                               "token, found \"x<end>\", which contains the control token <end>"));
    CHECK_THROWS_WITH(ends_under({.stop_strings = {"<end><turn>"}}), Contains("stop_strings"));
}

TEST_CASE("end ids: by a switch every control token ends a text") {
    CHECK(ends_under({.end_at_control = true}) == std::vector{1, 2, 4});
    CHECK(ends_under({.stop_strings = {"<turn>"}, .end_at_control = true}) == std::vector{1, 2, 4});
}

} // namespace end_ids_tests
