// SPDX-License-Identifier: MIT
#include "support/flags/exits_flag.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/flags/flag_values.hpp"
#include <specdec/core/error.hpp>

namespace specdec::examples {

exits_choice exits_of(const std::string& asked) {
    const auto wrong = [&] {
        return error("--exits", asked,
                     "expected fixed:N, the N-th exit from 1 on, or thresholds from 0 to 1 between "
                     "commas, drawn: before them or not");
    };
    constexpr std::string_view fixed = "fixed:";
    if (asked.starts_with(fixed)) {
        const auto n = read_number<std::size_t>(asked.substr(fixed.size()), {1, 254});
        if (!n)
            throw wrong();
        return {asked, exit_thresholds::fixed(*n - 1)};
    }
    constexpr std::string_view by_token = "drawn:";
    const bool drawn = asked.starts_with(by_token);
    std::vector<double> thresholds;
    for (const std::string& part : split_list(drawn ? asked.substr(by_token.size()) : asked)) {
        const auto t = read_number<double>(part, {0, 1});
        if (!t)
            throw wrong();
        thresholds.push_back(*t);
    }
    return {asked, exit_thresholds(std::move(thresholds)), drawn};
}

} // namespace specdec::examples
