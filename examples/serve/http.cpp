// SPDX-License-Identifier: MIT
#include "serve/http.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include <httplib.h>

#include "serve/answer.hpp"
#include "serve/client.hpp"
#include "serve/page.hpp"
#include <specdec/core/error.hpp>

namespace specdec::serve {

namespace {

using namespace std::chrono_literals;

/// How often a waiting thread looks whether its client is still there.
constexpr auto look = 100ms;
/// A connection without a request is closed after so long: later than clients' pools drop theirs
/// (httpx, and with it OpenAI's package: 5 s), or a request may meet the closing.
constexpr auto idle = 10s;
/// After so long without news a stream sends a comment, so that nothing in between gives it up.
constexpr auto quiet = 10s;

std::int64_t now() {
    return std::chrono::duration_cast<std::chrono::seconds>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
}

/// In time that does not depend on where they differ.
bool same_key(std::string_view key, std::string_view sent) {
    if (sent.size() != key.size())
        return false;
    unsigned difference = 0;
    for (std::size_t i = 0; i < key.size(); ++i) {
        const unsigned a = static_cast<unsigned char>(key[i]);
        const unsigned b = static_cast<unsigned char>(sent[i]);
        difference |= a ^ b;
    }
    return difference == 0;
}

bool is_local(std::string_view host) {
    return host == "127.0.0.1" || host == "localhost" || host == "::1" || host == "[::1]";
}

void send(httplib::Response& to, int status, const ordered_json& object) {
    to.status = status;
    to.set_content(written(object), "application/json");
    if (status == 429 || status == 503)
        to.set_header("Retry-After", "1");
}
void refuse(httplib::Response& to, const refused& why) {
    send(to, why.status, error_object(why.status, why.what(), why.field));
}

std::string data_line(const std::string& data) {
    return "data: " + data + "\n\n";
}

/// One request on its way: where its events come from, and the answer that they make.
struct exchange {
    asked request;
    std::shared_ptr<channel> events;
    answer made;
    client peer;
    bool told_end = false;
    std::chrono::steady_clock::time_point last = std::chrono::steady_clock::now();

    exchange(asked r, std::string id, client who)
        : request(std::move(r)), made(request, std::move(id), now()), peer(who) {}
    exchange(const exchange&) = delete;
    exchange& operator=(const exchange&) = delete;
    ~exchange() {
        if (events)
            events->leave();
    }
};

} // namespace

struct http_server::parts {
    engine_thread& engine;
    http_settings settings;
    httplib::Server server{};
    std::thread listening{};
    std::atomic<bool> stopping = false;
    std::atomic<std::uint64_t> answers = 0;
    std::int64_t began = now();
    int port = 0;

    parts(engine_thread& e, http_settings s) : engine(e), settings(std::move(s)) {}

    /// Who may ask. A page of another origin that a browser has open cannot send JSON without
    /// asking first, which is refused; nor can it get here under a name of its own.
    bool may(const httplib::Request& q, httplib::Response& a) const {
        if (is_local(settings.host)) {
            std::string host = q.get_header_value("Host");
            if (const std::size_t colon = host.rfind(':');
                colon != std::string::npos && host.find(']', colon) == std::string::npos)
                host.resize(colon);
            if (!host.empty() && !is_local(host)) {
                send(a, 403, error_object(403, "Host: expected localhost, found " + host));
                return false;
            }
        }
        const bool open = q.path == "/" || q.path == "/health";
        const std::string sent = q.get_header_value("Authorization");
        constexpr std::string_view bearer = "Bearer ";
        if (open || settings.key.empty() ||
            (sent.starts_with(bearer) &&
             same_key(settings.key, std::string_view(sent).substr(bearer.size()))))
            return true;
        a.set_header("WWW-Authenticate", "Bearer");
        send(a, 401, error_object(401, "Authorization: expected Bearer and the API key"));
        return false;
    }

    void add_routes();
    void complete(const httplib::Request& q, httplib::Response& a, bool chat);
    void wait_for_all(exchange& of, httplib::Response& a);
    [[nodiscard]] std::string metrics() const;
    /// The context key of the model of that name. Errors: refused.
    [[nodiscard]] context_key key_of(const std::string& name) const {
        std::string listed;
        for (context_key key = 0; key < settings.models.size(); ++key) {
            if (settings.models[key] == name)
                return key;
            listed += (key == 0 ? "\"" : ", \"") + settings.models[key] + "\"";
        }
        throw refused(404,
                      "model: expected " +
                          std::string(settings.models.size() > 1 ? "one of " : "") + listed,
                      "model");
    }
    [[nodiscard]] ordered_json model(context_key key) const {
        ordered_json out{{"id", settings.models[key]},
                         {"object", "model"},
                         {"created", began},
                         {"owned_by", "specdec"},
                         {"specdec", {{"chat", settings.chats}}}};
        if (key > 0) // adapters; other servers name what they belong to so, too
            out["parent"] = settings.models[0];
        return out;
    }
};

void http_server::parts::add_routes() {
    server.set_payload_max_length(settings.body_bytes);
    server.set_read_timeout(10);
    server.set_write_timeout(10);
    server.set_keep_alive_timeout(idle.count());
    server.set_keep_alive_max_count(1000);
    server.set_tcp_nodelay(true);
    server.new_task_queue = [n = settings.clients] { return new httplib::ThreadPool(n); };
    // Who is refused is refused with the body read: what is left of one would be the next request.
    const auto guarded = [this](auto handler) {
        return [this, handler](const httplib::Request& q, httplib::Response& a) {
            if (may(q, a))
                handler(q, a);
        };
    };
    server.set_error_handler([](const httplib::Request& q, httplib::Response& a) {
        if (a.body.empty())
            send(a, a.status,
                 error_object(a.status, a.status == 413   ? "body: expected fewer bytes"
                                        : a.status == 404 ? "there is no " + q.method + " " + q.path
                                                          : "the request cannot be read"));
    });
    server.Get("/", guarded([](const httplib::Request&, httplib::Response& a) {
                   a.set_header(
                       "Content-Security-Policy",
                       "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
                       "connect-src 'self'; base-uri 'none'; form-action 'none'; "
                       "frame-ancestors 'none'");
                   a.set_header("X-Content-Type-Options", "nosniff");
                   a.set_header("Referrer-Policy", "no-referrer");
                   a.set_content(page().data(), page().size(), "text/html; charset=utf-8");
               }));
    server.Get("/health", guarded([this](const httplib::Request&, httplib::Response& a) {
                   send(a, stopping ? 503 : 200, {{"status", stopping ? "stopping" : "ok"}});
               }));
    server.Get("/metrics", guarded([this](const httplib::Request&, httplib::Response& a) {
                   a.set_content(metrics(), "text/plain; version=0.0.4");
               }));
    server.Get("/v1/models", guarded([this](const httplib::Request&, httplib::Response& a) {
                   ordered_json all = ordered_json::array();
                   for (context_key key = 0; key < settings.models.size(); ++key)
                       all.push_back(model(key));
                   send(a, 200, {{"object", "list"}, {"data", all}});
               }));
    server.Get(R"(/v1/models/(.+))",
               guarded([this](const httplib::Request& q, httplib::Response& a) {
                   try {
                       send(a, 200, model(key_of(q.matches[1])));
                   } catch (const refused& why) {
                       refuse(a, why);
                   }
               }));
    for (const bool chat : {false, true})
        server.Post(chat ? "/v1/chat/completions" : "/v1/completions",
                    guarded([this, chat](const httplib::Request& q, httplib::Response& a) {
                        try {
                            complete(q, a, chat);
                        } catch (const refused& why) {
                            refuse(a, why);
                        } catch (const std::exception& problem) {
                            send(a, 500, error_object(500, problem.what()));
                        }
                    }));
}

void http_server::parts::complete(const httplib::Request& q, httplib::Response& a, bool chat) {
    if (stopping)
        throw refused(503, "the server is stopping");
    if (!q.get_header_value("Content-Type").starts_with("application/json"))
        throw refused(415, "Content-Type: expected application/json");
    asked request = read_request(q.body, chat, settings.limits);
    request.key = key_of(request.model);
    const std::string id =
        (chat ? "chatcmpl-" : "cmpl-") + std::to_string(began) + "-" + std::to_string(++answers);
    const auto of =
        std::make_shared<exchange>(std::move(request), id, client(q.remote_addr, q.remote_port));
    of->events = engine.submit(of->request);
    if (!of->request.stream)
        return wait_for_all(*of, a);
    // The first event tells whether there will be an answer; then the status is sent.
    std::optional<event> first;
    while (!(first = of->events->next(look)))
        if (of->peer.gone())
            return;
    if (first->failed != failure::none)
        throw refused(status_of(first->failed), first->error, first->field);
    a.set_header("Cache-Control", "no-store");
    a.set_header("X-Accel-Buffering", "no");
    a.set_chunked_content_provider(
        "text/event-stream",
        [of, first = std::move(first)](std::size_t, httplib::DataSink& sink) mutable {
            const auto write = [&](const std::string& text) {
                of->last = std::chrono::steady_clock::now();
                return sink.write(text.data(), text.size());
            };
            std::optional<event> next = std::exchange(first, std::nullopt);
            if (!next)
                next = of->events->next(look);
            if (of->peer.gone())
                return false;
            if (!next)
                return std::chrono::steady_clock::now() - of->last < quiet || write(": wait\n\n");
            if (next->failed != failure::none) {
                const int status = status_of(next->failed);
                (void)write(data_line(written(error_object(status, next->error, next->field))));
                sink.done();
                return true;
            }
            std::string lines;
            for (const ordered_json& chunk : of->made.take(std::move(*next)))
                lines += data_line(written(chunk));
            if (of->made.whole()) {
                if (of->request.usage_in_stream)
                    lines += data_line(written(of->made.usage_chunk()));
                lines += data_line("[DONE]");
            }
            if (!lines.empty() && !write(lines))
                return false;
            if (of->made.whole())
                sink.done();
            return true;
        });
}

void http_server::parts::wait_for_all(exchange& of, httplib::Response& a) {
    while (!of.made.whole()) {
        std::optional<event> next = of.events->next(look);
        if (of.peer.gone())
            return;
        if (!next)
            continue;
        if (next->failed != failure::none)
            throw refused(status_of(next->failed), next->error, next->field);
        (void)of.made.take(std::move(*next));
    }
    send(a, 200, of.made.object());
}

std::string http_server::parts::metrics() const {
    const engine_counts& c = engine.counts();
    struct metric {
        const char *name, *kind, *what;
        const engine_counts::number& value;
    };
    const std::array all{
        metric{"requests_total", "counter", "Requests that were taken.", c.requests},
        metric{"requests_refused_total", "counter", "Requests refused as too many waited.",
               c.refused},
        metric{"outputs_finished_total", "counter", "Outputs that finished.", c.finished},
        metric{"outputs_failed_total", "counter", "Outputs that an error ended.", c.failed},
        metric{"outputs_abandoned_total", "counter", "Outputs whose client hung up.", c.hung_up},
        metric{"outputs_running", "gauge", "Outputs that are being made.", c.running},
        metric{"outputs_waiting", "gauge", "Outputs that wait for a sequence.", c.waiting},
        metric{"prompt_tokens_total", "counter", "Tokens of prompts.", c.prompt_tokens},
        metric{"cached_tokens_total", "counter", "Of them: already in the target's context.",
               c.cached_tokens},
        metric{"tokens_total", "counter", "Tokens of outputs that have ended.", c.tokens},
        metric{"proposed_tokens_total", "counter", "Tokens that were proposed for them.",
               c.proposed},
        metric{"accepted_tokens_total", "counter", "Proposals that were accepted.", c.accepted},
        metric{"drafter_failures_total", "counter",
               "Rounds in which the drafter failed and its output went on without it.",
               c.drafter_failures},
        metric{"target_passes_total", "counter", "Passes of the target.", c.passes},
        metric{"target_positions_total", "counter", "Positions scored in them.", c.rows},
        metric{"first_tokens_total", "counter", "Outputs that have a token.", c.first_tokens},
        metric{"first_token_microseconds_total", "counter",
               "Time from a request's arrival to its first token, summed.",
               c.first_token_microseconds}};
    std::string out;
    for (const metric& m : all) {
        const std::string name = std::string("specdec_") + m.name;
        out += "# HELP " + name + " " + m.what + "\n# TYPE " + name + " " + m.kind + "\n" + name +
               " " + std::to_string(m.value.load()) + "\n";
    }
    return out;
}

http_server::http_server(engine_thread& engine, http_settings settings)
    : parts_(std::make_unique<parts>(engine, std::move(settings))) {
    parts& p = *parts_;
    p.add_routes();
    p.port = p.settings.port == 0 ? p.server.bind_to_any_port(p.settings.host)
             : p.server.bind_to_port(p.settings.host, p.settings.port) ? p.settings.port
                                                                       : -1;
    if (p.port < 0)
        throw error("--host", p.settings.host + ":" + std::to_string(p.settings.port),
                    "expected an address and a port that are free");
    p.listening = std::thread([&p] { p.server.listen_after_bind(); });
}

http_server::~http_server() {
    stop();
}

int http_server::port() const {
    return parts_->port;
}

void http_server::stop_taking() {
    parts_->stopping = true;
}

void http_server::stop() {
    stop_taking();
    if (!parts_->listening.joinable())
        return;
    while (!parts_->server.is_running()) // stop() does nothing before
        std::this_thread::yield();
    parts_->server.stop();
    parts_->listening.join();
}

} // namespace specdec::serve
