// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

namespace specdec::serve {

/// page.html, which the server has at /.
[[nodiscard]] std::string_view page();

} // namespace specdec::serve
