// SPDX-License-Identifier: MIT
// Any bytes as the body of a request: they are refused with a status of the client's and an answer
// that is JSON, or they ask for nothing beyond the limits, by a grammar that allows JSON alone.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib> // std::abort
#include <string>
#include <string_view>

#include "serve/answer.hpp"
#include "serve/asked.hpp"

namespace {

using namespace specdec::serve;

void expect(bool right) {
    if (!right)
        std::abort();
}

/// What a grammar lets a model write, whatever that chooses: it is never without a next byte, and
/// what it ends with is JSON.
void write(const specdec::examples::json_grammar& grammar, std::string_view choices) {
    constexpr std::size_t longest = 2000;
    std::string text;
    auto state = grammar.begin();
    while (text.size() < longest && !grammar.complete(state)) {
        const auto first = static_cast<unsigned char>(choices[text.size() % choices.size()]);
        bool written = false;
        for (unsigned i = 0; i < 256 && !written; ++i) {
            auto next = state;
            const char c = static_cast<char>(first + i * 37); // each byte once
            written = grammar.step(next, c);
            if (written) {
                state = next;
                text += c;
            }
        }
        expect(written);
    }
    expect(!grammar.complete(state) || nlohmann::json::accept(text));
}

void check(std::string_view body, bool chat) {
    constexpr request_limits limits{
        .tokens = 50, .choices = 3, .likeliest = 4, .stops = 2, .stop_bytes = 5};
    try {
        const asked a = read_request(body, chat, limits);
        expect(a.chat == chat && (chat ? !a.messages.empty() : a.messages.empty()));
        expect(a.max_tokens >= 1 && a.max_tokens <= limits.tokens);
        expect(a.choices >= 1 && a.choices <= limits.choices);
        expect(a.likeliest.value_or(0) <= limits.likeliest && a.stops.size() <= limits.stops);
        expect(std::ranges::all_of(a.stops, [&](const auto& stop) {
            return !stop.empty() && stop.size() <= limits.stop_bytes;
        }));
        specdec::validate(a.sampling);
        if (a.grammar)
            write(*a.grammar, body);
    } catch (const refused& why) {
        expect(why.status == 400 && why.what()[0] != '\0');
        const auto sent =
            nlohmann::json::parse(written(error_object(why.status, why.what(), why.field)));
        expect(sent.at("error").at("type") == "invalid_request_error");
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view body(reinterpret_cast<const char*>(data), size);
    check(body, false);
    check(body, true);
    return 0;
}
