// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>

namespace specdec {

/// Time is an argument: a callable that returns seconds since any fixed moment.
template <class C>
concept Clock = requires(C& clock) {
    { clock() } -> std::convertible_to<double>;
};

/// The clock of callers that do not measure: all times are 0.
struct no_clock {
    [[nodiscard]] double operator()() const { return 0.0; }
};

/// Adds the seconds of its scope to a sum.
template <Clock Time>
class time_spent {
public:
    time_spent(double& sum, Time& clock) : sum_(sum), clock_(clock), begin_(clock()) {}
    time_spent(const time_spent&) = delete;
    time_spent& operator=(const time_spent&) = delete;
    ~time_spent() { sum_ += clock_() - begin_; }

private:
    double& sum_;
    Time& clock_;
    double begin_;
};

} // namespace specdec
