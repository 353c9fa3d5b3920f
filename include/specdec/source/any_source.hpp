// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <specdec/bridge/context/bridge.hpp>
#include <specdec/bridge/context/bridge_traits.hpp>
#include <specdec/bridge/context/stepped_bridge.hpp>
#include <specdec/bridge/context/vocabulary_sizes.hpp>
#include <specdec/core/coin.hpp>
#include <specdec/core/draft_step.hpp>
#include <specdec/core/drafting.hpp>
#include <specdec/core/proposal.hpp>
#include <specdec/core/rows.hpp>
#include <specdec/draft/length_rule.hpp>
#include <specdec/draft/no_drafter.hpp>
#include <specdec/sampling/any_distribution.hpp>

namespace specdec {

/// The number by which a coin decides: what its uniform() shows, or a double.
template <Coin C>
struct number_of_coin {
    using type = double;
};
template <Coin C>
    requires UniformCoin<C>
struct number_of_coin<C> {
    using type = decltype(std::declval<C&>().uniform(draw_site{}));
};

/// A source of proposals, of any type: a bridge, and the drafter that it asks, which is borrowed.
/// Models SteppedBridge for a length_rule and a coin of type C, whatever drafter it is given
/// (no_drafter, say): it asks its own. The draft of a bridge without steps is one step. So session,
/// feed and verifiers are compiled once for all rules, at the price of an indirect call a step.
/// Allocates at construction, and where a draft has more proposals than any draft before.
template <Coin C>
class any_source {
public:
    using law_type = any_distribution<typename number_of_coin<C>::type>;
    /// Whatever its bridge has; of others these do nothing.
    static constexpr bridge_traits traits{.in_steps = true,
                                          .shares_pass = true,
                                          .learns_rows = true,
                                          .asks_again = true,
                                          .counts_forwards = true,
                                          .knows_first_row = true,
                                          .shows_steps = true};

    /// A bridge that asks this drafter.
    template <class B, DraftContextHolder D>
        requires Bridge<B, D, length_rule, C>
    any_source(B bridge, D& drafter)
        : self_(std::make_unique<model<B, D&>>(std::move(bridge), drafter)) {}
    /// A bridge that asks none.
    template <class B>
        requires Bridge<B, no_drafter, length_rule, C>
    explicit any_source(B bridge)
        : self_(std::make_unique<model<B, no_drafter>>(std::move(bridge), no_drafter{})) {}

    void start(std::span<const draft_id> prefix) { self_->start(prefix); }
    void follow(std::span<const target_id> committed) { self_->follow(committed); }
    void share_pass(std::size_t texts) { self_->share_pass(texts); }
    [[nodiscard]] draft_view<law_type> propose(auto& drafter, const length_rule& stop, C& coin,
                                               const draft_request& request) {
        return draft_alone(*this, drafter, stop, coin, request);
    }
    [[nodiscard]] no_draft begin(auto&, const length_rule& stop, const draft_request& request) {
        return self_->begin(stop, request);
    }
    [[nodiscard]] draft_step request_row(auto&, const length_rule& stop) {
        return self_->request_row(stop);
    }
    void draw(auto&, const length_rule& stop, C& coin) { self_->draw(stop, coin); }
    [[nodiscard]] draft_view<law_type> drafted() { return self_->drafted(); }
    [[nodiscard]] bool end_draft(no_draft why, draft_view<law_type>& draft) {
        return self_->end_draft(why, draft);
    }
    void learn_rows(std::span<const target_id> ids, const logits_rows<target_id>& rows) {
        self_->learn_rows(ids, rows);
    }
    void ask(auto&, const length_rule& stop) { self_->ask(stop); }
    void require_unchanged() const { self_->require_unchanged(); }

    /// What its bridge declares.
    [[nodiscard]] bridge_traits own_traits() const { return self_->own_traits(); }
    /// The drafter's forwards that verification took, in addition to its draft's (SLRS, merge,
    /// spelling).
    [[nodiscard]] std::size_t extra_forwards() const { return self_->extra_forwards(); }
    /// Whether the draft's first row was known from the last round.
    [[nodiscard]] bool first_row_known() const { return self_->first_row_known(); }
    /// How sure a source without a drafter was of each of its proposals.
    [[nodiscard]] std::span<const draft_progress> steps() const { return self_->steps(); }

private:
    struct interface {
        virtual ~interface() = default;
        virtual void start(std::span<const draft_id> prefix) = 0;
        virtual void follow(std::span<const target_id> committed) = 0;
        virtual void share_pass(std::size_t texts) = 0;
        virtual no_draft begin(const length_rule& stop, const draft_request& request) = 0;
        virtual draft_step request_row(const length_rule& stop) = 0;
        virtual void draw(const length_rule& stop, C& coin) = 0;
        virtual draft_view<law_type> drafted() = 0;
        virtual bool end_draft(no_draft why, draft_view<law_type>& draft) = 0;
        virtual void learn_rows(std::span<const target_id> ids, const logits_rows<target_id>&) = 0;
        virtual void ask(const length_rule& stop) = 0;
        virtual void require_unchanged() const = 0;
        [[nodiscard]] virtual bridge_traits own_traits() const = 0;
        [[nodiscard]] virtual std::size_t extra_forwards() const = 0;
        [[nodiscard]] virtual bool first_row_known() const = 0;
        [[nodiscard]] virtual std::span<const draft_progress> steps() const = 0;
    };

    /// D: the drafter, or a reference to it.
    template <class B, class D>
    class model final : public interface {
        using own_view = draft_view<typename B::law_type>;
        static constexpr bridge_traits traits = bridge_traits_of<B>;
        static_assert(!traits.in_steps ||
                      SteppedBridge<B, std::remove_reference_t<D>, length_rule, C>);

    public:
        model(B bridge, D&& drafter)
            : bridge_(std::move(bridge)), drafter_(std::forward<D>(drafter)) {}

        void start(std::span<const draft_id> prefix) final { bridge_.start(prefix); }
        void follow(std::span<const target_id> committed) final { bridge_.follow(committed); }
        void share_pass(std::size_t texts) final { specdec::share_pass(bridge_, texts); }
        no_draft begin(const length_rule& stop, const draft_request& request) final {
            if constexpr (traits.in_steps) {
                return bridge_.begin(drafter_, stop, request);
            } else { // its whole draft is one step
                request_ = request;
                made_ = false;
                return no_draft::none;
            }
        }
        draft_step request_row(const length_rule& stop) final {
            if constexpr (traits.in_steps)
                return bridge_.request_row(drafter_, stop);
            else
                return {.goes_on = !made_};
        }
        void draw(const length_rule& stop, C& coin) final {
            if constexpr (traits.in_steps) {
                bridge_.draw(drafter_, stop, coin);
            } else {
                own_ = bridge_.propose(drafter_, stop, coin, request_);
                made_ = true;
            }
        }
        draft_view<law_type> drafted() final {
            if constexpr (traits.in_steps)
                return any(bridge_.drafted());
            else
                return any(own_);
        }
        bool end_draft([[maybe_unused]] no_draft why,
                       [[maybe_unused]] draft_view<law_type>& draft) final {
            if constexpr (traits.in_steps) {
                own_view own;
                if (!bridge_.end_draft(why, own))
                    return false;
                draft = any(own);
                return true;
            } else {
                return false;
            }
        }
        void learn_rows([[maybe_unused]] std::span<const target_id> ids,
                        [[maybe_unused]] const logits_rows<target_id>& rows) final {
            if constexpr (traits.learns_rows)
                bridge_.learn_rows(ids, rows);
        }
        void ask([[maybe_unused]] const length_rule& stop) final {
            if constexpr (traits.asks_again)
                bridge_.ask(drafter_, stop);
        }
        void require_unchanged() const final { specdec::require_unchanged(bridge_); }
        bridge_traits own_traits() const final { return traits; }
        std::size_t extra_forwards() const final { return extra_forwards_of(bridge_); }
        bool first_row_known() const final {
            if constexpr (traits.knows_first_row)
                return bridge_.first_row_known();
            else
                return false;
        }
        std::span<const draft_progress> steps() const final {
            if constexpr (traits.shows_steps)
                return bridge_.steps();
            else
                return {};
        }

    private:
        /// Views of the bridge's proposals.
        [[nodiscard]] draft_view<law_type> any(const own_view& draft) {
            unused_coin none;
            proposals_.clear();
            for (const proposal<typename B::law_type>& x : draft.proposals)
                proposals_.push_back(proposal<law_type>::draw(law_type(x), none, {}));
            return {proposals_, draft.draft_tokens, draft.steps, draft.reason, draft.looked_up};
        }

        B bridge_;
        D drafter_;
        // Of a bridge without steps:
        draft_request request_;
        own_view own_;
        bool made_ = false;
        std::vector<proposal<law_type>> proposals_;
    };

    std::unique_ptr<interface> self_;
};

} // namespace specdec
