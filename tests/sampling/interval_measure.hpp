// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <map>

#include <catch2/catch.hpp>

#include <specdec/core/token_id.hpp>

/// The measure of the u in [0, 1) that give each id. Every id's set of u is an interval (ids ascend
/// with u), so its end is found by bisection down to neighbouring doubles.
template <class Id, class L>
std::map<std::size_t, double> measure_intervals(const L& law) {
    std::map<std::size_t, double> measure;
    double from = 0;
    while (from < 1) {
        const Id id = law.at(from);
        double inside = from, outside = 1;
        for (double step = 1; std::nextafter(inside, 2.0) < outside;) {
            step = (outside - inside) / 2;
            const double middle = std::max(inside + step, std::nextafter(inside, 2.0));
            (law.at(middle) == id ? inside : outside) = middle;
        }
        REQUIRE(measure.count(id.index()) == 0);
        measure[id.index()] = outside - from;
        from = outside;
    }
    return measure;
}

/// at(u) and probability(id) are one law: the intervals are as long as the probabilities, cover
/// exactly the ids of positive probability, and the probabilities sum to 1.
template <class Id, class L>
void check_intervals(const L& law, double tolerance) {
    const auto measure = measure_intervals<Id>(law);
    double total = 0;
    for (std::size_t i = 0; i < law.size(); ++i) {
        const double probability = law.probability(specdec::id_at<Id>(i));
        const auto found = measure.find(i);
        const double length = found == measure.end() ? 0.0 : found->second;
        INFO("id " << i);
        if (std::abs(length - probability) > tolerance || (length > 0 && !(probability > 0)))
            FAIL_CHECK("length " << length << " probability " << probability);
        total += probability;
    }
    CHECK(std::abs(total - 1) <= tolerance);
}
