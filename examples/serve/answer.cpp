// SPDX-License-Identifier: MIT
#include "serve/answer.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace specdec::serve {

namespace {

const char* origin_of(const piece& p) {
    switch (p.origin) {
    case token_origin::accepted:
        return "drafter";
    case token_origin::looked_up:
        return p.forced ? "forced" : "lookup";
    case token_origin::corrected:
    case token_origin::free:
    case token_origin::residual:
        break;
    }
    return "target";
}

const char* reason_of(finish_reason why) {
    return why == finish_reason::max_tokens || why == finish_reason::context_full ? "length"
                                                                                  : "stop";
}

/// -infinity, which JSON does not know, as the least number that clients expect.
double finite(double log_probability) {
    constexpr double least = -9999;
    return std::isfinite(log_probability) ? log_probability : least;
}

/// Characters that begin in the text.
std::size_t characters(const std::string& text) {
    return static_cast<std::size_t>(std::ranges::count_if(
        text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

ordered_json in_chat(const token_text& t) {
    ordered_json bytes = ordered_json::array();
    for (const char c : t.bytes)
        bytes.push_back(static_cast<unsigned char>(c));
    return {{"token", t.bytes}, {"logprob", finite(t.log_probability)}, {"bytes", bytes}};
}

} // namespace

std::string written(const ordered_json& object) {
    return object.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

ordered_json error_object(int status, const std::string& what, const std::string& field) {
    const char* const type = status == 401                   ? "authentication_error"
                             : status == 429                 ? "rate_limit_error"
                             : status >= 400 && status < 500 ? "invalid_request_error"
                                                             : "server_error";
    return {{"error",
             {{"message", what},
              {"type", type},
              {"param", field.empty() ? ordered_json() : ordered_json(field)},
              {"code", ordered_json()}}}};
}

int status_of(failure why) {
    switch (why) {
    case failure::request:
        return 400;
    case failure::too_late:
    case failure::stopped:
        return 503;
    case failure::none:
    case failure::engine:
        break;
    }
    return 500;
}

answer::answer(const asked& request, std::string id, std::int64_t created)
    : request_(request), id_(std::move(id)), created_(created), choices_(request.choices) {}

ordered_json answer::frame(bool chunk) const {
    return {{"id", id_},
            {"object", !request_.chat ? "text_completion"
                       : chunk        ? "chat.completion.chunk"
                                      : "chat.completion"},
            {"created", created_},
            {"model", request_.model},
            {"choices", ordered_json::array()}};
}

ordered_json answer::usage() const {
    return {{"prompt_tokens", prompt_tokens_},
            {"completion_tokens", made_},
            {"total_tokens", prompt_tokens_ + made_},
            {"prompt_tokens_details", {{"cached_tokens", cached_tokens_}}}};
}

/// A list of what each token has, in the form of a chat; `in_form` makes that of completions.
ordered_json answer::reported(const std::vector<reported_token>& tokens, choice& of) const {
    ordered_json out = ordered_json::array();
    for (const reported_token& t : tokens) {
        ordered_json one = in_chat(t.chosen);
        one["top_logprobs"] = ordered_json::array();
        for (const token_text& other : t.likeliest)
            one["top_logprobs"].push_back(in_chat(other));
        if (!request_.chat)
            one["offset"] = of.offset;
        of.offset += characters(t.chosen.bytes);
        out.push_back(one);
    }
    return out;
}

ordered_json answer::in_form(const ordered_json& tokens) const {
    if (!request_.likeliest)
        return {};
    if (request_.chat)
        return {{"content", tokens}, {"refusal", ordered_json()}};
    ordered_json out{{"tokens", ordered_json::array()},
                     {"token_logprobs", ordered_json::array()},
                     {"top_logprobs", ordered_json::array()},
                     {"text_offset", ordered_json::array()}};
    for (const ordered_json& t : tokens) {
        out["tokens"].push_back(t["token"]);
        out["token_logprobs"].push_back(t["logprob"]);
        out["text_offset"].push_back(t["offset"]);
        ordered_json top = ordered_json::object();
        for (const ordered_json& other : t["top_logprobs"])
            top[other["token"].get<std::string>()] = other["logprob"];
        out["top_logprobs"].push_back(top);
    }
    return out;
}

std::vector<ordered_json> answer::take(event e) {
    choice& of = choices_.at(e.choice);
    std::vector<ordered_json> chunks;
    const auto send = [&](ordered_json inner, const ordered_json& finish, ordered_json tokens,
                          const ordered_json& more) {
        ordered_json chunk = frame(true);
        ordered_json one{{"index", e.choice}};
        if (request_.chat)
            one["delta"] = std::move(inner);
        else
            one["text"] = inner.value("content", "");
        one["logprobs"] = std::move(tokens);
        one["finish_reason"] = finish;
        if (!more.is_null())
            one["specdec"] = more;
        chunk["choices"].push_back(std::move(one));
        chunks.push_back(std::move(chunk));
    };
    if (e.begun) {
        if (e.choice == 0) {
            prompt_tokens_ = e.prompt_tokens;
            cached_tokens_ = e.cached_tokens;
        }
        if (request_.chat)
            send({{"role", "assistant"}, {"content", ""}}, {}, {}, {});
    }
    std::string text;
    ordered_json pieces = ordered_json::array();
    for (const piece& p : e.pieces) {
        text += p.text;
        if (request_.origins)
            pieces.push_back({{"text", p.text}, {"origin", origin_of(p)}});
    }
    ordered_json rounds = ordered_json::array();
    for (const round_report& r : e.rounds)
        rounds.push_back({{"proposed", r.proposed},
                          {"accepted", r.accepted},
                          {"target", r.target ? ordered_json(*r.target) : ordered_json()}});
    const ordered_json tokens = reported(e.tokens, of);
    of.text += text;
    of.tokens.insert(of.tokens.end(), tokens.begin(), tokens.end());
    of.pieces.insert(of.pieces.end(), pieces.begin(), pieces.end());
    of.rounds.insert(of.rounds.end(), rounds.begin(), rounds.end());
    if (!text.empty() || !tokens.empty() || !rounds.empty())
        send({{"content", text}}, {}, in_form(tokens),
             request_.origins ? ordered_json{{"pieces", pieces}, {"rounds", rounds}}
                              : ordered_json());
    if (e.finish == finish_reason::none)
        return chunks;
    of.finish = e.finish;
    made_ += e.counts.committed;
    ++ended_;
    if (request_.origins)
        of.facts = {{"tokens", e.counts.committed},
                    {"target_passes", e.counts.rounds},
                    {"tokens_per_pass", e.counts.tokens_per_target_call()},
                    {"proposed", e.counts.proposed},
                    {"accepted", e.counts.accepted},
                    {"seconds", e.seconds}};
    send(ordered_json::object(), reason_of(e.finish), {}, of.facts);
    return chunks;
}

ordered_json answer::object() const {
    ordered_json out = frame(false);
    for (std::size_t i = 0; i < choices_.size(); ++i) {
        const choice& c = choices_[i];
        ordered_json one{{"index", i}};
        if (request_.chat)
            one["message"] = {
                {"role", "assistant"}, {"content", c.text}, {"refusal", ordered_json()}};
        else
            one["text"] = c.text;
        one["logprobs"] = in_form(c.tokens);
        one["finish_reason"] = reason_of(c.finish);
        if (request_.origins) {
            one["specdec"] = c.facts;
            one["specdec"]["pieces"] = c.pieces;
            one["specdec"]["rounds"] = c.rounds;
        }
        out["choices"].push_back(one);
    }
    out["usage"] = usage();
    return out;
}

ordered_json answer::usage_chunk() const {
    ordered_json chunk = frame(true);
    chunk["usage"] = usage();
    return chunk;
}

} // namespace specdec::serve
