// SPDX-License-Identifier: MIT
#include <specdec/sampling/law/block_of.hpp>

#include <vector>

#include <catch2/catch.hpp>

using namespace specdec;

namespace block_of_tests {

TEST_CASE("a block holds the mass from the end before it up to its own, which is the next one's") {
    const std::vector<double> ends{1, 1, 3, 4, 4};
    CHECK(block_of(0.0, ends) == 0);
    CHECK(block_of(0.999, ends) == 0);
    CHECK(block_of(1.0, ends) == 2); // the second has none
    CHECK(block_of(2.999, ends) == 2);
    CHECK(block_of(3.0, ends) == 3);
    CHECK(block_of(4.0, ends) == 3); // a target that rounds to the whole
    CHECK(block_of(5.0, ends) == 3);
    CHECK(block_of(7.0, std::vector<double>{2}) == 0);
}

} // namespace block_of_tests
