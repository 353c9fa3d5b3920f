// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <ostream>
#include <tuple>
#include <vector>

#include <rapidcheck.h>

#include "support/course/course.hpp"
#include "support/property/any.hpp"

namespace specdec {

inline std::ostream& operator<<(std::ostream& out, const course& c) {
    return out << c.text();
}

/// What courses are drawn from.
struct course_limits {
    std::size_t texts = 1;
    std::size_t length = 2;  ///< tokens of each
    std::size_t drafted = 2; ///< draft tokens of a round
    std::size_t least_drafted = 1;
    std::size_t steps = 4;
    bool changes = false;
    bool faults = false;
};

/// Courses of so many texts; several of them begin with a draft of the first, that the others'
/// steps may fall between it and its decision. They shrink to fewer steps, shorter drafts, whole
/// commits and steps of the first text.
inline rc::Gen<course> courses(const course_limits& most) {
    using act = course_step::act;
    std::vector<act> acts{act::commit, act::commit, act::commit, act::draft,
                          act::draft,  act::decide, act::repeat};
    if (most.changes)
        acts.push_back(act::change);
    if (most.faults) {
        acts.push_back(act::fault);
        acts.push_back(act::target_fault);
    }
    const std::vector<std::size_t> kept{course_step::all, 1, 0};
    const auto step_of = [&](const rc::Gen<act>& what, const rc::Gen<std::size_t>& text) {
        return rc::gen::build<course_step>(
            rc::gen::set(&course_step::what, what), rc::gen::set(&course_step::text, text),
            rc::gen::set(&course_step::drafted, any_in(most.least_drafted, most.drafted)),
            rc::gen::set(&course_step::room, any_in(1, most.drafted + 1)),
            rc::gen::set(&course_step::kept, any_of(kept)));
    };
    const auto any_step = step_of(any_of(acts), any_in(0, most.texts - 1));
    const auto begin =
        most.texts == 1 ? up_to(1, any_step)
                        : rc::gen::container<std::vector<course_step>>(
                              1, step_of(rc::gen::just(act::draft), rc::gen::just(std::size_t{0})));
    const auto rest = up_to(most.steps - 1, any_step);
    return rc::gen::map(rc::gen::tuple(any_in(1, most.length), begin, rest),
                        [texts = most.texts](const auto& drawn) {
                            course c{texts, std::get<0>(drawn), std::get<1>(drawn)};
                            c.steps.insert(c.steps.end(), std::get<2>(drawn).begin(),
                                           std::get<2>(drawn).end());
                            return c;
                        });
}

} // namespace specdec
