// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include <specdec/core/coin.hpp>

namespace specdec {

/// A number that can only be compared: (a + b u) / (c + d u), where u in [0, 1) is a number of an
/// interval_coin, which answers whether u < x. Decisions may add, subtract and multiply doubles,
/// and divide doubles by it. Denominators are positive inside (0, 1). Models UnitNumber. Allocates
/// nothing.
class interval_number {
public:
    using ask_type = bool (*)(void* coin, std::size_t number, double x);

    /// u itself.
    interval_number(void* coin, ask_type ask, std::size_t number)
        : coin_(coin), ask_(ask), number_(number) {}

    friend interval_number operator*(interval_number v, double x) {
        v.a_ *= x;
        v.b_ *= x;
        return v;
    }
    friend interval_number operator*(double x, const interval_number& v) { return v * x; }
    friend interval_number operator+(interval_number v, double x) {
        v.a_ += x * v.c_;
        v.b_ += x * v.d_;
        return v;
    }
    friend interval_number operator-(const interval_number& v, double x) { return v + -x; }
    friend interval_number operator-(double x, const interval_number& v) { return v * -1 + x; }
    friend interval_number operator/(double x, const interval_number& v) {
        interval_number inverse = v;
        inverse.a_ = x * v.c_;
        inverse.b_ = x * v.d_;
        inverse.c_ = v.a_;
        inverse.d_ = v.b_;
        return inverse;
    }

    // Equality has no measure, except where the number is a constant.
    friend bool operator<(const interval_number& v, double x) { return v.below(x, false); }
    friend bool operator<=(const interval_number& v, double x) { return v.below(x, true); }
    friend bool operator>(const interval_number& v, double x) { return !v.below(x, true); }
    friend bool operator>=(const interval_number& v, double x) { return !v.below(x, false); }
    friend bool operator<(double x, const interval_number& v) { return v > x; }
    friend bool operator<=(double x, const interval_number& v) { return v >= x; }
    friend bool operator>(double x, const interval_number& v) { return v < x; }
    friend bool operator>=(double x, const interval_number& v) { return v <= x; }

private:
    /// a + b u < x (c + d u)
    [[nodiscard]] bool below(double x, bool or_equal) const {
        if (x - x != 0) // infinite
            return x > 0;
        const double slope = b_ - x * d_, bound = x * c_ - a_;
        if (slope > 0)
            return ask_(coin_, number_, bound / slope);
        if (slope < 0)
            return !ask_(coin_, number_, bound / slope);
        return or_equal ? 0 <= bound : 0 < bound;
    }

    void* coin_;
    ask_type ask_;
    std::size_t number_;
    double a_ = 0, b_ = 1, c_ = 1, d_ = 0;
};
static_assert(UnitNumber<interval_number>);

} // namespace specdec
