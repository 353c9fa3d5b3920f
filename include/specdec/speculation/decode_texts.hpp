// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <specdec/core/error.hpp>
#include <specdec/decode/batch.hpp>
#include <specdec/speculation/any/steady_seconds.hpp>
#include <specdec/speculation/sequence_pool.hpp>
#include <specdec/speculation/text.hpp>

namespace specdec {

/// What f gives; errors begin with the place that a text came from, if it is known.
template <class F>
[[nodiscard]] auto at_place([[maybe_unused]] const std::string& where, const F& f) {
#if defined(__cpp_exceptions)
    try {
        return f();
    } catch (const error& problem) {
        if (where.empty())
            throw;
        throw problem.at(where);
    }
#else
    return f();
#endif
}

#if defined(__cpp_exceptions)
/// Notes in a text's result what was thrown, as at_place tells it.
inline void set_failed(decode_result& result, const std::string& where,
                       const std::exception_ptr& thrown) {
    result.finish = finish_reason::failed;
    try {
        at_place(where, [&] { std::rethrow_exception(thrown); });
    } catch (const std::exception& problem) {
        result.error = problem.what();
        result.thrown = std::current_exception();
    } catch (...) {
        result.error = (where.empty() ? "" : where + ": ") + "an exception of no known type";
        result.thrown = thrown;
    }
}
#endif

/// Decodes texts, `most` of them side by side: a sequence whose text has ended takes the next.
/// open(request) begins one. drafts: of their drafter, null without one. What a text's own drafter,
/// prompt, processors or reader throw ends this text; what the common pass throws ends all texts
/// that are under way. The others go on. See decoder::run.
template <class Open>
[[nodiscard]] decode_results decode_texts(any_batch_model<target_id>& target,
                                          const drafter_rows* drafts, std::size_t most,
                                          std::span<const text_request> texts,
                                          const decode_settings& settings, const Open& open) {
    struct seat {
        std::size_t text = 0; // which of the texts
        std::unique_ptr<speculative_text> run;
        double first_seconds = 0; // to its first tokens; 0: it has none
        std::size_t first_tokens = 0;
    };
    const left_context left =
        settings.carry.contexts ? left_context::reused : left_context::dropped;
    decode_results results;
    results.texts.resize(texts.size());
    std::vector<seat> seats(most);
    batch<any_batch_model<target_id>, speculative_text, steady_seconds> together(target, {},
                                                                                 settings.together);
    const auto draft_passes = [&] { return drafts != nullptr ? drafts->passes() : 0; };
    const std::uint64_t before = draft_passes();
    const steady_seconds clock;
    const double begin = clock();
    std::size_t next = 0; // texts that were tried to begin
    const auto end = [&](seat& x) {
        results.texts[x.text] = x.run->result();
        decode_result& result = results.texts[x.text];
        result.seconds = clock() - begin;
        result.time_to_first_token = x.first_seconds;
        result.first_tokens = x.first_tokens;
        together.leave(*x.run);
        x.run.reset();
    };
    const auto begin_text = [&](seat& x) {
        x.run = open(texts[x.text]);
        x.first_seconds = 0;
        x.first_tokens = 0;
        together.join(*x.run, left);
    };
    // Does act(). What it throws ends x's text or, if x is null, the text of the batch that threw
    // it or, if none did, all that are under way.
    const auto attempt = [&]([[maybe_unused]] seat* x, const auto& act) {
#if defined(__cpp_exceptions)
        try {
            act();
        } catch (...) {
            const std::exception_ptr thrown = std::current_exception();
            const auto fails = [&](seat& of) {
                if (of.run)
                    end(of);
                set_failed(results.texts[of.text], texts[of.text].where, thrown);
            };
            if (x != nullptr)
                return fails(*x);
            const speculative_text* const thrower = together.thrower();
            for (seat& of : seats)
                if (of.run && of.run->finish() == finish_reason::none &&
                    (thrower == nullptr || of.run.get() == thrower))
                    fails(of);
        }
#else
        act();
#endif
    };
    const auto take_seats = [&] {
        for (seat& x : seats) {
            if (x.run && x.run->finish() != finish_reason::none)
                end(x);
            while (!x.run && next < texts.size() && !settings.cancelled()) {
                x.text = next++;
                if (!texts[x.text].cancelled()) // else its result is empty and says so
                    attempt(&x, [&] { begin_text(x); });
            }
        }
    };
    const auto note_first_tokens = [&] {
        for (seat& x : seats) {
            if (!x.run || x.first_tokens > 0)
                continue;
            x.first_tokens = x.run->tokens().size() - texts[x.text].prompt.size();
            x.first_seconds = x.first_tokens > 0 ? clock() - begin : 0;
        }
    };
    for (take_seats(); together.texts() > 0; take_seats()) {
        attempt(nullptr, [&] { (void)together.round(); });
        note_first_tokens();
    }
    std::size_t failed = 0;
    for (const decode_result& text : results.texts)
        failed += text.finish == finish_reason::failed ? 1U : 0U;
    if (failed == texts.size()) // there is nothing to return
        results.require_none_failed();
    results.seconds = clock() - begin;
    results.passes = together.counts();
    results.passes.draft_passes = draft_passes() - before;
    return results;
}

} // namespace specdec
