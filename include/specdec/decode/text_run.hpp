// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <specdec/core/concepts.hpp>
#include <specdec/core/drafting.hpp>
#include <specdec/decode/clock.hpp>
#include <specdec/decode/round_result.hpp>
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

/// One text on its way: what belongs to a sequence beside its session. A driver of one sequence
/// (generate) and one of several (batch) do the same with it:
///
///     while run.draft(target's capacity)       step 1 of a round; false once the text has ended
///         rows := the target's, for run.session()                                     step 2
///         run.take(rows)                       steps 3 and 4: commits what belongs to the text
///
/// Tokens behind an end token, a stop string, the limit or a cancellation are discarded, never
/// committed. Everything but the limits is borrowed; the session has been started. A round that
/// was drafted and not taken is as if it had not been. Allocates nothing a round but the bytes
/// that are held back.
template <class Session, Drafter D, StopRule Stop, Coin C, TokenizerOf<target_id> Tokenizer,
          class Reader, Clock Time = no_clock>
class text_run {
public:
    text_run(Session& session, D& drafter, const Stop& stop, C& coin, const Tokenizer& tokenizer,
             const generation_limits& limits, Reader& reader, Time clock = {})
        : session_(session), drafter_(drafter), stop_(stop), coin_(coin), tokenizer_(tokenizer),
          reader_(reader), clock_(clock), left_(limits.max_tokens), stream_(limits.stop_strings) {}
    template <class... Rest>
    text_run(Session& session, D& drafter, const Stop&& gone_before_use, Rest&&...) = delete;

    [[nodiscard]] Session& session() { return session_; }
    /// Why the text ended; nothing while it has not.
    [[nodiscard]] std::optional<finish_reason> finish() const { return finish_; }

    /// Step 1, for a target whose context holds `capacity` tokens. False: the text has ended.
    [[nodiscard]] bool draft(std::size_t capacity) {
        if (!finish_ && left_ == 0)
            end(finish_reason::max_tokens);
        if (!finish_ && (session_.full() || session_.tokens().size() > capacity))
            end(finish_reason::context_full);
        if (finish_)
            return false;
        session_.draft(drafter_, stop_, coin_, session_.room_within(capacity, left_), clock_);
        return true;
    }

    /// Steps 3 and 4. Throws what verify() throws: nothing is then committed, and the round may be
    /// drafted again. Throws what the reader throws: the run is then over.
    void take(const logits_rows<target_id>& rows) {
        const round_result result = session_.verify(rows, coin_, clock_);
        if (!reader_.round(result)) {
            session_.commit(0);
            finish_ = finish_reason::cancelled;
            return;
        }
        std::size_t n = 0; // tokens of the round that belong to the text
        while (n < result.tokens.size() && !finish_) {
            const target_id token = result.tokens[n];
            if (is_end(session_.settings().end_ids, token))
                finish_ = finish_reason::end_token;
            else
                push(tokenizer_.bytes(token), result.origin(n));
            ++n;
        }
        left_ -= n;
        session_.commit(n);
        if (finish_ == finish_reason::end_token)
            end(finish_reason::end_token);
        else if (!finish_ && left_ == 0)
            end(finish_reason::max_tokens);
    }

private:
    void push(std::string_view bytes, token_origin origin) {
        bool cancelled = false;
        if (stream_.push(bytes, origin, sink(cancelled)))
            finish_ = finish_reason::stop_string;
        else if (cancelled)
            finish_ = finish_reason::cancelled;
    }
    /// Gives what was held back.
    void end(finish_reason reason) {
        finish_.reset();        // a reader that throws has not seen the end
        bool cancelled = false; // too late
        stream_.finish(sink(cancelled));
        finish_ = reason;
    }
    auto sink(bool& cancelled) {
        return [this, &cancelled](std::string_view bytes, token_origin origin) {
            if (!reader_.bytes(bytes, origin))
                cancelled = true;
        };
    }

    Session& session_;
    D& drafter_;
    const Stop& stop_;
    C& coin_;
    const Tokenizer& tokenizer_;
    Reader& reader_;
    [[no_unique_address]] Time clock_;
    std::size_t left_; // tokens to the limit
    text_stream stream_;
    std::optional<finish_reason> finish_;
};

} // namespace specdec
