// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <specdec/core/drafting.hpp>
#include <specdec/core/model/context_tracker.hpp>
#include <specdec/core/model/tree_scoring.hpp>
#include <specdec/core/token_id.hpp>
#include <specdec/decode/clock.hpp>
#include <specdec/decode/round_result.hpp>
#include <specdec/decode/session_settings.hpp>
#include <specdec/decode/statistics.hpp>
#include <specdec/decode/tree/tree_session.hpp>
#include <specdec/draft/cost_table.hpp>
#include <specdec/speculation/tree/tree_drafts.hpp>

namespace specdec {

/// A tree_session as text_run drives a session: shape and capacity of the target are its own, the
/// drafter keeps what is committed of a tree at once, the target when the next round is prepared.
template <class B, class V, DraftContextHolder D, class Laws>
class tree_text_session {
public:
    tree_text_session(B bridge, V verifier, const session_settings& settings, Laws laws,
                      const any_tree_shape& shape)
        : session_(std::move(bridge), std::move(verifier), settings, std::move(laws)),
          shape_(shape) {
        kept_.reserve(session_.bridge().settings().max_nodes + 1);
    }

    void start(std::span<const target_id> prompt, std::span<const draft_id> prefix) {
        session_.start(prompt, prefix);
        kept_.clear();
        seen_ = {};
    }
    [[nodiscard]] std::span<const target_id> tokens() const { return session_.tokens(); }
    [[nodiscard]] const statistics& counts() const { return session_.counts(); }
    [[nodiscard]] const session_settings& settings() const { return session_.settings(); }
    [[nodiscard]] const B& bridge() const { return session_.bridge(); }
    [[nodiscard]] bool full() const { return session_.full(); }
    /// Its shape, which has learnt from the rounds so far.
    [[nodiscard]] const any_tree_shape& shape() const { return shape_; }
    /// Levels of the drafter in the last verified round.
    [[nodiscard]] std::size_t levels() const { return levels_; }
    /// As any_tree_shape::follow. Precondition: no round is under way.
    void follow(const cost_table& costs, bool may_draft) { shape_.follow(costs, may_draft); }
    /// How many texts share the target's passes: between rounds.
    void share_pass(std::size_t texts) {
        shape_.share_pass(texts);
        session_.share_pass(texts);
    }
    /// Of the target: nodes take room, too.
    void set_capacity(std::size_t tokens) { capacity_ = tokens; }

    template <StopRule Stop, Coin C, Clock Time>
    void draft(D& drafter, const Stop&, C& coin, std::size_t room, Time clock) {
        drafter_ = &drafter;
        const std::size_t held = tokens().size();
        const std::size_t most = capacity_ > held ? capacity_ - held : 0;
        session_.draft(drafter, shape_, coin, room, most, clock);
    }

    [[nodiscard]] context_edit<target_id> target_edit() const {
        const tree_edit edit = session_.target_edit();
        return {edit.truncate_to, edit.append, edit.ids, edit.parents};
    }
    [[nodiscard]] std::size_t rows_needed() const { return session_.rows_needed(); }
    void target_fed(const context_edit<target_id>& edit, double seconds) {
        session_.target_fed({edit.truncate_to, edit.append, edit.nodes, edit.parents}, seconds);
        fed_ = edit.truncate_to + edit.append.size();
    }
    void target_lost() {
        session_.target_lost();
        kept_.clear();
    }
    template <TreeModelOf<target_id> Target>
    [[nodiscard]] context_edit<target_id> prepare(Target& target) {
        if (!kept_.empty() && !as_fed(target)) // somebody else has used it
            target_lost();
        target.keep_path(kept_); // none: nodes of a round that was given up are forgotten
        kept_.clear();
        session_.prepare(target);
        calls_ = calls_of(target);
        if constexpr (TellsHeld<Target, target_id>)
            seen_ = held_tokens<target_id>(target.held()).look();
        return target_edit();
    }
    void abandon() { session_.abandon(); }
    /// What of the last round's tree the target has still to keep.
    [[nodiscard]] std::span<const std::size_t> nodes_to_keep() const { return kept_; }

    template <class Rows, Coin C, Clock Time>
    [[nodiscard]] round_result verify(const Rows& rows, C& coin, Time clock) {
        const tree_round_result r = session_.verify(rows, coin, clock);
        shape_.learn(r.kept.tree, r.kept.path, r.nodes);
        levels_ = r.kept.tree != nullptr ? r.kept.tree->levels(r.nodes.size()) : 0;
        const auto nodes = r.tree == nullptr ? std::span<const target_id>() : r.tree->ids();
        return {r.tokens, r.accepted,          r.last,  nodes,     r.drafted, {},
                r.reason, r.log_probabilities, r.found, r.accepted};
    }

    void commit(std::size_t n) {
        const std::span<const std::size_t> kept = session_.nodes_to_keep(n);
        if (drafter_ != nullptr)
            session_.keep_in(*drafter_, n);
        kept_.assign(kept.begin(), kept.end());
        session_.commit_kept(n);
    }

private:
    /// How many calls have changed the target's sequence; 0 where it does not count them.
    template <class Target>
    [[nodiscard]] static std::uint64_t calls_of(const Target& target) {
        if constexpr (requires { target.calls(); })
            return target.calls();
        else
            return 0;
    }
    /// Whether it holds what it held after the last pass, and the nodes of that, as far as it
    /// tells: where it counts calls, that pass is the only one since the text prepared it.
    template <class Target>
    [[nodiscard]] bool as_fed(const Target& target) const {
        if (target.size() != fed_)
            return false;
        if constexpr (requires { target.calls(); })
            if (target.calls() != calls_ + 1)
                return false;
        if constexpr (TellsHeld<Target, target_id>) {
            const held_tokens<target_id> held = target.held();
            const std::size_t same = held.unchanged_since(seen_); // it held the text's tokens
            return same + common_prefix<target_id>(held.subspan(same), tokens().subspan(same)) >=
                   fed_;
        }
        return true;
    }

    tree_session<B, V, Laws> session_;
    any_tree_shape shape_;
    std::size_t capacity_ = 0, levels_ = 0;
    D* drafter_ = nullptr;
    std::vector<std::size_t> kept_;
    std::size_t fed_ = 0;     // what the target holds after the last pass, without nodes
    std::uint64_t calls_ = 0; // on its sequence, before that pass
    context_look seen_{};     // of the target, when it was prepared last
};

} // namespace specdec
