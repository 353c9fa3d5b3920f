// SPDX-License-Identifier: MIT
#include <specdec_engine/learn/reverse/rotation.hpp>

#include <vector>

#include <catch2/catch.hpp>

#include "learn/finite_differences.hpp"

using namespace specdec::engine;

TEST_CASE("heads are turned as the engine turns them, and back again") {
    rotary_config c;
    c.scaled = true;
    c.llama3 = {.factor = 8, .original_context = 32};
    const rotation<float> turns(c, 6, 20);
    const rotary_table table(c, 6, 20);
    for (const std::size_t m : {0UL, 1UL, 19UL}) {
        const auto numbers = finite_differences::some_numbers(12, 7);
        const std::vector<float> before(numbers.begin(), numbers.end());
        std::vector<float> heads = before, expected(12);
        turns.turn(heads.data(), 2, m);
        for (const std::size_t head : {0UL, 6UL})
            table.turn(&before[head], m, &expected[head]);
        for (std::size_t i = 0; i < 12; ++i)
            CHECK(heads[i] == Approx(expected[i]).margin(1e-6));
        turns.turn_back(heads.data(), 2, m);
        for (std::size_t i = 0; i < 12; ++i)
            CHECK(heads[i] == Approx(before[i]).margin(1e-6));
    }
}
