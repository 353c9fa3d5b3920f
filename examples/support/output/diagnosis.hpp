// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/output/comparison.hpp"
#include "support/output/explanation.hpp"
#include <specdec/speculation/explain.hpp>

/// What limits the speed-up of a rule, and what to change: `compare --why`.
namespace specdec::examples {

/// What a diagnosis of one rule goes by: counts, times and costs of one run.
struct rule_figures {
    std::string rule;         ///< its name in the table
    double temperature = 0;   ///< of sampling
    bool drafter = true;      ///< a model makes its proposals
    bool exact_match = false; ///< it accepts what both sides draw
    bool tree = false;        ///< its drafts branch
    length_kind lengths = length_kind::automatic;
    std::size_t length = 8; ///< tokens of a fixed draft, else the most
    std::size_t texts = 1;  ///< that share a pass of the target
    statistics counts;
    std::vector<text_counts> by_text{};
    double forwards = 1;               ///< passes of the drafter for each proposal
    std::optional<cost_table> costs{}; ///< none: not known
    /// Compared with autoregressive decoding: the whole run, up to the first token, after it.
    double speedup = 1, first_token_speedup = 1, output_token_speedup = 1;
    /// The part of the time that passes before the first token: of this rule, of autoregressive
    /// decoding.
    double first_share = 0, plain_first_share = 0;
    double draft_share = 0, target_share = 0, verify_share = 0; ///< of the time
    std::size_t longest_context = 0; ///< that the drafter's file names; 0: not known

    /// Mean proposals of a round that has some; 1 if there is no such round.
    [[nodiscard]] double proposals() const {
        const std::uint64_t n = counts.rounds_with_draft();
        return n == 0 ? 1 : static_cast<double>(counts.proposed) / static_cast<double>(n);
    }
    /// The part of all rounds.
    [[nodiscard]] double share_of_rounds(std::uint64_t n) const {
        return counts.rounds == 0 ? 0.0
                                  : static_cast<double>(n) / static_cast<double>(counts.rounds);
    }
    /// A pass over n positions of each text, in passes over one. Pre: costs are known.
    [[nodiscard]] double pass_over(double n) const {
        const auto sharing = static_cast<double>(texts);
        return costs->share_of_pass(n, sharing) / costs->share_of_pass(1, sharing);
    }
    /// The same for a draft token.
    [[nodiscard]] double draft_token() const {
        return costs->draft / costs->share_of_pass(1, static_cast<double>(texts));
    }
    /// The same for scoring one proposal more, on average over a draft.
    [[nodiscard]] double scored_proposal() const {
        return (pass_over(1 + proposals()) - 1) / proposals();
    }
    /// The conditional acceptance rate from which a draft pays; above 1: never.
    [[nodiscard]] double paying_acceptance() const {
        return least_kept(*costs, forwards, std::max<std::size_t>(length, 1), texts);
    }
};

/// What can limit a speed-up.
enum class limit : std::uint8_t {
    no_length,      ///< the draft length is 0
    switched_off,   ///< automatic lengths draft nothing in most rounds
    no_draft,       ///< rounds have no draft for another reason
    passes,         ///< scoring proposals is expensive
    drafter,        ///< draft tokens are expensive
    verification,   ///< the rule takes time itself
    acceptance,     ///< proposals are rejected
    length,         ///< a fixed draft length is too long
    context,        ///< proposals are rejected in long contexts
    lookup,         ///< looked-up proposals are rejected
    prompt,         ///< the prompt takes the time
    drafter_prompt, ///< the drafter's prompt takes the time
};
[[nodiscard]] constexpr std::string_view name(limit l) {
    constexpr std::array<std::string_view, 12> names{
        "draft_length_zero", "switched_off", "no_draft", "passes", "drafter", "verification",
        "acceptance",        "draft_length", "context",  "lookup", "prompt",  "drafter_prompt"};
    return names[static_cast<std::size_t>(l)];
}

/// A cause: a sentence on what limits, with its figures, and one on what to change.
struct finding {
    limit cause;
    std::string limits, change;
};

/// What a diagnosis takes for much.
namespace much {
/// A rule that makes output tokens so many times as fast gains what drafts usually give: only its
/// prompt is looked at.
inline constexpr double gain = 1.5;
inline constexpr double price = 0.2;      ///< of a draft token, of a scored proposal, in passes
inline constexpr double share = 0.2;      ///< of the time, of the proposals
inline constexpr double rounds = 0.1;     ///< of the rounds, without a draft
inline constexpr double better = 1.1;     ///< another draft length
inline constexpr double loss = 0.75;      ///< acceptance of long contexts in that of short ones
inline constexpr std::uint64_t seen = 50; ///< verified proposals, to judge a rate by
inline constexpr std::uint64_t of_position = 10; ///< verified proposals at a position, to tell it
inline constexpr double acceptance = 0.5;        ///< less is low
} // namespace much

[[nodiscard]] inline std::string percent(double share) {
    return in_words(100 * share, 0) + " %";
}
/// "62, 48 and 40 %"
[[nodiscard]] inline std::string percents(const std::vector<double>& shares) {
    std::string out;
    for (std::size_t i = 0; i < shares.size(); ++i)
        out += (i == 0                  ? ""
                : i + 1 < shares.size() ? ", "
                                        : " and ") +
               in_words(100 * shares[i], 0);
    return out + " %";
}

/// A page of the documents, for what a sentence leaves open.
[[nodiscard]] inline std::string page(const std::string& section) {
    return " (docs/use/troubleshooting.md#" + section + ").";
}

/// Rounds without a draft, apart from those that the stop rule left empty.
[[nodiscard]] inline std::optional<finding> diagnose_rounds(const rule_figures& f, no_draft why) {
    const double share = f.share_of_rounds(f.counts.without_draft[static_cast<std::size_t>(why)]);
    if (share < much::rounds)
        return std::nullopt;
    const auto found = [&](const std::string& reason, const std::string& change) {
        return finding{limit::no_draft,
                       percent(share) + " of the rounds had no draft, because " + reason + ".",
                       change};
    };
    switch (why) {
    case no_draft::none:
    case no_draft::no_drafter:
    case no_draft::stop_rule:
        return std::nullopt;
    case no_draft::no_room:
        return found("the token limit or the context left no room for one",
                     "Ask for longer outputs (-n), or give a longer --context.");
    case no_draft::drafter_full:
        return found("the drafter's context cannot hold the sequence and a draft",
                     "Give the drafter a longer context" + page("rounds-without-a-draft"));
    case no_draft::nothing_shared:
        return found("the drafter has no token that the target has, too",
                     "Use rule slem, which proposes with all tokens of the drafter, or another "
                     "drafter; `vocabularies` counts the shared tokens.");
    case no_draft::nothing_to_say:
        return found("the text of the draft made no whole token of the target",
                     "Draft more tokens, or pair the control tokens" + page("ends-of-turns"));
    case no_draft::nothing_found:
        return found("no earlier text continues as the sequence ends",
                     "Use a drafter, and --lookup in addition to it.");
    case no_draft::drafter_failed:
        return found("the drafter threw", "Repair the drafter" + page("a-drafter-that-throws"));
    case no_draft::drafter_reads:
        return found("the drafter was still fed its prompt", "Feed prompts in larger pieces.");
    }
    return std::nullopt;
}

/// Automatic lengths that draft nothing in half of the rounds or more.
[[nodiscard]] inline std::optional<finding> diagnose_off(const rule_figures& f) {
    const std::uint64_t off = f.counts.without_draft[static_cast<std::size_t>(no_draft::stop_rule)];
    if (f.length == 0)
        return finding{limit::no_length, "The draft length is 0, so no round has a draft.",
                       "Leave out --draft-length, or give at least 1."};
    if (f.lengths != length_kind::automatic || !f.costs || 2 * f.share_of_rounds(off) < 1)
        return std::nullopt;
    const double least = f.paying_acceptance(), rate = f.counts.conditional_acceptance_rate();
    const std::string off_in = "Automatic lengths drafted in " +
                               percent(f.share_of_rounds(f.counts.rounds_with_draft())) +
                               " of the rounds: ";
    const std::string pays =
        "at these costs drafts pay from a conditional acceptance rate of " + percent(least) + " on";
    const std::string change = "Lower the costs or raise the acceptance rate; a fixed "
                               "--draft-length would be slower" +
                               page("drafting-gains-nothing");
    if (least > 1)
        return finding{limit::switched_off,
                       off_in + "at these costs even drafts that are always accepted would lose.",
                       change};
    if (f.counts.evaluated >= much::seen && rate < least)
        return finding{limit::switched_off, off_in + pays + ", and it was " + percent(rate) + ".",
                       change};
    return finding{
        limit::switched_off,
        off_in + pays +
            (f.counts.evaluated >= much::seen
                 ? ", and it was " + percent(rate) + ", so rounds took longer than these costs say."
                 : ", and too few proposals were verified to tell it."),
        "Run it again with more prompts while nothing else uses the machine" +
            page("other-processes")};
}

/// Passes over several positions, and draft tokens.
[[nodiscard]] inline std::vector<finding> diagnose_costs(const rule_figures& f) {
    std::vector<finding> out;
    if (!f.costs)
        return out;
    if (f.scored_proposal() >= much::price)
        out.push_back(
            {limit::passes,
             "Scoring a proposal costs " + in_words(f.scored_proposal(), 2) +
                 " of a target pass over one position, and a pass over two costs " +
                 in_words(f.pass_over(2), 2) + ".",
             (f.texts > 1 ? "Share a pass among fewer --sequences, or use" : std::string("Use")) +
                 " another precision or engine, whose passes over several positions are cheaper" +
                 page("drafting-gains-nothing")});
    if (f.drafter && f.draft_token() >= much::price)
        out.push_back({limit::drafter,
                       "A draft token costs " + in_words(f.draft_token(), 2) +
                           " of a target pass over one position.",
                       "Use a smaller drafter, or a smaller LM head (--head trimmed:FILE)" +
                           page("an-expensive-drafter")});
    return out;
}

[[nodiscard]] inline std::optional<finding> diagnose_acceptance(const rule_figures& f) {
    const double rate = f.counts.conditional_acceptance_rate();
    if (f.counts.evaluated < much::seen || rate >= much::acceptance)
        return std::nullopt;
    const std::string change =
        f.temperature == 0
            ? (f.drafter ? "Use a drafter that was trained on such text, and check the chat form "
                           "and BOS" +
                               page("low-acceptance-at-temperature-0")
                         : "Use a drafter, and --lookup in addition to it.")
        : f.exact_match
            ? "Use a rule with rejection sampling, or coupled" +
                  page("low-acceptance-when-sampling")
            : "Use a lower temperature or another drafter" + page("low-acceptance-when-sampling");
    return finding{limit::acceptance,
                   "The target accepts " + percent(rate) +
                       " of the verified proposals; by position in the draft " +
                       percents(acceptance_by_position(f.counts, much::of_position)) + ".",
                   change};
}

/// A fixed length of which fewer proposals would pay more, at the costs and the acceptance of this
/// run.
[[nodiscard]] inline std::optional<finding> diagnose_length(const rule_figures& f) {
    if (f.lengths != length_kind::fixed || f.tree || !f.costs || f.counts.evaluated < much::seen)
        return std::nullopt;
    std::vector<double> rates = acceptance_by_position(f.counts);
    const auto now = static_cast<std::size_t>(std::lround(f.proposals()));
    rates.resize(now); // what no round came to is worth nothing
    const double draft = f.drafter ? f.forwards * f.draft_token() : 0;
    const auto tokens_per_cost = [&](std::size_t n) { // of rounds with n proposals
        double tokens = 1, accepted = 1;
        for (std::size_t i = 0; i < n; ++i)
            tokens += accepted *= rates[i];
        const auto proposals = static_cast<double>(n);
        return tokens / (f.pass_over(1 + proposals) + draft * proposals);
    };
    std::size_t best = now;
    for (std::size_t n = now; n-- > 0;)
        if (tokens_per_cost(n) > tokens_per_cost(best))
            best = n;
    const double better = tokens_per_cost(best) / tokens_per_cost(now);
    if (better < much::better)
        return std::nullopt;
    return finding{limit::length,
                   "Drafts are longer than pays: rounds with " +
                       (best == 0 ? std::string("no") : std::to_string(best)) +
                       " proposals in place of " + std::to_string(now) + " are expected to be " +
                       in_words(better, 2) + " times as fast.",
                   "Leave out --draft-length, so that lengths are automatic."};
}

/// Verified and accepted proposals of some texts.
struct acceptance_of_texts {
    std::uint64_t evaluated = 0, accepted = 0;
    void add(const text_counts& t) {
        evaluated += t.evaluated;
        accepted += t.accepted;
    }
    [[nodiscard]] double rate() const {
        return evaluated == 0 ? 0.0
                              : static_cast<double>(accepted) / static_cast<double>(evaluated);
    }
};
/// The acceptance of texts with prompts of at most `longest` tokens, and of the others.
struct acceptance_by_length {
    std::size_t longest = 0;
    acceptance_of_texts up_to, beyond;

    /// Whether longer prompts have a lower rate, by more than chance (3 standard errors).
    [[nodiscard]] bool falls() const {
        if (up_to.evaluated < much::seen || beyond.evaluated < much::seen)
            return false;
        const auto n = static_cast<double>(up_to.evaluated),
                   m = static_cast<double>(beyond.evaluated);
        const double all = static_cast<double>(up_to.accepted + beyond.accepted) / (n + m);
        const double error = std::sqrt(all * (1 - all) * (1 / n + 1 / m));
        return beyond.rate() < much::loss * up_to.rate() &&
               up_to.rate() - beyond.rate() > 3 * error;
    }
};
/// Split at the median prompt.
[[nodiscard]] inline acceptance_by_length split_by_length(const std::vector<text_counts>& texts) {
    std::vector<std::size_t> prompts;
    for (const text_counts& t : texts)
        prompts.push_back(t.prompt);
    acceptance_by_length out;
    if (prompts.empty())
        return out;
    const auto middle = prompts.begin() + (std::ssize(prompts) - 1) / 2;
    std::nth_element(prompts.begin(), middle, prompts.end());
    out.longest = *middle;
    for (const text_counts& t : texts)
        (t.prompt <= out.longest ? out.up_to : out.beyond).add(t);
    return out;
}

/// The longest sequence of a run, prompt and output.
[[nodiscard]] inline std::size_t longest_text(const std::vector<text_counts>& texts) {
    std::size_t most = 0;
    for (const text_counts& t : texts)
        most = std::max(most, t.prompt + t.tokens);
    return most;
}

/// Contexts that are longer than what the drafter was trained on.
[[nodiscard]] inline std::optional<finding> diagnose_context(const rule_figures& f) {
    if (!f.drafter)
        return std::nullopt;
    const std::size_t longest = longest_text(f.by_text);
    const std::string file = f.longest_context == 0
                                 ? "the drafter's file names no longest context"
                                 : "the drafter's file names a context of " +
                                       std::to_string(f.longest_context) + " tokens";
    const std::string change =
        "Set max_position_embeddings in the drafter's config.json to the length of the texts that "
        "it was trained on" +
        page("long-prompts");
    if (const acceptance_by_length by = split_by_length(f.by_text); by.falls())
        return finding{limit::context,
                       "Acceptance falls with the prompt, from " + percent(by.up_to.rate()) +
                           " for at most " + std::to_string(by.longest) + " tokens to " +
                           percent(by.beyond.rate()) + " for more; " + file + ".",
                       change};
    if (f.longest_context > 0 && longest > f.longest_context && f.counts.evaluated >= much::seen &&
        f.counts.conditional_acceptance_rate() < much::acceptance)
        return finding{limit::context,
                       "Sequences have up to " + std::to_string(longest) + " tokens, and " + file +
                           ": it does not see what is before them.",
                       "Use a drafter that was trained on longer texts" + page("long-prompts")};
    return std::nullopt;
}

[[nodiscard]] inline std::optional<finding> diagnose_lookup(const rule_figures& f) {
    const statistics& c = f.counts;
    if (!f.drafter || c.looked_up < much::seen || c.proposed - c.looked_up < much::seen)
        return std::nullopt;
    const auto part = [](std::uint64_t n, std::uint64_t of) {
        return static_cast<double>(n) / static_cast<double>(of);
    };
    const double share = part(c.looked_up, c.proposed),
                 found = part(c.looked_up_accepted, c.looked_up),
                 drafted = part(c.accepted - c.looked_up_accepted, c.proposed - c.looked_up);
    if (share < much::share || found >= drafted / 2)
        return std::nullopt;
    return finding{limit::lookup,
                   percent(share) + " of the proposals are looked up, and " + percent(found) +
                       " of these are accepted; of the drafter's it is " + percent(drafted) + ".",
                   "Leave out --lookup."};
}

/// What passes before the first token. Side by side it holds the time of other texts.
[[nodiscard]] inline std::vector<finding> diagnose_prompt(const rule_figures& f) {
    std::vector<finding> out;
    if (f.texts > 1)
        return out;
    if (f.plain_first_share >= much::share && f.output_token_speedup >= much::better * f.speedup)
        out.push_back(
            {limit::prompt,
             "The time to the first token is " + percent(f.plain_first_share) +
                 " of plain decoding's, and drafts do not shorten it: output tokens are " +
                 in_words(f.output_token_speedup, 2) + "x as fast, the whole run " +
                 in_words(f.speedup, 2) + "x.",
             "Compare the time per output token, or measure longer outputs (-n)."});
    if (f.first_share >= much::share && f.first_token_speedup > 0 &&
        f.first_token_speedup * (1 + much::share) < 1)
        out.push_back(
            {limit::drafter_prompt,
             "The drafter's prompt and the first draft make the first token take " +
                 in_words(1 / f.first_token_speedup, 2) + " times as long.",
             "Use a smaller drafter, or let it see less of a long prompt" + page("long-prompts")});
    return out;
}

/// What limits the rule, of the causes that the figures support; nothing if there is none. A rule
/// that gains what drafts usually give (much::gain) is limited by prompts at most.
[[nodiscard]] inline std::vector<finding> diagnose(const rule_figures& f) {
    std::vector<finding> out;
    const auto add = [&](std::optional<finding> one) {
        if (one)
            out.push_back(std::move(*one));
    };
    const auto add_all = [&](std::vector<finding> some) {
        for (finding& one : some)
            out.push_back(std::move(one));
    };
    if (f.output_token_speedup < much::gain) {
        add(diagnose_off(f));
        for (std::size_t i = 1; i < no_draft_reasons; ++i)
            add(diagnose_rounds(f, static_cast<no_draft>(i)));
        add_all(diagnose_costs(f));
        if (f.verify_share >= much::share)
            out.push_back({limit::verification,
                           "Verification takes " + percent(f.verify_share) + " of the time.",
                           "Use a rule that verifies without passes of the drafter, such as tli or "
                           "slem (docs/use/choosing-a-rule.md)."});
        add(diagnose_acceptance(f));
        add(diagnose_length(f));
        add(diagnose_context(f));
        add(diagnose_lookup(f));
    }
    add_all(diagnose_prompt(f));
    return out;
}

/// What a comparison shows of one of its rules; plain: autoregressive decoding. `costs`: of the
/// pair; null: not known. `texts`: side by side.
[[nodiscard]] inline rule_figures figures_of(const row& r, const row& plain,
                                             const decode_settings& s, const cost_table* costs,
                                             const pair_facts& facts, std::size_t texts) {
    rule_figures f;
    f.rule = r.name();
    f.temperature = static_cast<double>(s.sampling.temperature);
    f.drafter = takes_drafter(r.named.rule);
    f.exact_match = r.named.verifier == rule_verifier::exact_match;
    f.tree = r.tree;
    f.lengths = r.lengths(s.lengths).kind;
    f.length = r.lengths(s.lengths).length;
    f.texts = texts;
    f.counts = r.counts;
    f.by_text = r.by_text;
    f.forwards = forwards_a_proposal(r);
    if (costs != nullptr)
        f.costs = *costs;
    f.speedup = speed_up(r, plain);
    f.first_token_speedup = first_token_speed_up(r, plain);
    f.output_token_speedup = output_token_speed_up(r, plain);
    const auto first_share = [](const row& x) {
        const double all = x.first_seconds + x.later_seconds;
        return all > 0 ? x.first_seconds / all : 0.0;
    };
    f.first_share = first_share(r);
    f.plain_first_share = first_share(plain);
    f.draft_share = r.counts.draft_seconds / r.seconds;
    f.target_share = r.counts.target_seconds / r.seconds;
    f.verify_share = r.counts.verify_seconds / r.seconds;
    f.longest_context = f.drafter ? facts.drafter->longest_context : 0;
    return f;
}

/// The figures in lines, without an end.
[[nodiscard]] inline std::vector<std::string> in_lines(const rule_figures& f) {
    const statistics& c = f.counts;
    std::vector<std::string> out;
    if (f.costs) {
        std::string line = "costs in target passes:";
        if (f.drafter)
            line += " a draft token " + in_words(f.draft_token(), 2) + ",";
        line += " a pass over";
        for (const std::size_t n : {2U, 3U, 5U, 9U})
            line += (n == 2 ? " " : ", ") + std::to_string(n);
        line += f.texts > 1 ? " positions of each text" : " positions";
        for (const double n : {2.0, 3.0, 5.0, 9.0})
            line += (n == 2 ? " " : ", ") + in_words(f.pass_over(n), 2);
        out.push_back(line);
    }
    out.push_back("the drafts: " + in_words(c.proposed_a_call(), 1) +
                  " proposals per target pass, " + percent(c.acceptance_rate()) + " accepted" +
                  (c.evaluated >= much::of_position
                       ? "; of the verified by position " +
                             percents(acceptance_by_position(c, much::of_position))
                       : ""));
    out.push_back("the time: " + percent(f.first_share) + " before the first token; drafting " +
                  percent(f.draft_share) + ", target " + percent(f.target_share) +
                  ", verification " + percent(f.verify_share));
    std::string without;
    for (std::size_t i = 1; i < no_draft_reasons; ++i)
        if (c.without_draft[i] > 0)
            without += (without.empty() ? " (" : ", ") +
                       std::string(name(static_cast<no_draft>(i))) + " " +
                       std::to_string(c.without_draft[i]);
    out.push_back("rounds without a draft: " + std::to_string(c.rounds - c.rounds_with_draft()) +
                  " of " + std::to_string(c.rounds) + without + (without.empty() ? "" : ")"));
    if (c.looked_up > 0)
        out.push_back("looked up: " + std::to_string(c.looked_up) + " of " +
                      std::to_string(c.proposed) + " proposals, " +
                      std::to_string(c.looked_up_accepted) + " accepted");
    std::size_t shortest = f.by_text.empty() ? 0 : f.by_text.front().prompt, longest = 0;
    for (const text_counts& t : f.by_text) {
        shortest = std::min(shortest, t.prompt);
        longest = std::max(longest, t.prompt);
    }
    out.push_back("prompts: " + std::to_string(shortest) + " to " + std::to_string(longest) +
                  " tokens, with the output at most " + std::to_string(longest_text(f.by_text)) +
                  (f.longest_context > 0 ? "; the drafter's file names a context of " +
                                               std::to_string(f.longest_context)
                                         : ""));
    return out;
}

/// The diagnosis of a rule as `compare --why` prints it.
[[nodiscard]] inline std::string report(const rule_figures& f) {
    char start[32];
    std::snprintf(start, sizeof start, "T = %g, ", f.temperature);
    std::string out = start + f.rule + ": " + in_words(f.speedup, 2) + "x, output tokens " +
                      in_words(f.output_token_speedup, 2) + "x\n";
    for (const std::string& line : in_lines(f))
        out += wrapped("  " + line, 100, "    ") + "\n";
    const std::vector<finding> found = diagnose(f);
    for (const finding& one : found)
        out += wrapped("  * " + one.limits + " " + one.change, 100, "    ") + "\n";
    if (found.empty())
        out += "  * These figures show nothing that limits it.\n";
    return out;
}

/// The same figures and causes.
[[nodiscard]] inline ordered_json to_json(const rule_figures& f) {
    const statistics& c = f.counts;
    ordered_json causes = ordered_json::array();
    for (const finding& one : diagnose(f))
        causes.push_back(
            {{"cause", name(one.cause)}, {"limits", one.limits}, {"change", one.change}});
    std::vector<double> passes;
    for (const double n : {2.0, 3.0, 5.0, 9.0})
        if (f.costs)
            passes.push_back(f.pass_over(n));
    const bool paying = f.costs && f.drafter && f.length > 0;
    return {{"draft_token", f.costs && f.drafter ? ordered_json(f.draft_token()) : ordered_json()},
            {"passes_over_2_3_5_9", passes},
            {"scored_proposal", f.costs ? ordered_json(f.scored_proposal()) : ordered_json()},
            {"paying_acceptance", paying ? number_or_null(f.paying_acceptance()) : ordered_json()},
            {"acceptance_by_position", acceptance_by_position(c)},
            {"first_token_share", f.first_share},
            {"plain_first_token_share", f.plain_first_share},
            {"draft_share", f.draft_share},
            {"target_share", f.target_share},
            {"verify_share", f.verify_share},
            {"rounds_without_draft", rounds_without_draft(c)},
            {"looked_up_share", c.proposed > 0 ? ordered_json(static_cast<double>(c.looked_up) /
                                                              static_cast<double>(c.proposed))
                                               : ordered_json()},
            {"longest_sequence", longest_text(f.by_text)},
            {"drafter_longest_context",
             f.longest_context > 0 ? ordered_json(f.longest_context) : ordered_json()},
            {"causes", causes}};
}

} // namespace specdec::examples
