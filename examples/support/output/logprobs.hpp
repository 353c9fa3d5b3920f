// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "support/output/trace.hpp"
#include <specdec/speculation/text.hpp>

namespace specdec::examples {

/// {"id", "token", "logprob"} of a token; -infinity, which JSON does not know, as null.
[[nodiscard]] inline nlohmann::ordered_json to_json(const token_log_probability& t,
                                                    const vocabulary& table) {
    return {{"id", t.token.value},
            {"token", std::string(table.entry(t.token.index()))},
            {"logprob", std::isfinite(t.log_probability) ? nlohmann::ordered_json(t.log_probability)
                                                         : nlohmann::ordered_json()}};
}

/// Each token of a text with its logarithm of probability and those of the likeliest there.
[[nodiscard]] inline nlohmann::ordered_json to_json(const std::vector<token_report>& tokens,
                                                    const vocabulary& table) {
    nlohmann::ordered_json out = nlohmann::ordered_json::array();
    for (const token_report& t : tokens) {
        nlohmann::ordered_json one = to_json(t.chosen, table);
        one["top"] = nlohmann::ordered_json::array();
        for (const token_log_probability& other : t.likeliest)
            if (other.token.valid())
                one["top"].push_back(to_json(other, table));
        out.push_back(one);
    }
    return out;
}

/// The same to standard error, a token a line.
inline void print(const std::vector<token_report>& tokens, const vocabulary& table) {
    for (const token_report& t : tokens) {
        std::string others;
        for (const token_log_probability& other : t.likeliest) {
            char value[32];
            std::snprintf(value, sizeof value, " %.3f", other.log_probability);
            if (other.token.valid())
                others += "   " + printable(table, other.token.index()) + value;
        }
        std::fprintf(stderr, "%s %8.3f %s\n",
                     padded(printable(table, t.chosen.token.index()), 16).c_str(),
                     t.chosen.log_probability, others.c_str());
    }
}

} // namespace specdec::examples
