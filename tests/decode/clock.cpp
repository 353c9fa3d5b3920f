// SPDX-License-Identifier: MIT
#include <specdec/decode/clock.hpp>

#include <string>

#include <catch2/catch.hpp>

#include "support/archetypes.hpp"

using namespace specdec;
using namespace specdec::testing;

static_assert(Clock<no_clock>);
static_assert(Clock<clock_archetype>);
static_assert(Clock<double (*)()>);

namespace {
struct tells_text {
    std::string operator()() { return {}; }
};
struct wants_a_zone {
    double operator()(int) { return 0; }
};
} // namespace
static_assert(!Clock<int>);
static_assert(!Clock<tells_text>);
static_assert(!Clock<wants_a_zone>);

TEST_CASE("the clock of those who do not measure stands still") {
    CHECK(no_clock{}() == 0.0);
}
