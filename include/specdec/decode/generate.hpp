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

/// Decodes a text: rounds until an end token, a stop string, a limit or a cancellation, inside an
/// accepted run too (see text_run). Throws what the models, the drafter and the reader throw;
/// called again, it goes on where the text stood, and nothing is lost or given twice:
///
///     text_run text(session, drafter, stop, coin, tokenizer, limits, reader);
///     generate(text, target);
template <class Session, DraftContextHolder D, StopRule Stop, Coin C, class Tokenizer, class Reader,
          Clock Time, ScoringModelOf<target_id> Target>
finish_reason generate(text_run<Session, D, Stop, C, Tokenizer, Reader, Time>& text,
                       Target& target) {
    while (text.draft(target))
        text.take(text.score(target));
    return *text.finish();
}

/// The same in one call, for a text that is given up where something throws: what was held back for
/// a stop string or a character, and how many tokens were left, are then gone. The session holds
/// what was committed before.
///
/// The session has been started. Works the same without a drafter (no_bridge, no_drafter).
template <class B, class V, class Laws, ScoringModelOf<target_id> Target, DraftContextHolder D,
          StopRule Stop, Coin C, TokenizerOf<target_id> Tokenizer, class Reader,
          Clock Time = no_clock>
finish_reason generate(session<B, V, Laws>& session, Target& target, D& drafter, const Stop& stop,
                       C& coin, const Tokenizer& tokenizer, const generation_limits& limits,
                       Reader&& reader, Time clock = {}) {
    text_run text(session, drafter, stop, coin, tokenizer, limits, reader, clock);
    return generate(text, target);
}

} // namespace specdec
