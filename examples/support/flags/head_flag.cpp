// SPDX-License-Identifier: MIT
#include "support/flags/head_flag.hpp"

#include <cstddef>
#include <string>

#include "support/flags/flag_values.hpp"
#include "support/program/files.hpp"
#include <specdec/core/error.hpp>

namespace specdec::examples {

head_choice head_of(const std::string& asked) {
    const std::size_t colon = asked.find(':');
    const std::string kind = asked.substr(0, colon);
    const std::string rest = colon == asked.npos ? "" : asked.substr(colon + 1);
    if (kind == "full" && colon == asked.npos)
        return {head_choice::kind::full, asked, {}};
    if ((kind == "trimmed" || kind == "adaptive") && !rest.empty()) {
        head_choice choice{kind == "trimmed" ? head_choice::kind::trimmed
                                             : head_choice::kind::adaptive,
                           asked, rest};
        if (const std::string why = why_missing(choice.list); !why.empty())
            throw error("--head", rest, "expected a list of draft tokens: " + why);
        return choice;
    }
    if (const std::size_t slash = rest.find('/'); kind == "routed" && slash != rest.npos) {
        constexpr number_range<std::size_t> count{1, 1 << 20};
        const auto groups = read_number<std::size_t>(rest.substr(0, slash), count);
        const auto active = read_number<std::size_t>(rest.substr(slash + 1), count);
        if (groups && active && *active <= *groups)
            return {head_choice::kind::routed, asked, {}, *groups, *active};
    }
    throw error("--head", asked,
                "expected full, trimmed:FILE, adaptive:FILE or routed:N/n with n of N groups");
}

} // namespace specdec::examples
