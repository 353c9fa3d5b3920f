// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <limits>
#include <string>
#include <vector>

#include "support/output/comparison.hpp"

/// Why the rows of a comparison are no faster, in plain words: nothing but what was counted,
/// measured and given.
namespace specdec::examples {

/// The text in lines of at most `width` bytes, broken at spaces; all but the first begin with
/// `indent`.
[[nodiscard]] inline std::string wrapped(const std::string& text, std::size_t width = 100,
                                         const std::string& indent = "  ") {
    std::string out;
    for (std::size_t begin = 0, room = width; begin < text.size(); room = width - indent.size()) {
        std::size_t end = text.size();
        if (end - begin > room) {
            end = text.rfind(' ', begin + room);
            if (end == std::string::npos || end <= begin) // a word that fills a line
                end = std::min(text.find(' ', begin), text.size());
        }
        out += (begin == 0 ? "" : "\n" + indent) + text.substr(begin, end - begin);
        begin = end + 1;
    }
    return out;
}

/// "tli, slem and slrs"
[[nodiscard]] inline std::string names_of(const std::vector<const row*>& some) {
    std::string out;
    for (std::size_t i = 0; i < some.size(); ++i)
        out += (i == 0 ? "" : i + 1 < some.size() ? ", " : " and ") + some[i]->name();
    return out;
}

/// A number, or "from to to" where several print differently.
[[nodiscard]] inline std::string range_of(const char* format, const std::vector<double>& numbers) {
    const auto [low, high] = std::minmax_element(numbers.begin(), numbers.end());
    char first[32], last[32];
    std::snprintf(first, sizeof first, format, *low);
    std::snprintf(last, sizeof last, format, *high);
    return std::string(first) == last ? first : std::string(first) + " to " + last;
}

/// The conditional acceptance rate from which a draft of some length is no slower than plain
/// decoding; more than 1 where even drafts that are always accepted lose. `forwards`: of the
/// drafter, a proposal. `texts` share a pass of the target.
[[nodiscard]] inline double least_kept(const cost_table& costs, double forwards,
                                       std::size_t longest, std::size_t texts) {
    const auto pass = [&](std::size_t n) {
        return costs.pass_over(static_cast<double>(n * texts)) / static_cast<double>(texts);
    };
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t n = 1; n <= longest; ++n) {
        const double price =
            (static_cast<double>(n) * forwards * costs.draft + pass(1 + n) - pass(1)) / pass(1);
        const auto gain = [n](double kept) { // tokens: kept + kept^2 + ...
            double sum = 0, all = 1;
            for (std::size_t i = 0; i < n; ++i)
                sum += all *= kept;
            return sum;
        };
        if (gain(1) < price)
            continue;
        double low = 0, high = 1;
        for (int i = 0; i < 30; ++i)
            (gain((low + high) / 2) < price ? low : high) = (low + high) / 2;
        least = std::min(least, high);
    }
    return least;
}

/// Drafter forwards a proposal, those for decisions included; 1 where nothing was proposed.
[[nodiscard]] inline double forwards_a_proposal(const row& r) {
    if (r.counts.proposed == 0)
        return 1;
    return r.forwards_a_call() / r.counts.proposed_a_call();
}

/// How many times as long as plain decoding's a round is.
[[nodiscard]] inline double round_length(const row& r, const row& plain) {
    const auto a_round = [](const row& x) {
        return x.seconds / static_cast<double>(x.counts.rounds);
    };
    return a_round(r) / a_round(plain);
}

/// Whether the rule of automatic lengths drafted nothing in half of the rounds or more.
[[nodiscard]] inline bool switched_off(const row& r, const decode_settings& s) {
    return r.lengths(s.lengths).kind == length_kind::automatic &&
           r.named.rule != rule::autoregressive && r.counts.rounds > 0 &&
           2 * r.counts.without_draft[static_cast<std::size_t>(no_draft::stop_rule)] >=
               r.counts.rounds;
}

/// Of rules that drafted little: that they did, and what the costs have to do with it.
[[nodiscard]] inline std::string why_off(const std::vector<const row*>& off, const row& plain,
                                         const decode_settings& s, const cost_table& costs,
                                         std::size_t texts) {
    std::vector<double> drafted, needed, kept, longer;
    for (const row* r : off) {
        const statistics& c = r->counts;
        drafted.push_back(100 - 100 * static_cast<double>(c.rounds_by_proposals[0]) /
                                    static_cast<double>(c.rounds));
        needed.push_back(100 * least_kept(costs, forwards_a_proposal(*r), s.lengths.length, texts));
        if (c.evaluated > 0)
            kept.push_back(100 * c.conditional_acceptance_rate());
        if (speed_up(*r, plain) < 0.995)
            longer.push_back(round_length(*r, plain));
    }
    const auto together = static_cast<double>(texts);
    const double pass = costs.pass_over(together);
    char prices[160];
    std::snprintf(prices, sizeof prices,
                  " as it was not expected to pay: a draft token costs %.2f of a pass of the "
                  "target over one position%s, a pass over two %.2f.",
                  costs.draft * together / pass, texts > 1 ? " a text (a text's share)" : "",
                  costs.pass_over(2 * together) / pass);
    const double least = *std::min_element(needed.begin(), needed.end());
    std::string out = "drafting switched itself off in most rounds of " + names_of(off) +
                      " (drafts in " + range_of("%.0f", drafted) + " % of them)," + prices;
    if (least > 100)
        out += " Even drafts that are always accepted would lose.";
    else {
        out += " Drafts pay from a conditional acceptance rate of " + range_of("%.0f", {least}) +
               " % on";
        if (!kept.empty() && *std::max_element(kept.begin(), kept.end()) < least)
            out += "; it was " + range_of("%.0f", kept) + " %";
        out += ".";
    }
    if (!longer.empty())
        out += " Drafts and the rule itself make rounds " + range_of("%.2f", longer) +
               " times as long as plain ones.";
    return out;
}

/// Of a rule that drafted and lost: its rounds are longer than they bring tokens.
[[nodiscard]] inline std::string why_slower(const row& r, const row& plain, std::size_t texts) {
    char line[200], parts[120] = "";
    const double unit = plain.seconds / static_cast<double>(plain.counts.rounds);
    const auto more = [&](double statistics::*part) {
        return (r.counts.*part / static_cast<double>(r.counts.rounds) -
                plain.counts.*part / static_cast<double>(plain.counts.rounds)) /
               unit;
    };
    const double longer = round_length(r, plain);
    const double drafter = more(&statistics::draft_seconds),
                 target = more(&statistics::target_seconds);
    if (texts == 1) // side by side the times of a text are shares
        std::snprintf(parts, sizeof parts, " (drafting %+.2f, scoring %+.2f, the rest %+.2f)",
                      drafter, target, longer - 1 - drafter - target);
    std::snprintf(line, sizeof line,
                  "%s is %.2fx: %.2f tokens a round, but rounds %.2f times as "
                  "long%s",
                  r.name().c_str(), speed_up(r, plain), r.counts.tokens_per_target_call(), longer,
                  parts);
    return line;
}

/// Why rules drafted nothing or were slower than plain decoding (rows[0]): a sentence or two, none
/// where all of them drafted and none was slower. `costs`: what automatic lengths went by; `texts`:
/// side by side.
[[nodiscard]] inline std::vector<std::string> explanations(const std::vector<row>& rows,
                                                           const decode_settings& s,
                                                           const cost_table* costs,
                                                           std::size_t texts) {
    char start[32];
    std::snprintf(start, sizeof start, "T = %g: ", static_cast<double>(s.sampling.temperature));
    std::vector<const row*> off;
    std::string slower;
    for (const row& r : rows)
        if (costs != nullptr && switched_off(r, s))
            off.push_back(&r);
        else if (speed_up(r, rows.front()) < 0.995)
            slower += (slower.empty() ? "" : "; ") + why_slower(r, rows.front(), texts);
    std::vector<std::string> out;
    if (!off.empty())
        out.push_back(start + why_off(off, rows.front(), s, *costs, texts));
    if (!slower.empty())
        out.push_back(start + slower + ".");
    return out;
}

} // namespace specdec::examples
