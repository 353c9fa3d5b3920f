// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <specdec/bridge/context/bridge.hpp>
#include <specdec/bridge/context/bridge_traits.hpp>
#include <specdec/core/coin.hpp>
#include <specdec/core/concepts.hpp>
#include <specdec/core/law.hpp>
#include <specdec/core/proposal.hpp>
#include <specdec/draft/lookup/lookup_hit_tokens.hpp>
#include <specdec/draft/stop_rule.hpp>
#include <specdec/sampling/any_distribution.hpp>

namespace specdec {

/// A lookup that is asked beside a drafter: what it finds for a text, and the policy that says how
/// much of it is proposed (lookup_turns, lookup_length).
template <TextLookup Lookup, TokenizerOf<target_id> Tokenizer, class Policy>
struct lookup_with {
    lookup_hit_tokens<Lookup, Tokenizer> found;
    Policy policy;
};

/// The distribution of a proposal where a drafter and a lookup propose: any_distribution, whose
/// number is the bridge's or, if the bridge's distribution is of another type, U.
template <class Law, UnitNumber U>
struct either_law {
    using type = any_distribution<U>;
};
template <UnitNumber V, UnitNumber U>
struct either_law<any_distribution<V>, U> {
    using type = any_distribution<V>;
};

/// What lookup_or_draft and lookup_branch have in common: a bridge, beside which a text is looked
/// up, or not. Both are told of each commit, whoever proposed. Proposals of found text are certain.
/// Without a lookup it is the bridge. Borrows the tokenizer. Allocates as B and lookup_hit_tokens.
template <class B, TextLookup Lookup, TokenizerOf<target_id> Tokenizer, class Policy, UnitNumber U>
class lookup_beside {
public:
    using law_type = typename either_law<typename B::law_type, U>::type;
    using lookup_type = lookup_with<Lookup, Tokenizer, Policy>;
    static constexpr bridge_traits traits =
        bridge_traits_of<B> | bridge_traits{.shares_pass = true};

    /// How many texts share the target's passes: between rounds.
    void share_pass(std::size_t texts) {
        specdec::share_pass(bridge_, texts);
        if (lookup_)
            lookup_->policy.share_pass(texts);
    }
    template <class Rows>
    void learn_rows(std::span<const target_id> ids, const Rows& rows)
        requires(bridge_traits_of<B>.learns_rows)
    {
        bridge_.learn_rows(ids, rows);
    }

    /// The bridge beside which is looked up.
    [[nodiscard]] const B& bridge() const { return bridge_; }
    [[nodiscard]] const auto& context() const
        requires requires(const B& b) { b.context(); }
    {
        return bridge_.context();
    }
    [[nodiscard]] std::size_t target_size() const
        requires requires(const B& b) { b.target_size(); }
    {
        return bridge_.target_size();
    }
    [[nodiscard]] std::size_t draft_size() const
        requires requires(const B& b) { b.draft_size(); }
    {
        return bridge_.draft_size();
    }

protected:
    lookup_beside(B bridge, std::optional<lookup_type> lookup)
        : bridge_(std::move(bridge)), lookup_(std::move(lookup)) {}

    void start(std::span<const draft_id> prefix) {
        bridge_.start(prefix);
        if (lookup_)
            lookup_->found.start();
    }
    /// learn(policy, found): called if the text was looked up in this round.
    template <class Learn>
    void follow(std::span<const target_id> committed, const Learn& learn) {
        bridge_.follow(committed);
        if (!lookup_)
            return;
        if (lookup_->found.asked())
            learn(lookup_->policy, lookup_->found);
        lookup_->found.follow(committed);
    }

    [[nodiscard]] std::size_t most_found() const { return lookup_ ? lookup_->found.most() : 0; }
    /// Looks the text up for a round. False: nothing was found, or there is no room.
    [[nodiscard]] bool find(const draft_request& request) {
        certain_.clear();
        certain_.reserve(most_found()); // again, in a copy: the round's proposals view these
        return lookup_ && request.max_proposals > 0 &&
               lookup_->found.find(fixed_length{most_found()});
    }
    [[nodiscard]] std::span<const target_id> found_ids() const {
        return lookup_ ? lookup_->found.ids() : std::span<const target_id>();
    }
    /// A proposal of the bridge as one of the round.
    [[nodiscard]] static proposal<law_type> drawn(const proposal<typename B::law_type>& x) {
        if constexpr (shows_own)
            return x;
        else
            return viewed(x);
    }
    /// A token that was found, as a proposal. At most most_found() in a round.
    [[nodiscard]] proposal<law_type> found(target_id t) {
        certain_.push_back(certain(t));
        return viewed(certain_.back());
    }

    /// Whether the bridge's proposals can be shown as they are.
    static constexpr bool shows_own = std::is_same_v<typename B::law_type, law_type>;

    B bridge_;
    std::optional<lookup_type> lookup_;

private:
    template <class Law>
    [[nodiscard]] static proposal<law_type> viewed(const proposal<Law>& x) {
        unused_coin none;
        return proposal<law_type>::draw(law_type(x), none, {});
    }

    std::vector<proposal<one_hot_law<target_id>>> certain_; // that the round's proposals view
};

} // namespace specdec
