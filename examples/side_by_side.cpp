// SPDX-License-Identifier: MIT
// What a server gains: texts one after the other, each with a drafter, against texts side by side,
// one pass of the target a round for all of them. Side by side they draft in turns, each with
// passes of its own, and together, in common passes of the drafter. Prints one line a draft length,
// and how long the prompts take, which is a part of every time. With --at-a-time: what automatic
// drafts gain over none, in turns, for each number of texts side by side.
//
//     side_by_side                                     the pair in this repository
//     side_by_side --models smollm2 --sequences 8 --draft-lengths 0,1,2,4 --automatic
//     side_by_side --models smollm2 --at-a-time 1,2,4,8,16 --limit 16
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "support/flags/flag_values.hpp"
#include "support/flags/tree_flags.hpp"
#include "support/output/statistics_json.hpp"
#include "support/pair/cache_keeper.hpp"
#include "support/pair/engine.hpp"
#include "support/pair/tree_nodes.hpp"
#include "support/program/console.hpp"
#include "support/program/files.hpp"
#include "support/program/interrupt.hpp"
#include "support/program/program.hpp"
#include "support/text/prompts_file.hpp"

namespace {

using namespace specdec;
using namespace specdec::examples;

struct flags {
    model_flags models;
    decode_settings decoding = interruptible();
    std::size_t repeats = 3;
    std::vector<std::size_t> draft_lengths{0, 1, 2, 3, 4};
    std::vector<std::size_t> at_a_time{};
    bool automatic = false;
    std::vector<given_flag> of_drafts;
    std::string prompts, rule;
    std::optional<std::size_t> limit;
    std::optional<bool> lookup; ///< in addition to the drafter
    tree_flags tree;
};

/// How long drafts are: a row of the table.
struct drafting {
    std::string name;
    length_settings lengths{.kind = length_kind::fixed, .length = 0};
    std::optional<tree_drafts> tree{};
};

/// All texts, so many at a time, the shortest of some times.
struct outcome {
    double seconds = 0;
    statistics counts;
    batch_counts passes;
    std::vector<std::vector<target_id>> texts;

    [[nodiscard]] double tokens_per_second() const {
        return static_cast<double>(counts.committed) / seconds;
    }
    [[nodiscard]] double drafting() const { return counts.draft_seconds / seconds; }
    [[nodiscard]] double a_pass(std::uint64_t n) const {
        return static_cast<double>(n) / static_cast<double>(passes.passes);
    }
    /// All but the texts.
    void add(const outcome& other) {
        seconds += other.seconds;
        examples::add(counts, other.counts);
        passes.passes += other.passes.passes;
        passes.rows += other.passes.rows;
        passes.draft_passes += other.passes.draft_passes;
    }
};

outcome decode_all(decoder& pair, std::span<const text_request> texts, std::size_t at_a_time,
                   const decode_settings& settings) {
    outcome all;
    for (std::size_t first = 0; first < texts.size(); first += at_a_time) {
        const decode_results some =
            pair.run(texts.subspan(first, std::min(at_a_time, texts.size() - first)), settings);
        some.require_none_failed();
        outcome one;
        one.seconds = some.seconds;
        one.passes = some.passes;
        for (const decode_result& text : some.texts) {
            add(one.counts, text.counts);
            all.texts.push_back(text.tokens);
        }
        all.add(one);
    }
    return all;
}

/// Automatic drafts against none, for each number of texts side by side. The two take turns at the
/// same texts, and what counts is the median of the ratios of neighbours. The first turn of each
/// number does not count: costs and acceptance are learnt in it.
void compare_with_none(decoder& pair, std::span<const text_request> texts, const flags& f) {
    std::printf("%9s | %10s | %-45s | %-26s | %s\n", "", "no drafts", "automatic drafts",
                "automatic / no drafts", "text");
    std::printf("%9s | %10s | %10s %13s %11s %8s | %6s %19s | %s\n", "at a time", "tokens / s",
                "tokens / s", "tokens / pass", "pos. / pass", "drafted", "median", "quartiles",
                "identical");
    decode_settings none = f.decoding, drafts = f.decoding;
    none.lengths = {.kind = length_kind::fixed, .length = 0};
    drafts.lengths = {};
    for (const std::size_t n : f.at_a_time) {
        std::vector<double> ratios;
        outcome plain, drafted;
        bool same = true;
        std::size_t turn = 0;
        for (std::size_t i = 0; i <= f.repeats; ++i)
            for (std::size_t first = 0; first < texts.size(); first += n, ++turn) {
                const auto some = texts.subspan(first, std::min(n, texts.size() - first));
                const bool plain_first = turn % 2 == 0;
                outcome a = decode_all(pair, some, n, plain_first ? none : drafts);
                outcome b = decode_all(pair, some, n, plain_first ? drafts : none);
                if (interrupted() != 0)
                    return;
                if (!plain_first)
                    std::swap(a, b);
                same = same && a.texts == b.texts;
                if (i == 0)
                    continue;
                ratios.push_back(b.tokens_per_second() / a.tokens_per_second());
                plain.add(a);
                drafted.add(b);
            }
        std::sort(ratios.begin(), ratios.end());
        const auto quantile = [&](double part) {
            return ratios[static_cast<std::size_t>(part * static_cast<double>(ratios.size() - 1))];
        };
        std::printf("%9zu | %10.1f | %10.1f %13.2f %11.2f %8llu | %5.3fx %8.3fx to %5.3fx | %s\n",
                    n, plain.tokens_per_second(), drafted.tokens_per_second(),
                    drafted.a_pass(drafted.counts.committed), drafted.passes.rows_per_pass(),
                    static_cast<unsigned long long>(drafted.counts.draft_tokens), quantile(0.5),
                    quantile(0.25), quantile(0.75), same ? "yes" : "NO");
        flush_output();
    }
}

void run(flags f, const program_engine& e) {
    validate(f.decoding.sampling);
    const std::optional<tree_drafts> tree = f.tree.settings();
    f.decoding.carry.contexts = false; // each way feeds all prompts
    f.decoding.lookup.shared = false;  // and finds its own words only
    tell_nodes(f.models, tree);
    for (const std::size_t n : f.at_a_time)
        f.models.sequences = std::max(f.models.sequences, n);
    const loaded_pair pair = load_pair(e, f.models);
    const pair_facts& facts = pair.facts;
    f.decoding.rule = !f.rule.empty()                    ? rule_of(f.rule, "--rule").rule
                      : recycles(f.models)               ? rule::recycling
                      : tree && pair->applies(rule::tli) ? rule::tli
                                                         : pair->rule_for(f.decoding);
    const std::string name(about(*f.decoding.rule).name);
    if (f.decoding.rule == rule::autoregressive) {
        expect_none(f.of_drafts, "expected nothing with --rule autoregressive");
        f.draft_lengths = {0};
        f.automatic = false;
    }
    if (!pair->applies(*f.decoding.rule))
        throw error("--rule", name, what_lacks(*pair, *f.decoding.rule));
    if (tree && !can_draft_trees(*f.decoding.rule))
        throw error("--tree", name,
                    "expected a rule that drafts trees with it: " + rule_names(can_draft_trees));
    f.decoding.lookup.beside = f.lookup.value_or(false); // the lengths are the drafter's
    if (f.decoding.lookup.beside && !takes_drafter(*f.decoding.rule))
        throw error("--lookup", name, "expected a rule that drafts with a model");
    expect_use_of_cache(f.models.cache, uses_cache(*f.decoding.rule));
    const std::vector<given_prompt> prompts = read_prompts(f.prompts, f.limit, f.models, *pair);
    std::vector<text_request> texts;
    for (const given_prompt& p : prompts)
        texts.push_back(
            {.prompt = p.ids, .sequence = texts.size(), .where = p.file + ": " + p.line});

    auto keeper = cache_keeper(pair);
    const interrupt_guard guard;
    std::printf(
        "%s, %zu sequences, at most %zu tokens per output, T = %g, %s (%s), %s, rule %s\n\n",
        counted(prompts.size(), "prompt").c_str(), pair->sequences(), f.decoding.limits.max_tokens,
        static_cast<double>(f.decoding.sampling.temperature), facts.computing.precision.c_str(),
        facts.computing.kernel.c_str(), counted(facts.computing.threads, "thread").c_str(),
        name.c_str());
    if (!f.at_a_time.empty()) {
        compare_with_none(*pair, texts, f);
        return keeper.save();
    }
    std::printf("%5s | %-24s | %-37s | %-55s | %6s  %s\n", "draft", "one after the other",
                "side by side, draft in turns", "side by side, draft together", "", "text");
    std::printf("%5s | %10s %13s | %10s %17s %8s | %10s %13s %11s %18s | %6s  %s\n", "len.",
                "tokens / s", "tokens / pass", "tokens / s", "drafter's passes", "drafting",
                "tokens / s", "tokens / pass", "pos. / pass", "drafter's passes", "times",
                "identical");
    const auto keep_shortest = [](outcome& best, const outcome& now) {
        if (best.seconds == 0 || now.seconds < best.seconds)
            best = now;
    };
    double best_alone = 0, best_in_turns = 0, best_together = 0;
    std::vector<drafting> rows;
    for (const std::size_t n : f.draft_lengths)
        rows.push_back({std::to_string(n), {.kind = length_kind::fixed, .length = n}});
    if (f.automatic)
        rows.push_back({"auto", {}});
    if (tree)
        rows.push_back({.name = "tree", .tree = tree});
    for (const drafting& row : rows) {
        f.decoding.lengths = row.lengths;
        f.decoding.tree = row.tree;
        outcome alone, in_turns, together;
        for (std::size_t i = 0; i < f.repeats; ++i) {
            decode_settings turns = f.decoding;
            turns.together = false;
            const outcome one = decode_all(*pair, texts, 1, f.decoding);
            const outcome each = decode_all(*pair, texts, texts.size(), turns);
            const outcome all = decode_all(*pair, texts, texts.size(), f.decoding);
            if (interrupted() != 0) // half a comparison is none
                return keeper.save();
            keep_shortest(alone, one);
            keep_shortest(in_turns, each);
            keep_shortest(together, all);
        }
        best_alone = std::max(best_alone, alone.tokens_per_second());
        best_in_turns = std::max(best_in_turns, in_turns.tokens_per_second());
        best_together = std::max(best_together, together.tokens_per_second());
        std::printf(
            "%5s | %10.1f %13.2f | %10.1f %17.2f %6.1f %% | %10.1f %13.2f %11.2f %18.2f | %5.2fx  "
            "%s\n",
            row.name.c_str(), alone.tokens_per_second(), alone.counts.tokens_per_target_call(),
            in_turns.tokens_per_second(), in_turns.a_pass(in_turns.passes.draft_passes),
            100 * in_turns.drafting(), together.tokens_per_second(),
            together.a_pass(together.counts.committed), together.passes.rows_per_pass(),
            together.a_pass(together.passes.draft_passes),
            together.tokens_per_second() / alone.tokens_per_second(),
            alone.texts == together.texts && in_turns.texts == together.texts ? "yes" : "NO");
        flush_output();
    }
    outcome prompts_alone, prompts_together; // all prompts, and a token behind each
    decode_settings a_token = f.decoding;
    a_token.lengths = {.kind = length_kind::fixed, .length = 0};
    a_token.limits.max_tokens = 1;
    for (std::size_t i = 0; i < f.repeats; ++i) {
        const outcome one = decode_all(*pair, texts, 1, a_token);
        const outcome all = decode_all(*pair, texts, texts.size(), a_token);
        if (interrupted() != 0)
            return keeper.save();
        keep_shortest(prompts_alone, one);
        keep_shortest(prompts_together, all);
    }
    std::printf("\nIn all times: the prompts and one token after each, %.3f s one after the other, "
                "%.3f s side by side.",
                prompts_alone.seconds, prompts_together.seconds);
    std::printf(
        "\nThe drafter's passes are of one round. Drafting, in turns: what drafting together "
        "can save at most.\nBest of each: %.2fx; together against in turns: %.2fx\n",
        best_together / best_alone, best_together / best_in_turns);
    keeper.save();
}

} // namespace

int main(int argc, char** argv) {
    CLI::App app(
        "Decodes several sequences in one pass of the target, compared with the same ones in turn.",
        std::filesystem::path(argv[0]).filename().string());
    flags f;
    const std::unique_ptr<program_engine> e = make_engine();
    f.models.sequences = 8;
    f.models.context = 512;
    f.decoding.sampling.temperature = 0;
    f.decoding.limits.max_tokens = 64;
    add_number(app, "--sequences", f.models.sequences, {1, 64}, "side by side (default: 8)");
    add_number(app, "--draft-lengths", f.draft_lengths, {0, 64}, "default: 0,1,2,3,4");
    add_number(app, "--at-a-time", f.at_a_time, {1, 64},
               "in place of draft lengths: automatic drafts against none, in turns, so many "
               "sequences side by side");
    app.add_flag("--automatic", f.automatic, "a further row with automatic draft lengths");
    add_tree_flags(app, f.tree, "a last row, whose drafts branch");
    add_lookup_flag(app, f.lookup, "look up in addition to the drafter");
    app.add_option("-r,--rule", f.rule,
                   "one of " + rule_names() +
                       " (default: slem, above temperature 0 tli-block, with one vocabulary "
                       "identity and identity-block, without a drafter lookup; with --tree tli "
                       "where the pair can)");
    app.add_option("--prompts", f.prompts, "a file, one prompt a line");
    add_number(app, "--limit", f.limit, any_count,
               "only the first prompts (default: 24, for chat 8; 0: all)");
    add_number(app, "-n,--max-tokens", f.decoding.limits.max_tokens, {1, 1 << 16},
               "of an output (default: 64)");
    add_number(app, "-t,--temperature", f.decoding.sampling.temperature, any_temperature,
               "default: 0");
    add_number(app, "--repeats", f.repeats, {1, 100}, "the shortest time counts (default: 3)");
    add_model_flags(app, f.models, *e);
    return run_program(app, argc, argv, [&] {
        f.of_drafts = given_of(app, {"--draft-lengths", "--automatic"});
        run(f, *e);
    });
}
