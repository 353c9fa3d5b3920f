// SPDX-License-Identifier: MIT
// A drafter learns while it serves: runs streams of prompts, task by task, with a drafter of the
// CPU engine that learns from what the target decides, and then measures the drafter as it
// was and as it has become on prompts of each task that it did not learn from.
//
//     adapt --models smollm2 --task recipes=models/prompts/tasks/recipes.txt --tokens 20000
//     adapt --models smollm2 --learn lora:32 --save LEARNT
//     adapt --models smollm2-features --head trimmed:models/smollm2-features/kept.json
//     compare --models smollm2 --drafter SAVED            (after --learn full --save SAVED)
//     compare --models smollm2 --adapter LEARNT
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include <CLI/CLI.hpp>

#include "support/flags/flag_values.hpp"
#include "support/flags/learning_flags.hpp"
#include "support/flags/lengths.hpp"
#include "support/flags/sampling_flags.hpp"
#include "support/output/line_chart.hpp"
#include "support/output/statistics_json.hpp"
#include "support/pair/adapting_engine.hpp"
#include "support/pair/cache_keeper.hpp"
#include "support/pair/draft_ender.hpp"
#include "support/program/console.hpp"
#include "support/program/files.hpp"
#include "support/program/interrupt.hpp"
#include "support/program/program.hpp"
#include "support/text/prompts_file.hpp"
#include <specdec/learn/acceptance/learning_acceptance_head.hpp>
#include <specdec/speculation/any/steady_seconds.hpp>
#include <specdec/vocab/table/atomic_file.hpp>
#include <specdec_engine/file/mapped_file.hpp>
#include <specdec_engine/learn/drafter_learner.hpp>
#include <specdec_engine/learn/online_learner.hpp>

namespace {

using namespace specdec;
using namespace specdec::examples;
namespace fs = std::filesystem;

struct flags {
    model_flags models;
    decode_settings decoding = interruptible();
    length_flags lengths;
    std::optional<std::size_t> draft_length;
    std::vector<std::string> tasks, others;
    std::string rule, learn = "full", loss = "fkl", head, head_labels = "round", pretrain_head, svg,
                      save, resume, chains = "drafted", learning_numbers;
    std::optional<double> taught_temperature, rate, anchor;
    engine::learner_settings learner{.sequences = 2, .length = 512};
    std::size_t depth = 4, behind_rejected = 0, remembered = 0;
    engine::online_settings online{.every = 64, .replayed = 1};
    std::optional<acceptance_updates> ends; ///< a head that ends drafts
    double head_threshold = 0.6, rejected_weight = 1;
    std::size_t tokens = 20000, window = 1000, limit = 0, longest = 8, save_every = 0;
    float held_temperature = 0;
    bool json = false;
    std::vector<given_flag> of_learning; ///< of drafters that learn
    std::vector<given_flag> of_features; ///< of drafters that read features
};

/// Prompts of a kind: the first 60 % to learn from, if any are, the others to measure with.
struct task {
    std::string name;
    std::vector<given_prompt> stream, held;
};

std::vector<task> read_tasks(const flags& f, decoder& pair) {
    std::vector<std::string> given = f.tasks;
    if (given.empty())
        for (const char* name : {"recipes", "letters", "python"})
            given.push_back(std::string(name) + "=" +
                            (models_folder() / "prompts/tasks" / name).string() + ".txt");
    std::vector<task> tasks;
    const auto read = [&](const char* flag, const std::string& one, bool served) {
        const std::size_t equals = one.find('=');
        if (equals == std::string::npos || equals == 0 || equals + 1 == one.size())
            throw error(flag, one, "expected NAME=FILE");
        const std::string path = one.substr(equals + 1);
        std::vector<given_prompt> all = read_prompts(path, f.limit, f.models, pair);
        if (all.size() < 2)
            throw error(flag, path, "expected two prompts or more");
        const auto cut = static_cast<std::ptrdiff_t>(std::max<std::size_t>(all.size() * 6 / 10, 1));
        tasks.push_back({one.substr(0, equals), {}, {all.begin() + cut, all.end()}});
        if (served)
            tasks.back().stream.assign(all.begin(), all.begin() + cut);
    };
    for (const std::string& one : given)
        read("--task", one, true);
    for (const std::string& one : f.others)
        read("--other", one, false);
    return tasks;
}

/// What a part of the stream, or a measurement, came to.
struct tally {
    statistics counts;
    double seconds = 0;
    std::uint64_t merges = 0; ///< n-grams that were accepted

    void add(const statistics& more, double time, std::uint64_t merged) {
        specdec::examples::add(counts, more);
        seconds += time;
        merges += merged;
    }
    [[nodiscard]] double tokens_per_second() const {
        return seconds > 0 ? static_cast<double>(counts.committed) / seconds : 0;
    }
    [[nodiscard]] ordered_json json() const {
        return {{"tokens", counts.committed},
                {"seconds", seconds},
                {"tokens_per_second", tokens_per_second()},
                {"target_calls", counts.rounds},
                {"tokens_per_target_call", counts.tokens_per_target_call()},
                {"draft_tokens", counts.draft_tokens},
                {"ngram_merges_accepted", merges},
                {"acceptance_rate", acceptance_rate(counts)},
                {"conditional_acceptance_rate", conditional_acceptance_rate(counts)}};
    }
};

/// A way to decode, and what it came to.
template <class Drafter>
struct measured {
    const char* drafter;
    decode_settings settings;
    typename Drafter::weights_type weights;
    tally what;
    bool counts = false; ///< are mixed in
};

/// Drafter: adapting_drafter or adapting_features.
template <class Drafter>
class adaptation {
public:
    using learner_type =
        engine::basic_online_learner<typename Drafter::learner_type, typename Drafter::serving_type,
                                     steady_seconds>;

    adaptation(const flags& f, const loaded_pair& pair, Drafter& drafter)
        : f_(f), pair_(pair), drafter_(drafter), stands_on_(ground(f, pair, drafter)),
          settings_(f.decoding), lessons_(*pair, drafter, f.learner.length),
          learner_(drafter.make_learner(*pair, f.learner)),
          online_(*learner_, drafter.serving, f.online, steady_seconds{}) {
        if (!f.resume.empty())
            resume(f.resume);
        if constexpr (!Drafter::reads_features) {
            if (!f.ends)
                return;
            if (f.ends->labels_again)
                ender_.emplace(drafter.start, *f.ends, *pair, drafter, f.learner.length,
                               f.decoding.sampling);
            else
                ender_.emplace(drafter.start, *f.ends);
            settings_.lengths.kind = length_kind::predicted;
            settings_.lengths.length = f.longest;
            settings_.lengths.threshold = f.head_threshold;
            settings_.lengths.predictor = &ender_->predictor();
        }
    }

    /// The stream of a task; told: behind every window of tokens.
    template <class Told>
    void serve(const task& t, bool learns, const Told& told) {
        const steady_seconds now;
        tally window;
        std::size_t made = 0, next_window = f_.window;
        for (std::size_t i = 0; made < f_.tokens && interrupted() == 0; ++i) {
            const given_prompt& prompt = t.stream[i % t.stream.size()];
            const double begin = now();
            const std::uint64_t merged = merges();
            const statistics counts = write(
                {.prompt = prompt.ids, .sequence = i, .where = prompt.file + ": " + prompt.line},
                learns);
            window.add(counts, now() - begin, merges() - merged);
            made += counts.committed;
            if (counts.committed == 0 && i > t.stream.size())
                break; // texts that end at once
            if (made >= next_window || made >= f_.tokens) {
                told(made, window, online_);
                window = {};
                next_window = made + f_.window;
            }
            if (f_.save_every > 0 && (unsaved_ += counts.committed) >= f_.save_every) {
                save(f_.save);
                unsaved_ = 0;
            }
        }
    }

    /// Each prompt without a drafter, with it as it was, as it is, and as it is where the head ends
    /// drafts.
    template <class Progress>
    std::vector<measured<Drafter>> measure(const task& t, const Progress& progress) {
        const auto start = drafter_.pack(drafter_.start);
        auto learnt = start;
        online_.with_learner([&](auto& learner) { learnt = drafter_.pack(learner.weights()); });
        decode_settings fixed = f_.decoding, ended = settings_;
        fixed.sampling.temperature = ended.sampling.temperature = f_.held_temperature;
        fixed.carry.lengths = ended.carry.lengths = false; // no drafter teaches another's lengths
        decode_settings plain = fixed;
        plain.rule = rule::autoregressive;
        std::vector<measured<Drafter>> found{{"none", plain, start, {}},
                                             {"unadapted", fixed, start, {}},
                                             {"adapted", fixed, learnt, {}}};
        if (pair_.counts) { // what was served, and the text itself
            found[2].counts = true;
            found.push_back({"counts", fixed, start, {}, true});
            found.push_back({"weights", fixed, learnt, {}});
        }
        if (ender_)
            found.push_back({"with head", ended, learnt, {}});
        for (std::size_t i = 0; i < t.held.size() && interrupted() == 0; ++i) {
            progress(static_cast<double>(i) / static_cast<double>(t.held.size()));
            const text_request request{.prompt = t.held[i].ids, .sequence = i};
            for (std::size_t k = 0; k < found.size(); ++k) { // nobody is always the first
                measured<Drafter>& m = found[(i + k) % found.size()];
                drafter_.use(m.weights);
                if (pair_.counts) {
                    counted_sources sources = pair_.counts->sources(false);
                    if (!m.counts)
                        sources = {.own = false};
                    pair_.counts->model().use(sources);
                }
                const std::uint64_t merged = merges();
                const decode_results one = pair_->run({&request, 1}, m.settings);
                m.what.add(one.texts[0].counts, one.seconds, merges() - merged);
            }
        }
        drafter_.use(learnt);
        if (pair_.counts)
            pair_.counts->model().use(pair_.counts->sources());
        return found;
    }

    [[nodiscard]] std::uint64_t updates() const { return online_.counts().updates; }
    /// A folder that --drafter or --adapter takes, and what --resume does.
    void save(const fs::path& folder) {
        online_.with_learner([&](auto& learner) { drafter_.save(folder, learner); });
        online_.save((folder / state_name).string(), stands_on_);
    }

    /// Makes the folder. Errors: specdec::error where save() could not begin to write into it.
    void expect_saveable(const fs::path& folder) const {
        drafter_.expect_saveable();
        engine::make_folder(folder);
        std::vector<const char*> files = drafter_.saved_files(f_.learner.adapters.has_value());
        files.push_back(state_name);
        for (const char* file : files)
            expect_writable("--save", (folder / file).string());
    }

private:
    static constexpr const char* state_name = "learning_state.safetensors";

    /// What a state belongs to: the drafter's vocabulary; of adapters also the weights below them,
    /// which a state of theirs does not hold.
    static std::string ground(const flags& f, const loaded_pair& pair, const Drafter& drafter) {
        std::string note = "vocabulary " + std::to_string(pair->draft_table()->fingerprint());
        if (f.learner.adapters)
            note += ", weights " + engine::weights_checksum(drafter.start.values());
        return note;
    }
    [[nodiscard]] std::uint64_t merges() const {
        const any_ngram_cache* const cache = pair_->cache();
        return cache != nullptr ? cache->counts().hits : 0;
    }
    void resume(const fs::path& folder) {
        const std::string path = (folder / state_name).string();
        const std::string found = online_.resume(path);
        if (found != stands_on_)
            throw error(path, "note",
                        "expected what was learnt on " + drafter_.path.string() + " (" +
                            stands_on_ + "), found \"" + found + "\"");
    }

    /// A text whose rounds teach.
    statistics write(text_request request, bool learns) {
        request.reader = &draft_;
        any_batch_model<target_id>& models = pair_->target_models();
        speculative_text::target_sequence own(models, 0);
        own.truncate(0);
        const std::unique_ptr<speculative_text> text = pair_->open(request, settings_);
        lessons_.start(request.prompt);
        head_texts* const of_head = ender_ ? ender_->texts() : nullptr;
        if (of_head != nullptr)
            of_head->start(request.prompt);
        for (;;) {
            if (learns)
                online_.round_begins();
            drafter_.take_new_weights();
            if constexpr (!Drafter::reads_features)
                if (ender_)
                    ender_->follow(online_, learns);
            if (!text->more(models.capacity()))
                break;
            (void)text->prepare(own);
            if (!text->draft(models.capacity()))
                break;
            const context_edit<target_id> edit = text->prepare(own);
            const logits_rows<target_id> rows = own.score(edit.append);
            text->target_fed(edit);
            draft_ = {};
            text->decide(rows);
            const std::size_t before = text->tokens().size();
            text->commit();
            const auto committed = text->tokens().subspan(before);
            if (of_head != nullptr)
                of_head->follow(rows, draft_, committed);
            if (!learns)
                continue;
            lessons_.follow(rows, draft_.proposed, committed);
            online_.see({.steps = {}, .emitted = committed.size()});
        }
        while (learns && lessons_.finish(taught_))
            online_.add(taught_);
        if constexpr (!Drafter::reads_features)
            if (of_head != nullptr)
                ender_->text_ended(online_);
        return text->counts();
    }

    const flags& f_;
    const loaded_pair& pair_;
    Drafter& drafter_;
    std::string stands_on_; ///< the note of what is saved
    decode_settings settings_;
    typename Drafter::lessons_type lessons_;
    std::unique_ptr<typename Drafter::learner_type> learner_;
    learner_type online_;
    typename Drafter::lessons_type::sample taught_;
    draft_reader draft_;
    std::optional<draft_ender> ender_;
    std::size_t unsaved_ = 0;
};

/// Numbers that do not fit each other are refused by the flags that gave them.
void require_sizes(const flags& f) {
    if (f.online.replayed >= f.learner.sequences)
        throw error("--batch", std::to_string(f.learner.sequences),
                    "expected more texts than the " + std::to_string(f.online.replayed) +
                        " of them that are --replayed");
    if (f.online.remembered < f.learner.length)
        throw error("--remembered", std::to_string(f.online.remembered),
                    "expected at least the " + std::to_string(f.learner.length) +
                        " tokens that a text may have");
}

/// Serves, saves and measures.
template <class Drafter>
void run(const flags& f, bool learns, const loaded_pair& pair, Drafter& drafter);

/// Settings that depend on the drafter, then the run.
void run(flags f, const adapting_engine& e) {
    validate(f.decoding.sampling);
    f.decoding.carry.contexts = false; // every text is paid for whole
    f.decoding.lookup.shared = false;  // and finds its own words only
    f.decoding.lengths = f.lengths.settings(f.draft_length);
    f.learner.loss = loss_of(f.loss);
    f.learner.loss.taught_temperature =
        f.taught_temperature.value_or(f.decoding.sampling.temperature == 0 ? 0.3 : 1);
    const bool learns = set_learning(f.learn, f.learner);
    if (!learns && !(f.save.empty() && f.resume.empty()))
        throw error("--learn", f.learn, "expected full or lora:RANK to save or resume");
    if (!learns)
        expect_none(f.of_learning, "expected nothing: under --learn none nothing is taught");
    if (f.save_every > 0 && f.save.empty())
        throw error("--save-every", std::to_string(f.save_every), "expected a folder to --save to");
    if (!f.head.empty()) {
        f.ends = updates_of(f.head, f.head_labels);
        f.ends->learner.weights.rejected = f.rejected_weight;
    }
    const loaded_pair pair = load_pair(e, f.models);
    for (const fs::path& model : e.read())
        if (std::error_code unknown; fs::equivalent(f.save, model, unknown))
            throw error("--save", f.save, "expected another folder than that of a model here");
    f.learner.products.numbers = numbers_of(f.learning_numbers);
    adapting_features* const features = e.features();
    const bool whole_body = features != nullptr && !f.learner.adapters;
    f.learner.rate = f.rate.value_or(f.learner.adapters ? 2e-3 : whole_body ? 1e-4 : 5e-4);
    f.learner.anchor = f.anchor.value_or(whole_body ? 400 : 0);
    f.decoding.rule =
        rule_of(f.rule.empty() ? (features != nullptr ? "identity" : "tli") : f.rule, "--rule")
            .rule;
    if (f.ends && f.ends->labels_again && about(*f.decoding.rule).source != rule_source::tli &&
        about(*f.decoding.rule).source != rule_source::identity)
        throw error("--head-labels", f.head_labels,
                    "expected round for a rule that does not map token for token");
    if (!takes_drafter(*f.decoding.rule))
        throw error("--rule", f.rule, "expected a rule that drafts with the model that learns");
    expect_use_of_cache(f.models.cache, uses_cache(*f.decoding.rule));
    if (features == nullptr)
        expect_none(f.of_features, "expected a drafter that reads its target's features");
    if (features != nullptr) {
        if (f.ends)
            throw error("--acceptance-head", f.head,
                        "expected nothing: this drafter reads its target's features");
        if (f.learner.loss.ngram != ngram_loss::none || f.learner.loss.direct == direct_loss::none)
            throw error("--loss", f.loss,
                        "expected one of shared tokens alone: this drafter has its target's");
        features->chains = chains_of(f.chains, f.depth);
        features->chains.behind_rejected = f.behind_rejected;
        f.learner.length = 256;
        if (f.remembered == 0)
            f.online.remembered = std::size_t{1} << 15;
    }
    if (f.remembered > 0)
        f.online.remembered = f.remembered;
    require_sizes(f);
    if (!pair->applies(*f.decoding.rule))
        throw error("--rule", f.rule, what_lacks(*pair, *f.decoding.rule));
    if (features != nullptr)
        run(f, learns, pair, *features);
    else
        run(f, learns, pair, *e.drafter());
}

template <class Drafter>
void run(const flags& f, bool learns, const loaded_pair& pair, Drafter& drafter) {
    const std::vector<task> tasks = read_tasks(f, *pair);
    task head_only;
    if (!f.pretrain_head.empty())
        head_only.stream = read_prompts(f.pretrain_head, f.limit, f.models, *pair);
    adaptation<Drafter> adapted(f, pair, drafter);
    // Before anything is learnt for nothing.
    if (!f.save.empty())
        adapted.expect_saveable(f.save);
    if (!f.svg.empty())
        expect_writable("--svg", f.svg);
    for (const task& t : tasks)
        expect_other_file("--svg", f.svg, t.held.front().file);
    auto keeper = cache_keeper(pair);
    saved_anyway learnt([&] {
        if (!f.save.empty() && (std::uncaught_exceptions() == 0 || adapted.updates() > 0))
            adapted.save(f.save);
    });
    const interrupt_guard guard;
    line_chart chart{.title = "tokens a target call while the drafter learns (" + f.learn + ", " +
                              f.loss + ")",
                     .x = "tokens served",
                     .y = "tokens a target call",
                     .lines = {}};
    if (!f.json)
        std::printf("%-10s %8s %10s %9s %9s %8s %8s %10s\n", "task", "tokens", "acceptance",
                    "tokens a", "tokens", "updates", "loss a", "time in");
    if (!f.json)
        std::printf("%-10s %8s %10s %9s %9s %8s %8s %10s\n", "", "", "rate", "call", "a second", "",
                    "token", "updates");
    if (!head_only.stream.empty())
        adapted.serve(head_only, false, [](std::size_t, const tally&, const auto&) {});
    for (const task& t : tasks) {
        if (t.stream.empty())
            continue;
        chart.lines.push_back({t.name, {}});
        adapted.serve(t, learns, [&](std::size_t made, const tally& w, const auto& online) {
            const engine::online_counts c = online.counts();
            const double share = c.seconds / std::max(online.elapsed(), 1e-9);
            chart.lines.back().points.push_back(
                {static_cast<double>(made), w.counts.tokens_per_target_call()});
            if (f.json) {
                ordered_json out{{"task", t.name}, {"served", made}};
                out.update(w.json());
                out.update(ordered_json{{"updates", c.updates},
                                        {"rollbacks", c.rollbacks},
                                        {"loss", c.latest.mean()},
                                        {"update_share", share}});
                std::printf("%s\n", one_line(out).c_str());
            } else {
                std::printf("%-10s %8zu %8.1f %% %9.2f %9.1f %8llu %8.3f %8.1f %%\n",
                            visible(t.name).c_str(), made, 100 * w.counts.acceptance_rate(),
                            w.counts.tokens_per_target_call(), w.tokens_per_second(),
                            static_cast<unsigned long long>(c.updates), c.latest.mean(),
                            100 * share);
            }
            flush_output();
        });
    }
    learnt.save();
    if constexpr (!Drafter::reads_features)
        if (!f.save.empty() && !f.learner.adapters && !drafter.saves_tokenizer())
            std::fprintf(stderr, "saved without a tokenizer: give --drafter-tokenizer %s with it\n",
                         visible(drafter.tokenizer.string()).c_str());
    if (!f.svg.empty())
        replace_file(f.svg, chart.svg());
    keeper.save(); // what is held out shall stay so: its n-grams are not kept
    if (!f.json)
        std::printf(
            "\n%-10s %-10s %8s %10s %9s %9s %8s %21s\n%-10s %-10s %8s %10s %9s %9s %8s %10s "
            "%10s\n",
            "held out", "drafter", "tokens", "acceptance", "tokens", "tokens", "speed-up",
            "of the unadapted's", "", "", "", "rate", "a call", "a second", "", "a call",
            "a second");
    for (const task& t : tasks) {
        progress_bar bar("measuring " + t.name);
        const auto found = adapted.measure(t, [&](double part) { bar.show(part); });
        if (interrupted() != 0)
            break;
        const tally& plain = found[0].what;
        const tally& before = found[1].what;
        for (const auto& m : found) {
            const tally& x = m.what;
            const double call =
                x.counts.tokens_per_target_call() / before.counts.tokens_per_target_call();
            const double second = x.tokens_per_second() / before.tokens_per_second();
            const double speedup = x.tokens_per_second() / plain.tokens_per_second();
            if (f.json) {
                ordered_json out{{"task", t.name},
                                 {"held_out", m.drafter},
                                 {"rule", std::string(about(*m.settings.rule).name)},
                                 {"temperature", f.held_temperature}};
                out.update(x.json());
                out.update(ordered_json{{"tokens_per_target_call_ratio", call},
                                        {"tokens_per_second_ratio", second},
                                        {"speedup", speedup}});
                std::printf("%s\n", one_line(out).c_str());
            } else {
                std::printf("%-10s %-10s %8llu %8.1f %% %9.2f %9.1f %7.2fx %9.2fx %9.2fx\n",
                            visible(t.name).c_str(), m.drafter,
                            static_cast<unsigned long long>(x.counts.committed),
                            100 * x.counts.acceptance_rate(), x.counts.tokens_per_target_call(),
                            x.tokens_per_second(), speedup, call, second);
            }
        }
        flush_output();
    }
}

} // namespace

int main(int argc, char** argv) {
    CLI::App app(
        "A drafter learns while it serves, and is measured before and after it. One that runs "
        "alone does so in BF16, whatever --precision says of its target.",
        fs::path(argv[0]).filename().string());
    flags f;
    adapting_engine e;
    f.decoding.sampling.temperature = 0;
    f.decoding.limits.max_tokens = 128;
    f.draft_length = 4;
    app.add_option(
           "--task", f.tasks,
           "NAME=FILE, one prompt per line; the drafter is trained on the first 60 %, in this "
           "order, and measured on the others (default: those of models/prompts/tasks)")
        ->take_all()
        ->allow_extra_args(false);
    app.add_option("--other", f.others,
                   "NAME=FILE, prompts of which none is served: the last 40 % are for measuring")
        ->take_all()
        ->allow_extra_args(false);
    add_number(app, "--limit", f.limit, any_count, "only the first prompts of a task (0: all)");
    add_number(app, "--tokens", f.tokens, any_count,
               "served a task, from its first prompt again where they end (default: 20000)");
    add_number(app, "--window", f.window, {1, 1 << 30}, "tokens per line (default: 1000)");
    add_number(app, "-n,--max-tokens", f.decoding.limits.max_tokens, {1, 1 << 20},
               "of an output (default: 128)");
    app.add_option("-r,--rule", f.rule,
                   "one of " + rule_names() +
                       " (default: tli, or identity for an EAGLE-style drafter)");
    add_number(app, "--draft-length", f.draft_length, {0, 64},
               "draft tokens per round (default: 4)");
    add_length_flags(app, f.lengths, "fixed");
    CLI::Option* const head = app.add_option(
        "--acceptance-head", f.head,
        "joint or interleaved[:STEPS] (8): a head learns with the drafter and ends drafts where "
        "something is rejected with a chance above --head-threshold");
    add_number(app, "--head-threshold", f.head_threshold, any_share, "default: 0.6")->needs(head);
    app.add_option("--head-labels", f.head_labels,
                   "round (default): 1 for accepted and 0 for rejected tokens; again: min(1, p/q), "
                   "computed again by the updated drafter before each step of the head, as "
                   "OmniDraft's Alg. 3 and 4; interleaved is then STEPS (1) after each output; "
                   "for rules that map token for token")
        ->check([](const std::string& labels) {
            return labels == "round" || labels == "again" ? "" : "expected round or again";
        })
        ->needs(head);
    add_number(app, "--head-rejected-weight", f.rejected_weight, {0, 1e6},
               "what a rejected token weighs in the head's cross-entropy (default: 1; "
               "SpecDec++: 6)")
        ->needs(head);
    app.add_option("--pretrain-head", f.pretrain_head,
                   "a file of prompts: before the tasks, the head alone learns from up to --tokens "
                   "tokens served of them, and the drafter stays as it is (OmniDraft, 4.3.5)")
        ->needs(head);
    add_number(app, "--longest", f.longest, {1, 64},
               "draft tokens of a round that the head ends (default: 8)")
        ->needs(head);
    const char* group = "Learning";
    app.add_option("--learn", f.learn, "full (default), lora:RANK or none")->group(group);
    app.add_option(
           "--loss", f.loss,
           "rkl (dm: OmniDraft's), fkl (default), tv, nll or none of shared tokens; then, for "
           "tokens that are merged, nothing, +ngram, +ngram-p (lambda = p) or +ngram-kl")
        ->group(group);
    add_number(app, "--taught-temperature", f.taught_temperature, {0.01, 100},
               "of the distributions that losses compare (default: 0.3 where the stream has "
               "temperature 0, "
               "else 1)")
        ->group(group);
    add_number(
        app, "--rate", f.rate, {0, 1, true},
        "AdamW's (default: 5e-4; of LoRA 2e-3; of all weights of an EAGLE-style drafter 1e-4)")
        ->group(group);
    add_number(app, "--anchor", f.anchor, {0, 1e6},
               "pulls weights to those they began with, by this many rates a step (default: 0; of "
               "all weights of an EAGLE-style drafter 400)")
        ->group(group);
    add_number(app, "--batch", f.learner.sequences, {1, 64},
               "training examples per update (default: 2)")
        ->group(group);
    add_number(app, "--replayed", f.online.replayed, {0, 63},
               "of them drawn from earlier training examples (default: 1)")
        ->group(group);
    add_number(app, "--remembered", f.remembered, {1, std::size_t{1} << 40},
               "draft tokens of the training examples that are kept for replay (default: 262144, "
               "70 MB when full; with "
               "features 32768, 90 MB)")
        ->group(group);
    app.add_option("--chains", f.chains,
                   "of an EAGLE-style drafter, the training examples: the drafts that rounds made "
                   "(drafted, default), or every:N, drafts from every N-th token on")
        ->group(group);
    add_number(app, "--depth", f.depth, {1, 16},
               "the longest draft that it is trained on (default: 4)")
        ->group(group);
    add_number(app, "--every", f.online.every, any_count,
               "new training positions before an update (default: 64)")
        ->group(group);
    add_number(app, "--budget", f.online.budget, any_share,
               "most of the time that updates take (default: 0.1; 0: none; 1: no limit)")
        ->group(group);
    app.add_flag("--thread", f.online.own_thread, "updates on a thread of their own")->group(group);
    add_number(app, "--learning-threads", f.learner.threads, any_threads(),
               "of an update, at most one a core (default: 1; 0: one a core)")
        ->group(group);
    app.add_option("--learning-numbers", f.learning_numbers,
                   "what an update's products multiply: f32 or bf16 (default: bf16 where the CPU "
                   "has its products, else f32)")
        ->group(group);
    add_number(app, "--behind-rejected", f.behind_rejected, {0, 16},
               "positions of a round after a rejected token that it learns from (default: 0)")
        ->group(group);
    app.add_option(
           "--save", f.save,
           "a folder for what was learnt: a model that --drafter takes, or of LoRA one that "
           "--adapter takes; and what --resume goes on from")
        ->group(group);
    add_number(app, "--save-every", f.save_every, any_count,
               "save after so many tokens, too (0: only at the end)")
        ->group(group);
    app.add_option("--resume", f.resume, "a folder of --save")->group(group);
    add_number(app, "-t,--temperature", f.decoding.sampling.temperature, any_temperature,
               "of the stream (default: 0)")
        ->group("Sampling");
    add_number(app, "--held-temperature", f.held_temperature, any_temperature,
               "of what is measured (default: 0)")
        ->group("Sampling");
    add_cutoff_flags(app, f.decoding.sampling);
    add_number(app, "--seed", f.decoding.seed, any_seed, "default: 0")->group("Sampling");
    app.add_flag("--json", f.json, "print one JSON object per line");
    app.add_option("--svg", f.svg, "a file for the curve");
    add_model_flags(app, f.models, e);
    return run_program(app, argc, argv, [&] {
        f.of_learning = given_of(
            app, {"--loss", "--taught-temperature", "--rate", "--anchor", "--batch", "--replayed",
                  "--remembered", "--chains", "--depth", "--every", "--budget", "--thread",
                  "--learning-threads", "--learning-numbers", "--behind-rejected"});
        f.of_features = given_of(app, {"--chains", "--depth", "--behind-rejected"});
        run(f, e);
    });
}
