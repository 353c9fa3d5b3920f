// SPDX-License-Identifier: MIT
#pragma once

#include <fstream>
#include <string>

#include <catch2/catch.hpp>

namespace specdec::testing {

/// A loss and its gradient are those of tests/golden/NAME, which PyTorch computed: the loss within
/// 1e-5 of its size, each derivative within the margin.
template <class Gradient>
void check_golden(const std::string& name, double loss, const Gradient& gradient, double margin) {
    std::ifstream golden(SPECDEC_SOURCE_DIR "/tests/golden/" + name);
    double expected = 0;
    REQUIRE(golden >> expected);
    CHECK(loss == Approx(expected).epsilon(1e-5));
    for (const auto found : gradient) {
        REQUIRE(golden >> expected);
        CHECK(static_cast<double>(found) == Approx(expected).margin(margin));
    }
}

} // namespace specdec::testing
