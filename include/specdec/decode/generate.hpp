// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <string_view>
#include <utility>

#include <specdec/core/concepts.hpp>
#include <specdec/decode/session.hpp>
#include <specdec/decode/text_run.hpp>

namespace specdec {

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
/// accepted run too (see text_run).
///
/// The session has been started. Works the same without a drafter (no_bridge, no_drafter).
/// Throws what the models and the reader throw; the session then holds what was committed before.
template <class B, class V, ModelOf<target_id> Target, Drafter D, StopRule Stop, Coin C,
          TokenizerOf<target_id> Tokenizer, class Reader, Clock Time = no_clock>
finish_reason generate(session<B, V>& session, Target& target, D& drafter, const Stop& stop,
                       C& coin, const Tokenizer& tokenizer, const generation_limits& limits,
                       Reader&& reader, Time clock = {}) {
    text_run run(session, drafter, stop, coin, tokenizer, limits, reader, clock);
    while (run.draft(target.capacity()))
        run.take(session.score(target, clock));
    return *run.finish();
}

} // namespace specdec
