// SPDX-License-Identifier: MIT
// Answers many questions, so many of them side by side in one model: text to train drafters on, or
// whatever else is wanted of a whole file. Reads JSON, one object a line, with a `prompt`, and
// where these differ `temperature` and `max_tokens`; writes the same objects with `text`, `ended`
// (by the model, not by its limit) and what was used (`made_with`: seed, models, rule), in the same
// order. Begun again it goes on behind the answers that are there; a file with anything else is
// refused, as are answers to other settings.
//
//     answer --prompts prompts.jsonl --out answers.jsonl --sequences 32
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "support/flags/flag_values.hpp"
#include "support/output/statistics_json.hpp"
#include "support/pair/cache_keeper.hpp"
#include "support/pair/engine.hpp"
#include "support/program/files.hpp"
#include "support/program/interrupt.hpp"
#include "support/program/program.hpp"
#include "support/text/prompts_file.hpp"
#include <specdec/core/error.hpp>
#include <specdec/vocab/table/atomic_file.hpp>
#include <specdec_engine/file/parse_json.hpp>

namespace {

using namespace specdec;
using namespace specdec::examples;
using json = ordered_json;

constexpr std::size_t most_tokens = 1 << 16;

struct flags {
    model_flags models;
    decode_settings decoding = interruptible();
    std::string prompts, out, rule;
    std::size_t at_once = 512;
    json made_with; ///< what else makes the texts of a file what they are
};

struct question {
    json fields;
    text_request request;
    std::vector<target_id> ids;
};

/// A line of JSON. Errors: specdec::error that names file and line.
json parsed(std::string_view line, const std::string& file, const std::string& where) {
    return engine::parse_json<json>(line, file, where);
}

/// The same; null where that is an error.
json parsed_or_null(std::string_view line, const std::string& file, const std::string& where) {
    try {
        return parsed(line, file, where);
    } catch (const error&) {
        return {};
    }
}

/// As short as it was written: 0.7, not what a float makes of it.
json as_written(float x) {
    char digits[32];
    return json::parse(digits, std::to_chars(digits, std::end(digits), x).ptr);
}

/// What a line asks, with what the flags say where it does not.
json as_asked(json fields, const flags& f) {
    if (!fields.contains("temperature"))
        fields["temperature"] = as_written(f.decoding.sampling.temperature);
    if (!fields.contains("max_tokens"))
        fields["max_tokens"] = f.decoding.limits.max_tokens;
    fields["made_with"] = f.made_with;
    return fields;
}

/// What texts depend on beside their prompts: on a drafter where drafts may be rejected, not where
/// the text for a seed is the target's own.
json made_with(const flags& f, const pair_facts& facts) {
    const auto& r = f.decoding.rule;
    json made{{"seed", f.decoding.seed},
              {"target", facts.target.name},
              {"precision", facts.computing.precision},
              {"chat", wants_chat(f.models)}};
    if (r && takes_drafter(*r) && !matches_exactly(*r)) {
        made["rule"] = about(*r).name;
        made["drafter"] = facts.drafter->name;
    }
    return made;
}

question read_question(std::string_view line, const std::string& where, std::size_t number,
                       const flags& f, loaded_pair& pair) {
    question q;
    try {
        q.fields = as_asked(parsed(line, f.prompts, where), f);
        sampling_parameters& sampling = q.request.sampling.emplace(f.decoding.sampling);
        generation_limits& limits = q.request.limits.emplace(f.decoding.limits);
        if (!q.fields.at("temperature").is_number())
            throw error(f.prompts, where, "expected a number as \"temperature\"");
        q.fields.at("temperature").get_to(sampling.temperature);
        const json& most = q.fields.at("max_tokens");
        if (!most.is_number_unsigned() || most < 1 || most > most_tokens)
            throw error(f.prompts, where,
                        "expected a \"max_tokens\" from 1 to " + std::to_string(most_tokens));
        most.get_to(limits.max_tokens);
        const auto prompt = q.fields.at("prompt").get<std::string>();
        q.ids = wants_chat(f.models) ? chat_prompt(*pair, prompt) : plain_prompt(*pair, prompt);
    } catch (const json::exception& problem) {
        throw error(f.prompts, where,
                    "expected a JSON object with a text \"prompt\" and, if there are, numbers "
                    "\"temperature\" and \"max_tokens\": " +
                        std::string(problem.what()));
    }
    try {
        validate(*q.request.sampling);
    } catch (const error& problem) {
        throw error(f.prompts, where, problem.what());
    }
    if (q.ids.empty())
        throw error(f.prompts, where, "gives no token");
    require_room(q.ids, pair->target_models().capacity(), f.prompts, where);
    q.request.sequence = number;
    q.request.where = f.prompts + ": " + where;
    return q;
}

/// The answers: read beside their questions what an earlier run has left, then added to. No other
/// process does meanwhile.
class answers_file {
public:
    explicit answers_file(const flags& f)
        : f_(f), made_(!std::filesystem::exists(f.out)),
          file_(::open(f.out.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666)) {
        if (!file_.is_open())
            specdec::detail::file_error("--out: " + f.out, "cannot be read and written", errno);
        const bool held = ::flock(file_.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
        struct ::stat about {};
        if (held || (::fstat(file_.get(), &about) == 0 && about.st_nlink == 0)) // or just removed
            throw error("--out", f.out, "is being written by another process");
        there_.open(f.out, std::ios::binary);
    }
    answers_file(const answers_file&) = delete;
    answers_file& operator=(const answers_file&) = delete;
    ~answers_file() {
        std::error_code unknown;
        if (made_ && std::filesystem::file_size(f_.out, unknown) == 0)
            std::filesystem::remove(f_.out, unknown);
    }

    /// Whether a line of the prompts has its answer there. Half of it, of a run that was killed, is
    /// taken away. Errors: specdec::error for anything else, which stays as it is.
    [[nodiscard]] bool has(std::string_view prompt, const std::string& where) {
        std::string found;
        if (!std::getline(there_, found))
            return false;
        const bool whole = !there_.eof();
        json asked = parsed(prompt, f_.prompts, where);
        if (asked.is_object())
            asked = as_asked(std::move(asked), f_);
        const json answer = whole ? parsed_or_null(found, f_.out, where) : json();
        if (!asked.is_object() ||
            (whole ? !is_answer(answer, asked) : !begins_answer(found, asked)))
            throw error("--out", f_.out,
                        where + ": expected the answer to that line of " + f_.prompts +
                            ", as these flags ask it, or no such file" + difference(answer, asked));
        if (!whole) {
            there_.close();
            std::error_code problem;
            std::filesystem::resize_file(f_.out, std::filesystem::file_size(f_.out) - found.size(),
                                         problem);
            if (problem)
                throw error("--out", f_.out, "cannot be written: " + problem.message());
        }
        return whole;
    }
    /// Errors: specdec::error for answers that stand behind those of all prompts.
    void expect_no_more() {
        if (there_.is_open() && there_.peek() != std::ifstream::traits_type::eof())
            throw error("--out", f_.out,
                        "expected no more answers than " + f_.prompts + " has prompts");
    }

    /// Answers go behind those that are there, each line whole, or cut where the disk is full.
    void add(std::span<question> questions, const decode_results& results) {
        std::string lines;
        for (std::size_t i = 0; i < questions.size(); ++i) {
            const decode_result& r = results.texts[i];
            json& fields = questions[i].fields;
            fields["text"] = r.text;
            fields["ended"] = r.finish == finish_reason::end_token;
            lines += one_line(fields) + '\n';
        }
        if (!specdec::detail::write_all(file_.get(), lines))
            specdec::detail::file_error("--out: " + f_.out, "cannot be written", errno);
    }

private:
    static bool is_answer(json found, json asked) {
        if (!found.contains("text") || !found.contains("ended"))
            return false;
        for (const char* made : {"text", "ended"}) {
            found.erase(made);
            asked.erase(made);
        }
        return found == asked;
    }
    /// The first that differs.
    static std::string difference(const json& found, const json& asked) {
        for (const auto& [name, value] : asked.items())
            if (found.contains(name) && name != "text" && name != "ended" && found[name] != value)
                return "; its " + name + " is " + one_line(found[name]) + ", not " +
                       one_line(value);
        return "";
    }
    /// As far as both go: an answer begins with what was asked.
    static bool begins_answer(std::string_view line, const json& asked) {
        json kept = json::object();
        for (const auto& [name, value] : asked.items()) {
            if (name == "text" || name == "ended") // which the answer has in this place
                break;
            kept[name] = value;
        }
        std::string begin = one_line(kept);
        begin.pop_back(); // }
        const std::size_t both = std::min(line.size(), begin.size());
        return line.substr(0, both) == std::string_view(begin).substr(0, both);
    }

    const flags& f_;
    bool made_;
    specdec::detail::descriptor file_;
    std::ifstream there_;
};

void run(flags f, const program_engine& e) {
    validate(f.decoding.sampling);
    expect_other_file("--out", f.out, f.prompts);
    expect_writable("--out", f.out);
    loaded_pair pair = load_pair(e, f.models);
    if (!f.rule.empty())
        f.decoding.rule = rule_of(f.rule, "--rule").rule;
    else if (pair->applies(rule::slem))
        f.decoding.rule = rule::slem;
    if (f.decoding.rule && !pair->applies(*f.decoding.rule))
        throw error("--rule", f.rule, what_lacks(*pair, *f.decoding.rule));
    expect_use_of_cache(f.models.cache, f.decoding.rule && uses_cache(*f.decoding.rule));
    f.made_with = made_with(f, pair.facts);
    answers_file file(f);
    auto keeper = cache_keeper(pair);
    const interrupt_guard guard;
    std::vector<question> waiting;
    bool asks = false;
    std::size_t answered = 0, tokens = 0; // answered: by earlier runs, too
    double seconds = 0;
    const auto answer = [&] {
        std::vector<text_request> requests;
        for (const question& q : waiting) {
            requests.push_back(q.request);
            requests.back().prompt = q.ids;
        }
        const decode_results results = pair->run(requests, f.decoding);
        // After a signal or a failure those in front that are whole; the next run makes the others,
        // in order.
        std::size_t whole = 0;
        while (whole < waiting.size() && results.texts[whole].finish != finish_reason::cancelled &&
               results.texts[whole].finish != finish_reason::failed)
            tokens += results.texts[whole++].tokens.size();
        file.add(std::span(waiting).first(whole), results);
        answered += whole;
        seconds += results.seconds;
        waiting.clear();
        std::printf("%zu answered, %zu tokens, %.0f a second\n", answered, tokens,
                    static_cast<double>(tokens) / seconds);
        flush_output();
        results.require_none_failed();
        return interrupted() == 0;
    };
    read_lines(f.prompts, [&](std::string_view line, std::size_t number) {
        const std::string where = "line " + std::to_string(number);
        asks = true;
        if (file.has(line, where)) {
            ++answered;
            return true;
        }
        waiting.push_back(read_question(line, where, number, f, pair));
        return waiting.size() < f.at_once || answer();
    });
    if (!asks)
        throw error(f.prompts, "file", "expected one prompt a line, found none");
    file.expect_no_more();
    if (!waiting.empty() && interrupted() == 0)
        (void)answer();
    keeper.save();
}

} // namespace

int main(int argc, char** argv) {
    CLI::App app("Answers many questions, some side by side.",
                 std::filesystem::path(argv[0]).filename().string());
    flags f;
    const std::unique_ptr<program_engine> e = make_engine();
    f.models.sequences = 16;
    f.models.context = 768;
    f.decoding.sampling.temperature = 0;
    f.decoding.limits.max_tokens = 160;
    app.add_option("--prompts", f.prompts,
                   "a file of JSON objects, one per line, each with a prompt")
        ->required();
    app.add_option("-r,--rule", f.rule,
                   "one of " + rule_names() +
                       " (default: slem, so that a seed's output does not depend on the drafter)");
    app.add_option("-o,--out", f.out, "a file: the answers, added after what is there")->required();
    add_number(app, "--sequences", f.models.sequences, {1, 64}, "side by side (default: 16)");
    add_number(app, "--at-once", f.at_once, {1, 1 << 16},
               "questions that are answered before the file is written to (default: 512)");
    add_number(app, "-n,--max-tokens", f.decoding.limits.max_tokens, {1, most_tokens},
               "for lines without one (default: 160)");
    add_number(app, "-t,--temperature", f.decoding.sampling.temperature, any_temperature,
               "for lines without one (default: 0)");
    add_number(app, "--seed", f.decoding.seed, any_seed, "default: 0");
    add_model_flags(app, f.models, *e);
    return run_program(app, argc, argv, [&] { run(f, *e); });
}
