// SPDX-License-Identifier: MIT
// Runs plain (autoregressive) decoding and the rules on a file of prompts and prints one table:
// what each rule gains in this very run, or why it does not, and whether its output has the
// target's distribution.
//
//     compare                                          the pair in this repository
//     compare --models smollm2 --limit 40 --rules all
//     compare --temperatures 1 --rules tli,slem --tokens-at-least 20000 --json
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include "support/flags/flag_values.hpp"
#include "support/flags/lengths.hpp"
#include "support/flags/sampling_flags.hpp"
#include "support/flags/tree_flags.hpp"
#include "support/output/comparison.hpp"
#include "support/output/diagnosis.hpp"
#include "support/output/explanation.hpp"
#include "support/output/open_rule.hpp"
#include "support/pair/cache_keeper.hpp"
#include "support/pair/engine.hpp"
#include "support/pair/tree_nodes.hpp"
#include "support/program/console.hpp"
#include "support/program/files.hpp"
#include "support/program/interrupt.hpp"
#include "support/program/program.hpp"
#include "support/text/prompts_file.hpp"
#include <specdec/vocab/table/atomic_file.hpp>

namespace {

using namespace specdec;
using namespace specdec::examples;

struct flags {
    model_flags models;
    comparison_settings settings;
    std::vector<float> temperatures{0, 1};
    std::vector<std::string> rules;
    std::vector<std::size_t> draft_lengths;
    length_flags lengths;
    tree_flags tree;
    std::optional<bool> lookup; ///< in addition to drafters
    std::string prompts, texts;
    std::optional<std::size_t> limit;
    bool json = false;
    bool why = false;                       ///< print what limits each rule
    std::vector<given_flag> of_pushforward; ///< of rules that draft by the distribution of texts
};

constexpr std::string_view every_rule = "all";
constexpr std::string_view own_rule = "default"; ///< what `generate` does with these models

/// What a user would choose from (docs/use/choosing-a-rule.md): for greedy text, for sampling, for
/// a drafter that is very cheap, for a text that must not change with the drafter; with one
/// vocabulary the rule for that.
constexpr std::array default_rules{rule::identity,  rule::identity_block, rule::tli,
                                   rule::tli_block, rule::slem,           rule::slrs,
                                   rule::coupled};

/// "slem", or "slem:2" for drafts of two tokens.
struct asked_rule {
    named_rule named;
    std::optional<std::size_t> length;
};
asked_rule asked_rule_of(const std::string& name) {
    const std::size_t colon = name.find(':');
    asked_rule asked{rule_of(std::string_view(name).substr(0, colon), "--rules"), {}};
    if (colon == std::string::npos)
        return asked;
    asked.length = read_number<std::size_t>(std::string_view(name).substr(colon + 1), {0, 64});
    if (!asked.length)
        throw error("--rules", name, "expected a draft length from 0 to 64 after the colon");
    return asked;
}

/// Autoregressive decoding first, then the rules asked for at this temperature, or what the pair
/// does by default and the usual ones.
std::vector<row> rows_for(const flags& f, const decoder& pair, float temperature) {
    std::vector<row> rows;
    const auto add = [&](const named_rule& r, std::optional<std::size_t> length, bool tree,
                         bool lookup, bool by_default = false) {
        for (row& known : rows)
            if (known.named.rule == r.rule && known.length == length && known.tree == tree &&
                known.lookup == lookup) {
                known.by_default = known.by_default || by_default;
                return;
            }
        row& added = rows.emplace_back();
        added.named = r;
        added.length = length;
        added.tree = tree;
        added.lookup = lookup;
        added.by_default = by_default;
    };
    const auto add_both = [&](const named_rule& r, std::optional<std::size_t> length, bool tree) {
        add(r, length, tree, false);
        if (f.lookup == true && takes_drafter(r.rule))
            add(r, length, tree, true);
    };
    const auto add_default = [&] {
        decode_settings s;
        s.sampling.temperature = temperature;
        const rule own = recycles(f.models) ? rule::recycling : pair.rule_for(s);
        const bool lookup = looks_up_beside(f.lookup, own);
        add(about(own), {}, false, lookup, true);
        if (f.settings.decoding.tree && can_draft_trees(own))
            add(about(own), {}, true, lookup);
    };
    const auto add_row = [&](const named_rule& r, std::optional<std::size_t> length = {}) {
        add_both(r, length, false);
        if (f.settings.decoding.tree && can_draft_trees(r.rule))
            add_both(r, {}, true);
    };
    const auto add_applicable = [&](const named_rule& r) {
        if (pair.applies(r.rule))
            add_row(r);
    };
    add_row(rules.front());
    for (const std::string& name : f.rules) {
        if (name == every_rule) {
            std::for_each(rules.begin(), rules.end(), add_applicable);
            continue;
        }
        if (name == own_rule) {
            add_default();
            continue;
        }
        const asked_rule asked = asked_rule_of(name);
        if (!pair.applies(asked.named.rule))
            throw error("--rules", name, what_lacks(pair, asked.named.rule));
        add_row(asked.named, asked.length);
    }
    if (f.rules.empty()) {
        add_default();
        for (const rule usual : default_rules)
            add_applicable(about(usual));
    }
    return rows;
}

/// Letters of the column of rules.
int rule_width(const std::vector<row>& rows) {
    std::size_t longest = 16;
    for (const row& r : rows)
        longest = std::max(longest, r.name().size());
    return static_cast<int>(longest);
}

/// In words, what a row that stands for the pair's default does, and why.
std::string explained(decoder& pair, const row& r, decode_settings s) {
    s.rule = r.named.rule;
    s = with_open_rule(pair, s);
    s.tree.reset();
    s.lookup.beside = r.lookup;
    std::string lines = pair.explain(s);
    char start[32];
    std::snprintf(start, sizeof start, "T = %g, by default ",
                  static_cast<double>(s.sampling.temperature));
    std::replace(lines.begin(), lines.end(), '\n', ' ');
    lines.pop_back();
    return start + lines;
}

void print_head(const pair_facts& facts, const flags& f, std::size_t prompts, int wide) {
    const auto millions = [](std::size_t n) { return static_cast<double>(n) / 1e6; };
    std::printf("target   %s, %.1f million parameters, %zu tokens\n",
                visible(facts.target.name).c_str(), millions(facts.target.parameters),
                facts.target.vocabulary);
    if (facts.drafter) {
        const std::size_t some = facts.drafter->head_tokens;
        const std::string part =
            some == 0 ? ""
                      : ", " + std::to_string(some) + " in its head" +
                            (facts.drafter->default_head ? " (kept.json; --head full: all)" : "");
        std::printf("drafter  %s, %.1f million parameters, %zu tokens, %zu of them shared%s\n",
                    visible(facts.drafter->name).c_str(), millions(facts.drafter->parameters),
                    facts.drafter->vocabulary, facts.shared, part.c_str());
    }
    if (const auto size = facts.relative_size())
        std::printf(
            "         a draft token reads %.1f MB of weights, %.1f %% of what a position of "
            "the target reads\n",
            millions(facts.drafter->forward_bytes), 100 * *size);
    const std::string together =
        f.models.sequences == 1 ? "" : ", " + std::to_string(f.models.sequences) + " side by side";
    std::printf("%s%s, at most %zu tokens per output, %s (%s), %s, seed %llu\n\n",
                counted(prompts, "prompt").c_str(), together.c_str(),
                f.settings.decoding.limits.max_tokens, facts.computing.precision.c_str(),
                facts.computing.kernel.c_str(), counted(facts.computing.threads, "thread").c_str(),
                static_cast<unsigned long long>(f.settings.decoding.seed));
    std::printf("%3s  %-*s %5s %8s %10s %8s %8s %6s %9s  %s\n", "T", wide, "rule", "draft",
                "tokens /", "acceptance", "tokens /", "speed-up", "MBSU", "output", "nats / token");
    std::printf("%3s  %-*s %5s %8s %10s %8s %8s %6s %9s  %s\n", "", wide, "", "len.", "pass",
                "rate", "second", "", "", "identical", "under the target");
}

void print_rows(const std::vector<row>& rows, const comparison_settings& settings,
                const pair_facts& facts, int wide) {
    const double temperature = static_cast<double>(settings.decoding.sampling.temperature);
    for (const row& r : rows) {
        const bool drafted = r.named.rule != rule::autoregressive;
        const estimate nll = mean_a_token(r.surprise);
        char length[24] = "-", accepted[24] = "-", mbsu[24] = "-", error[24] = "";
        if (std::isfinite(nll.error)) // of one prompt nobody knows it
            std::snprintf(error, sizeof error, " ± %.3f", nll.error);
        if (drafted)
            std::snprintf(length, sizeof length, "%.1f", r.counts.proposed_a_call());
        if (r.counts.proposed > 0)
            std::snprintf(accepted, sizeof accepted, "%.1f %%", 100 * r.counts.acceptance_rate());
        if (const auto ratio = r.memory_bound_speedup(facts.relative_size()))
            std::snprintf(mbsu, sizeof mbsu, "%.2fx", *ratio);
        const char* identical = r.identical == r.texts ? "yes" : temperature > 0 ? "-" : "NO";
        std::printf("%3g  %-*s %5s %8.2f %10s %8.1f %7.2fx %6s %9s  %.3f%s\n", temperature, wide,
                    r.name().c_str(), length, r.counts.tokens_per_target_call(), accepted,
                    r.tokens_per_second(), speed_up(r, rows.front()), mbsu, identical, nll.value,
                    error);
    }
}

/// The second table, for whoever looks at a server's figures: the time to the first token, which a
/// drafter cannot shorten, apart from the time for each token after it.
std::string times_head(int wide) {
    char head[240];
    std::snprintf(head, sizeof head,
                  "%3s  %-*s %13s %11s %13s %8s %15s %8s\n%3s  %-*s %13s %11s %13s %8s %15s\n", "T",
                  wide, "rule", "mean accepted", "conditional", "time to first", "speed-up",
                  "time per output", "speed-up", "", wide, "", "length", "acceptance", "token (ms)",
                  "", "token (ms)");
    return head;
}
std::string times_of(const std::vector<row>& rows, const decode_settings& s, int wide) {
    std::string out;
    for (const row& r : rows) {
        char line[200], accepted[24] = "-", conditional[24] = "-", later[24] = "-",
                        faster[24] = "-";
        if (r.counts.rounds_with_draft() > 0)
            std::snprintf(accepted, sizeof accepted, "%.2f", r.counts.mean_accepted_length());
        if (r.counts.evaluated > 0)
            std::snprintf(conditional, sizeof conditional, "%.1f %%",
                          100 * r.counts.conditional_acceptance_rate());
        if (r.later_tokens > 0) {
            std::snprintf(later, sizeof later, "%.2f", 1000 * r.time_per_output_token());
            std::snprintf(faster, sizeof faster, "%.2fx", output_token_speed_up(r, rows.front()));
        }
        std::snprintf(line, sizeof line, "%3g  %-*s %13s %11s %13.2f %7.2fx %15s %8s\n",
                      static_cast<double>(s.sampling.temperature), wide, r.name().c_str(), accepted,
                      conditional, 1000 * r.time_to_first_token(),
                      first_token_speed_up(r, rows.front()), later, faster);
        out += line;
    }
    return out;
}

/// Whether the rules kept their promise at this temperature, in a sentence.
std::string judgement(const std::vector<row>& rows, double temperature, const pair_facts& facts) {
    std::string wrong;
    for (const row& r : rows)
        if (r.named.lossless &&
            (temperature > 0 ? same_law(r, rows.front()) == false : r.identical != r.texts))
            wrong += (wrong.empty() ? "" : ", ") + r.name();
    char start[32];
    std::snprintf(start, sizeof start, "T = %g: ", temperature);
    const bool unknown = std::any_of(rows.begin(), rows.end(), [&](const row& r) {
        return r.named.lossless && !same_law(r, rows.front());
    });
    if (temperature > 0 && wrong.empty() && unknown)
        return start +
               ("too few outputs to tell whether those of every lossless rule are as likely "
                "under the target as autoregressive's (at least " +
                std::to_string(fewest_prompts) + " prompts are needed).");
    if (temperature > 0)
        return start + (wrong.empty()
                            ? "every lossless rule's text is as likely under the target as "
                              "autoregressive's, within 3 standard errors of the difference."
                            : "NOT within 3 standard errors of autoregressive's nats a token: " +
                                  wrong + ".");
    return start + (wrong.empty()
                        ? "every rule gave autoregressive's text."
                        : "NOT autoregressive's text: " + wrong +
                              (facts.computing.rows_depend_on_grouping
                                   ? ", for the engine's logits depend on how many positions "
                                     "share a call (--check-grouping, --score-alone)."
                                   : "."));
}

/// What scoring all positions of a round together changed.
void print_grouping(const std::vector<row>& rows, double temperature) {
    for (const row& r : rows)
        if (r.grouping.rounds > 0)
            std::printf("T = %g, %s: scoring positions together changed the first choice in %zu of "
                        "%zu rounds (two best logits at most %.4f apart), a logit by at most "
                        "%.4f\n",
                        temperature, r.name().c_str(), r.grouping.changed, r.grouping.rounds,
                        static_cast<double>(r.grouping.widest_margin),
                        static_cast<double>(r.grouping.largest_difference));
}

/// A text as token ids, for whoever wants to judge it by other means.
ordered_json to_json(const row& r, float temperature, const given_prompt& prompt,
                     const decode_result& text) {
    const auto numbers = [](const std::vector<target_id>& ids) {
        std::vector<std::int32_t> out;
        for (const target_id id : ids)
            out.push_back(id.value);
        return out;
    };
    return {{"rule", r.name()},
            {"temperature", temperature},
            {"line", prompt.line},
            {"prompt", numbers(prompt.ids)},
            {"text", numbers(text.tokens)},
            {"target_calls", text.counts.rounds},
            {"seconds", text.seconds}};
}

ordered_json to_json(const any_ngram_cache& cache) {
    const ngram_cache_counts c = cache.counts();
    return {{"ngrams", cache.size()},          {"ngram_bytes", cache.memory()},
            {"ngrams_learned", c.inserts},     {"ngrams_evicted", c.evictions},
            {"ngram_merges_accepted", c.hits}, {"ngram_tokens", c.tokens}};
}

ordered_json to_json(const routed_counts& c) {
    return {{"calls", c.calls}, {"rows", c.rows}, {"groups", c.groups}};
}

void print_cache(const any_ngram_cache& cache) {
    const ngram_cache_counts c = cache.counts();
    std::printf("n-grams: %zu in %zu bytes, %llu learned, %llu evicted, %llu accepted merges\n",
                cache.size(), cache.memory(), static_cast<unsigned long long>(c.inserts),
                static_cast<unsigned long long>(c.evictions),
                static_cast<unsigned long long>(c.hits));
}

/// How often each exit of the drafter spoke, measuring its cost included.
void print_exits(std::span<const std::uint64_t> rows) {
    double all = 0;
    for (const std::uint64_t n : rows)
        all += static_cast<double>(n);
    std::printf("exits of the drafter:");
    for (std::size_t e = 0; e < rows.size(); ++e)
        std::printf("%s the %zu. in %.1f %%", e == 0 ? "" : ",", e + 1,
                    all > 0 ? 100 * static_cast<double>(rows[e]) / all : 0.0);
    std::printf(" of %.0f rows\n", all);
}

void run(flags f, const program_engine& e) {
    f.settings.decoding.tree = f.tree.settings();
    tell_nodes(f.models, f.settings.decoding.tree);
    for (const float t : f.temperatures) {
        f.settings.decoding.sampling.temperature = t;
        validate(f.settings.decoding.sampling);
    }
    if (f.settings.tokens_at_least > 0 && std::count(f.temperatures.begin(), f.temperatures.end(),
                                                     0.0F) == std::ssize(f.temperatures))
        throw error("--tokens-at-least", std::to_string(f.settings.tokens_at_least),
                    "expected one of --temperatures above 0");
    if (f.draft_lengths.size() > 1 && f.draft_lengths.size() != f.temperatures.size())
        throw error("--draft-length", "list", "expected one length, or one a temperature");
    for (const std::string& name : f.rules)
        if (name != every_rule && name != own_rule)
            (void)asked_rule_of(name);
    // What is wrong with the flags is said before anything is loaded, and what is wrong with the
    // rules before anything is printed.
    (void)f.lengths.settings(f.draft_lengths.empty() ? std::nullopt
                                                     : std::optional(f.draft_lengths.front()));

    const loaded_pair pair = load_pair(e, f.models);
    const std::vector<given_prompt> prompts = read_prompts(f.prompts, f.limit, f.models, *pair);
    std::vector<row> asked; // at all temperatures
    for (const float t : f.temperatures)
        for (const row& r : rows_for(f, *pair, t))
            asked.push_back(r);
    const int wide = rule_width(asked);
    const auto some = [&](const auto& holds) {
        return std::any_of(asked.begin(), asked.end(), holds);
    };
    if (f.settings.decoding.tree && !some([](const row& r) { return r.tree; }))
        throw error("--tree", "flag",
                    "expected one of " + rule_names(can_draft_trees) + " among --rules");
    if (f.lookup == true && !some([](const row& r) { return r.lookup; }))
        throw error("--lookup", "flag", "expected a rule that drafts with a model among --rules");
    if (f.lengths.given() &&
        !some([](const row& r) { return r.named.rule != rule::autoregressive && !r.length; }))
        throw error("--lengths", f.lengths.kind,
                    "expected a rule without a length of its own among --rules");
    if (f.models.counts.of == counts_choice::texts::shared)
        throw error("--counts", f.models.counts.asked,
                    "expected own or none: prompts come again here");
    expect_use_of_cache(f.models.cache,
                        some([](const row& r) { return uses_cache(r.named.rule); }));
    if (!some(
            [](const row& r) { return r.named.rule == rule::slrs || r.named.rule == rule::merge; }))
        expect_none(f.of_pushforward, "expected slrs or merge among --rules");
    std::vector<std::string> chosen, judgements, reasons;
    std::string times, diagnoses;
    if (!f.texts.empty()) {
        expect_other_file("--texts", f.texts, prompts_path(f.prompts, f.models));
        expect_writable("--texts", f.texts);
    }
    std::string texts; // the file's, which replaces what is there when all of it is known
    auto keeper = cache_keeper(pair);
    const interrupt_guard guard;
    if (!f.json)
        print_head(pair.facts, f, prompts.size(), wide);
    for (std::size_t i = 0; i < f.temperatures.size() && interrupted() == 0; ++i) {
        decode_settings& s = f.settings.decoding;
        s.sampling.temperature = f.temperatures[i];
        s.lookup.shared = false; // prompts come again, and nothing is new then
        const double temperature = static_cast<double>(f.temperatures[i]);
        std::optional<std::size_t> length;
        if (!f.draft_lengths.empty())
            length = f.draft_lengths[f.draft_lengths.size() > 1 ? i : 0];
        s.lengths = f.lengths.settings(length);
        std::vector<row> rows = rows_for(f, *pair, f.temperatures[i]);
        {
            progress_bar bar("comparing " + std::to_string(i + 1) + "/" +
                             std::to_string(f.temperatures.size()));
            compare_rules(
                pair, prompts, f.settings, rows, [&](double part) { bar.show(part); },
                [&](const row& r, const given_prompt& prompt, const decode_result& text) {
                    if (!f.texts.empty())
                        texts += one_line(to_json(r, f.temperatures[i], prompt, text)) + '\n';
                });
        }
        if (rows.front().texts == 0) // interrupted before there was anything to compare
            break;
        const cost_table* costs = nullptr; // measured when first asked for
        if (s.lengths.kind == length_kind::automatic || f.why)
            costs = pair->costs_of(s.lengths);
        const auto figures = [&](const row& r) {
            return figures_of(r, rows.front(), s, costs, pair.facts, f.models.sequences);
        };
        if (f.json) {
            for (const row& r : rows) {
                ordered_json out = to_json(r, rows.front(), f.settings, pair.facts);
                if (f.why && r.named.rule != rule::autoregressive)
                    out["why"] = to_json(figures(r));
                if (uses_cache(r.named.rule))
                    out.update(to_json(*pair->cache()));
                if (s.lengths.kind == length_kind::automatic)
                    out["costs"] = list_of(*costs);
                if (pair.facts.drafter && !pair.facts.drafter->exit_rows.empty())
                    out["drafter_exit_rows"] = pair.facts.drafter->exit_rows; // of all rules so far
                if (pair.facts.drafter && pair.facts.drafter->routed != nullptr)
                    out["drafter_routed"] = to_json(*pair.facts.drafter->routed); // likewise
                std::printf("%s\n", one_line(out).c_str());
            }
        } else {
            print_rows(rows, f.settings, pair.facts, wide);
            print_grouping(rows, temperature);
            times += times_of(rows, s, wide);
            judgements.push_back(judgement(rows, temperature, pair.facts));
            for (const row& r : rows)
                if (r.by_default)
                    chosen.push_back(explained(*pair, r, s));
            if (!f.why)
                for (const std::string& why : explanations(rows, s, costs, f.models.sequences))
                    reasons.push_back(why);
            for (const row& r : rows)
                if (f.why && r.named.rule != rule::autoregressive)
                    diagnoses += "\n" + report(figures(r));
        }
        flush_output();
    }
    if (!times.empty())
        std::printf("\n%s%s\n", times_head(wide).c_str(), times.c_str());
    for (const std::vector<std::string>* lines : {&chosen, &judgements, &reasons})
        for (const std::string& line : *lines)
            std::printf("%s\n", wrapped(line).c_str());
    std::printf("%s", diagnoses.c_str());
    if (const any_ngram_cache* cache = pair->cache(); cache != nullptr && !f.json)
        print_cache(*cache);
    if (pair.facts.drafter && !pair.facts.drafter->exit_rows.empty() && !f.json)
        print_exits(pair.facts.drafter->exit_rows);
    if (!f.texts.empty())
        replace_file(f.texts, texts);
    keeper.save();
}

} // namespace

int main(int argc, char** argv) {
    CLI::App app("Compares autoregressive decoding and the rules on a file of prompts.",
                 std::filesystem::path(argv[0]).filename().string());
    flags f;
    const std::unique_ptr<program_engine> e = make_engine();
    f.settings.decoding.limits.max_tokens = 64;
    add_number(app, "--temperatures", f.temperatures, any_temperature, "default: 0,1");
    add_words(
        app, "--rules", f.rules,
        "some of " + rule_names() +
            ", each with a draft length of its own if one follows (slem:2); default, what generate "
            "does with these models; or all that the pair can follow: all (default: "
            "default,tli,tli-block,slem,slrs,coupled, with one vocabulary identity and "
            "identity-block, too)");
    app.add_option(
        "--prompts", f.prompts,
        "a file, one prompt per line (default: models/prompts/docs.txt; smollm2.txt for chat)");
    add_number(app, "--limit", f.limit, any_count,
               "only the first prompts (default: 24, for chat 8; 0: all)");
    add_number(app, "-n,--max-tokens", f.settings.decoding.limits.max_tokens, {1, 1 << 20},
               "of an output (default: 64)");
    add_number(app, "--draft-length", f.draft_lengths, {0, 64},
               "draft tokens per round, one for all or one per temperature: 5,2");
    add_length_flags(app, f.lengths);
    add_tree_flags(app, f.tree, "a second row for each rule that can, whose drafts branch");
    add_lookup_flag(app, f.lookup,
                    "a further row for each rule with a drafter, with lookup in addition; the rule "
                    "default has it unless --no-lookup is given");
    add_number(app, "--lightest-draft", f.settings.decoding.min_draft_probability, any_share,
               "slrs, merge: end a draft after the token at which its probability falls below "
               "this (default: 0.02; 0: never)");
    add_number(app, "--sequences", f.models.sequences, {1, 64},
               "sequences that share the target's passes (default: 1); needs memory for so many "
               "contexts, see --context");
    add_number(app, "--repeats", f.settings.repeats, {1, 1000},
               "run every prompt so often; the shortest run with the first run's output counts");
    add_number(
        app, "--tokens-at-least", f.settings.tokens_at_least, any_count,
        "above temperature 0: go on with new seeds until every rule has made so many tokens");
    app.add_flag("--check-grouping", f.settings.check_grouping,
                 "score every round a second time, each position alone, and count the rounds whose "
                 "first choice differs (slow: ignore the times)");
    add_cutoff_flags(app, f.settings.decoding.sampling);
    add_number(app, "--seed", f.settings.decoding.seed, any_seed, "default: 0")->group("Sampling");
    app.add_flag("--why", f.why,
                 "print for each rule what limits its speed-up, with figures, and what to change");
    app.add_flag("--json", f.json, "print one JSON object per row");
    app.add_option("--texts", f.texts,
                   "a file for all outputs as token ids, one JSON object per line");
    add_model_flags(app, f.models, *e);
    return run_program(app, argc, argv, [&] {
        f.of_pushforward = given_of(app, {"--lightest-draft"});
        run(f, *e);
    });
}
