// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>

#include <specdec/core/rows.hpp>
#include <specdec/core/token_id.hpp>
#include <specdec/core/traits.hpp>

namespace specdec {

/// The optional members of a bridge, which it declares:
///
///     static constexpr bridge_traits traits{.learns_rows = true};
///
/// and then has the members that stand here; a bridge that declares nothing has none of them
/// (traits_of).
struct bridge_traits {
    /// Its drafts are trees: it goes with a verifier of trees (tree_round). b.end_draft(why,
    /// draft), after propose() threw: ends the draft as SteppedBridge's does.
    bool drafts_trees = false;
    /// It drafts in steps: see SteppedBridge.
    bool in_steps = false;
    /// b.share_pass(texts), between rounds: how many sequences share the target's passes.
    bool shares_pass = false;
    /// b.learn_rows(ids, rows), after a decision: the target's rows after these tokens, the last
    /// committed one and the proposals. The bridge keeps what they say, and learns it in follow: a
    /// round that is abandoned teaches nothing, and one that is decided again is learnt once. It
    /// throws nothing.
    bool learns_rows = false;
    /// The distributions of a draft ask drafter and stop rule until the round ends.
    /// b.require_unchanged(), before every decision, whatever was drawn: throws specdec::error
    /// where one of their versions has changed since the draft. (A refusal that depends on what was
    /// drawn would itself change the distribution.) b.ask(drafter, stop): these are asked from here
    /// on, where the session was given them once more for a draft that it keeps.
    bool asks_again = false;
    /// b.extra_forwards(): forwards of the drafter that deciding the last round took.
    bool counts_forwards = false;
    /// b.first_row_known(): whether the draft's first row took no forward.
    bool knows_first_row = false;
    /// b.steps(), of a bridge without a drafter: how sure it was of each proposal.
    bool shows_steps = false;
    /// b.kept(path), of a bridge of trees whose drafter's tree is another one than the target's:
    /// what was kept of it.
    bool has_own_tree = false;

    template <class B>
    static consteval bridge_traits found() {
        bridge_traits t;
        t.drafts_trees = requires(const B& b) { b.settings().max_nodes; };
        t.in_steps = requires(B& b) { b.drafted(); };
        t.shares_pass = requires(B& b) { b.share_pass(std::size_t{}); };
        t.learns_rows = requires(B& b, std::span<const target_id> ids,
                                 const logits_rows<target_id>& rows) { b.learn_rows(ids, rows); };
        t.asks_again = requires(const B& b) { b.require_unchanged(); };
        t.counts_forwards = requires(const B& b) { b.extra_forwards(); };
        t.knows_first_row = requires(const B& b) { b.first_row_known(); };
        t.shows_steps = requires(const B& b) { b.steps(); };
        t.has_own_tree = requires(B& b, std::span<const std::size_t> path) { b.kept(path); };
        return t;
    }
    bool operator==(const bridge_traits&) const = default;
    /// The members that either has.
    [[nodiscard]] constexpr bridge_traits operator|(const bridge_traits& b) const {
        return {drafts_trees || b.drafts_trees,       in_steps || b.in_steps,
                shares_pass || b.shares_pass,         learns_rows || b.learns_rows,
                asks_again || b.asks_again,           counts_forwards || b.counts_forwards,
                knows_first_row || b.knows_first_row, shows_steps || b.shows_steps,
                has_own_tree || b.has_own_tree};
    }
};

template <class B>
inline constexpr bridge_traits bridge_traits_of = traits_of<bridge_traits, B>;

/// The members of a bridge that has them; of others nothing, 0 or no.
template <class B>
void share_pass([[maybe_unused]] B& bridge, [[maybe_unused]] std::size_t texts) {
    if constexpr (bridge_traits_of<B>.shares_pass)
        bridge.share_pass(texts);
}
template <class B>
void require_unchanged([[maybe_unused]] const B& bridge) {
    if constexpr (bridge_traits_of<B>.asks_again)
        bridge.require_unchanged();
}
template <class B>
[[nodiscard]] std::size_t extra_forwards_of([[maybe_unused]] const B& bridge) {
    if constexpr (bridge_traits_of<B>.counts_forwards)
        return bridge.extra_forwards();
    else
        return 0;
}

} // namespace specdec
