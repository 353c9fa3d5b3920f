// SPDX-License-Identifier: MIT
// Answers many questions, so many of them side by side in one model: text to train drafters on, or
// whatever else is wanted of a whole file. Reads JSON, one object a line, with a `prompt`, and
// where these differ `temperature` and `max_tokens`; writes the same objects with `text`, `ended`
// (by the model, not by its limit) and what was used, in the same order. Begun again it goes on
// behind the lines that are there.
//
//     answer --prompts prompts.jsonl --out answers.jsonl --sequences 32
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "support/flags/flag_values.hpp"
#include "support/pair/cache_keeper.hpp"
#include "support/pair/engine.hpp"
#include "support/program/files.hpp"
#include "support/program/interrupt.hpp"
#include "support/program/program.hpp"
#include "support/text/prompts_file.hpp"
#include <specdec/core/error.hpp>

namespace {

using namespace specdec;
using namespace specdec::examples;
using json = nlohmann::ordered_json;

constexpr std::size_t most_tokens = 1 << 16;

struct flags {
    model_flags models;
    decode_settings decoding = interruptible();
    std::string prompts, out, rule;
    std::size_t at_once = 512;
};

struct question {
    json fields;
    text_request request;
    std::vector<target_id> ids;
};

/// As short as it was written: 0.7, not what a float makes of it.
json as_written(float x) {
    char digits[32];
    return json::parse(digits, std::to_chars(digits, std::end(digits), x).ptr);
}

question read_question(std::string_view line, const std::string& where, std::size_t number,
                       const flags& f, loaded_pair& pair) {
    question q;
    try {
        q.fields = json::parse(line);
        sampling_parameters& sampling = q.request.sampling.emplace(f.decoding.sampling);
        generation_limits& limits = q.request.limits.emplace(f.decoding.limits);
        if (q.fields.contains("temperature"))
            q.fields.at("temperature").get_to(sampling.temperature);
        else
            q.fields["temperature"] = as_written(sampling.temperature);
        if (!q.fields.contains("max_tokens"))
            q.fields["max_tokens"] = limits.max_tokens;
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

/// Answers go behind those that are there, each line whole or not at all.
void append(const std::string& path, std::span<question> questions, const decode_results& results) {
    std::ofstream file(path, std::ios::app | std::ios::binary);
    for (std::size_t i = 0; i < questions.size(); ++i) {
        const decode_result& r = results.texts[i];
        json& fields = questions[i].fields;
        fields["text"] = r.text;
        fields["ended"] = r.finish == finish_reason::end_token;
        file << fields.dump(-1, ' ', false, json::error_handler_t::replace) + '\n';
    }
    if (!file.flush())
        throw error("--out", path, "cannot be written");
}

/// How many lines are there; half a line behind them, of a run that was killed, is taken away.
std::size_t whole_lines(const std::string& path) {
    if (!std::filesystem::exists(path))
        return 0;
    std::size_t lines = 0, read = 0, whole = 0;
    read_blocks(path, [&](std::string_view block) {
        for (const char c : block) {
            ++read;
            if (c == '\n')
                ++lines, whole = read;
        }
        return true;
    });
    std::filesystem::resize_file(path, whole);
    return lines;
}

void run(flags f, const engine& e) {
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
    const std::size_t done = whole_lines(f.out);
    auto keeper = cache_keeper(*pair);
    const interrupt_guard guard;
    std::vector<question> waiting;
    std::size_t answered = 0, tokens = 0;
    double seconds = 0;
    const auto answer = [&] {
        std::vector<text_request> requests;
        for (const question& q : waiting) {
            requests.push_back(q.request);
            requests.back().prompt = q.ids;
        }
        const decode_results results = pair->run(requests, f.decoding);
        if (interrupted() != 0)
            return false; // the next time
        append(f.out, waiting, results);
        for (const decode_result& r : results.texts)
            tokens += r.tokens.size();
        answered += waiting.size();
        seconds += results.seconds;
        waiting.clear();
        std::printf("%zu answered, %zu tokens, %.0f a second\n", done + answered, tokens,
                    static_cast<double>(tokens) / seconds);
        flush_output();
        return true;
    };
    read_lines(f.prompts, [&](std::string_view line, std::size_t number) {
        if (number <= done)
            return true;
        waiting.push_back(read_question(line, "line " + std::to_string(number), number, f, pair));
        return waiting.size() < f.at_once || answer();
    });
    if (!waiting.empty() && interrupted() == 0)
        (void)answer();
    keeper.save();
}

} // namespace

int main(int argc, char** argv) {
    CLI::App app("Answers many questions, some side by side.",
                 std::filesystem::path(argv[0]).filename().string());
    flags f;
    const std::unique_ptr<engine> e = make_engine();
    f.models.sequences = 16;
    f.models.context = 768;
    f.decoding.sampling.temperature = 0;
    f.decoding.limits.max_tokens = 160;
    app.add_option("--prompts", f.prompts, "a file of JSON objects, one a line, each with a prompt")
        ->required();
    app.add_option("-r,--rule", f.rule,
                   "one of " + rule_names() +
                       " (default: slem, so that a seed's text does not depend on the drafter)");
    app.add_option("-o,--out", f.out, "a file: the answers, added behind what is there")
        ->required();
    add_number(app, "--sequences", f.models.sequences, {1, 64}, "side by side (default: 16)");
    add_number(app, "--at-once", f.at_once, {1, 1 << 16},
               "questions between two times that answers are written (default: 512)");
    add_number(app, "-n,--max-tokens", f.decoding.limits.max_tokens, {1, most_tokens},
               "where a line does not say it (default: 160)");
    add_number(app, "-t,--temperature", f.decoding.sampling.temperature, any_temperature,
               "where a line does not say it (default: 0)");
    add_number(app, "--seed", f.decoding.seed, any_count, "default: 0");
    add_model_flags(app, f.models, *e);
    return run_program(app, argc, argv, [&] { run(f, *e); });
}
