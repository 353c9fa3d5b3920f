// SPDX-License-Identifier: MIT
// The server over toy models: a drafter that dies while it is served, many clients at once.
#include "serve/http.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>
#include <httplib.h>
#include <nlohmann/json.hpp>

#include "serve/engine_thread.hpp"
#include "support/failing_models.hpp"

using namespace specdec;
using namespace specdec::testing;
using nlohmann::json;

namespace server_tests {

/// A server of two sequences. Its drafter works for so many passes.
struct served {
    std::atomic<std::size_t> passes = ~std::size_t{0};
    failing_pair toys{2};
    serve::engine_thread engine;
    serve::http_server server;
    httplib::Client client;

    static serve::engine_settings settings(rule how) {
        serve::engine_settings s;
        s.decoding = fixed(how, 0);
        return s;
    }
    speculation& failing() {
        toys.draft.fails = [this](auto, auto) { return passes == 0 || (--passes, false); };
        return toys.pair;
    }
    explicit served(rule how)
        : engine(failing(), settings(how)), server(engine, {.port = 0, .models = {"toy"}}),
          client("127.0.0.1", server.port()) {}

    static httplib::Result post(httplib::Client& by, bool stream, int tokens = 40) {
        const json asked{{"model", "toy"}, {"prompt", "ab c"},   {"max_tokens", tokens},
                         {"n", 2},         {"temperature", 0.0}, {"stream", stream}};
        return by.Post("/v1/completions", asked.dump(), "application/json");
    }
    std::string ask(bool stream) {
        const httplib::Result got = post(client, stream);
        REQUIRE(got);
        REQUIRE(got->status == 200);
        return got->body;
    }
    /// The two outputs, and why they ended.
    std::string whole() {
        std::string out;
        const json answer = json::parse(ask(false));
        for (const json& choice : answer["choices"])
            out += choice["text"].get<std::string>() + "|" +
                   choice["finish_reason"].get<std::string>() + "\n";
        return out;
    }
    std::string streamed() {
        std::string texts[2], reasons[2];
        const std::string body = ask(true), mark = "data: ";
        for (std::size_t at = 0; (at = body.find(mark, at)) != std::string::npos;) {
            at += mark.size();
            const std::string line = body.substr(at, body.find('\n', at) - at);
            if (line == "[DONE]")
                return texts[0] + "|" + reasons[0] + "\n" + texts[1] + "|" + reasons[1] + "\n";
            const json chunk = json::parse(line);
            for (const json& choice : chunk["choices"]) {
                const auto i = choice["index"].get<std::size_t>();
                texts[i] += choice["text"].get<std::string>();
                if (choice["finish_reason"].is_string())
                    reasons[i] = choice["finish_reason"];
            }
        }
        return "it did not end";
    }
    std::uint64_t metric(const std::string& name) {
        const httplib::Result got = client.Get("/metrics");
        REQUIRE(got);
        const std::string line = "\nspecdec_" + name + " ";
        const std::size_t at = got->body.find(line);
        REQUIRE(at != std::string::npos);
        return std::stoull(got->body.substr(at + line.size()));
    }
};

TEST_CASE("serve: where the drafter dies, outputs go on and are counted") {
    for (const rule how : {rule::slem, rule::tli}) {
        CAPTURE(std::string(about(how).name));
        served x(how);
        const std::string wanted = x.whole();
        REQUIRE(wanted.size() > 40);
        CHECK(x.streamed() == wanted);
        CHECK(x.metric("drafter_failures_total") == 0);
        const std::uint64_t accepted = x.metric("accepted_tokens_total");
        CHECK(accepted > 0);

        x.passes = 5; // it dies under way
        CHECK(x.whole() == wanted);
        const std::uint64_t failures = x.metric("drafter_failures_total");
        CHECK(failures > 1);
        CHECK(x.streamed() == wanted); // it is dead from the beginning
        CHECK(x.metric("drafter_failures_total") > failures);
        CHECK(x.metric("outputs_failed_total") == 0);
        CHECK(x.metric("outputs_finished_total") == 8);

        const std::uint64_t before = x.metric("accepted_tokens_total");
        x.passes = ~std::size_t{0}; // somebody has mended it
        CHECK(x.whole() == wanted);
        CHECK(x.metric("accepted_tokens_total") > before);
    }
}

TEST_CASE("serve: many clients at once get what each gets alone, whoever hangs up") {
    served x(rule::slem);
    const std::string wanted = x.ask(false);
    const json choices = json::parse(wanted)["choices"];
    std::atomic<std::size_t> same = 0, others = 0;
    std::vector<std::thread> clients;
    for (int i = 0; i < 6; ++i)
        clients.emplace_back([&, i] {
            httplib::Client own("127.0.0.1", x.server.port());
            for (int k = 0; k < 4; ++k) {
                if (i == 0) { // it leaves in the middle
                    httplib::Client hasty("127.0.0.1", x.server.port());
                    hasty.set_read_timeout(0, 1000);
                    (void)served::post(hasty, true, 400);
                }
                const httplib::Result got = served::post(own, false);
                const bool right =
                    got && got->status == 200 && json::parse(got->body)["choices"] == choices;
                ++(right ? same : others);
            }
        });
    for (std::thread& one : clients)
        one.join();
    CHECK(same == 24);
    CHECK(others == 0);
    CHECK(x.metric("outputs_failed_total") == 0);
}

} // namespace server_tests
