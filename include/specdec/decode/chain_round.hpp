// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <specdec/bridge/context/bridge.hpp>
#include <specdec/core/coin.hpp>
#include <specdec/core/concepts.hpp>
#include <specdec/core/model/context_tracker.hpp>
#include <specdec/core/require.hpp>
#include <specdec/decode/round_result.hpp>
#include <specdec/decode/session_settings.hpp>
#include <specdec/decode/statistics.hpp>
#include <specdec/decode/target_feed.hpp>
#include <specdec/verify/verdict.hpp>

namespace specdec {

/// What of a session's round depends on the form of its draft, of a chain: the proposals follow the
/// committed tokens, the target scores them as they stand, and a prefix of them is kept. tree_round
/// has the same members for trees. `tokens` are always the session's: the `committed` ones, then
/// the round's. Allocates in its constructor.
template <class B>
class chain_round {
public:
    using draft_type = draft_view<typename B::law_type>;

    /// The most proposals of a round, and the most of them that are kept.
    static std::size_t most(const B&, const session_settings& s) { return s.max_proposals; }
    static std::size_t longest(const B& bridge, const session_settings& s) {
        return most(bridge, s);
    }

    template <class V>
    chain_round(const B&, const V&, const session_settings& s) {
        feed_.reserve(s.capacity + s.max_proposals + 1);
        proposed_.reserve(s.max_proposals);
    }

    // The draft.

    /// What the bridge is asked for, and how many proposals that leaves room for.
    [[nodiscard]] static draft_request request(const B&, const draft_request& path, round_room) {
        return path;
    }
    [[nodiscard]] static std::size_t room(const draft_request& request) {
        return request.max_proposals;
    }
    /// Takes the draft that the bridge has made: it is cut after its first end token, if the bridge
    /// has not done it.
    void take(const draft_type& given, std::span<const target_id> end_ids,
              std::vector<target_id>& tokens) {
        draft_ = given;
        std::size_t n = 0;
        for (bool goes_on = true; goes_on && n < given.proposals.size(); ++n)
            goes_on = !is_end(end_ids, given.proposals[n].token());
        draft_.proposals = given.proposals.first(n);
        draft_.looked_up = given.looked_up_of(n);
        for (const auto& x : draft_.proposals)
            if (!x.ends_draft())
                proposed_.push_back(x.token());
        put(tokens);
    }
    /// Writes the proposals that the target has, after the committed tokens.
    void put(std::vector<target_id>& tokens) {
        for (const auto& x : draft_.proposals)
            if (x.token().valid())
                tokens.push_back(x.token());
    }
    void forget(std::span<const target_id> /*committed*/) {
        draft_ = {};
        proposed_.clear();
    }
    [[nodiscard]] const draft_type& draft() const { return draft_; }
    [[nodiscard]] std::size_t proposed() const { return proposed_.size(); }
    /// Whether anything was drawn.
    [[nodiscard]] bool drew() const { return !draft_.proposals.empty(); }
    void explain(no_draft why) {
        if (draft_.reason == no_draft::stop_rule)
            draft_.reason = why;
    }

    // The target's pass.

    void start() { feed_.start(); }
    void lost() { feed_.lost(); }
    [[nodiscard]] context_edit<target_id> edit(std::span<const target_id> tokens,
                                               std::size_t committed) const {
        return feed_.edit(tokens, committed);
    }
    [[nodiscard]] static std::size_t rows_needed(std::span<const target_id> tokens,
                                                 std::size_t committed) {
        return tokens.size() - committed + 1;
    }
    void fed(const context_edit<target_id>& edit, std::size_t committed) {
        feed_.fed(edit, committed);
    }
    template <ContextOf<target_id> Target>
    [[nodiscard]] context_edit<target_id> prepare(Target& target, std::span<const target_id> tokens,
                                                  std::size_t committed) {
        return feed_.prepare(target, tokens, committed);
    }
    template <ScoringModelOf<target_id> Target>
    [[nodiscard]] static auto score(Target& target, const context_edit<target_id>& edit) {
        const auto rows = score_rows<target_id>(target, edit.append);
        require_rows(rows, edit.append.size(), target.vocabulary_size(), "session");
        return rows;
    }

    // The decision.

    /// law_of(i, text): p after a text, made of row i.
    template <class V, class LawOf, Coin C>
    [[nodiscard]] verdict decide(V& verify, const LawOf& law_of, std::vector<target_id>& tokens,
                                 std::size_t committed, std::span<const target_id> end_ids, C& coin,
                                 round_name name) {
        const std::span<const target_id> text = tokens;
        const laws_along law_at{[&](std::size_t i) { return law_of(i, text.first(committed + i)); },
                                [&](std::size_t i) {
                                    return i > 0 && committed + i <= text.size() &&
                                           is_end(end_ids, text[committed + i - 1]);
                                }};
        return verify(law_at, draft_.proposals, coin, name);
    }
    /// The proposals that were kept, and the rows before and after each of them.
    [[nodiscard]] static std::span<const target_id> kept(std::vector<target_id>& tokens,
                                                         std::size_t committed, const verdict& v) {
        return std::span(tokens).subspan(committed, v.accepted);
    }
    template <class Rows>
    [[nodiscard]] static const Rows& kept_rows(const Rows& rows) {
        return rows;
    }
    /// The tokens after which the rows are.
    [[nodiscard]] static std::span<const target_id> scored(std::span<const target_id> tokens,
                                                           std::size_t committed) {
        return tokens.subspan(committed - 1);
    }
    [[nodiscard]] round_result result(B&, std::span<const target_id> round, const verdict& v,
                                      round_log_probabilities log_probabilities) const {
        return {round,        v.accepted,    v.origin,          proposed_, draft_.draft_tokens,
                draft_.steps, draft_.reason, log_probabilities, 0,         draft_.looked_up};
    }

    // The commit.

    void count(statistics& counts, const verdict& v, std::size_t n) const {
        counts.count(v, n, proposed_.size(), draft_.draft_tokens.size(), draft_.reason,
                     {draft_.looked_up, draft_.looked_up_of(v.accepted)});
    }
    /// The drafter keeps nothing: it is synced with the text.
    template <class D>
    void keep_in(B&, D&, std::size_t) {}
    void commit(std::span<const target_id> /*committed*/, std::size_t) {}
    [[nodiscard]] static std::span<const std::size_t> nodes_to_keep() { return {}; }

private:
    target_feed feed_;
    std::vector<target_id> proposed_;
    draft_type draft_;
};

} // namespace specdec
