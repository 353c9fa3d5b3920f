// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <specdec/bridge/context/retokenised_context.hpp>
#include <specdec/core/concepts.hpp>
#include <specdec/core/drafting.hpp>
#include <specdec/core/error.hpp>
#include <specdec/core/rows.hpp>
#include <specdec/learn/acceptance/acceptance_sample.hpp>
#include <specdec/sampling/law/parameters.hpp>
#include <specdec/sampling/law/softmax_law.hpp>

namespace specdec {

/// Follows a text round by round and makes an acceptance_sample of it, for bridges that map token
/// for token (identity, TLI).
///
///     recorder.start(prompt, prefix)                                    as the session
///     recorder.follow(rows, sampling, steps, proposed, committed)       every committed round
///     if (recorder.finish(text)) buffer.add(text)                       after the text
///
/// A draft token is left out where the drafter's context became another one later, because its
/// bytes were encoded again with those that follow, and where a round commits less than it
/// verified. A text longer than the window loses its first tokens, and the drafts there.
///
/// Borrows tokenizers and map. Complexity: a law of the target for each verified token; linear in
/// the text. Allocates where a text is longer than any before.
template <TokenizerOf<target_id> TargetTokenizer, TokenizerOf<draft_id> DraftTokenizer>
class acceptance_recorder {
public:
    /// window: the most draft tokens of a sample. Errors: specdec::error for a map of other
    /// vocabularies, and for a window below 8.
    acceptance_recorder(const TargetTokenizer& target, const DraftTokenizer& draft,
                        const id_map& map, std::size_t window = 512)
        : context_(target, draft, map, window), window_(window) {
        if (window < 8)
            fail("acceptance recorder", "window", "expected at least 8 tokens");
    }

    void start(std::span<const target_id> prompt, std::span<const draft_id> prefix = {}) {
        prefix_ = prefix.size();
        rows_.clear();
        context_.start(prefix);
        context_.follow(prompt);
        context_.mark();
    }

    /// A round: its rows, the sampling parameters that made them laws, its draft and what it
    /// committed. proposed[i] is draft token steps[i]; of a round without a draft both are empty.
    /// Errors: specdec::error for fewer rows or proposals than verified tokens.
    template <RowsOf<target_id> Rows>
    void follow(const Rows& rows, const sampling_parameters& sampling,
                std::span<const draft_progress> steps, std::span<const target_id> proposed,
                std::span<const target_id> committed) {
        const std::size_t begin = context_.ids().size();
        const std::size_t kept = common_prefix(proposed, committed);
        // The last committed token is the target's, in place of a proposal or after all of them.
        const std::size_t verified =
            kept < proposed.size() && kept < committed.size() ? kept + 1 : kept;
        if (steps.size() < verified || rows.size() < verified)
            fail("acceptance recorder", "round",
                 "expected a row and a step for each verified token");
        if (begin > 0)
            for (std::size_t i = 0; i < verified; ++i)
                rows_.push_back({begin + i - 1, i + 1, steps[i].token,
                                 make_law(rows[i], sampling).probability(proposed[i])});
        context_.follow(committed);
        const std::span<const draft_id> ids = context_.ids();
        const std::size_t unchanged = context_.unchanged();
        std::size_t same = unchanged < begin ? unchanged : begin; // as when it was drafted behind
        while (same >= begin && same < ids.size() && same - begin < steps.size() &&
               ids[same] == steps[same - begin].token)
            ++same;
        while (!rows_.empty() && rows_.back().behind >= same)
            rows_.pop_back();
        context_.mark();
    }

    /// Writes the text's sample. False: there is nothing to learn from.
    bool finish(acceptance_sample& out) {
        out.clear();
        const std::span<const draft_id> ids = context_.ids();
        const std::size_t cut = ids.size() > window_ ? ids.size() - window_ : 0;
        const auto begin = ids.begin() + static_cast<std::ptrdiff_t>(prefix_);
        out.tokens.assign(ids.begin(), begin);
        out.tokens.insert(out.tokens.end(), begin + static_cast<std::ptrdiff_t>(cut), ids.end());
        for (acceptance_sample::row x : rows_) {
            const bool inside = cut == 0 || x.behind >= prefix_ + cut;
            const bool whole =
                x.drafted == 1 || (!out.rows.empty() && out.rows.back().drafted + 1 == x.drafted);
            if (!inside || !whole)
                continue;
            x.behind -= cut;
            out.rows.push_back(x);
        }
        return !out.rows.empty();
    }

private:
    retokenised_context<TargetTokenizer, DraftTokenizer> context_;
    std::size_t window_, prefix_ = 0;
    std::vector<acceptance_sample::row> rows_;
};

} // namespace specdec
