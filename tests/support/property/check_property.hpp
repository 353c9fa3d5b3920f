// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <sstream>
#include <string>
#include <utility>

#include <rapidcheck.h>

namespace specdec {

/// How often a property is tried. The same numbers try the same cases.
struct property_settings {
    int cases = 100;
    int size = 100; ///< of the largest cases, in RapidCheck's sense; the first ones are small
    std::uint64_t seed = 1;
};

/// What came of it: a plain value, as contract_report.
struct property_report {
    bool holds = false;
    std::string text; ///< how many cases there were; or the smallest one found that does not hold
};

/// Tries a property, which is anything that RapidCheck takes: a function of generated values, or
/// one that draws them (*generator), which returns whether it holds or fails by RC_ASSERT.
///
///     const property_report r = check_property([] {
///         const vocabulary_pair words = *vocabularies();
///         RC_ASSERT(...);
///     });
///     INFO(r.text);
///     REQUIRE(r.holds);
template <class Property>
[[nodiscard]] property_report check_property(Property&& property, property_settings settings = {}) {
    rc::detail::TestParams params;
    params.seed = settings.seed;
    params.maxSuccess = settings.cases;
    params.maxSize = settings.size;
    const rc::detail::TestResult result = rc::detail::checkTestable(
        std::forward<Property>(property), rc::detail::TestMetadata{}, params);
    std::ostringstream text;
    rc::detail::printResultMessage(result, text);
    return {result.template is<rc::detail::SuccessResult>(), text.str()};
}

} // namespace specdec
