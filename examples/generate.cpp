// SPDX-License-Identifier: MIT
// Continues a prompt (or answers it, with --chat) with a target model, faster with the help of a
// drafter of another tokenizer.
//
//     generate --prompt "Return a list of"
//     generate --models smollm2 --prompt "Tell me a story about a fox." --temperature 0.7 --seed 1
//     generate --target FOLDER --drafter FILE.gguf --rule slem --prompt - < prompt.txt
//
// The text goes to standard output as it is made, everything else to standard error.
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include <unistd.h>

#include "support/flags/flag_values.hpp"
#include "support/flags/lengths.hpp"
#include "support/flags/sampling_flags.hpp"
#include "support/flags/tree_flags.hpp"
#include "support/output/logprobs.hpp"
#include "support/output/open_rule.hpp"
#include "support/output/statistics_json.hpp"
#include "support/output/trace.hpp"
#include "support/pair/cache_keeper.hpp"
#include "support/pair/engine.hpp"
#include "support/pair/tree_nodes.hpp"
#include "support/program/console.hpp"
#include "support/program/files.hpp"
#include "support/program/interrupt.hpp"
#include "support/program/program.hpp"
#include "support/text/prompt.hpp"
#include "support/text/prompts_file.hpp"
#include <specdec/speculation/any/steady_seconds.hpp>

namespace {

using namespace specdec;
using namespace specdec::examples;

struct flags {
    model_flags models;
    decode_settings decoding = interruptible();
    std::string rule;
    std::optional<std::string> prompt;
    std::optional<std::size_t> draft_length;
    length_flags lengths;
    tree_flags tree;
    std::string color = "auto";
    bool json = false, trace = false, explain = true;
    std::optional<bool> lookup; ///< in addition to the drafter
};

/// When so many tokens were there, from the first round on.
struct progress_mark {
    std::size_t tokens = 0;
    double seconds = 0;
};

/// Writes the text as it comes, coloured by where each token came from, and the trace.
class screen : public listener {
public:
    screen(bool write_text, bool color, std::optional<tracer> trace)
        : write_text_(write_text), color_(color), trace_(trace) {}

    bool bytes(std::string_view text, token_origin origin) override {
        if (!write_text_)
            return true;
        const char* code = !color_                             ? ""
                           : origin == token_origin::accepted  ? "\x1b[32m"
                           : origin == token_origin::looked_up ? "\x1b[36m"
                           : origin == token_origin::corrected ? "\x1b[33m"
                                                               : "";
        std::fputs(code, stdout);
        std::fwrite(text.data(), 1, text.size(), stdout);
        if (*code != '\0')
            std::fputs("\x1b[0m", stdout);
        return std::fflush(stdout) == 0; // nobody reads on: no reason to go on
    }
    bool round(const round_result& result) override {
        if (trace_)
            trace_->print(result);
        return true;
    }
    void committed(std::span<const target_id> ids, std::span<const token_report>) override {
        tokens_ += ids.size();
        if (marks_.empty() || tokens_ >= marks_.back().tokens + between_marks)
            marks_.push_back({tokens_, now_() - begin_});
    }
    [[nodiscard]] const std::vector<progress_mark>& marks() const { return marks_; }

private:
    static constexpr std::size_t between_marks = 250;

    bool write_text_, color_;
    std::optional<tracer> trace_;
    steady_seconds now_;
    double begin_ = now_();
    std::size_t tokens_ = 0;
    std::vector<progress_mark> marks_;
};

std::string prompt_text(const flags& f) {
    if (!f.prompt)
        return wants_chat(f.models) ? "Tell me a story about a fox." : "Return a list of";
    if (*f.prompt != "-")
        return *f.prompt;
    std::string text = read_standard_input();
    if (text.ends_with('\n'))
        text.pop_back();
    return std::string(bare_line(text, true));
}

/// Of a text for which nothing was proposed.
const char* why_nothing(const statistics& s, const flags& f) {
    const auto rounds = [&](no_draft reason) {
        return s.without_draft[static_cast<std::size_t>(reason)];
    };
    if (rounds(no_draft::drafter_failed) > 0)
        return "";
    if (rounds(no_draft::nothing_found) > 0)
        return ": no text that was seen before promised to pay";
    if (rounds(no_draft::stop_rule) > 0 && f.decoding.lengths.kind == length_kind::automatic)
        return ", as it was not expected to pay";
    return "";
}

void summary(const decode_result& r, const flags& f, const pair_facts& facts) {
    const statistics& s = r.counts;
    std::fprintf(stderr, "%s in %.2f s, %.1f a second, %.2f a target call",
                 counted(r.tokens.size(), "token").c_str(), r.seconds,
                 r.seconds > 0 ? static_cast<double>(r.tokens.size()) / r.seconds : 0.0,
                 s.tokens_per_target_call());
    if (s.proposed > 0)
        std::fprintf(stderr, ", %.1f proposed, %.0f %% accepted", s.proposed_a_call(),
                     100 * s.acceptance_rate());
    if (s.looked_up > 0 && takes_drafter(*f.decoding.rule))
        std::fprintf(stderr, ", of %llu accepted %llu looked up",
                     static_cast<unsigned long long>(s.accepted),
                     static_cast<unsigned long long>(s.looked_up_accepted));
    else if (s.proposed == 0 && f.decoding.rule != rule::autoregressive)
        std::fprintf(stderr, ", nothing drafted%s", why_nothing(s, f));
    if (r.drafter_failures > 0)
        std::fprintf(stderr, ", the drafter failed in %s: %s",
                     counted(r.drafter_failures, "round").c_str(), r.drafter_error.c_str());
    std::fprintf(
        stderr, " (%s%s, T = %g, %s, %s; ended by %s)\n", f.rule.c_str(),
        f.decoding.lookup.beside ? " with lookup" : "",
        static_cast<double>(f.decoding.sampling.temperature), facts.computing.precision.c_str(),
        counted(facts.computing.threads, "thread").c_str(), std::string(name(r.finish)).c_str());
}

ordered_json report(const decode_result& r, const flags& f, const pair_facts& facts,
                    std::size_t prompt_tokens, const std::vector<progress_mark>& marks) {
    ordered_json out{
        {"text", r.text},
        {"finish_reason", name(r.finish)},
        {"rule", f.rule},
        {"lookup_beside", f.decoding.lookup.beside},
        {"target", facts.target.name},
        {"drafter", facts.drafter ? ordered_json(facts.drafter->name) : ordered_json()},
        {"temperature", f.decoding.sampling.temperature},
        {"seed", f.decoding.seed},
        {"draft_length", f.decoding.lengths.length},
        {"lengths", name(f.decoding.lengths.kind)},
        {"precision", facts.computing.precision},
        {"kernel", facts.computing.kernel},
        {"threads", facts.computing.threads},
        {"prompt_tokens", prompt_tokens},
        {"tokens", r.tokens.size()},
        {"seconds", r.seconds},
        {"time_to_first_token", r.time_to_first_token},
        {"time_per_output_token", r.time_per_output_token()},
        {"tokens_per_second", static_cast<double>(r.tokens.size()) / r.seconds}};
    out.update(to_json(r.counts));
    ordered_json ids = ordered_json::array();
    for (const target_id id : r.tokens)
        ids.push_back(id.value);
    out["token_ids"] = ids;
    ordered_json progress = ordered_json::array();
    for (const progress_mark& mark : marks)
        progress.push_back({mark.tokens, mark.seconds});
    out["seconds_by_tokens"] = progress;
    return out;
}

/// In words: what the text was decoded with, and why. `chosen`: nobody named the rule.
std::string explanation(decoder& pair, const decode_settings& s, bool chosen) {
    return pair.explain(chosen ? with_open_rule(pair, s) : s);
}

void run(flags f, const program_engine& e) {
    validate(f.decoding.sampling);
    decode_settings& s = f.decoding;
    s.drafter_must_work = false; // the answer comes without drafts
    if (!f.rule.empty())
        s.rule = rule_of(f.rule, "--rule").rule;
    else if (recycles(f.models))
        s.rule = rule::recycling;
    s.lengths = f.lengths.settings(f.draft_length);
    s.tree = f.tree.settings();
    if (s.tree && (f.draft_length || !f.lengths.kind.empty() || f.lengths.threshold))
        throw error("--tree", "flags",
                    "expected none of --draft-length, --lengths and --stop-confidence with it");
    tell_nodes(f.models, s.tree);
    const loaded_pair pair = load_pair(e, f.models);
    const pair_facts& facts = pair.facts;
    if (s.tree && !s.rule && !can_draft_trees(pair->rule_for(s)))
        s.rule = facts.drafter ? rule::tli : rule::recycling;
    s.rule = pair->rule_for(s);
    if (s.tree && !can_draft_trees(*s.rule))
        throw error("--tree", std::string(about(*s.rule).name),
                    facts.drafter
                        ? "expected --rule one of " + rule_names(can_draft_trees) + " with it"
                        : "expected a drafter, found none");
    s.lookup.beside = looks_up_beside(f.lookup, *s.rule);
    if (s.lookup.beside && !takes_drafter(*s.rule))
        throw error("--lookup", std::string(about(*s.rule).name),
                    "expected a rule that drafts with a model");
    if (s.tree && s.lengths.costs && !s.tree->needs_costs() && f.lookup != true)
        throw error("--costs", "list", "expected a tree that grows as pays, or --lookup, with it");
    const bool chosen = f.rule.empty();
    f.rule = about(*s.rule).name;
    if (*s.rule == rule::autoregressive && (f.draft_length || f.lengths.given()))
        throw error("--rule", f.rule, "expected no flag of draft lengths with it");
    if (!pair->applies(*s.rule))
        throw error("--rule", f.rule, what_lacks(*pair, *s.rule));
    expect_use_of_cache(f.models.cache, uses_cache(*s.rule));

    const std::string text = prompt_text(f);
    const std::vector<target_id> prompt =
        wants_chat(f.models) ? chat_prompt(*pair, text) : plain_prompt(*pair, text);
    if (prompt.empty())
        throw error("--prompt", "text", "expected at least one token");
    require_room(prompt, pair->target_models().capacity(), "--prompt", "text");

    const bool color = wants_color(f.color, STDOUT_FILENO);
    std::optional<tracer> trace;
    if (f.trace)
        trace.emplace(pair->target_table(), pair->draft_table(),
                      wants_color(f.color, STDERR_FILENO));
    const bool stream = !f.json && !f.trace;
    screen reader(stream, color, trace);
    const auto echo = [&] {
        if (!wants_chat(f.models))
            std::fwrite(text.data(), 1, text.size(), stdout);
    };
    if (stream)
        echo();
    const text_request request{.prompt = prompt, .reader = &reader};
    auto keeper = cache_keeper(pair);
    const interrupt_guard guard;
    const decode_result result = pair->run({&request, 1}, s).texts.front();
    if (f.json) {
        ordered_json out = report(result, f, facts, prompt.size(), reader.marks());
        if (s.lengths.kind == length_kind::automatic && !s.tree && *s.rule != rule::autoregressive)
            out["costs"] = list_of(*pair->costs_of(s.lengths));
        out["explanation"] = explanation(*pair, s, chosen);
        if (s.log_probabilities)
            out["log_probabilities"] = to_json(result.log_probabilities, pair->target_table());
        std::printf("%s\n", one_line(out).c_str());
    } else {
        if (f.trace) {
            echo();
            std::fwrite(result.text.data(), 1, result.text.size(), stdout);
        }
        std::fputs("\n", stdout);
        flush_output();
        print(result.log_probabilities, pair->target_table());
        if (f.explain)
            std::fputs(explanation(*pair, s, chosen).c_str(), stderr);
        summary(result, f, facts);
    }
    flush_output();
    keeper.save(); // what is wrong with its file takes no result with it
}

} // namespace

int main(int argc, char** argv) {
    CLI::App app("Continues a prompt with a target model and, if there is one, a drafter.",
                 std::filesystem::path(argv[0]).filename().string());
    flags f;
    const std::unique_ptr<program_engine> e = make_engine();
    f.decoding.sampling.temperature = 0;
    f.decoding.limits.max_tokens = 128;
    app.add_option("-p,--prompt", f.prompt, "the text to continue, or the question; - reads it");
    app.add_option("-r,--rule", f.rule,
                   "one of " + rule_names() +
                       " (default: at temperature 0 slem, above it tli-block, with one vocabulary "
                       "identity and identity-block, without a drafter lookup; tli-exact, slem, "
                       "lookup and recycling give for every seed the output of decoding without a "
                       "drafter)");
    add_number(app, "-n,--max-tokens", f.decoding.limits.max_tokens, {1, 1 << 20}, "default: 128");
    add_number(app, "--draft-length", f.draft_length, {0, 64},
               "draft tokens per round, 0 to 64 (default: what --lengths says, 8 at most)");
    add_length_flags(app, f.lengths);
    add_tree_flags(app, f.tree, "drafts that branch");
    add_lookup_flag(app, f.lookup, "under a rule with a drafter, look up in addition (default)");
    app.add_flag("--end-at-control", f.decoding.limits.end_at_control,
                 "any control token ends the text");
    app.add_option("--stop", f.decoding.limits.stop_strings,
                   "end the text before this string, or at the control token of this name")
        ->take_all()
        ->allow_extra_args(false);
    add_number(app, "-t,--temperature", f.decoding.sampling.temperature, any_temperature,
               "default: 0")
        ->group("Sampling");
    add_cutoff_flags(app, f.decoding.sampling);
    add_number(app, "--seed", f.decoding.seed, any_seed, "default: 0")->group("Sampling");
    app.add_option("--color", f.color,
                   "of tokens by origin (green: accepted, cyan: looked up, yellow: corrected, "
                   "plain: free): always, never or auto")
        ->check(CLI::IsMember({"always", "never", "auto"}));
    app.add_flag("--json", f.json, "print one JSON object: text and statistics");
    add_number(app, "--logprobs", f.decoding.log_probabilities, {0, 100},
               "the log-probability of each token, and of so many of the likeliest there: "
               "of the target's logits as they are, without temperature and cutoffs");
    app.add_flag(
        "--trace", f.trace,
        "print every round: what the drafter proposed, the target tokens it became, what was "
        "accepted");
    app.add_flag("--explain,!--no-explain", f.explain,
                 "say to standard error what was chosen, and why (default)");
    add_model_flags(app, f.models, *e);
    return run_program(app, argc, argv, [&] { run(f, *e); });
}
