// SPDX-License-Identifier: MIT
#include <specdec/core/text_offset.hpp>

#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

using namespace specdec;

namespace {
const std::vector<std::uint32_t> widths{1, 3, 2};
} // namespace

TEST_CASE("a token is as wide as its bytes, and at least 1") {
    CHECK(text_width("") == 1);
    CHECK(text_width("a") == 1);
    CHECK(text_width("\xE2\x82\xAC") == 3);
    CHECK(text_width(std::string(70000, 'x')) == 70000);
}

TEST_CASE("a place is the sum of the widths before it, by tokens or by bytes") {
    text_offset place(widths);
    CHECK(place.value() == 0);
    place.pass(target_id{1});
    CHECK(place.value() == 3);
    place.pass("ab");
    CHECK(place.value() == 5);
    place.pass(target_id{0});
    CHECK(place.value() == 6);
}

TEST_CASE("a place grows behind every token, control tokens and foreign ids included") {
    text_offset place(widths);
    std::uint64_t last = place.value();
    const auto grew = [&] { return std::exchange(last, place.value()) < place.value(); };
    place.pass("");
    CHECK(grew());
    for (const target_id t : {target_id{0}, target_id{3}, target_id{99}, target_id{}}) {
        place.pass(t);
        CHECK(grew());
    }
}

TEST_CASE("an unknown place stays 0; a copy moves alone") {
    text_offset unknown;
    unknown.pass(target_id{1});
    unknown.pass("abc");
    CHECK(unknown.value() == 0);

    text_offset place(widths);
    place.pass(target_id{2});
    text_offset copy = place;
    copy.pass(target_id{1});
    CHECK(place.value() == 2);
    CHECK(copy.value() == 5);
}

TEST_CASE("places are counted beyond 32 bits") {
    const std::vector<std::uint32_t> wide{0xFFFFFFFFU};
    text_offset place(wide);
    place.pass(target_id{0});
    place.pass(target_id{0});
    CHECK(place.value() == 2 * std::uint64_t{0xFFFFFFFF});
}
