// SPDX-License-Identifier: MIT
// A server for many clients at a time: the API of OpenAI over HTTP, for a target and its drafter.
//
//     specdec-serve                                    the pair in this repository
//     specdec-serve --models smollm2 --sequences 8
//     curl http://127.0.0.1:8080/v1/models
//
// A browser shows a page to try it at http://127.0.0.1:8080/.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "serve/engine_thread.hpp"
#include "serve/http.hpp"
#include "support/flags/flag_values.hpp"
#include "support/flags/lengths.hpp"
#include "support/pair/cache_keeper.hpp"
#include "support/pair/engine.hpp"
#include "support/program/files.hpp"
#include "support/program/program.hpp"
#include "support/text/chat_template.hpp"
#include "support/text/prompt.hpp"

namespace {

using namespace specdec;
using namespace specdec::examples;

struct flags {
    model_flags models;
    serve::engine_settings engine;
    serve::http_settings http;
    std::string rule, key_file;
    std::optional<std::size_t> draft_length;
    length_flags lengths;
    std::size_t seconds = 300, grace = 10, kibibytes = 1024;
};

std::string key_in(const std::string& file) {
    std::string key = read_input(file, 1);
    while (!key.empty() && (key.back() == '\n' || key.back() == '\r'))
        key.pop_back();
    if (key.empty() || key.find_first_of(" \t\r\n") != std::string::npos)
        throw error("--api-key-file", file, "expected one line with a key, without spaces");
    return key;
}

/// By context key.
std::vector<std::string> models_of(const std::string& target,
                                   const std::vector<std::string>& adapters) {
    std::vector<std::string> all{target};
    for (const std::string& name : adapters) {
        if (std::ranges::find(all, name) != all.end())
            throw error("--target-adapter", name, "expected a name that no other model has");
        all.push_back(name);
    }
    return all;
}

/// The signals that stop the server, blocked in all threads that begin after this, so that one
/// thread can wait for them.
class stop_signals {
public:
    stop_signals() {
        sigemptyset(&set_);
        for (const int number : {SIGINT, SIGTERM, SIGHUP})
            sigaddset(&set_, number);
        pthread_sigmask(SIG_BLOCK, &set_, &before_);
    }
    stop_signals(const stop_signals&) = delete;
    stop_signals& operator=(const stop_signals&) = delete;
    ~stop_signals() { release(); }

    void wait() const {
        int number = 0;
        sigwait(&set_, &number);
    }
    /// The next one ends the program at once.
    void release() const { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

private:
    sigset_t set_, before_;
};

/// The form of the chat template that the model brings; else the one whose marks it has.
void find_form(serve::engine_settings& to, const decoder& pair,
               const std::filesystem::path& model) {
    try {
        const std::string text = read_chat_template(model);
        chat_form form = text.empty() ? chat_form_of(pair, "model", "messages")
                                      : form_of_template(text, model.filename().string());
        if (has_marks(pair, form))
            to.form = std::move(form);
        else
            to.no_form = "expected the marks of " + form.name + " as control tokens of the target";
    } catch (const error& problem) {
        to.no_form = problem.expected();
    }
}

void run(flags f, const program_engine& e) {
    if (!f.key_file.empty())
        f.http.key = key_in(f.key_file);
    const bool local =
        f.http.host == "127.0.0.1" || f.http.host == "localhost" || f.http.host == "::1";
    if (!local && f.http.key.empty())
        throw error("--host", f.http.host,
                    "expected --api-key-file with it: other machines can reach this address");
    const loaded_pair pair = load_pair(e, f.models);
    decode_settings& s = f.engine.decoding;
    if (!f.rule.empty())
        s.rule = rule_of(f.rule, "--rule").rule;
    else if (recycles(f.models))
        s.rule = rule::recycling;
    if (s.rule && !pair->applies(*s.rule))
        throw error("--rule", f.rule, what_lacks(*pair, *s.rule));
    expect_use_of_cache(f.models.cache, s.rule && uses_cache(*s.rule));
    s.lengths = f.lengths.settings(f.draft_length);
    s.lookup.shared = false; // else a client could tell what others have written
    s.lookup.beside = reads_features(*pair);
    s.sampling.temperature = 0;
    std::fputs(pair->explain(s).c_str(), stderr);
    if (s.lengths.kind == length_kind::automatic)
        (void)pair->costs_of(s.lengths); // measured before there are requests
    f.http.models = models_of(pair.facts.target.name, e.adapters());
    find_form(f.engine, *pair, find_target(e, f.models).model);
    f.http.chats = f.engine.form.has_value();
    f.engine.longest = std::chrono::seconds(f.seconds);
    f.http.body_bytes = 1024 * f.kibibytes;
    const std::size_t room = pair->target_models().capacity();
    if (f.http.limits.tokens >= room)
        f.http.limits.tokens = room - 1;

    const stop_signals signals;
    serve::engine_thread engine(*pair, f.engine);
    serve::http_server server(engine, f.http);
    std::printf("%s on http://%s:%d/ (%s)\n", f.http.models[0].c_str(), f.http.host.c_str(),
                server.port(), counted(pair->sequences(), "sequence").c_str());
    flush_output();
    signals.wait();
    signals.release();
    server.stop_taking();
    engine.stop(std::chrono::seconds(f.grace));
    server.stop();
}

} // namespace

int main(int argc, char** argv) {
    CLI::App app(
        "Serves many clients at a time: the API of OpenAI over HTTP, and a page to try it.",
        std::filesystem::path(argv[0]).filename().string());
    flags f;
    const std::unique_ptr<program_engine> e = make_engine();
    f.models.sequences = 8;
    app.add_option("--host", f.http.host, "the address to listen on (default: 127.0.0.1)");
    add_number(app, "--port", f.http.port, {0, 65535}, "default: 8080; 0: any that is free");
    app.add_option("--api-key-file", f.key_file,
                   "a file with the key that clients have to send; needed for a host that other "
                   "machines can reach");
    add_number(app, "--sequences", f.models.sequences, {1, 64},
               "outputs side by side (default: 8)");
    app.add_option("-r,--rule", f.rule, "one of " + rule_names() + " (default: as generate)");
    add_number(app, "--draft-length", f.draft_length, {0, 64},
               "draft tokens a round, 0 to 64 (default: what --lengths says, 8 at most)");
    add_length_flags(app, f.lengths);
    const auto limit = [&](const char* name, auto& value, auto range, const char* what) {
        add_number(app, name, value, range, what)->group("Limits");
    };
    using count = number_range<std::size_t>;
    limit("--max-tokens", f.http.limits.tokens, count{1, 1 << 16}, "of an output (default: 1024)");
    limit("--clients", f.http.clients, count{1, 1024}, "answered at a time (default: 64)");
    limit("--waiting", f.engine.waiting, count{1, 1 << 16},
          "outputs that wait for a sequence; more are refused with 429 (default: 64)");
    limit("--body", f.kibibytes, count{1, 1 << 16}, "KiB of a request (default: 1024)");
    limit("--seconds", f.seconds, count{1, 86400},
          "from a request's arrival to its end (default: 300)");
    limit("--grace", f.grace, count{0, 86400},
          "seconds that outputs may take to end after SIGTERM (default: 10)");
    limit("--prompt-piece", f.engine.prompt_piece, count{1, 1 << 16},
          "tokens of prompts that are fed a round (default: 128)");
    add_model_flags(app, f.models, *e);
    e->add_serving_flags(app);
    return run_program(app, argc, argv, [&] { run(f, *e); });
}
