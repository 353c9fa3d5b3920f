// SPDX-License-Identifier: MIT
#include "support/enumeration/interval_number.hpp"

#include <cmath>

#include <catch2/catch.hpp>

using namespace specdec;

namespace interval_number_tests {

/// A coin that knows its only number.
bool below(void* u, std::size_t number, double x) {
    CHECK(number == 7);
    return *static_cast<double*>(u) < x;
}

/// What a formula says of u compared with x, by a double and by comparisons.
template <class F>
void check_at(F f, double x) {
    for (double u = 0.01; u < 1; u += 0.0618) {
        const interval_number v(&u, below, 7);
        CAPTURE(u, x);
        CHECK((f(v) < x) == (f(u) < x));
        CHECK((f(v) <= x) == (f(u) <= x));
        CHECK((f(v) > x) == (f(u) > x));
        CHECK((f(v) >= x) == (f(u) >= x));
        CHECK((x < f(v)) == (x < f(u)));
        CHECK((x > f(v)) == (x > f(u)));
        CHECK((x <= f(v)) == (x <= f(u)));
        CHECK((x >= f(v)) == (x >= f(u)));
    }
}

template <class F>
void check(F f) {
    for (double x = -3; x < 5; x += 0.371)
        check_at(f, x);
}

TEST_CASE("an interval number compares as the number that it stands for") {
    check([](const auto& u) { return u; });
    check([](const auto& u) { return u * 2.5; });
    check([](const auto& u) { return 2.5 * u; });
    check([](const auto& u) { return u * 0.0; });
    check([](const auto& u) { return u - 0.3; });
    check([](const auto& u) { return u + 0.3; });
    check([](const auto& u) { return 1 - u; });
    check([](const auto& u) { return 0.7 * (1 - u); });
    check([](const auto& u) { return 0.4 / u; });
    check([](const auto& u) { return 0.4 / (1 - u); });
    check([](const auto& u) { return 0.4 / u * 2.0 - 1.0; });
    check([](const auto& u) { return 2 - 0.4 / u * 3.0; });
    check([](const auto& u) { return u * 3.0 - 0.5 - 0.25; });
}

TEST_CASE("an interval number that is a constant compares as it where it is equal") {
    check_at([](const auto& u) { return 0.0 / u; }, 0);
    check_at([](const auto& u) { return u * 0.0; }, 0);
    check_at([](const auto& u) { return u * 0.0 + 0.5; }, 0.5);
}

TEST_CASE("an interval number is finite") {
    for (const double infinity : {HUGE_VAL, -HUGE_VAL}) {
        check_at([](const auto& u) { return u; }, infinity);
        check_at([](const auto& u) { return 0.4 / u; }, infinity);
        check_at([](const auto& u) { return 1 - u; }, infinity);
    }
}

} // namespace interval_number_tests
