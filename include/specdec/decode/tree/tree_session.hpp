// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <specdec/bridge/context/bridge_traits.hpp>
#include <specdec/bridge/tree/tree_bridge.hpp>
#include <specdec/core/basic/on_throw.hpp>
#include <specdec/core/model/tree_scoring.hpp>
#include <specdec/core/require.hpp>
#include <specdec/decode/clock.hpp>
#include <specdec/decode/session_settings.hpp>
#include <specdec/decode/statistics.hpp>
#include <specdec/decode/tree/tree_feed.hpp>
#include <specdec/decode/tree/tree_round.hpp>
#include <specdec/process/law_factory.hpp>
#include <specdec/verify/tree/tree_verifier.hpp>

namespace specdec {

/// The state of one sequence whose drafts are trees. One round:
///
///     1. tree of x ~ q    := bridge.propose(drafter, shape)
///     2. p behind all     := rows of one pass of the target over (last committed token, nodes)
///     3. path, next       := verifier(p, tree)
///     4. commit the path and next, or fewer of them; models keep the path's cache
///
/// A path ends with its first end token, after which nothing is drawn. Everything else is as in
/// session, the guarantee, too: with a lossless verifier the committed
/// tokens have the laws of the target's rows, whatever drafter, bridge and shape do. Only commit()
/// changes the state. The laws of a draft are kept from its draws to their decision (tree_bridge).
///
/// settings.max_proposals bounds the depth of a tree, the bridge's settings its nodes. The target
/// scores trees (TreeModelOf); one that does not gets a session. Allocates at construction only.
template <class B, class V, class Laws = softmax_rows>
class tree_session {
    static_assert(bridge_traits_of<B>.drafts_trees, "a bridge of chains goes with session");

public:
    using law_type = typename B::law_type;

    tree_session(B bridge, V verifier, session_settings settings, Laws laws = {})
        : bridge_(std::move(bridge)), verify_(std::move(verifier)), laws_(std::move(laws)),
          settings_(std::move(settings)) {
        set_sampling(settings_.target, settings_.draft);
        const std::size_t nodes = bridge_.settings().max_nodes;
        const std::size_t depth = bridge_.settings().longest_path(settings_.max_proposals);
        tokens_.reserve(settings_.capacity + depth + 1);
        feed_.reserve(settings_.capacity + depth + 1, nodes, depth);
        laws_.reserve(nodes + 1, settings_.capacity + depth + 1);
        log_p_.reserve(settings_.log_probabilities, depth + 1);
        work_.reserve(depth, verify_.rows(depth), bridge_.target_size());
        counts_.reserve(nodes);
    }

    void start(std::span<const target_id> prompt, std::span<const draft_id> draft_prefix = {}) {
        require_beginning(prompt, draft_prefix, settings_.capacity, bridge_);
        tokens_.assign(prompt.begin(), prompt.end());
        committed_ = prompt.size();
        retries_ = 0;
        sampling_ = settings_.target;
        forget_draft();
        feed_.start();
        bridge_.start(draft_prefix);
        bridge_.follow(prompt);
        if constexpr (FollowsText<V>)
            verify_.start(prompt);
    }

    [[nodiscard]] std::span<const target_id> tokens() const { return {tokens_.data(), committed_}; }
    /// Proposals are nodes; evaluated and accepted are counted by the depth in the tree.
    [[nodiscard]] const statistics& counts() const { return counts_; }
    [[nodiscard]] const session_settings& settings() const { return settings_; }
    [[nodiscard]] const B& bridge() const { return bridge_; }
    [[nodiscard]] Laws& laws() { return laws_; }
    void set_sampling(const sampling_parameters& target, const sampling_parameters& draft) {
        validate(target);
        validate(draft);
        settings_.target = target;
        settings_.draft = draft;
    }
    [[nodiscard]] bool full() const { return committed_ >= settings_.capacity; }

    /// As session::share_pass.
    void share_pass(std::size_t texts) { specdec::share_pass(bridge_, texts); }

    /// Step 1: drafts for a round that commits at most `room` tokens and gives the target at most
    /// max_nodes nodes. What is drawn stays, as in session::draft. Precondition: started, not full,
    /// room >= 1. Errors: specdec::error where there is no room for the draft that is kept.
    template <DraftContextHolder D, TreeShape Shape, Coin C, Clock Time = no_clock>
    void draft(D& drafter, const Shape& shape, C& coin, std::size_t room, std::size_t max_nodes,
               Time clock = {}) {
        const time_spent timed(counts_.draft_seconds, clock);
        if (drafted_)
            return keep_draft(max_nodes);
        tried_ = begun_;
        if (!tried_) {
            forget_draft();
            sampling_ = settings_.target;
        }
        const std::size_t most =
            bridge_.settings().longest_path(proposals_within(settings_, committed_, room));
        tree_request request{{name(), most, settings_.draft, settings_.end_ids}, max_nodes};
        request.path.draft_end_ids = settings_.draft_end_ids;
        request.path.again = begun_;
        if constexpr (FollowsText<V>)
            request.path.place = verify_.place();
        begun_ = true; // stays so if anything throws
        draft_ = bridge_.propose(drafter, shape, coin, request);
        begun_ = false;
        drafted_ = true;
        feed_.draft(tokens().back(), draft_.tree);
    }

    /// Step 2, what the engine has to do; it gives the rows of the tree to step 3.
    [[nodiscard]] tree_edit target_edit() const { return feed_.edit(tokens()); }
    [[nodiscard]] std::size_t rows_needed() const { return feed_.size(); }
    /// The engine did the edit, in `seconds` (its share of a common pass). Call it before verify().
    void target_fed(const tree_edit& edit, double seconds = 0) {
        feed_.fed(edit, committed_);
        counts_.target_seconds += seconds;
    }
    /// The engine lost its context, or it holds another sequence's: everything is fed again.
    void target_lost() {
        feed_.lost();
        tried_ = drafted_;
    }
    /// Step 2 with a model, without the last pass, as session::prepare.
    template <TreeModelOf<target_id> Target, Clock Time = no_clock>
    void prepare(Target& target, Time clock = {}) {
        const time_spent timed(counts_.target_seconds, clock);
        feed_.prepare(target, tokens());
    }
    template <TreeModelOf<target_id> Target, Clock Time = no_clock>
    [[nodiscard]] logits_rows<target_id> score(Target& target, Time clock = {}) {
        const time_spent timed(counts_.target_seconds, clock);
        on_throw failed([&] { tried_ = drafted_; });
        feed_.prepare(target, tokens());
        const logits_rows<target_id> rows = feed_.score(target);
        failed.done();
        return rows;
    }

    /// Step 3. rows: [rows_needed(), the bridge's target vocabulary], that behind the last
    /// committed token and those after the nodes. Throws, and decides the same again, as
    /// session::verify.
    template <RowsFor<Laws> Rows, Coin C, Clock Time = no_clock>
    [[nodiscard]] tree_round_result verify(const Rows& rows, C& coin, Time clock = {}) {
        const time_spent timed(counts_.verify_seconds, clock);
        require_undecided(verdict_, "tree session");
        require_ended(begun_, "tree session");
        require_rows(rows, rows_needed(), bridge_.target_size(), "tree session");
        if constexpr (bridge_traits_of<B>.asks_again)
            if (draft_.tree != nullptr) {
                on_throw refused([&] {
                    if (!tried_)
                        abandon();
                });
                bridge_.require_unchanged();
                refused.done();
            }
        drafted_ = tried_ = true; // its numbers are used from here on
        work_.path().clear();
        const token_tree<target_id>& tree = draft_.tree != nullptr ? *draft_.tree : no_tree_;
        const auto text_to = [&](std::size_t node) -> std::span<const target_id> {
            tokens_.resize(committed_ + tree.depth(node));
            tree.path_to(node, std::span(tokens_).subspan(committed_));
            return tokens_;
        };
        const laws_along law_at{
            [&](std::size_t node) { // tree_root + 1 is 0
                return laws_(rows[node + 1], node + 1, text_to(node), sampling_);
            },
            [&](std::size_t node) {
                return node != tree_root && is_end(settings_.end_ids, tree.id(node));
            }};
        verdict_ = {}; // stays so if anything throws
        const verdict v = verify_(law_at, tree, draft_.proposals, coin, name(), work_);
        const std::span<const std::size_t> path = work_.path();
        const auto text = text_to(path.empty() ? tree_root : path.back());
        log_p_.record(path_rows<Rows>{rows, path}, text.subspan(committed_), v.next);
        if constexpr (bridge_traits_of<B>.learns_rows)
            bridge_.learn_rows(target_edit().ids, rows);
        if (v.next.valid())
            tokens_.push_back(v.next);
        verdict_ = v;
        const std::span<const target_id> all = std::span(tokens_).subspan(committed_);
        tree_round_result r{all,          v.accepted,    v.origin,
                            path,         draft_.tree,   draft_.draft_tokens,
                            draft_.nodes, draft_.reason, log_p_.all()};
        r.found = draft_.drafted_of(path);
        r.kept = kept_of(bridge_, draft_, path);
        return r;
    }

    /// Step 4: the first n tokens of the round become part of the sequence, the others are
    /// discarded. What n may depend on, and errors: as session::commit. The models forget the
    /// tree, and are fed again what was committed of it.
    void commit(std::size_t n) {
        require_committable(n);
        counts_.count(verdict_, n, feed_.size() - 1, draft_.draft_tokens.size(), draft_.reason,
                      {draft_.found(), verdict_.accepted - draft_.drafted_of(work_.path())});
        const std::span<const target_id> committed{tokens_.data() + committed_, n};
        bridge_.follow(committed);
        if constexpr (FollowsText<V>)
            verify_.follow(committed);
        committed_ += n;
        retries_ = n > 0 ? 0 : retries_ + 1;
        forget_draft();
    }
    /// The same; target and drafter, if it can, keep what was committed of the tree. If one of them
    /// throws, call it again. Precondition: nobody else used them since the round's pass and draft.
    template <TreeModelOf<target_id> Target, DraftContextHolder D>
    void commit(std::size_t n, Target& target, D& drafter) {
        const std::span<const std::size_t> nodes = nodes_to_keep(n);
        keep_in(drafter, n); // once, whatever throws: tree_buffers::keep
        target.keep_path(nodes);
        commit_kept(n);
    }
    /// The same in parts, for engines that keep the path themselves: keep_path of these nodes of
    /// target_edit(), keep_in(drafter, n) if wanted, then commit_kept(n).
    [[nodiscard]] std::span<const std::size_t> nodes_to_keep(std::size_t n) {
        require_committable(n);
        return feed_.to_keep(work_.path(), n);
    }
    template <DraftContextHolder D>
    void keep_in(D& drafter, std::size_t n) {
        bridge_.keep(drafter, work_.path_of(n < verdict_.accepted ? n : verdict_.accepted));
    }
    void commit_kept(std::size_t n) {
        commit(n);
        feed_.kept(tokens(), n);
    }

    /// As session::abandon.
    void abandon() {
        if (!drafted_ && !begun_)
            return;
        forget_draft();
        ++retries_;
    }

    /// Steps 1 to 3 with a model of the engine. Throws as prepare() and score().
    template <TreeModelOf<target_id> Target, DraftContextHolder D, TreeShape Shape, Coin C,
              Clock Time = no_clock>
    [[nodiscard]] tree_round_result round(Target& target, D& drafter, const Shape& shape, C& coin,
                                          std::size_t room, Time clock = {}) {
        prepare(target, clock);
        const std::size_t capacity = target.capacity();
        draft(drafter, shape, coin, room_within(committed_, capacity, room),
              capacity > committed_ ? capacity - committed_ : 0, clock);
        return verify(score(target, clock), coin, clock);
    }

private:
    [[nodiscard]] round_name name() const { return {committed_, retries_}; }
    void forget_draft() {
        draft_ = {};
        begun_ = drafted_ = tried_ = false;
        verdict_ = {};
        tokens_.resize(committed_);
        if (committed_ > 0)
            feed_.draft(tokens_.back(), nullptr);
        work_.path().clear();
    }
    /// The round is undecided again, with the draft that it has.
    void keep_draft(std::size_t max_nodes) {
        require_room(feed_.size() - 1, max_nodes, "tree session");
        tried_ = true;
        verdict_ = {};
        tokens_.resize(committed_);
        work_.path().clear();
    }
    void require_committable(std::size_t n) const {
        if (!verdict_.decided() || n > verdict_.emitted())
            fail("tree session", "commit", "expected at most the tokens of a verified round");
    }

    B bridge_;
    V verify_;
    Laws laws_;
    session_settings settings_;
    sampling_parameters sampling_; // of the target in this round
    tree_feed feed_;
    std::vector<target_id> tokens_; // committed tokens, then this round's path
    std::size_t committed_ = 0;
    std::uint32_t retries_ = 0; // rounds since the last committed token that were not used
    draft_tree_view<law_type> draft_;
    bool begun_ = false;   // the bridge has a draft of this round, which it has not given
    bool drafted_ = false; // it has, or the round was decided without
    bool tried_ = false;   // something may have failed that depended on what was drawn
    token_tree<target_id> no_tree_;
    tree_workspace work_;
    verdict verdict_;
    log_probability_record log_p_;
    statistics counts_;
};

} // namespace specdec
