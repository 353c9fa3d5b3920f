// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <specdec/core/concepts.hpp>
#include <specdec/decode/session.hpp>
#include <specdec/decode/text_stream.hpp>

namespace specdec {

/// Where a text ends.
struct generation_limits {
    std::size_t max_tokens = 256;
    std::vector<std::string> stop_strings{}; ///< the text ends before the first of them
};

/// Why a text ended.
enum class finish_reason : std::uint8_t {
    end_token,    ///< the target emitted one of the session's end_ids (committed, adds no text)
    stop_string,  ///< a stop string was completed (its tokens are committed, its bytes not given)
    max_tokens,   ///< the limit was reached
    context_full, ///< the session's or the target's capacity was reached
    cancelled,    ///< the reader said so
};

/// A reader that takes text and nothing else: bytes(text, origin) is given whole characters as soon
/// as they are certain, round(result) every round before it is committed. Either may return false
/// to cancel; a reader may also leave one of them out by inheriting this.
struct silent_reader {
    bool bytes(std::string_view, token_origin) { return true; }
    bool round(const round_result&) { return true; }
};

/// The reader of those who only want the text: calls take(bytes, origin), which may return false to
/// cancel, or nothing.
template <class Take>
struct text_reader : silent_reader {
    Take take;

    explicit text_reader(Take t) : take(std::move(t)) {}
    bool bytes(std::string_view text, token_origin origin) {
        if constexpr (requires {
                          { take(text, origin) } -> std::same_as<void>;
                      }) {
            take(text, origin);
            return true;
        } else {
            return take(text, origin);
        }
    }
};

/// Decodes one text: rounds until an end token, a stop string, a limit or a cancellation, inside an
/// accepted run too. Tokens behind the end are discarded, never committed.
///
///     repeat: result := session.round(...)
///             commit result.tokens up to the first that ends the text
///
/// The session has been started. Works the same without a drafter (no_bridge, no_drafter).
/// Throws what the models and the reader throw; the session then holds what was committed before.
template <class B, class V, ModelOf<target_id> Target, Drafter D, StopRule Stop, Coin C,
          TokenizerOf<target_id> Tokenizer, class Reader, Clock Time = no_clock>
finish_reason generate(session<B, V>& session, Target& target, D& drafter, const Stop& stop,
                       C& coin, const Tokenizer& tokenizer, const generation_limits& limits,
                       Reader&& reader, Time clock = {}) {
    text_stream stream(limits.stop_strings);
    bool cancelled = false;
    const auto sink = [&](std::string_view bytes, token_origin origin) {
        if (!reader.bytes(bytes, origin))
            cancelled = true;
    };
    for (std::size_t produced = 0; produced < limits.max_tokens;) {
        if (session.full() || session.tokens().size() > target.capacity()) {
            stream.finish(sink);
            return finish_reason::context_full;
        }
        const round_result result =
            session.round(target, drafter, stop, coin, limits.max_tokens - produced, clock);
        if (!reader.round(result)) {
            session.commit(0);
            return finish_reason::cancelled;
        }
        for (std::size_t i = 0; i < result.tokens.size(); ++i) {
            const target_id token = result.tokens[i];
            if (is_end(session.settings().end_ids, token)) {
                session.commit(i + 1);
                stream.finish(sink);
                return finish_reason::end_token;
            }
            const bool stopped = stream.push(tokenizer.bytes(token), result.origin(i), sink);
            if (stopped || cancelled) {
                session.commit(i + 1);
                return stopped ? finish_reason::stop_string : finish_reason::cancelled;
            }
        }
        produced += result.tokens.size();
        session.commit(result.tokens.size());
    }
    stream.finish(sink);
    return finish_reason::max_tokens;
}

} // namespace specdec
