// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <specdec/bridge/context/bridge_traits.hpp>
#include <specdec/bridge/tree/tree_buffers.hpp>
#include <specdec/core/coin.hpp>
#include <specdec/core/drafting.hpp>
#include <specdec/core/proposal.hpp>
#include <specdec/core/rows.hpp>
#include <specdec/draft/no_drafter.hpp>
#include <specdec/sampling/any_distribution.hpp>
#include <specdec/source/any_source.hpp>
#include <specdec/speculation/tree/tree_drafts.hpp>

namespace specdec {

/// A source of draft trees, of any type: a bridge of trees, and the drafter that it asks, which is
/// borrowed. As any_source; the shape is an any_tree_shape.
template <Coin C>
class any_tree_source {
public:
    using law_type = any_distribution<typename number_of_coin<C>::type>;
    /// Whatever its bridge has; of others these do nothing.
    static constexpr bridge_traits traits{
        .drafts_trees = true, .learns_rows = true, .has_own_tree = true};

    /// A bridge that asks this drafter.
    template <class B, DraftContextHolder D>
    any_tree_source(B bridge, D& drafter)
        : self_(std::make_unique<model<B, D&>>(std::move(bridge), drafter)) {}
    /// A bridge that asks none.
    template <class B>
        requires(!std::same_as<B, any_tree_source>)
    explicit any_tree_source(B bridge)
        : self_(std::make_unique<model<B, no_drafter>>(std::move(bridge), no_drafter{})) {}

    void start(std::span<const draft_id> prefix) { self_->start(prefix); }
    void follow(std::span<const target_id> committed) { self_->follow(committed); }
    [[nodiscard]] std::size_t target_size() const { return self_->target_size(); }
    [[nodiscard]] const tree_settings& settings() const { return self_->settings(); }
    [[nodiscard]] draft_tree_view<law_type> propose(auto&, const any_tree_shape& shape, C& coin,
                                                    const tree_request& request) {
        return self_->propose(shape, coin, request);
    }
    [[nodiscard]] bool end_draft(no_draft why, draft_tree_view<law_type>& draft) {
        return self_->end_draft(why, draft);
    }
    void keep(auto&, std::span<const std::size_t> path) { self_->keep(path); }
    [[nodiscard]] kept_draft kept(std::span<const std::size_t> path) { return self_->kept(path); }
    void learn_rows(std::span<const target_id> ids, const logits_rows<target_id>& rows) {
        self_->learn_rows(ids, rows);
    }

private:
    struct interface {
        virtual ~interface() = default;
        virtual void start(std::span<const draft_id> prefix) = 0;
        virtual void follow(std::span<const target_id> committed) = 0;
        [[nodiscard]] virtual std::size_t target_size() const = 0;
        [[nodiscard]] virtual const tree_settings& settings() const = 0;
        virtual draft_tree_view<law_type> propose(const any_tree_shape&, C&,
                                                  const tree_request&) = 0;
        virtual bool end_draft(no_draft why, draft_tree_view<law_type>& draft) = 0;
        virtual void keep(std::span<const std::size_t> path) = 0;
        virtual kept_draft kept(std::span<const std::size_t> path) = 0;
        virtual void learn_rows(std::span<const target_id> ids, const logits_rows<target_id>&) = 0;
    };

    /// D: the drafter, or a reference to it.
    template <class B, class D>
    class model final : public interface {
        static constexpr bridge_traits traits = bridge_traits_of<B>;

    public:
        model(B bridge, D&& drafter)
            : bridge_(std::move(bridge)), drafter_(std::forward<D>(drafter)) {
            proposals_.reserve(bridge_.settings().drafted());
        }

        void start(std::span<const draft_id> prefix) final { bridge_.start(prefix); }
        void follow(std::span<const target_id> committed) final { bridge_.follow(committed); }
        std::size_t target_size() const final { return bridge_.target_size(); }
        const tree_settings& settings() const final { return bridge_.settings(); }
        draft_tree_view<law_type> propose(const any_tree_shape& shape, C& coin,
                                          const tree_request& request) final {
            return shown(bridge_.propose(drafter_, shape, coin, request));
        }
        bool end_draft(no_draft why, draft_tree_view<law_type>& draft) final {
            draft_tree_view<typename B::law_type> own;
            if (!bridge_.end_draft(why, own))
                return false;
            draft = shown(own);
            return true;
        }
        void keep(std::span<const std::size_t> path) final { bridge_.keep(drafter_, path); }
        kept_draft kept(std::span<const std::size_t> path) final {
            if constexpr (traits.has_own_tree)
                return bridge_.kept(path);
            else
                return {tree_, path};
        }
        void learn_rows([[maybe_unused]] std::span<const target_id> ids,
                        [[maybe_unused]] const logits_rows<target_id>& rows) final {
            if constexpr (traits.learns_rows)
                bridge_.learn_rows(ids, rows);
        }

    private:
        draft_tree_view<law_type> shown(const draft_tree_view<typename B::law_type>& draft) {
            unused_coin none;
            proposals_.clear();
            for (const proposal<typename B::law_type>& x : draft.proposals)
                proposals_.push_back(proposal<law_type>::draw(law_type(x), none, {}));
            tree_ = draft.tree;
            return {draft.tree,   proposals_,    draft.draft_tokens, draft.nodes,
                    draft.reason, draft.drafted, draft.passes};
        }

        B bridge_;
        D drafter_;
        const token_tree<target_id>* tree_ = nullptr; // of this round
        std::vector<proposal<law_type>> proposals_;
    };

    std::unique_ptr<interface> self_;
};

} // namespace specdec
