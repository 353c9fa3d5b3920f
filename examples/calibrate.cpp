// SPDX-License-Identifier: MIT
// Counts the drafter's tokens in a text that stands for what will be drafted and writes the list
// of those that a trimmed LM head keeps (VocabTrim, section 3; --head trimmed:FILE of the others).
//
//     calibrate --models smollm2 --text answers.jsonl --top-k 1024 --out kept.json
//     calibrate --models smollm2 --source target --top-p 0.99 --out kept.json
//     calibrate --text docs.txt --check other.txt
//
// The last one says how much of either text lists of all sizes cover, and writes none.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "support/flags/flag_values.hpp"
#include "support/pair/cache_keeper.hpp"
#include "support/pair/engine.hpp"
#include "support/program/console.hpp"
#include "support/program/files.hpp"
#include "support/program/interrupt.hpp"
#include "support/program/program.hpp"
#include "support/text/prompts_file.hpp"
#include "support/text/text_pieces.hpp"
#include <specdec/head/adaptive/token_frequencies.hpp>
#include <specdec_engine/drafter/token_list_file.hpp>

namespace {

using namespace specdec;
using namespace specdec::examples;

using frequencies = token_frequencies<draft_id>;
using list_type = token_list<draft_id>;

struct flags {
    model_flags models;
    decode_settings decoding = interruptible();
    std::string source = "raw";
    std::vector<std::string> texts, checks;
    std::string prompts, out;
    std::optional<std::size_t> limit, most, at_least;
    std::optional<double> share;
    bool counted_only = false;
    std::vector<given_flag> of_writing; ///< of what a model writes
    std::vector<given_flag> of_pairs;   ///< of a drafter with its target
};

/// The drafter's tokens: of a pair's drafter, or of one that was loaded alone, as a target.
class drafter_words {
public:
    drafter_words(const decoder& models, bool alone) : models_(models), alone_(alone) {}

    [[nodiscard]] const vocabulary& table() const {
        return alone_ ? models_.target_table() : *models_.draft_table();
    }
    [[nodiscard]] std::vector<draft_id> encode(std::string_view text, encode_mode where) const {
        std::vector<draft_id> ids;
        if (!alone_) {
            models_.draft_tokenizer()->encode(text, where, ids);
            return ids;
        }
        std::vector<target_id> own;
        models_.encode(text, where, own);
        return as_drafted(own);
    }
    /// The token that ends a text, if there is one.
    [[nodiscard]] std::optional<draft_id> end() const {
        for (const target_id id : models_.end_tokens()) {
            const draft_id d = alone_ ? draft_id{id.value} : models_.map()->to_draft(id);
            if (d.valid())
                return d;
        }
        return std::nullopt;
    }
    /// What a model wrote: its tokens where it is the drafter, else its text, in the drafter's.
    [[nodiscard]] std::vector<draft_id> of(const decode_result& written) const {
        if (alone_)
            return as_drafted(written.tokens);
        std::vector<draft_id> ids = encode(written.text, encode_mode::continuation);
        if (written.finish == finish_reason::end_token)
            if (const draft_id d = models_.map()->to_draft(written.tokens.back()); d.valid())
                ids.push_back(d);
        return ids;
    }

private:
    static std::vector<draft_id> as_drafted(std::span<const target_id> ids) {
        std::vector<draft_id> out;
        for (const target_id id : ids)
            out.push_back(draft_id{id.value});
        return out;
    }

    const decoder& models_;
    bool alone_;
};

frequencies count_files(const std::vector<std::string>& files, const drafter_words& words,
                        const std::string& flag) {
    frequencies counts(words.table().size());
    for (const std::string& file : files)
        read_pieces(file, [&](const text_piece& piece) {
            counts.add(words.encode(piece.text, piece.where));
            if (const std::optional<draft_id> end = words.end(); end && piece.ended)
                counts.add({&*end, 1});
        });
    if (counts.total() == 0 && !files.empty())
        throw error(flag, files.front(), "expected a text, found no token");
    return counts;
}

/// Lets the model that was loaded write behind every prompt.
frequencies count_written(const flags& f, decoder& models, const drafter_words& words) {
    const std::vector<given_prompt> prompts =
        read_prompts(f.prompts, f.limit.value_or(0), f.models, models);
    frequencies counts(words.table().size());
    const interrupt_guard guard;
    progress_bar bar("writing");
    // In several turns: a sequence whose text has ended takes the next.
    const std::size_t at_a_time = models.sequences() == 1 ? 1 : 4 * models.sequences();
    std::vector<text_request> texts;
    for (std::size_t first = 0; first < prompts.size() && interrupted() == 0; first += at_a_time) {
        bar.show(static_cast<double>(first) / static_cast<double>(prompts.size()));
        texts.clear();
        for (std::size_t i = first; i < std::min(first + at_a_time, prompts.size()); ++i)
            texts.push_back({.prompt = prompts[i].ids,
                             .sequence = i,
                             .where = prompts[i].file + ": " + prompts[i].line});
        const decode_results written = models.run(texts, f.decoding);
        written.require_none_failed();
        for (const decode_result& text : written.texts)
            counts.add(words.of(text));
    }
    return counts;
}

/// Tokens that any text may need: the controls, and for each single byte the token that a tokenizer
/// takes for it; where it has one among its normal tokens that is no byte fallback.
std::vector<draft_id> tokens_that_stay(const vocabulary& table) {
    std::vector<draft_id> stay;
    std::array<draft_id, 256> bytes{};
    for (std::size_t i = 0; i < table.size(); ++i) {
        if (table.kind(i) == token_kind::control)
            stay.push_back(id_at<draft_id>(i));
        if (table.text(i).size() != 1)
            continue;
        draft_id& known = bytes[static_cast<unsigned char>(table.text(i).front())];
        if (!known.valid() || table.kind(known.index()) == token_kind::byte)
            known = id_at<draft_id>(i);
    }
    for (const draft_id id : bytes)
        if (id.valid())
            stay.push_back(id);
    return stay;
}

/// The list that was asked for and by which flag, if any was.
std::optional<std::pair<list_type, std::string>>
chosen_list(const flags& f, const frequencies& counts, std::span<const draft_id> stay) {
    const auto named = [](const char* flag, double value) {
        char text[48];
        std::snprintf(text, sizeof text, "%s %g", flag, value);
        return std::string(text);
    };
    if (f.most) {
        if (*f.most < std::max<std::size_t>(stay.size(), 1) || *f.most > counts.vocabulary_size())
            throw error("--top-k", std::to_string(*f.most),
                        "expected a number from " + std::to_string(stay.size()) +
                            ", the tokens that always stay (but for --counted-only), to " +
                            std::to_string(counts.vocabulary_size()) + ", the vocabulary's");
        return {{counts.most(*f.most, stay), named("--top-k", static_cast<double>(*f.most))}};
    }
    if (f.share)
        return {{counts.covering(*f.share, stay), named("--top-p", *f.share)}};
    if (!f.at_least)
        return std::nullopt;
    if (stay.empty() && counts.of(counts.most(1).ids().front()) < *f.at_least)
        throw error("--min-count", std::to_string(*f.at_least),
                    "expected a number that some token reaches");
    return {{counts.at_least(*f.at_least, stay),
             named("--min-count", static_cast<double>(*f.at_least))}};
}

void print_counted(const char* what, const frequencies& counts, const std::string& of) {
    std::size_t different = 0;
    for (std::size_t i = 0; i < counts.vocabulary_size(); ++i)
        different += counts.of(id_at<draft_id>(i)) > 0 ? 1U : 0U;
    std::printf("%-8s %llu tokens, %zu different ones: %s\n", what,
                static_cast<unsigned long long>(counts.total()), different, visible(of).c_str());
}

void print_row(const list_type& list, const frequencies& counts, const frequencies& check,
               const std::string& name) {
    std::printf("%7zu %10.1f %% %8.2f %%", list.size(),
                100 * static_cast<double>(list.size()) /
                    static_cast<double>(list.vocabulary_size()),
                100 * counts.coverage(list));
    if (check.total() > 0)
        std::printf(" %8.2f %%", 100 * check.coverage(list));
    std::printf("%s%s\n", name.empty() ? "" : "  ", name.c_str());
}

std::string joined(const std::vector<std::string>& files) {
    std::string out;
    for (const std::string& file : files)
        out += (out.empty() ? "" : ", ") + file;
    return out;
}

void require_consistent(const flags& f) {
    const bool raw = f.source == "raw";
    if (raw && f.texts.empty())
        throw error("--text", "file", "expected one, or --source target or drafter");
    if (!raw && !f.texts.empty())
        throw error("--text", f.texts.front(),
                    "expected none: with --source " + f.source + " the model writes the text");
    if (raw)
        expect_none(f.of_writing,
                    "expected --source target or drafter with it: of --text nothing is written");
    if (!f.out.empty() && !f.most && !f.share && !f.at_least)
        throw error("--out", f.out,
                    "expected --top-k, --top-p or --min-count, which choose a list");
    if (!f.out.empty())
        expect_writable("--out", f.out);
    for (const std::vector<std::string>* read : {&f.texts, &f.checks})
        for (const std::string& file : *read)
            expect_other_file("--out", f.out, file);
    if (!raw)
        expect_other_file("--out", f.out, prompts_path(f.prompts, f.models));
}

void run(const flags& f, const program_engine& e) {
    validate(f.decoding.sampling);
    require_consistent(f);
    expect_use_of_cache(f.models.cache, false);
    const bool alone =
        f.source == "drafter" || (f.source == "raw" && !drafter_needs_target(e, f.models));
    if (alone)
        expect_none(f.of_pairs, "expected none: the drafter is loaded alone");
    const loaded_pair loaded = alone ? load_drafter_alone(e, f.models) : load_pair(e, f.models);
    if (!alone && !loaded.facts.drafter)
        throw error("--drafter", "path", "expected a drafter, found none");
    const model_facts& drafter = alone ? loaded.facts.target : *loaded.facts.drafter;
    const drafter_words words(*loaded, alone);
    const frequencies check = count_files(f.checks, words, "--check");
    const frequencies counts = f.source == "raw" ? count_files(f.texts, words, "--text")
                                                 : count_written(f, *loaded, words);
    if (interrupted() != 0) // a part of the text would make another list
        return;
    if (counts.total() == 0)
        throw error("--source", f.source, "expected a text, the model wrote none");

    std::vector<draft_id> stay;
    if (!f.counted_only)
        stay = tokens_that_stay(words.table());
    const auto chosen = chosen_list(f, counts, stay);
    std::printf("drafter  %s, %zu tokens, %zu of them always in the list\n",
                visible(drafter.name).c_str(), counts.vocabulary_size(), stay.size());
    print_counted("counted", counts,
                  f.source == "raw"
                      ? joined(f.texts)
                      : "written by the " + f.source + ", " + visible(loaded.facts.target.name));
    if (check.total() > 0)
        print_counted("checked", check, joined(f.checks));
    const bool checked = check.total() > 0;
    std::printf("\n%7s %12s %10s%s\n%7s %12s %10s%s\n", "tokens", "share of the", "share of",
                checked ? "   share of" : "", "kept", "vocabulary", "counted",
                checked ? "    checked" : "");
    for (const std::size_t percent : {100U, 50U, 25U, 12U, 6U})
        print_row(
            counts.most(std::max<std::size_t>(counts.vocabulary_size() * percent / 100, 1), stay),
            counts, check, "");
    if (!chosen)
        return;
    print_row(chosen->first, counts, check, chosen->second);
    if (f.out.empty())
        return;
    engine::write_token_list(f.out, chosen->first);
    std::printf("\nwritten to %s\n", visible(f.out).c_str());
}

} // namespace

int main(int argc, char** argv) {
    CLI::App app("Counts a drafter's tokens and chooses those that a trimmed LM head keeps.",
                 std::filesystem::path(argv[0]).filename().string());
    flags f;
    const std::unique_ptr<program_engine> e = make_engine();
    f.decoding.sampling.temperature = 0;
    f.decoding.limits.max_tokens = 128;
    const auto files = [&](const char* flag, std::vector<std::string>& value, const char* help) {
        app.add_option(flag, value, help)->take_all()->allow_extra_args(false);
    };
    app.add_option("--source", f.source,
                   "what is counted: raw (default: the files of --text), target or drafter (what "
                   "that model writes after --prompts)")
        ->check(CLI::IsMember({"raw", "target", "drafter"}));
    files(
        "--text", f.texts,
        "a file to count, of any size: a text, or a *.jsonl with a \"text\" per line; may be given "
        "several times");
    files("--check", f.checks,
          "a file that is not counted: how much of it the lists cover; may be given several times");
    app.add_option("--prompts", f.prompts,
                   "a file, one prompt per line (default: models/prompts/docs.txt; smollm2.txt for "
                   "chat)");
    add_number(app, "--limit", f.limit, any_count, "only the first prompts (default, 0: all)");
    add_number(app, "-n,--max-tokens", f.decoding.limits.max_tokens, {1, 1 << 20},
               "of an output (default: 128)");
    add_number(app, "--sequences", f.models.sequences, {1, 64},
               "sequences that share passes (default: 1); needs memory for so many contexts, see "
               "--context");
    const char* group = "List";
    CLI::Option* const most =
        add_number(app, "--top-k", f.most, {1, any_count.high}, "keep the k most frequent tokens");
    CLI::Option* const share = add_number(
        app, "--top-p", f.share, {.low = 0, .high = 1, .above_low = true},
        "keep the fewest most frequent tokens that make up this share of what was counted");
    CLI::Option* const at_least = add_number(app, "--min-count", f.at_least, {1, any_count.high},
                                             "keep tokens counted at least this often");
    most->group(group)->excludes(share)->excludes(at_least);
    share->group(group)->excludes(at_least);
    at_least->group(group);
    app.add_flag("--counted-only", f.counted_only,
                 "let control tokens and single bytes go where they were not counted; otherwise "
                 "they stay, as a part of the list's size")
        ->group(group);
    app.add_option("--out", f.out,
                   "the list's file: *.safetensors (EAGLE-3's d2t and t2d), any other JSON (ids)")
        ->group(group);
    add_number(app, "-t,--temperature", f.decoding.sampling.temperature, any_temperature,
               "default: 0")
        ->group("Sampling");
    add_number(app, "--seed", f.decoding.seed, any_seed, "default: 0")->group("Sampling");
    add_model_flags(app, f.models, *e);
    return run_program(app, argc, argv, [&] {
        f.of_writing = given_of(app, {"--prompts", "--limit", "--max-tokens", "--sequences",
                                      "--temperature", "--seed"});
        f.of_pairs = given_of(app, {"--target-tokenizer", "--equivalences"});
        run(f, *e);
    });
}
