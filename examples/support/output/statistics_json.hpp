// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "support/pair/loaded_pair.hpp"

namespace specdec::examples {

using nlohmann::ordered_json;

/// Adds the counts of `from` to `to`.
inline void add(statistics& to, const statistics& from) {
    using number = std::uint64_t statistics::*;
    for (const number n :
         {&statistics::rounds, &statistics::draft_tokens, &statistics::tree_passes,
          &statistics::proposed, &statistics::evaluated, &statistics::accepted,
          &statistics::looked_up, &statistics::looked_up_accepted, &statistics::corrected,
          &statistics::free, &statistics::residual, &statistics::committed, &statistics::discarded})
        to.*n += from.*n;
    using time = double statistics::*;
    for (const time t :
         {&statistics::draft_seconds, &statistics::target_seconds, &statistics::verify_seconds})
        to.*t += from.*t;
    using places = std::vector<std::uint64_t> statistics::*;
    for (const places p :
         {&statistics::evaluated_at, &statistics::accepted_at, &statistics::rounds_by_proposals}) {
        if ((to.*p).size() < (from.*p).size())
            (to.*p).resize((from.*p).size());
        for (std::size_t i = 0; i < (from.*p).size(); ++i)
            (to.*p)[i] += (from.*p)[i];
    }
    for (std::size_t i = 0; i < no_draft_reasons; ++i)
        to.without_draft[i] += from.without_draft[i];
}

/// The rates of `statistics`; null where nothing was proposed.
[[nodiscard]] inline ordered_json acceptance_rate(const statistics& s) {
    return s.proposed == 0 ? ordered_json() : ordered_json(s.acceptance_rate());
}
[[nodiscard]] inline ordered_json conditional_acceptance_rate(const statistics& s) {
    return s.evaluated == 0 ? ordered_json() : ordered_json(s.conditional_acceptance_rate());
}

/// Null where no round had a draft.
[[nodiscard]] inline ordered_json mean_accepted_length(const statistics& s) {
    return s.rounds_with_draft() == 0 ? ordered_json() : ordered_json(s.mean_accepted_length());
}

/// [i] The conditional acceptance rate of the i-th proposal of a draft, up to the last position at
/// which `fewest` were verified.
[[nodiscard]] inline std::vector<double> acceptance_by_position(const statistics& s,
                                                                std::uint64_t fewest = 1) {
    std::vector<double> rates;
    for (std::size_t i = 0; i < s.evaluated_at.size() && s.evaluated_at[i] >= fewest; ++i)
        rates.push_back(static_cast<double>(s.accepted_at[i]) /
                        static_cast<double>(s.evaluated_at[i]));
    return rates;
}
/// Rounds without a draft by the names of their reasons, of those that occurred.
[[nodiscard]] inline ordered_json rounds_without_draft(const statistics& s) {
    ordered_json without = ordered_json::object();
    for (std::size_t i = 1; i < no_draft_reasons; ++i)
        if (s.without_draft[i] > 0)
            without[std::string(name(static_cast<no_draft>(i)))] = s.without_draft[i];
    return without;
}

/// What happened in the rounds of some texts.
[[nodiscard]] inline ordered_json to_json(const statistics& s) {
    return {{"target_calls", s.rounds},
            {"tokens_per_target_call", s.tokens_per_target_call()},
            {"mean_accepted_length", mean_accepted_length(s)},
            {"draft_tokens", s.draft_tokens},
            {"proposed", s.proposed},
            {"rounds_by_proposals", s.rounds_by_proposals},
            {"evaluated", s.evaluated},
            {"accepted", s.accepted},
            {"acceptance_rate", acceptance_rate(s)},
            {"conditional_acceptance_rate", conditional_acceptance_rate(s)},
            {"conditional_acceptance_by_position", acceptance_by_position(s)},
            {"looked_up", s.looked_up},
            {"looked_up_accepted", s.looked_up_accepted},
            {"corrected", s.corrected},
            {"free", s.free},
            {"residual", s.residual},
            {"discarded", s.discarded},
            {"rounds_without_draft", rounds_without_draft(s)},
            {"draft_seconds", s.draft_seconds},
            {"target_seconds", s.target_seconds},
            {"verify_seconds", s.verify_seconds}};
}

/// One line; bytes that are no UTF-8 become replacement characters.
[[nodiscard]] inline std::string one_line(const ordered_json& value) {
    return value.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

} // namespace specdec::examples
