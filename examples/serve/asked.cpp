// SPDX-License-Identifier: MIT
#include "serve/asked.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include <nlohmann/json.hpp>

#include "support/text/json_schema.hpp"
#include <specdec/core/error.hpp>
#include <specdec_engine/file/parse_json.hpp>

namespace specdec::serve {

namespace {

using json = nlohmann::ordered_json; // properties of schemas have an order

constexpr std::size_t most_fields = 100; // each is compared with the others

/// The fields of an object, each read once; what nobody read is refused at the end.
class fields {
public:
    explicit fields(const json& object, std::string within = {})
        : object_(object), within_(std::move(within)) {
        if (!object.is_object())
            throw refused(400, (within_.empty() ? "body" : within_) + ": expected a JSON object",
                          within_);
    }

    /// Null where the field is not there or says null.
    [[nodiscard]] const json* find(const std::string& name) {
        read_.push_back(name);
        const auto found = object_.find(name);
        return found == object_.end() || found->is_null() ? nullptr : &*found;
    }
    [[noreturn]] void refuse(const std::string& name, const std::string& expected) const {
        const std::string field = within_.empty() ? name : within_ + "." + name;
        throw refused(400, field + ": " + expected, field);
    }
    [[nodiscard]] bool flag(const std::string& name, bool usual) {
        const json* value = find(name);
        if (value == nullptr)
            return usual;
        if (!value->is_boolean())
            refuse(name, "expected true or false");
        return value->get<bool>();
    }
    [[nodiscard]] std::string text(const std::string& name) {
        const json* value = find(name);
        if (value == nullptr || !value->is_string())
            refuse(name, "expected a text");
        return value->get<std::string>();
    }
    [[nodiscard]] float number(const std::string& name, float usual, float low, float high) {
        const json* value = find(name);
        if (value == nullptr)
            return usual;
        if (!value->is_number() || !(value->get<float>() >= low) || !(value->get<float>() <= high))
            refuse(name, "expected a number from " + shown(low) + " to " + shown(high));
        return value->get<float>();
    }
    [[nodiscard]] std::optional<std::size_t> count(const std::string& name, std::size_t low,
                                                   std::size_t high) {
        const json* value = find(name);
        if (value == nullptr)
            return std::nullopt;
        if (!value->is_number_unsigned() || *value < low || *value > high)
            refuse(name, "expected a whole number from " + std::to_string(low) + " to " +
                             std::to_string(high));
        return value->get<std::size_t>();
    }
    /// What the server has no use for may say that nothing is wanted.
    void only(const std::string& name, std::span<const json> neutral) {
        const json* value = find(name);
        if (value == nullptr)
            return;
        std::string listed;
        for (const json& one : neutral) {
            if (*value == one)
                return;
            listed += (listed.empty() ? "" : " or ") + one.dump();
        }
        refuse(name, listed.empty() ? "expected no such field"
                                    : "expected " + listed + ", this server does nothing else");
    }
    void expect_no_more() const {
        for (const auto& [name, value] : object_.items()) {
            bool known = false;
            for (const std::string& one : read_)
                known = known || one == name;
            if (!known)
                refuse(name, "expected no such field");
        }
    }

private:
    static std::string shown(float x) { return json(x).dump(); }

    const json& object_;
    std::string within_;
    std::vector<std::string> read_;
};

/// A text, or the texts of parts of the kind `text`.
std::string content_of(fields& message, const std::string& where) {
    const json* content = message.find("content");
    if (content != nullptr && content->is_string())
        return content->get<std::string>();
    if (content == nullptr || !content->is_array())
        message.refuse("content", "expected a text");
    std::string all;
    for (std::size_t i = 0; i < content->size(); ++i) {
        fields part((*content)[i], where + ".content[" + std::to_string(i) + "]");
        if (part.text("type") != "text")
            part.refuse("type", "expected text, this server reads nothing else");
        all += part.text("text");
        part.expect_no_more();
    }
    return all;
}

void read_messages(fields& body, asked& out) {
    const json* messages = body.find("messages");
    if (messages == nullptr || !messages->is_array() || messages->empty())
        body.refuse("messages", "expected a list of messages, not empty");
    for (std::size_t i = 0; i < messages->size(); ++i) {
        const std::string where = "messages[" + std::to_string(i) + "]";
        fields message((*messages)[i], where);
        std::string role = message.text("role");
        if (role == "developer") // the newer name
            role = "system";
        if (role != "system" && role != "user" && role != "assistant")
            message.refuse("role", "expected system, user or assistant, found \"" + role + "\"");
        if (role == "system" && i > 0)
            message.refuse("role", "expected system in the first message only");
        out.messages.push_back({role, content_of(message, where)});
        message.only("name", {});
        message.only("refusal", {});
        message.only("tool_calls", std::array{json(json::array())});
        message.expect_no_more();
    }
    if (out.messages.back().role != "user")
        body.refuse("messages", "expected the last message to be the user's");
}

void read_stops(fields& body, const request_limits& limits, asked& out) {
    const json* stop = body.find("stop");
    if (stop == nullptr)
        return;
    const json list = stop->is_array() ? *stop : json::array({*stop});
    if (list.size() > limits.stops)
        body.refuse("stop", "expected at most " + std::to_string(limits.stops) + " texts");
    for (const json& one : list) {
        if (!one.is_string() || one.get_ref<const std::string&>().empty() ||
            one.get_ref<const std::string&>().size() > limits.stop_bytes)
            body.refuse("stop",
                        "expected texts of 1 to " + std::to_string(limits.stop_bytes) + " bytes");
        out.stops.push_back(one.get<std::string>());
    }
}

/// As large as an answer is: most end before their limits are reached.
constexpr examples::json_limits of_answers{.deepest = examples::json_limits::deepest_of_all,
                                           .most_members = 256,
                                           .longest = 1024,
                                           .most_spaces = 24,
                                           .any_character = true};

void read_schema(fields& form, asked& out) {
    const json* given = form.find("json_schema");
    if (given == nullptr)
        form.refuse("json_schema", "expected an object");
    fields inner(*given, "response_format.json_schema");
    (void)inner.text("name");
    (void)inner.flag("strict", true); // it is
    (void)inner.find("description");
    const json* schema = inner.find("schema");
    if (schema == nullptr)
        inner.refuse("schema", "expected a JSON schema");
    try {
        out.grammar.emplace(
            of_answers,
            examples::read_json_schema(*schema, of_answers, "response_format.json_schema.schema"));
    } catch (const error& problem) {
        const std::string where(problem.field());
        throw refused(400, where + ": " + std::string(problem.expected()), where);
    }
    inner.expect_no_more();
}

void read_form(fields& body, asked& out) {
    const json* form = body.find("response_format");
    if (form == nullptr)
        return;
    fields inner(*form, "response_format");
    const std::string type = inner.text("type");
    if (type == "json_schema")
        read_schema(inner, out);
    else if (type == "json_object")
        out.grammar.emplace(of_answers);
    else if (type != "text")
        inner.refuse("type", "expected text, json_object or json_schema, found \"" + type + "\"");
    inner.expect_no_more();
}

void read_priority(fields& body, asked& out) {
    const json* priority = body.find("priority");
    if (priority == nullptr)
        return;
    constexpr std::int64_t most = 1 << 30;
    if (!priority->is_number_integer() || *priority < -most || *priority > most)
        body.refuse("priority", "expected a whole number");
    out.priority = priority->get<std::int64_t>();
}

/// Any whole number names a seed; negative ones are others than positive ones.
void read_seed(fields& body, asked& out) {
    const json* seed = body.find("seed");
    if (seed == nullptr)
        return;
    if (!seed->is_number_integer())
        body.refuse("seed", "expected a whole number");
    out.seed = seed->is_number_unsigned() ? seed->get<std::uint64_t>()
                                          : static_cast<std::uint64_t>(seed->get<std::int64_t>());
}

void read_log_probabilities(fields& body, bool chat, const request_limits& limits, asked& out) {
    if (!chat) {
        out.likeliest = body.count("logprobs", 0, limits.likeliest);
        return;
    }
    const bool wanted = body.flag("logprobs", false);
    const auto likeliest = body.count("top_logprobs", 0, limits.likeliest);
    if (likeliest && !wanted)
        body.refuse("top_logprobs", "expected \"logprobs\": true with it");
    if (wanted)
        out.likeliest = likeliest.value_or(0);
}

} // namespace

asked read_request(std::string_view text, bool chat, const request_limits& limits) {
    json document;
    std::vector<std::string> names;
    try {
        document = engine::parse_json<json>(text, "body", "text", &names);
    } catch (const error& problem) {
        throw refused(400, problem.what());
    }
    fields body(document);
    if (names.size() > most_fields)
        throw refused(400, "body: expected at most " + std::to_string(most_fields) + " fields");
    for (std::size_t i = 0; i < names.size(); ++i)
        for (std::size_t k = 0; k < i; ++k)
            if (names[i] == names[k])
                body.refuse(names[i], "expected the field once");
    asked out;
    out.chat = chat;
    out.model = body.text("model");
    if (chat)
        read_messages(body, out);
    else
        out.prompt = body.text("prompt");
    out.sampling.temperature = body.number("temperature", 1, 0, 2);
    out.sampling.top_p = body.number("top_p", 1, 0, 1);
    if (out.sampling.top_p == 0)
        body.refuse("top_p", "expected a number above 0");
    out.sampling.min_p = body.number("min_p", 0, 0, 1);
    out.sampling.top_k = body.count("top_k", 0, std::size_t{1} << 30).value_or(0);
    const std::optional<std::size_t> most = body.count("max_tokens", 1, limits.tokens);
    const std::optional<std::size_t> same =
        chat ? body.count("max_completion_tokens", 1, limits.tokens) : std::nullopt;
    if (most && same && *most != *same)
        body.refuse("max_tokens", "expected what max_completion_tokens says");
    const std::size_t usual = chat || limits.tokens < 16 ? limits.tokens : 16; // as elsewhere
    out.max_tokens = most ? *most : same.value_or(usual);
    out.choices = body.count("n", 1, limits.choices).value_or(1);
    read_seed(body, out);
    read_priority(body, out);
    read_stops(body, limits, out);
    read_form(body, out);
    read_log_probabilities(body, chat, limits, out);
    out.stream = body.flag("stream", false);
    if (const json* options = body.find("stream_options")) {
        fields inner(*options, "stream_options");
        out.usage_in_stream = inner.flag("include_usage", false);
        inner.expect_no_more();
        if (!out.stream)
            body.refuse("stream_options", "expected \"stream\": true with it");
    }
    out.draft = body.flag("speculative", true);
    out.origins = body.flag("origins", false);
    const std::array zero{json(0)};
    body.only("presence_penalty", zero);
    body.only("frequency_penalty", zero);
    body.only("logit_bias", std::array{json(json::object())});
    body.only("best_of", std::array{json(1)});
    body.only("echo", std::array{json(false)});
    body.only("suffix", std::array{json("")});
    body.only("tools", std::array{json(json::array())});
    body.only("tool_choice", std::array{json("none"), json("auto")});
    body.only("parallel_tool_calls", std::array{json(true), json(false)});
    body.only("store", std::array{json(false)});
    (void)body.find("user"); // whoever they are
    (void)body.find("metadata");
    body.expect_no_more();
    return out;
}

} // namespace specdec::serve
