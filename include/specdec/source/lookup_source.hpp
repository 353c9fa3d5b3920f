// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <specdec/bridge/context/bridge.hpp>
#include <specdec/bridge/context/bridge_traits.hpp>
#include <specdec/core/concepts.hpp>
#include <specdec/core/drafting.hpp>
#include <specdec/core/proposal.hpp>
#include <specdec/draft/lookup/lookup_hit_tokens.hpp>
#include <specdec/draft/lookup/lookup_length.hpp>
#include <specdec/source/known_tokens.hpp>

namespace specdec {

struct lookup_limits {
    std::size_t max_draft = 16; ///< target tokens proposed a round, at most
    /// How much of what is found is proposed; nothing: as much as the stop rule asks for.
    std::optional<lookup_length> length{};
};

/// Drafting without a model: text that was seen before, found by bytes, encoded in the target's
/// vocabulary and proposed as it is.
///
///     t_1 .. t_m     := what was found (lookup_hit_tokens)
///     proposals      := t_1 .. t_n, each from the law with all its mass on it
///
/// It needs no drafter (no_drafter): nothing is drawn, and there are no rows. The stop rule is
/// asked before each token, as always.
///
/// Lossless with every verifier: given what was committed, in this text and in those that share an
/// index, a proposal is certain, and carries that law. An index that another text changes between
/// draft and decision changes nothing about the round; of this text it changes in start and follow
/// only.
///
/// Models Bridge with any drafter. Borrows the tokenizer. Allocates as lookup_hit_tokens.
template <TextLookup Lookup, TokenizerOf<target_id> Tokenizer>
class lookup_source {
public:
    using law_type = one_hot_law<target_id>;
    static constexpr bridge_traits traits{.shares_pass = true, .shows_steps = true};

    lookup_source(Lookup lookup, const Tokenizer& tokenizer, lookup_limits limits = {})
        : found_(std::move(lookup), tokenizer, limits.max_draft), limits_(std::move(limits)) {
        proposals_.reserve(limits_.max_draft);
    }

    void start(std::span<const draft_id>) {
        found_.start();
        forget();
    }
    void follow(std::span<const target_id> committed) {
        if (found_.asked() && limits_.length)
            limits_.length->learn(proposals_.size(), committed.size(), found_.outcome(committed));
        forget();
        found_.follow(committed);
    }

    /// How many texts share the target's passes: between rounds.
    void share_pass(std::size_t texts) {
        if (limits_.length)
            limits_.length->share_pass(texts);
    }

    [[nodiscard]] std::size_t target_size() const { return found_.target_size(); }
    /// What was found for this round, and how sure each of its tokens is.
    [[nodiscard]] std::span<const target_id> found() const { return found_.ids(); }
    [[nodiscard]] std::span<const draft_progress> steps() const { return found_.steps(); }

    template <class D, StopRule Stop, Coin C>
    [[nodiscard]] draft_view<law_type> propose(D&, const Stop& stop, C&,
                                               const draft_request& request) {
        forget();
        if (const no_draft why = refuses_draft(stop, request); why != no_draft::none)
            return draft_view<law_type>::nothing(why);
        if (!found_.find(stop))
            return draft_view<law_type>::nothing(no_draft::nothing_found);
        auto draft = propose_known(found(), steps(), limits_.length, stop, request, proposals_);
        draft.looked_up = proposals_.size();
        return draft;
    }

private:
    void forget() {
        found_.forget();
        proposals_.clear();
    }

    lookup_hit_tokens<Lookup, Tokenizer> found_;
    lookup_limits limits_;
    std::vector<proposal<law_type>> proposals_;
};

} // namespace specdec
