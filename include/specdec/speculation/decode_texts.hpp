// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <specdec/core/error.hpp>
#include <specdec/decode/batch.hpp>
#include <specdec/speculation/any/steady_seconds.hpp>
#include <specdec/speculation/drafter_seats.hpp>
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
        throw error(where + ": " + problem.what());
    }
#else
    return f();
#endif
}

/// Decodes texts, `most` of them side by side: a sequence whose text has ended takes the next.
/// open(request) begins one. drafts: of their drafter, null without one. See decoder::run.
template <class Open>
[[nodiscard]] decode_results decode_texts(any_batch_model<target_id>& target,
                                          const drafter_rows* drafts, std::size_t most,
                                          std::span<const text_request> texts,
                                          const decode_settings& settings, const Open& open) {
    struct seat {
        std::size_t text = 0; // which of the texts
        std::unique_ptr<speculative_text> run;
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
    const auto take_seats = [&] {
        for (seat& x : seats) {
            if (x.run && x.run->finish() != finish_reason::none) {
                results.texts[x.text] = x.run->result();
                results.texts[x.text].seconds = clock() - begin;
                x.run.reset();
            }
            if (x.run || next == texts.size() || settings.cancelled())
                continue;
            x.text = next++;
            x.run = at_place(texts[x.text].where, [&] { return open(texts[x.text]); });
            together.join(*x.run, left);
        }
    };
    const auto decode = [&] {
        do
            take_seats();
        while (together.round() || (next < texts.size() && !settings.cancelled()));
        take_seats();
    };
#if defined(__cpp_exceptions)
    try {
        decode();
    } catch (const error& problem) { // of whose text it was
        for (const seat& x : seats) {
            const bool its =
                x.run && (texts.size() == 1 ||
                          (!together.holds(*x.run) && x.run->finish() == finish_reason::none));
            if (its && !texts[x.text].where.empty())
                throw error(texts[x.text].where + ": " + problem.what());
        }
        throw;
    }
#else
    decode();
#endif
    results.seconds = clock() - begin;
    results.passes = together.counts();
    results.passes.draft_passes = draft_passes() - before;
    return results;
}

} // namespace specdec
