// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <specdec/core/concepts.hpp>
#include <specdec/core/draft_step.hpp>
#include <specdec/core/drafting.hpp>
#include <specdec/core/error.hpp>
#include <specdec/core/model/context_tracker.hpp>
#include <specdec/decode/clock.hpp>
#include <specdec/decode/round_result.hpp>
#include <specdec/decode/session.hpp>
#include <specdec/decode/session_settings.hpp>
#include <specdec/decode/text_stream.hpp>

namespace specdec {

/// Where an output ends. A control token adds no bytes to the output, so no stop string is found in
/// it. A stop string that is the name of a control token is made an end token (end_ids_of).
struct generation_limits {
    /// The most tokens of the output, without the prompt.
    std::size_t max_tokens = 256;
    /// The output ends before the first of these strings. A string that contains the name of a
    /// control token and more is an error.
    std::vector<std::string> stop_strings{};
    /// Whether any control token ends the output.
    bool end_at_control = false;
};

/// Why an output ended.
enum class finish_reason : std::uint8_t {
    none,         ///< the output has not ended
    end_token,    ///< the target emitted an end token, which is committed and adds no text
    stop_string,  ///< a stop string is complete: its tokens are committed, its bytes are not given
    max_tokens,   ///< generation_limits::max_tokens was reached
    context_full, ///< the capacity of the session or of the target was reached
    cancelled,    ///< the listener, or a `cancelled` of the request or of the settings
    failed,       ///< something threw; only decoder::run reports this, a text_run can be continued
};

/// All steps of a text's draft, one behind the other. False: the text has ended.
template <class Text>
[[nodiscard]] bool draft_in_steps(Text& text, std::size_t capacity) {
    if (!text.begin_draft(capacity))
        return false;
    while (text.request_row().goes_on)
        text.draw();
    return true;
}

/// One text on its way: a session with its drafter, stop rule or shape, coin, limits and reader.
/// Drivers of one sequence (generate) and of several (batch) call the same steps:
///
///     while run.draft(target or its capacity)  step 1 of a round; false once the text has ended
///         rows := run.score(target), or of a pass that several texts share  step 2
///         run.decide(rows)                     step 3
///         run.commit()                         step 4: gives the reader what belongs to the text
///
/// Tokens behind an end token, a stop string, the limit or a cancellation are discarded, never
/// committed. Borrows everything but the limits. Precondition: the session has been started.
///
/// A throw loses nothing: every step may be called again. A round that was drafted but not decided
/// keeps its draft, and a draft in which something threw continues after what it has drawn,
/// whatever other texts have done meanwhile: nothing is drawn twice. A decided round stays decided:
/// the next commit() or draft() goes on with it. A reader's function that throws is called again
/// first, with the same arguments; one that returned is never called again for them. So the text is
/// the one without throws if nothing that it shares has changed, and has the target's distribution
/// whatever has, if the coin goes by sites (generator_coin does not) and the reader does nothing
/// with arguments that it throws at. Where the laws of a draft are asked for again (SLRS, merge)
/// and what they read has changed meanwhile, the round is refused, and abandon() says how it goes
/// on. Only a tokenizer that throws leaves a session that has to be started again.
///
/// A round allocates nothing, unless more bytes than ever before are held back for a stop string or
/// a character.
template <class Session, DraftContextHolder D, DraftRuleOf<typename Session::bridge_type> Rule,
          Coin C, TokenizerOf<target_id> Tokenizer, class Reader, Clock Time = no_clock>
class text_run {
public:
    text_run(Session& session, D& drafter, const Rule& rule, C& coin, const Tokenizer& tokenizer,
             const generation_limits& limits, Reader& reader, Time clock = {})
        : session_(session), drafter_(drafter), rule_(rule), coin_(coin), tokenizer_(tokenizer),
          reader_(reader), clock_(clock), left_(limits.max_tokens), stream_(limits.stop_strings) {}
    template <class... Rest>
    text_run(Session& session, D& drafter, const Rule&& gone_before_use, Rest&&...) = delete;
    text_run(Session& session, D& drafter, const Rule& rule, C& coin,
             const Tokenizer&& gone_before_use, const generation_limits& limits, Reader& reader,
             Time clock = {}) = delete;

    [[nodiscard]] Session& session() { return session_; }
    [[nodiscard]] std::span<const target_id> tokens() const { return session_.tokens(); }
    /// Why the text ended; none while it goes on, or while its reader has not been given all of it.
    [[nodiscard]] finish_reason finish() const { return finish_; }

    /// Commits a decided round, and says whether there is another one for a target whose context
    /// holds `capacity` tokens. Throws what the reader throws.
    [[nodiscard]] bool more(std::size_t capacity) {
        commit();
        if (!ends() && (session_.full() || session_.tokens().size() > capacity)) {
            why_ = finish_reason::context_full;
            end();
        }
        return finish_ == finish_reason::none;
    }

    /// Step 1. False: the text has ended. Throws what drafter and reader throw.
    [[nodiscard]] bool draft(std::size_t capacity) { return draft_in_steps(*this, capacity); }
    /// Step 1 in steps, for texts that draft together (draft_in_lockstep). A bridge without steps
    /// drafts in the first.
    [[nodiscard]] bool begin_draft(std::size_t capacity) {
        if (!more(capacity))
            return false;
        session_.begin_draft(drafter_, rule_, coin_,
                             room_within(session_.tokens().size(), capacity, left_), clock_);
        return true;
    }
    [[nodiscard]] draft_step request_row() { return session_.request_row(drafter_, rule_, clock_); }
    /// As session::end_draft, after a step of a draft that threw.
    [[nodiscard]] bool end_draft(no_draft why) { return session_.end_draft(why); }
    void draw(double seconds = 0) { session_.draw(drafter_, rule_, coin_, seconds, clock_); }

    /// Step 1 with a model of the engine. Feeds the prompt first, for drafters that read the
    /// target's features. Throws what the model throws, too.
    template <ScoresDraftsOf<typename Session::bridge_type> Target>
    [[nodiscard]] bool draft(Target& target) {
        if (!more(target.capacity()))
            return false;
        (void)session_.prepare(target, clock_);
        return draft(target.capacity());
    }

    /// Step 2 for drivers of several: what the session says of these.
    template <ContextOf<target_id> Target>
    [[nodiscard]] context_edit<target_id> prepare(Target& target) {
        return session_.prepare(target);
    }
    void target_fed(const context_edit<target_id>& edit, double seconds) {
        session_.target_fed(edit, seconds);
    }
    void target_lost() { session_.target_lost(); }
    /// As session::abandon, of a round that is not decided.
    void abandon() {
        if (phase_ == phase::none)
            session_.abandon();
    }
    /// Step 2 with a model of the engine. Throws what the model throws.
    template <ScoresDraftsOf<typename Session::bridge_type> Target>
    [[nodiscard]] auto score(Target& target) {
        return session_.score(target, clock_);
    }

    /// Step 3. The reader is not called yet. Throws what verify() throws, and specdec::error for
    /// rows longer than the tokenizer's vocabulary. Called again, it decides of the same draft.
    template <RowsOf<target_id> Rows>
    void decide(const Rows& rows) {
        if (rows.vocabulary() > tokenizer_.vocabulary_size())
            fail("text run", "target's rows",
                 "expected at most " + std::to_string(tokenizer_.vocabulary_size()) +
                     " logits, one for each id of the tokenizer, found " +
                     std::to_string(rows.vocabulary()));
        round_ = session_.verify(rows, coin_, clock_);
        phase_ = phase::decided;
        taken_ = 0;
    }

    /// Step 4 of a decided round: gives the reader what it has not had yet, then commits. Does
    /// nothing if no round is decided. Throws what the reader throws.
    void commit() {
        if (phase_ == phase::decided) {
            if (!reader_.round(round_))
                why_ = finish_reason::cancelled;
            phase_ = phase::told;
        }
        if (phase_ == phase::told) {
            give();
            while (taken_ < round_.tokens.size() && !ends())
                push(round_.tokens[taken_], round_.origin(taken_));
            session_.commit(taken_, drafter_);
            left_ -= taken_;
            phase_ = phase::none;
        }
        if (!ends() && left_ == 0)
            why_ = finish_reason::max_tokens;
        if (ends() && finish_ == finish_reason::none)
            end();
    }

    /// Steps 3 and 4.
    template <RowsOf<target_id> Rows>
    void take(const Rows& rows) {
        decide(rows);
        commit();
    }

private:
    enum class phase : std::uint8_t { none, decided, told }; // of the round

    [[nodiscard]] bool ends() const { return why_ != finish_reason::none; }
    void push(target_id token, token_origin origin) {
        if (is_end(session_.settings().end_ids, token))
            why_ = finish_reason::end_token;
        else if (stream_.push(tokenizer_.bytes(token), origin))
            why_ = finish_reason::stop_string;
        ++taken_;
        give();
    }
    /// Ends the text. Held-back bytes are given to the reader, unless it cancelled.
    void end() {
        if (why_ != finish_reason::cancelled)
            stream_.finish();
        give();
        finish_ = why_;
    }
    void give() {
        stream_.give([this](std::string_view bytes, token_origin origin) {
            if (!reader_.bytes(bytes, origin) && !ends())
                why_ = finish_reason::cancelled;
        });
    }

    Session& session_;
    D& drafter_;
    const Rule& rule_;
    C& coin_;
    const Tokenizer& tokenizer_;
    Reader& reader_;
    [[no_unique_address]] Time clock_;
    std::size_t left_; // tokens to the limit
    text_stream stream_;
    round_result round_; // the decided one
    phase phase_ = phase::none;
    std::size_t taken_ = 0;                      // tokens of the round that belong to the text
    finish_reason why_ = finish_reason::none;    // why the text ends
    finish_reason finish_ = finish_reason::none; // the same, once the reader has had all of it
};

} // namespace specdec
