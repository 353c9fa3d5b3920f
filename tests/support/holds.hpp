// SPDX-License-Identifier: MIT
#pragma once

#include <utility>

#include <catch2/catch.hpp>

#include "support/property/any.hpp"
#include "support/property/check_property.hpp"

namespace specdec::testing {

/// Requires that a property holds, which draws what it is about and asserts by RC_ASSERT. Shows the
/// smallest case that was found where it does not.
template <class Property>
void require_holds(Property&& property, const property_settings& how = {}) {
    const property_report report = check_property(std::forward<Property>(property), how);
    INFO(report.text);
    REQUIRE(report.holds);
}

} // namespace specdec::testing
