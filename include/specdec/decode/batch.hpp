// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <specdec/core/basic/on_throw.hpp>
#include <specdec/core/concepts.hpp>
#include <specdec/core/error.hpp>
#include <specdec/core/model/best_sequence.hpp>
#include <specdec/core/model/context_tracker.hpp>
#include <specdec/core/model/one_sequence.hpp>
#include <specdec/core/model/tree_scoring.hpp>
#include <specdec/core/require.hpp>
#include <specdec/decode/clock.hpp>
#include <specdec/decode/draft_in_lockstep.hpp>
#include <specdec/decode/statistics.hpp>
#include <specdec/decode/target_feed.hpp>
#include <specdec/decode/text_run.hpp>
#include <specdec/draft/shared_rows.hpp>

namespace specdec {

/// What a text found when it joined a batch.
struct joined_sequence {
    std::size_t sequence = 0; ///< of the target
    /// Tokens of the text that the sequence holds, so that they are not fed again; at most all but
    /// one. 0 for a target that does not tell what it holds.
    std::size_t reused = 0;
};

/// No limit for batch's max_prompt_tokens_per_round.
inline constexpr std::size_t whole_prompts = ~std::size_t{0};

/// Several texts side by side: one pass of the target a round serves all of them, each with its own
/// session, drafter, stop rule, coin and limits (Run: a text_run; or a speculative_text, whose rule
/// is chosen at run time: each may then have its own). Texts join and leave between rounds.
///
///     do
///         while (room() && there are texts left)  join(next)
///     while (round() || there are texts left)
///
/// A text is the same as alone. In distribution, given the target's rows, whatever texts share:
/// all of them decide before any commits, and a text that left with an undecided round joins with
/// the draft that it has. (If an n-gram cache has changed meanwhile, merge refuses that round.) To
/// the bit, if rows do not depend on what else is in the pass and bridges share nothing that
/// learns. Drafts of all
/// texts compete for the pass, so a batch wants shorter drafts than a text alone.
///
/// A target that tells what its sequences hold (TellsHeldBatch, as any_batch_model does) keeps it
/// when a text has left, and a text that joins takes the free sequence that costs least
/// (best_sequence): what both have in front is not fed again. Where target and run have keys, a
/// text takes over a context of its own key only.
///
/// A batch decides which texts draft in a round, and how much (shared_rows): when its passes are
/// full, none does. A run that has these members takes part: run.offer() before any text drafts,
/// what it could draft; run.share_pass(share) then, what it is to expect of the pass (without
/// offer(): how many texts share it); run.passed(shared_pass) after the pass. All is decided before
/// anything is drawn, of offers alone.
///
/// Texts draft together (draft_in_lockstep.hpp) if their drafters' models are sequences of one
/// row_batching_model: as many passes of it a round as the longest draft has steps.
///
/// A long prompt stalls all others while it is fed. With max_prompt_tokens_per_round the batch
/// feeds so many tokens of prompts a round at most, in the order in which texts joined; a text
/// takes part in the pass as soon as all of its prompt is there. Its text is the same, if rows do
/// not depend on how positions are grouped. A run with drafter_reads_at_most(n) is told the same
/// number for its drafter, each for itself: prompts arrive one after the other.
///
/// Borrows target and runs; a run stays where it is until it has left. Allocates at construction
/// only. Thread safety: none; one thread calls the batch, its runs and their decoder.
template <ScoringBatchModelOf<target_id> Target, class Run, Clock Time = no_clock>
class batch {
public:
    /// together: whether texts draft in one pass, where their drafters' model gathers rows.
    /// Errors: specdec::error for pieces of no token, and for pieces where the target does not tell
    /// what its sequences hold.
    explicit batch(Target& target, Time clock = {}, bool together = true,
                   std::size_t max_prompt_tokens_per_round = whole_prompts)
        : target_(target), clock_(std::move(clock)), together_(together),
          most_fed_(max_prompt_tokens_per_round), seats_(target.sequences()), plan_(seats_.size()) {
        require_that(most_fed_ > 0, "batch", "max_prompt_tokens_per_round",
                     "expected at least 1, found 0");
        require_that(tells || most_fed_ == whole_prompts, "batch", "max_prompt_tokens_per_round",
                     "expected a target that tells what its sequences hold: held(s)");
        arriving_.reserve(seats_.size());
        parts_.reserve(seats_.size());
        drafting_.reserve(seats_.size());
        trees_.reserve(seats_.size());
    }

    /// Whether another text can join.
    [[nodiscard]] bool room() const { return texts_ < seats_.size(); }
    /// Whether this text takes part: not once it has left.
    [[nodiscard]] bool holds(const Run& run) const {
        for (const seat& x : seats_)
            if (x.run == &run)
                return true;
        return false;
    }
    /// Texts that have not ended.
    [[nodiscard]] std::size_t texts() const { return texts_; }
    [[nodiscard]] const batch_counts& counts() const { return counts_; }
    /// The text that left because the last round() threw: its own drafter, prompt, processors or
    /// reader did. Null if nothing was thrown, or by what all texts share: none has left then.
    [[nodiscard]] Run* thrower() const { return thrower_; }

    /// The text takes a free sequence of the target. What that does not hold of the prompt is
    /// copied from another sequence that does, if the target can (model_traits::copies_prefix); the
    /// rest is fed in the next round. One that has left may join again and goes on where it stood.
    /// Returns that sequence, and how much of the text it holds. Complexity: linear in the text for
    /// each sequence, and a copy. Throws specdec::error without room(), and for a text that is
    /// there already.
    joined_sequence join(Run& run, left_context left = left_context::reused) {
        if (!room() || holds(run))
            fail("batch", "join",
                 room() ? "expected a sequence that has not joined already"
                        : "expected a free sequence, all " + std::to_string(seats_.size()) +
                              " are taken");
        const std::size_t sequence = sequence_for(run);
        if (!tells || left == left_context::dropped)
            target_.truncate(sequence, 0);
        if constexpr (keyed)
            target_.set_key(sequence, run.key());
        if constexpr (copies)
            if (left == left_context::reused)
                copy_beginning(run, sequence);
        run.target_lost(); // it will see what is held
        if constexpr (requires { run.drafter_reads_at_most(most_fed_); })
            run.drafter_reads_at_most(most_fed_);
        seats_[sequence] = {.run = &run};
        ++texts_;
        if (most_fed_ != whole_prompts)
            arriving_.push_back(sequence);
        const std::size_t held = held_of(run, sequence), most = run.tokens().size() - 1;
        return {sequence, held < most ? held : most};
    }
    /// A text that is there leaves, in between rounds, as one does whose client has gone. It may
    /// join again and goes on where it stood; the target keeps what it was fed. Does nothing for a
    /// text that is not there.
    void leave(const Run& run) {
        for (seat& x : seats_)
            if (x.run == &run)
                return leave(x);
    }

    /// Makes one round of every text. Texts that ended leave, and run.finish() says why. Returns
    /// false if none is left. Throws what models, drafters and readers throw: then undecided texts
    /// keep their drafts for the next round(), and decided ones commit in it. A text whose own
    /// drafter, prompt or reader threw has left (see holds()) without finish(); it loses nothing
    /// and may join again (see text_run).
    /// What throws belongs to thrower(), or to all texts.
    bool round() {
        thrower_ = nullptr;
        commit_all();
        feed_prompts();
        draft_all();
        if (parts_.empty())
            return texts_ > 0; // prompts arrive
        decide_all(score_all());
        commit_all();
        return texts_ > 0;
    }

private:
    static constexpr bool tells = TellsHeldBatch<Target, target_id>;
    static constexpr bool keyed = TakesKeys<Target> && ReportsKey<Run>;
    static constexpr bool copies = tells && traits_of<model_traits, Target>.copies_prefix;

    struct seat {
        Run* run = nullptr;
        context_edit<target_id> edit{};
        double seconds = 0; // that its prompt took, since it was last scored
    };
    struct drafting { // of a text that has begun a draft
        std::size_t sequence = 0;
        Run* run = nullptr;
        draft_step step{};
    };

    /// The free sequence for a text; the first one where the target does not tell what they hold.
    [[nodiscard]] std::size_t sequence_for(const Run& run) const {
        const std::span<const target_id> tokens = run.tokens();
        return best_sequence(
            seats_.size(), [&](std::size_t s) { return seats_[s].run == nullptr; },
            [&]([[maybe_unused]] std::size_t s) {
                if constexpr (tells)
                    return cost_of_reuse<target_id>(target_.held(s), tokens, has_key(s, run));
                else
                    return 0.0;
            },
            [&]([[maybe_unused]] std::size_t s) -> std::uint64_t {
                if constexpr (requires { target_.last_used(s); })
                    return target_.last_used(s);
                else
                    return 0;
            });
    }

    /// Tokens at the beginning of a text that its sequence holds.
    [[nodiscard]] std::size_t held_of([[maybe_unused]] const Run& run,
                                      [[maybe_unused]] std::size_t sequence) const {
        if constexpr (tells)
            return common_prefix<target_id>(target_.held(sequence), run.tokens());
        else
            return 0;
    }

    [[nodiscard]] bool has_key([[maybe_unused]] std::size_t s,
                               [[maybe_unused]] const Run& run) const {
        if constexpr (keyed)
            return target_.key(s) == run.key();
        else
            return true;
    }
    /// Copies the text's beginning from the sequence that holds most of it, another text's perhaps.
    void copy_beginning(const Run& run, std::size_t sequence) {
        std::size_t most = held_of(run, sequence), from = sequence;
        for (std::size_t s = 0; s < seats_.size(); ++s) {
            const std::size_t held = has_key(s, run) ? held_of(run, s) : 0;
            if (held > most) {
                most = held;
                from = s;
            }
        }
        if (from != sequence)
            (void)target_.copy_prefix(sequence, from, most); // else it is fed
    }

    /// Feeds prompts of texts that have joined, as much as a round may, first come, first served.
    void feed_prompts() {
        std::size_t left = most_fed_;
        for (std::size_t i = 0; i < arriving_.size();) {
            const std::size_t s = arriving_[i];
            bool all = false;
            or_leave(seats_[s], [&](seat& x) { all = !goes_on(x) || feed_piece(x, s, left); });
            if (all)
                arriving_.erase(arriving_.begin() + static_cast<std::ptrdiff_t>(i));
            else
                ++i;
        }
    }
    [[nodiscard]] bool goes_on(const seat& x) const { return x.run->more(target_.capacity()); }
    /// Feeds at most `left` tokens, which it takes from there. Returns whether the round can do
    /// with what is still to come: nothing but the token whose row it needs, or no more than is
    /// left. (Then it is fed as other texts' tokens are, before the draft.)
    [[nodiscard]] bool feed_piece(seat& x, std::size_t s, std::size_t& left) {
        const std::span<const target_id> tokens = x.run->tokens();
        const std::size_t held = held_of(*x.run, s);
        const std::size_t missing = tokens.size() - (held < tokens.size() ? held + 1 : held);
        if (missing <= left) {
            left -= missing;
            return true;
        }
        if (left > 0) {
            const double begin = clock_();
            if (target_.size(s) > held)
                target_.truncate(s, held);
            target_.append(s, tokens.subspan(held, left));
            x.seconds += clock_() - begin;
            left = 0;
        }
        return false;
    }

    /// Step 1 of every text; collects the parts of the pass.
    void draft_all() {
        parts_.clear();
        drafting_.clear();
        for (std::size_t s = 0; s < seats_.size(); ++s) {
            if (seats_[s].run == nullptr) {
                if (!tells && target_.size(s) > 0) // the others may share its memory
                    target_.truncate(s, 0);
                continue;
            }
            if (is_arriving(s))
                continue;
            or_leave(seats_[s], [&](seat& x) {
                if (!goes_on(x))
                    return leave(x);
                prepare(x, s); // before the draft, which may read what the target makes of it
                drafting_.push_back({s, x.run});
            });
        }
        share_pass();
        for (const drafting& text : drafting_)
            or_leave(seats_[text.sequence], [&](seat& x) {
                if (!x.run->begin_draft(target_.capacity()))
                    leave(x);
            });
        std::erase_if(drafting_,
                      [&](const drafting& text) { return seats_[text.sequence].run == nullptr; });
        const std::size_t at_once = together_ ? drafting_.size() : 1; // all rounds have begun
        for (std::size_t i = 0; i < drafting_.size(); i += at_once)
            draft_steps_of(std::span(drafting_).subspan(i, at_once));
        for (const drafting& text : drafting_)
            or_leave(seats_[text.sequence], [&](seat& x) {
                prepare(x, text.sequence);
                parts_.push_back(
                    {text.sequence, x.edit.nodes.empty() ? x.edit.append : x.edit.nodes});
            });
    }

    /// Tells each text that is in the round what it is to expect of the pass.
    void share_pass() {
        if constexpr (requires(Run& run) { run.offer(); }) {
            plan_.clear();
            for (const drafting& text : drafting_)
                plan_.add(text.run->offer());
            plan_.decide();
            for (std::size_t i = 0; i < drafting_.size(); ++i)
                drafting_[i].run->share_pass(plan_.share(i));
        } else if constexpr (requires(Run& run) { run.share_pass(std::size_t{}); }) {
            for (const drafting& text : drafting_)
                text.run->share_pass(drafting_.size());
        }
    }

    void draft_steps_of(std::span<drafting> texts) {
        draft_in_lockstep(
            texts,
            [&](const drafting& x, const auto& f) {
                or_leave(seats_[x.sequence], [&](seat&) { f(); });
            },
            clock_);
    }

    void prepare(seat& x, std::size_t sequence) {
        one_sequence<target_id, Target> own(target_, sequence);
        const double begin = clock_();
        x.edit = x.run->prepare(own);
        x.seconds += clock_() - begin;
    }

    /// Step 2 of all texts in one pass. A text's share of the time is its share of the rows.
    auto score_all() {
        const double begin = clock_();
        const auto rows = pass();
        require_rows(rows, count_tokens(parts_), target_.vocabulary_size(), "batch");
        const double seconds = clock_() - begin;
        const double a_row = seconds / static_cast<double>(rows.size());
        counts_.passes += 1;
        counts_.sequences += parts_.size();
        counts_.rows += rows.size();
        for (const auto& [sequence, ids] : parts_) { // all of them, before anything can throw
            seat& x = seats_[sequence];
            x.run->target_fed(x.edit, std::exchange(x.seconds, 0) +
                                          a_row * static_cast<double>(ids.size()));
            if constexpr (requires { x.run->passed(shared_pass{}); })
                x.run->passed({counts_.passes, rows.size(), seconds});
        }
        return rows;
    }

    /// Texts whose drafts are trees have prepared all but the tree.
    auto pass() {
        if constexpr (BatchTreeModelOf<Target, target_id>) {
            trees_.clear();
            bool any = false;
            for (const auto& [sequence, ids] : parts_) {
                trees_.push_back({sequence, ids, seats_[sequence].edit.parents});
                any = any || !trees_.back().parents.empty();
            }
            if (any)
                return logits_rows<target_id>(target_.score_tree(trees_));
        }
        return score_rows<target_id>(target_, std::span<const sequence_tokens<target_id>>(parts_));
    }

    /// Step 3 of every text. All decide before one commits: a cache that they share must not change
    /// between a draft and its decision.
    void decide_all(const auto& rows) {
        std::size_t first = 0;
        for (const auto& [sequence, ids] : parts_) {
            const auto own = rows.middle(first, ids.size());
            first += own.size();
            or_leave(seats_[sequence], [&](seat& x) { x.run->decide(own); });
        }
    }

    /// Step 4 of every decided text, also of those that an earlier round left decided.
    void commit_all() {
        for (seat& x : seats_) {
            if (x.run == nullptr)
                continue;
            or_leave(x, [](seat& y) { y.run->commit(); });
            if (x.run->finish() != finish_reason::none)
                leave(x);
        }
    }

    /// Does `act` to the text; if it throws, the text leaves the batch.
    template <class F>
    void or_leave(seat& x, const F& act) {
        on_throw guard([&] {
            thrower_ = x.run;
            leave(x);
        });
        act(x);
        guard.done();
    }
    void leave(seat& x) {
        x.run = nullptr;
        --texts_;
        const auto sequence = static_cast<std::size_t>(&x - seats_.data());
        for (std::size_t i = 0; i < arriving_.size(); ++i)
            if (arriving_[i] == sequence) {
                arriving_.erase(arriving_.begin() + static_cast<std::ptrdiff_t>(i));
                return;
            }
    }
    [[nodiscard]] bool is_arriving(std::size_t sequence) const {
        for (const std::size_t s : arriving_)
            if (s == sequence)
                return true;
        return false;
    }

    Target& target_;
    [[no_unique_address]] Time clock_;
    bool together_;
    std::size_t most_fed_; // tokens of prompts a round
    std::vector<drafting> drafting_;
    std::vector<seat> seats_;           // [sequences of the target]
    std::vector<std::size_t> arriving_; // whose prompts are fed in pieces, in the order of joining
    Run* thrower_ = nullptr;
    std::size_t texts_ = 0;
    std::vector<sequence_tokens<target_id>> parts_;
    std::vector<sequence_nodes<target_id>> trees_; // the same with their parents
    shared_rows plan_;                             // of the pass
    batch_counts counts_;
};

} // namespace specdec
