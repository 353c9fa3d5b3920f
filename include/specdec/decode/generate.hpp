// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <string_view>
#include <utility>

#include <specdec/core/concepts.hpp>
#include <specdec/decode/session.hpp>
#include <specdec/decode/text_run.hpp>

namespace specdec {

/// A reader that ignores everything; inherit it to write only one of the two functions. bytes(text,
/// origin) gets whole characters as soon as they are certain to stay. round(result) gets every
/// round before it is committed. Either may return false to cancel the text.
struct silent_reader {
    bool bytes(std::string_view, token_origin) { return true; }
    bool round(const round_result&) { return true; }
};

/// A reader of text only: calls take(bytes, origin), which returns nothing, or false to cancel.
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

/// Decodes a text: makes rounds until an end token, a stop string, a limit or a cancellation, which
/// may be inside a run of accepted tokens (see text_run). Throws what the models, the drafter and
/// the reader throw. Called again it goes on where the text stood; nothing is lost or given twice:
///
///     text_run text(session, drafter, stop, coin, tokenizer, limits, reader);
///     generate(text, target);
template <class Session, DraftContextHolder D, class Rule, Coin C, class Tokenizer, class Reader,
          Clock Time, ScoresDraftsOf<typename Session::bridge_type> Target>
finish_reason generate(text_run<Session, D, Rule, C, Tokenizer, Reader, Time>& text,
                       Target& target) {
    while (text.draft(target))
        text.take(text.score(target));
    return text.finish();
}

/// The same in one call. If something throws, the text cannot go on: bytes that were held back for
/// a stop string or a character, and the count of tokens left, are lost. The session keeps what was
/// committed before.
///
/// Precondition: the session has been started. For decoding without a drafter: no_bridge,
/// no_drafter.
template <class B, class V, class Laws, ScoresDraftsOf<B> Target, DraftContextHolder D,
          DraftRuleOf<B> Rule, Coin C, TokenizerOf<target_id> Tokenizer, class Reader,
          Clock Time = no_clock>
finish_reason generate(session<B, V, Laws>& session, Target& target, D& drafter, const Rule& rule,
                       C& coin, const Tokenizer& tokenizer, const generation_limits& limits,
                       Reader&& reader, Time clock = {}) {
    text_run text(session, drafter, rule, coin, tokenizer, limits, reader, clock);
    return generate(text, target);
}

} // namespace specdec
