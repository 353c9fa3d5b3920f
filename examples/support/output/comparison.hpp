// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support/output/ratio.hpp"
#include "support/output/statistics_json.hpp"
#include "support/pair/loaded_pair.hpp"
#include "support/program/interrupt.hpp"
#include "support/text/prompts_file.hpp"
#include <specdec/speculation/any/steady_seconds.hpp>

namespace specdec::examples {

/// How a comparison is done.
struct comparison_settings {
    decode_settings decoding = interruptible(); ///< sampling with the temperature of the rows
    std::size_t repeats = 1;                    ///< of every text; its shortest run counts
    bool check_grouping = false; ///< count what scoring positions together changes (slow)
    std::size_t tokens_at_least =
        0; ///< new texts (seeds) until every row has so many; not at T = 0
};

/// What one text of a row shows about its length.
struct text_counts {
    std::size_t prompt = 0, tokens = 0; ///< of the prompt; of the output
    std::uint64_t evaluated = 0, accepted = 0;
};

/// What one rule did with all prompts at one temperature.
struct row {
    named_rule named{};
    std::optional<std::size_t> length{}; ///< of its drafts, where it has its own: "slem:2"
    bool tree = false;                   ///< its drafts branch
    bool lookup = false;                 ///< it looks up beside its drafter
    bool by_default = false;             ///< it is what the pair does if nothing else is asked for
    statistics counts;
    std::size_t texts = 0, identical = 0; ///< identical to autoregressive's
    double seconds = 0;
    std::vector<text_counts> by_text{};
    double first_seconds = 0; ///< to the first token, over all texts
    double later_seconds = 0; ///< after it
    std::size_t later_tokens = 0;
    std::uint64_t passes = 0, rows = 0; ///< of the target, over all texts
    std::vector<token_sum> surprise;    ///< by prompt: minus log p of the text under the target
    grouping_counts grouping;
    /// [n] rounds in which deciding took n more drafter forwards than drafting.
    std::vector<std::uint64_t> extra_forwards{};
    std::uint64_t first_rows_known = 0; ///< rounds that began without a forward

    [[nodiscard]] double tokens_per_second() const {
        return static_cast<double>(counts.committed) / seconds;
    }
    /// Of all prompts.
    [[nodiscard]] std::size_t prompt_tokens() const {
        std::size_t sum = 0;
        for (const text_counts& text : by_text)
            sum += text.prompt;
        return sum;
    }
    /// Mean seconds from the beginning to the first token.
    [[nodiscard]] double time_to_first_token() const {
        return texts == 0 ? 0.0 : first_seconds / static_cast<double>(texts);
    }
    /// Mean seconds for each token after the first round.
    [[nodiscard]] double time_per_output_token() const {
        return later_tokens == 0 ? 0.0 : later_seconds / static_cast<double>(later_tokens);
    }
    /// Of the drafter a target call: draft tokens, or passes over levels of trees, and what
    /// deciding took of it (slrs, merge, coupled-spelling).
    [[nodiscard]] double forwards_a_call() const {
        auto forwards = static_cast<double>(tree ? counts.tree_passes : counts.draft_tokens) -
                        static_cast<double>(first_rows_known);
        for (std::size_t n = 1; n < extra_forwards.size(); ++n)
            forwards += static_cast<double>(n * extra_forwards[n]);
        return counts.rounds == 0 ? 0.0 : forwards / static_cast<double>(counts.rounds);
    }
    /// The speed-up where nothing but reading weights takes time, MBSU (VocabTrim, section 4.1):
    ///
    ///     tau / (c gamma + 1)
    ///
    /// tau: block efficiency, tokens a target call. c: pair_facts::relative_size. gamma, the
    /// paper's draft length: the mean of forwards_a_call, as drafts differ in length; so it is the
    /// speed-up over the whole text. A level of a tree is one pass, which reads as much as one
    /// position's; with a routed head it reads the groups of all nodes, which c has not. Nothing
    /// where c is not known and something was drafted.
    [[nodiscard]] std::optional<double> memory_bound_speedup(std::optional<double> c) const {
        const double gamma = forwards_a_call();
        if (gamma > 0 && !c)
            return std::nullopt;
        return counts.tokens_per_target_call() / (gamma > 0 ? *c * gamma + 1 : 1);
    }
    [[nodiscard]] std::string name() const {
        return std::string(named.name) + (length ? ":" + std::to_string(*length) : "") +
               (tree ? "/tree" : "") + (lookup ? "+lookup" : "");
    }
    /// How long its drafts are, of a comparison's.
    [[nodiscard]] length_settings lengths(const length_settings& all) const {
        return length ? length_settings{.kind = length_kind::fixed, .length = *length} : all;
    }
};

/// Adds the counts of `from` to `to`.
inline void add(grouping_counts& to, const grouping_counts& from) {
    to.rounds += from.rounds;
    to.changed += from.changed;
    to.widest_margin = std::max(to.widest_margin, from.widest_margin);
    to.largest_difference = std::max(to.largest_difference, from.largest_difference);
}

/// Adds what came of a text.
inline void add(row& r, const decode_result& text, std::size_t prompt, bool identical) {
    const std::size_t tokens = text.tokens.size();
    r.by_text.push_back({prompt, tokens, text.counts.evaluated, text.counts.accepted});
    r.first_seconds += text.time_to_first_token;
    if (tokens > text.first_tokens) {
        r.later_seconds += text.seconds - text.time_to_first_token;
        r.later_tokens += tokens - text.first_tokens;
    }
    for (const std::size_t n : text.extra_forwards) {
        if (r.extra_forwards.size() <= n)
            r.extra_forwards.resize(n + 1);
        ++r.extra_forwards[n];
    }
    r.first_rows_known += text.first_rows_known;
    add(r.counts, text.counts);
    r.texts += 1;
    r.identical += identical ? 1 : 0;
}

[[nodiscard]] inline bool same_texts(const decode_results& a, const decode_results& b) {
    return std::equal(
        a.texts.begin(), a.texts.end(), b.texts.begin(), b.texts.end(),
        [](const decode_result& x, const decode_result& y) { return x.tokens == y.tokens; });
}

/// The sampling that surprise is measured under: the law the texts were drawn from; greedy texts
/// under the law of temperature 1.
[[nodiscard]] inline sampling_parameters law_of(sampling_parameters sampling) {
    if (sampling.temperature == 0)
        sampling.temperature = 1;
    return sampling;
}

/// Runs every rule on every prompt, as many prompts at a time as the pair holds side by side, so
/// that whatever else the machine does meets all rules alike. rows[0] is autoregressive.
/// progress(0..1); made(row, prompt, what came out) sees every text. After a signal
/// (interrupt.hpp) the rows hold what all of them have done.
inline void compare_rules(
    const loaded_pair& pair, const std::vector<given_prompt>& prompts,
    const comparison_settings& settings, std::vector<row>& rows,
    const std::function<void(double)>& progress,
    const std::function<void(const row&, const given_prompt&, const decode_result&)>& made) {
    decode_settings s = settings.decoding;
    s.carry.contexts = false; // every rule feeds all prompts
    std::vector<text_request> texts;
    const auto ask_for = [&](std::size_t first, std::size_t n, std::uint64_t sequence) {
        texts.clear();
        for (std::size_t i = first; i < first + n; ++i)
            texts.push_back({.prompt = prompts[i].ids,
                             .sequence = sequence + i,
                             .where = prompts[i].file + ": " + prompts[i].line});
    };
    const auto run = [&](const row& r) {
        s.rule = r.named.rule;
        s.lengths = r.lengths(settings.decoding.lengths);
        s.tree = r.tree ? settings.decoding.tree : std::nullopt;
        s.lookup.beside = r.lookup;
        decode_results results = pair->run(texts, s);
        results.require_none_failed();
        return results;
    };
    // What was done before, drafts above all, leaves other weights in the caches: a small target's
    // first passes behind it take twice as long. So each row begins behind a little plain decoding,
    // ten milliseconds at least.
    const auto settle = [&] {
        decode_settings plain = settings.decoding;
        plain.rule = rule::autoregressive;
        plain.tree.reset();
        plain.limits = {.max_tokens = 4};
        const steady_seconds now;
        const double begin = now();
        do
            (void)pair->run({texts.data(), 1}, plain);
        while (now() - begin < 0.01);
    };
    s.limits.max_tokens = std::min<std::size_t>(s.limits.max_tokens, 16);
    ask_for(0, 1, 0);
    for (const row& r : rows)
        (void)run(r); // warms caches and clocks
    s.limits = settings.decoding.limits;

    for (row& r : rows)
        r.surprise.resize(prompts.size());
    const auto fewest_tokens = [&] {
        std::uint64_t fewest = rows.front().counts.committed;
        for (const row& r : rows)
            fewest = std::min(fewest, r.counts.committed);
        return static_cast<std::size_t>(fewest);
    };
    const std::size_t wanted = s.sampling.temperature > 0 ? settings.tokens_at_least : 0;
    // Side by side in several turns: a sequence whose text has ended takes the next.
    const std::size_t at_a_time = pair->sequences() == 1 ? 1 : 4 * pair->sequences();
    std::vector<decode_results> results(rows.size());
    std::vector<double> surprises; // of autoregressive's texts, of this turn
    const bool any_coupled = std::any_of(rows.begin(), rows.end(),
                                         [](const row& r) { return is_coupled(r.named.rule); });
    std::size_t turn = 0;
    const auto whole = [](const decode_results& some) {
        return std::none_of(some.texts.begin(), some.texts.end(), [](const decode_result& text) {
            return text.finish == finish_reason::cancelled;
        });
    };
    // All that is told of a row is of one run. Other texts (of tli, whose drafts have other lengths
    // the next time) are no repetition; and to choose texts by their times would change their law.
    const auto repeat = [&] {
        for (std::size_t n = 1; n < settings.repeats; ++n) {
            std::vector<decode_results> again(rows.size());
            for (std::size_t i = 0; i < rows.size(); ++i) {
                const std::size_t k = (turn + i) % rows.size();
                settle();
                again[k] = run(rows[k]);
                if (!whole(again[k]))
                    return; // no row is repeated more often than another
            }
            for (std::size_t k = 0; k < rows.size(); ++k)
                if (again[k].seconds < results[k].seconds && same_texts(again[k], results[k]))
                    results[k] = std::move(again[k]);
        }
    };
    for (std::uint64_t pass = 0; pass == 0 || fewest_tokens() < wanted; ++pass) {
        const std::size_t before = fewest_tokens();
        for (std::size_t first = 0; first < prompts.size(); first += at_a_time, ++turn) {
            progress(wanted > 0 ? static_cast<double>(fewest_tokens()) / static_cast<double>(wanted)
                                : static_cast<double>(first) / static_cast<double>(prompts.size()));
            ask_for(first, std::min(at_a_time, prompts.size() - first), pass * prompts.size());
            std::vector<grouping_counts> grouping(rows.size());
            for (std::size_t i = 0; i < rows.size(); ++i) {
                if (interrupted() != 0)
                    return;
                const std::size_t k = (turn + i) % rows.size(); // nobody is always the first
                settle();
                *pair.grouping = {.on = settings.check_grouping};
                results[k] = run(rows[k]);
                grouping[k] = pair.grouping->counts;
                pair.grouping->on = false;
                if (!whole(results[k]))
                    return; // the rows would not count the same texts
            }
            decode_results coupled; // what the coupled rules have to give
            if (any_coupled) {
                s.shared_noise = true;
                coupled = run(rows[0]);
                s.shared_noise = false;
                if (!whole(coupled))
                    return;
            }
            repeat();
            surprises.clear();
            for (std::size_t k = 0; k < rows.size(); ++k) {
                const decode_results& plain = is_coupled(rows[k].named.rule) ? coupled : results[0];
                for (std::size_t i = 0; i < texts.size(); ++i) {
                    const decode_result& text = results[k].texts[i];
                    made(rows[k], prompts[first + i], text);
                    add(rows[k], text, texts[i].prompt.size(),
                        text.tokens == plain.texts[i].tokens);
                    token_sum& group = rows[k].surprise[first + i];
                    const bool known = k > 0 && text.tokens == results[0].texts[i].tokens;
                    const double sum =
                        known ? surprises[i]
                              : pair.surprise(texts[i].prompt, text.tokens, law_of(s.sampling));
                    if (k == 0)
                        surprises.push_back(sum);
                    group.sum += sum;
                    group.tokens += static_cast<double>(text.tokens.size());
                }
                rows[k].seconds += results[k].seconds;
                rows[k].passes += results[k].passes.passes;
                rows[k].rows += results[k].passes.rows;
                add(rows[k].grouping, grouping[k]);
            }
        }
        if (fewest_tokens() == before)
            break; // texts that end at once
    }
}

/// Prompts to judge a law by: of fewer the standard error itself is a guess.
inline constexpr std::size_t fewest_prompts = 8;

/// Whether the mean surprise is the same but for chance: within 3 standard errors of the
/// difference. Nothing where there is too little to tell.
[[nodiscard]] inline std::optional<bool> same_law(const row& r, const row& autoregressive) {
    const estimate d = mean_a_token(r.surprise, &autoregressive.surprise);
    if (d.value == 0)
        return true;
    const bool enough = std::count_if(r.surprise.begin(), r.surprise.end(), [](const token_sum& s) {
                            return s.tokens > 0;
                        }) >= static_cast<std::ptrdiff_t>(fewest_prompts);
    if (!enough || !std::isfinite(d.value))
        return std::nullopt;
    return std::abs(d.value) <= 3 * d.error;
}

[[nodiscard]] inline ordered_json number_or_null(double value) {
    return std::isfinite(value) ? ordered_json(value) : ordered_json();
}

/// How many times as fast as autoregressive decoding a row is: as a whole, to the first token, and
/// for each token after it. 0 where either has none.
[[nodiscard]] inline double speed_up(const row& r, const row& plain) {
    return r.tokens_per_second() / plain.tokens_per_second();
}
[[nodiscard]] inline double first_token_speed_up(const row& r, const row& plain) {
    const double own = r.time_to_first_token();
    return own > 0 ? plain.time_to_first_token() / own : 0.0;
}
[[nodiscard]] inline double output_token_speed_up(const row& r, const row& plain) {
    const double own = r.time_per_output_token();
    return own > 0 ? plain.time_per_output_token() / own : 0.0;
}

/// One object a row.
[[nodiscard]] inline ordered_json to_json(const row& r, const row& autoregressive,
                                          const comparison_settings& settings,
                                          const pair_facts& facts) {
    const double temperature = static_cast<double>(settings.decoding.sampling.temperature);
    const bool drafted = r.named.rule != rule::autoregressive;
    const bool with_model = takes_drafter(r.named.rule);
    const estimate nll = mean_a_token(r.surprise);
    const estimate difference = mean_a_token(r.surprise, &autoregressive.surprise);
    const std::optional<bool> same = same_law(r, autoregressive);
    const statistics& c = r.counts;
    const length_settings lengths = r.lengths(settings.decoding.lengths);
    const std::optional<double> size = facts.relative_size(), mbsu = r.memory_bound_speedup(size);
    ordered_json out{
        {"rule", r.name()},
        {"by_default", r.by_default},
        {"temperature", temperature},
        {"prompt_tokens", r.prompt_tokens()},
        {"tokens", c.committed},
        {"seconds", r.seconds},
        {"tokens_per_second", r.tokens_per_second()},
        {"target_calls", c.rounds},
        {"tokens_per_target_call", c.tokens_per_target_call()},
        {"proposed", c.proposed},
        {"accepted", c.accepted},
        {"acceptance_rate", acceptance_rate(c)},
        {"conditional_acceptance_rate", conditional_acceptance_rate(c)},
        {"drafter_forwards_per_target_call", r.forwards_a_call()},
        {"drafter_relative_size", size ? ordered_json(*size) : ordered_json()},
        {"mbsu", mbsu ? ordered_json(*mbsu) : ordered_json()},
        {"speedup", speed_up(r, autoregressive)},
        {"time_to_first_token", r.time_to_first_token()},
        {"time_to_first_token_speedup", first_token_speed_up(r, autoregressive)},
        {"time_per_output_token", r.time_per_output_token()},
        {"time_per_output_token_speedup", output_token_speed_up(r, autoregressive)},
        {"identical_text", temperature > 0 ? ordered_json() : ordered_json(r.identical == r.texts)},
        {"nll", number_or_null(nll.value)},
        {"nll_stderr", number_or_null(nll.error)},
        {"nll_difference", number_or_null(difference.value)},
        {"nll_difference_stderr", number_or_null(difference.error)},
        {"lossless", r.named.lossless},
        {"same_law", same ? ordered_json(*same) : ordered_json()},
        {"texts", r.texts},
        {"identical_texts", r.identical},
        {"draft_length", drafted ? ordered_json(lengths.length) : ordered_json()},
        {"lengths", name(lengths.kind)},
        {"target", facts.target.name},
        {"drafter", with_model ? ordered_json(facts.drafter->name) : ordered_json()},
        {"drafter_head_tokens", with_model && facts.drafter->head_tokens > 0
                                    ? ordered_json(facts.drafter->head_tokens)
                                    : ordered_json()},
        {"precision", facts.computing.precision},
        {"kernel", facts.computing.kernel},
        {"threads", facts.computing.threads},
        {"seed", settings.decoding.seed},
        {"target_passes", r.passes},
        {"rows_per_target_pass", static_cast<double>(r.rows) / static_cast<double>(r.passes)},
    };
    out.update(to_json(c));
    if (settings.check_grouping)
        out["grouping"] = {{"rounds", r.grouping.rounds},
                           {"changed", r.grouping.changed},
                           {"widest_margin", r.grouping.widest_margin},
                           {"largest_difference", r.grouping.largest_difference}};
    if (!r.extra_forwards.empty()) {
        out["rounds_by_extra_forwards"] = r.extra_forwards;
        out["first_forwards_spared"] = r.first_rows_known;
    }
    return out;
}

} // namespace specdec::examples
