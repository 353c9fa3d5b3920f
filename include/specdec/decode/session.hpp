// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits> // std::conditional_t
#include <utility>
#include <vector>

#include <specdec/bridge/context/bridge.hpp>
#include <specdec/bridge/context/bridge_traits.hpp>
#include <specdec/bridge/context/vocabulary_sizes.hpp>
#include <specdec/core/basic/on_throw.hpp>
#include <specdec/core/concepts.hpp>
#include <specdec/core/model/tree_scoring.hpp>
#include <specdec/core/require.hpp>
#include <specdec/decode/chain_round.hpp>
#include <specdec/decode/clock.hpp>
#include <specdec/decode/draft_steps.hpp>
#include <specdec/decode/round_result.hpp>
#include <specdec/decode/session_settings.hpp>
#include <specdec/decode/statistics.hpp>
#include <specdec/decode/tree_round.hpp>
#include <specdec/decode/verified_round.hpp>
#include <specdec/process/law_factory.hpp>
#include <specdec/verify/verdict.hpp>

namespace specdec {

/// A target whose passes score a bridge's drafts: chains, or trees.
template <class M, class B>
concept ScoresDraftsOf = (bridge_traits_of<B>.drafts_trees && TreeModelOf<M, target_id>) ||
                         (!bridge_traits_of<B>.drafts_trees && ScoringModelOf<M, target_id>);

/// The state of one sequence under speculative decoding: drafter x bridge x verifier meet here, and
/// only here, through their concepts. One round:
///
///     1. x_1 .. x_gamma, q := bridge.propose(drafter)
///     2. p_0 .. p_gamma    := rows of one target pass over (last committed token, x_1 .. x_gamma)
///     3. tau, next         := verifier(p, (x, q))
///     4. commit x_1 .. x_tau, next, or fewer of them
///
/// The draft is a chain or, if the bridge says so (bridge_traits::drafts_trees), a tree: then the x
/// are its nodes, one pass gives the row after each, and a path from the root is kept, also by the
/// models. Only chain_round and tree_round know the difference.
///
/// A draft, or a path of a tree, ends after its first end token. After an accepted end token
/// nothing is drawn: the round has no `next`, and no law is asked for there.
///
/// Each step is a function: batch takes it for all its texts at once, round() takes 1 to 3 for one.
/// Only commit() changes the state: a step may be made again, whether it threw or not. A round is
/// drafted once: what was drawn stays, with its laws, until commit() or abandon(), and verify()
/// decides the same of it each time, whatever has changed meanwhile in what sequences share.
/// Guarantee: if the verifier is lossless, the committed tokens have the laws that the law factory
/// makes of the target's rows, whatever drafter, bridge and stop rule or shape do.
/// Sessions may take turns with a target that has held() (see shared_model). With any other, each
/// calls target_lost() before its turn: it takes a context of equal length for its own.
/// settings.max_proposals bounds the depth of a tree, the bridge's settings its nodes.
/// Allocates at construction; in a round nothing (SLRS, merge: once their buffers have grown).
template <class B, class V, class Laws = softmax_rows>
class session {
    static constexpr bool trees = bridge_traits_of<B>.drafts_trees;
    static_assert(
        trees == DecidesTrees<V>,
        "a bridge of trees goes with a verifier of trees, one of chains with one of chains");
    using round_type = std::conditional_t<trees, tree_round<B>, chain_round<B>>;

public:
    using bridge_type = B;
    using law_type = typename B::law_type;

    session(B bridge, V verifier, session_settings settings, Laws laws = {})
        : bridge_(std::move(bridge)), verify_(std::move(verifier)), laws_(std::move(laws)),
          settings_(std::move(settings)), round_(bridge_, verify_, settings_) {
        set_sampling(settings_.target, settings_.draft);
        const std::size_t longest = round_type::longest(bridge_, settings_);
        const std::size_t most = round_type::most(bridge_, settings_);
        tokens_.reserve(settings_.capacity + longest + 1);
        laws_.reserve(most + 1, settings_.capacity + longest + 1);
        log_p_.reserve(settings_.log_probabilities, longest + 1);
        counts_.reserve(most);
    }

    /// Begins a sequence, and the drafter's context with `draft_prefix` (its BOS, or nothing). What
    /// the target's context holds of the prompt is not fed again. Throws specdec::error for a
    /// prompt that is empty, does not fit, or is of another vocabulary.
    void start(std::span<const target_id> prompt, std::span<const draft_id> draft_prefix = {}) {
        require_beginning(prompt, draft_prefix, settings_.capacity, bridge_);
        tokens_.assign(prompt.begin(), prompt.end());
        committed_ = prompt.size();
        retries_ = 0;
        sampling_ = settings_.target;
        forget_draft();
        round_.start();
        bridge_.start(draft_prefix);
        bridge_.follow(prompt);
        if constexpr (FollowsText<V>)
            verify_.start(prompt);
    }

    /// The committed tokens, prompt included.
    [[nodiscard]] std::span<const target_id> tokens() const { return {tokens_.data(), committed_}; }
    /// In trees proposals are nodes; evaluated and accepted are counted by the depth.
    [[nodiscard]] const statistics& counts() const { return counts_; }
    [[nodiscard]] const session_settings& settings() const { return settings_; }
    [[nodiscard]] const B& bridge() const { return bridge_; }
    [[nodiscard]] bool full() const { return committed_ >= settings_.capacity; }
    /// The law factory: to be changed between texts, as processors may depend on the prompt.
    [[nodiscard]] Laws& laws() { return laws_; }
    /// Holds from the next draft on. Errors: as at construction, and nothing changes.
    void set_sampling(const sampling_parameters& target, const sampling_parameters& draft) {
        validate(target);
        validate(draft);
        settings_.target = target;
        settings_.draft = draft;
    }

    /// How many texts share the target's passes, for bridges that go by costs: between rounds.
    void share_pass(std::size_t texts) { specdec::share_pass(bridge_, texts); }

    /// Step 1, for a round of at most `room`, which has room for one token. `rule`, a stop rule or
    /// the shape of trees, is no temporary: verify() may ask it and the drafter again. A round that
    /// is drafted, or decided, keeps its draft; one whose draft threw continues after what it has
    /// drawn. Precondition: started, not full. Errors: specdec::error where there is no room for
    /// the draft that is kept.
    template <DraftContextHolder D, DraftRuleOf<B> Rule, Coin C, Clock Time = no_clock>
    void draft(D& drafter, Rule& rule, C& coin, round_room room, Time clock = {}) {
        const time_spent timed(counts_.draft_seconds, clock);
        begin_draft(drafter, rule, coin, room);
        while (request_row(drafter, rule).goes_on)
            draw(drafter, rule, coin);
    }
    void draft(auto& drafter, const DraftRuleOf<B> auto&& gone_before_use, auto&&...) = delete;

    /// Step 1 in steps, as in draft() (see draft_in_lockstep): until request_row() says that the
    /// draft has ended. `seconds`: its share of a common pass.
    template <DraftContextHolder D, DraftRuleOf<B> Rule, Coin C, Clock Time = no_clock>
    void begin_draft(D& drafter, Rule& rule, C& coin, round_room room, Time clock = {}) {
        const time_spent timed(counts_.draft_seconds, clock);
        draft_request path{name(), proposals_within(settings_, committed_, room.tokens),
                           settings_.draft, settings_.end_ids};
        path.draft_end_ids = settings_.draft_end_ids;
        path.again = steps_.begun();
        if constexpr (FollowsText<V>)
            path.place = verify_.place();
        const auto request = round_type::request(bridge_, path, room);
        if (drafted_)
            return keep_draft(drafter, rule, round_type::room(request));
        tried_ = steps_.begun();
        if (!tried_) {
            forget_draft();
            sampling_ = settings_.target;
        }
        steps_.begin(bridge_, drafter, rule, coin, request);
    }
    void begin_draft(auto& drafter, const DraftRuleOf<B> auto&& gone_before_use,
                     auto&&...) = delete;
    template <DraftContextHolder D, DraftRuleOf<B> Rule, Clock Time = no_clock>
    [[nodiscard]] draft_step request_row(D& drafter, const Rule& rule, Time clock = {}) {
        const time_spent timed(counts_.draft_seconds, clock);
        const draft_step step = steps_.request_row(bridge_, drafter, rule);
        if (!step.goes_on)
            take_draft();
        return step;
    }
    template <DraftContextHolder D, DraftRuleOf<B> Rule, Coin C, Clock Time = no_clock>
    void draw(D& drafter, const Rule& rule, C& coin, double seconds = 0, Time clock = {}) {
        const time_spent timed(counts_.draft_seconds += seconds, clock);
        steps_.draw(bridge_, drafter, rule, coin);
    }

    /// Ends the draft of a round whose step threw, because the drafter cannot go on. What was drawn
    /// stays; if that is nothing, the round has no draft because of `why`. False, and nothing
    /// changes: the draft has ended already, or it can only be continued or abandoned, as what was
    /// drawn depends on how it goes on. The distribution stays the target's, whatever the drafter's
    /// failure depends on: a draft may end after any token that was looked at. Post: if true, the
    /// round is drafted.
    [[nodiscard]] bool end_draft(no_draft why) {
        if (drafted_ || !steps_.cut(bridge_, why))
            return false;
        take_draft();
        return drafted_;
    }
    /// Says why a drafted round has no proposals, in place of what its stop rule said.
    void explain_no_draft(no_draft why) {
        if (drafted_)
            round_.explain(why);
    }

    /// Step 2, what the engine has to do: keep nodes_to_keep(), truncate its context to
    /// `truncate_to`, feed `append` and, of a tree, score `nodes`; the last rows_needed() rows go
    /// to step 3.
    [[nodiscard]] context_edit<target_id> target_edit() const {
        return round_.edit(tokens_, committed_);
    }
    [[nodiscard]] std::size_t rows_needed() const {
        return round_.rows_needed(tokens_, committed_);
    }
    /// What of the last round's tree the target has still to keep, as keep_path; of a chain none.
    [[nodiscard]] std::span<const std::size_t> nodes_to_keep() const {
        return round_.nodes_to_keep();
    }
    /// The engine did the edit, in `seconds` (its share of a common pass). Call it before verify(),
    /// while `edit` still views what was fed.
    void target_fed(const context_edit<target_id>& edit, double seconds = 0) {
        round_.fed(edit, committed_);
        counts_.target_seconds += seconds;
    }
    /// The engine lost its context, or it holds another sequence's: everything is fed again.
    void target_lost() {
        round_.lost();
        tried_ = drafted_;
    }
    /// Step 2 with a model, without the last pass: keeps nodes, truncates, feeds tokens that need
    /// no row (a prompt), returns what is left to be scored. Also before step 1, for drafters that
    /// read features. If the model throws, the session is unchanged.
    template <ContextOf<target_id> Target, Clock Time = no_clock>
    [[nodiscard]] context_edit<target_id> prepare(Target& target, Time clock = {}) {
        const time_spent timed(counts_.target_seconds, clock);
        return round_.prepare(target, tokens_, committed_);
    }
    /// Step 2 with a model: the rows for step 3.
    template <ScoresDraftsOf<B> Target, Clock Time = no_clock>
    [[nodiscard]] auto score(Target& target, Time clock = {}) {
        const time_spent timed(counts_.target_seconds, clock);
        on_throw failed([&] { tried_ = drafted_; });
        const context_edit<target_id> edit = prepare(target);
        const auto rows = round_type::score(target, edit);
        target_fed(edit);
        failed.done();
        return rows;
    }

    /// Step 3. rows: [rows_needed(), the bridge's target vocabulary], from behind the last
    /// committed token on. Throws for others, a decided round, a draft that has not ended, and what
    /// processors throw and a drafter that is asked again: call it again, or draft() before, with
    /// the same coin. Where the laws ask again (SLRS, merge), it throws for a drafter or stop rule
    /// that has changed since the draft, before it looks at anything that was drawn, and the round
    /// is given up as by abandon(). A round of which a step had to be made again is not: its
    /// failure may have depended on what was drawn, which only the caller knows.
    template <RowsFor<Laws> Rows, Coin C, Clock Time = no_clock>
    [[nodiscard]] round_result verify(const Rows& rows, C& coin, Time clock = {}) {
        const time_spent timed(counts_.verify_seconds, clock);
        require_undecided(verdict_, "session");
        require_ended(steps_.begun(), "session");
        require_rows(rows, rows_needed(), target_size_of(bridge_, rows.vocabulary()), "session");
        if constexpr (bridge_traits_of<B>.asks_again)
            if (round_.drew()) {
                on_throw refused([&] {
                    if (!tried_)
                        abandon();
                });
                bridge_.require_unchanged();
                refused.done();
            }
        drafted_ = tried_ = true; // its numbers are used from here on
        const auto law_of = [&](std::size_t i, std::span<const target_id> text) {
            return laws_(rows[i], i, text, sampling_);
        };
        verdict_ = {}; // stays so if anything throws
        const verdict v =
            round_.decide(verify_, law_of, tokens_, committed_, settings_.end_ids, coin, name());
        log_p_.record(round_.kept_rows(rows), round_.kept(tokens_, committed_, v), v.next);
        if constexpr (bridge_traits_of<B>.learns_rows)
            bridge_.learn_rows(round_.scored(tokens_, committed_), rows);
        verdict_ = v;
        tokens_.resize(committed_ + v.accepted);
        if (v.next.valid())
            tokens_.push_back(v.next);
        return round_.result(bridge_, std::span(tokens_).subspan(committed_), v, log_p_.all());
    }

    /// The round as learners see it, between verify(), with the same rows, and commit().
    template <RowsFor<Laws> Rows>
        requires(!trees)
    [[nodiscard]] verified_round<Rows, law_type> verified(const Rows& rows) const {
        return round_of(bridge_, round_.draft(), verdict_, tokens_, committed_, rows, sampling_);
    }

    /// Step 4: the first n tokens of the round become part of the sequence, the others are
    /// discarded. Throws specdec::error for n above the tokens of a verified round. n = 0 wastes
    /// the round: the next one decides anew. n may depend on kept tokens (see design.md).
    void commit(std::size_t n) {
        require_committable(n);
        round_.count(counts_, verdict_, n);
        const std::span<const target_id> committed{tokens_.data() + committed_, n};
        bridge_.follow(committed);
        if constexpr (FollowsText<V>)
            verify_.follow(committed);
        committed_ += n;
        retries_ = n > 0 ? 0 : retries_ + 1;
        round_.commit(tokens(), n);
        forget_draft();
    }
    /// The same; of a tree the drafter keeps what was committed, if it can, and is not fed it
    /// again. If it throws, call this again. Precondition: nobody else used the drafter since the
    /// draft.
    template <DraftContextHolder D>
    void commit(std::size_t n, D& drafter) {
        require_committable(n);
        round_.keep_in(bridge_, drafter, n);
        commit(n);
    }

    /// Gives up a round that is not committed: the next round draws new tokens, under another name.
    /// That keeps the law only if whether you call it does not depend on what the round drew or
    /// decided, nor on a failure that did. No-op where no round is on its way.
    void abandon() {
        if (!drafted_ && !steps_.begun())
            return;
        forget_draft();
        ++retries_;
    }

    /// Steps 1 to 3 with a model of the engine. Throws as prepare().
    template <ScoresDraftsOf<B> Target, DraftContextHolder D, DraftRuleOf<B> Rule, Coin C,
              Clock Time = no_clock>
    [[nodiscard]] round_result round(Target& target, D& drafter, const Rule& rule, C& coin,
                                     std::size_t room, Time clock = {}) {
        (void)prepare(target, clock);
        draft(drafter, rule, coin, room_within(committed_, target.capacity(), room), clock);
        return verify(score(target, clock), coin, clock);
    }

private:
    [[nodiscard]] round_name name() const { return {committed_, retries_}; }
    void forget_draft() {
        steps_.forget();
        drafted_ = tried_ = false;
        verdict_ = {};
        tokens_.resize(committed_);
        round_.forget(tokens_);
    }
    /// The draft is the round's, if it has ended.
    void take_draft() {
        draft_of<B> given;
        if (!steps_.end(bridge_, given))
            return;
        round_.take(given, settings_.end_ids, tokens_);
        drafted_ = true;
    }
    /// The round is undecided again, with the draft that it has.
    template <class D, class Rule>
    void keep_draft([[maybe_unused]] D& drafter, [[maybe_unused]] Rule& rule, std::size_t room) {
        require_room(round_.proposed(), room, "session");
        if constexpr (bridge_traits_of<B>.asks_again)
            if (round_.drew())
                bridge_.ask(drafter, rule);
        tried_ = true;
        verdict_ = {};
        tokens_.resize(committed_);
        round_.put(tokens_);
    }
    void require_committable(std::size_t n) const {
        if (!verdict_.decided() || n > verdict_.emitted())
            fail("session", "commit", "expected at most the tokens of a verified round");
    }

    B bridge_;
    V verify_;
    Laws laws_;
    session_settings settings_;
    sampling_parameters sampling_; // of the target in this round
    round_type round_;
    std::vector<target_id> tokens_; // committed tokens, then this round's
    std::size_t committed_ = 0;
    std::uint32_t retries_ = 0; // rounds since the last committed token that were not used
    draft_steps<B> steps_;
    bool drafted_ = false; // the round has its draft, also an empty one
    bool tried_ = false;   // something may have failed that depended on what was drawn
    verdict verdict_;
    log_probability_record log_p_;
    statistics counts_;
};

} // namespace specdec
