// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <specdec/core/basic/builtins.hpp>
#include <specdec/core/drafting.hpp>
#include <specdec/core/error.hpp>
#include <specdec/core/require.hpp>
#include <specdec/core/rows.hpp>
#include <specdec/core/token_id.hpp>
#include <specdec/head/head_row_subset.hpp>
#include <specdec/head/lm_head.hpp>
#include <specdec/head/token_groups.hpp>
#include <specdec/sampling/law/draw.hpp>
#include <specdec/sampling/law/row_spread.hpp>

namespace specdec {

/// A router: says how likely each group of tokens is behind a hidden state.
///
///     r.groups()        how many
///     r.width()         numbers of a hidden state
///     r.route(x, out)   out[g] = a finite logit of group g, for one hidden state
///     r.version()          where its answers can change (law_version.hpp)
template <class R>
concept Router = requires(R& r, hidden_state x, std::span<float> out) {
    { r.groups() } -> std::convertible_to<std::size_t>;
    { r.width() } -> std::convertible_to<std::size_t>;
    r.route(x, out);
};

/// Computes only the likeliest n of N groups of an LM head's tokens. Paper: CORAL (Weng et al.
/// 2025), section 3.3, Eq. 7 and 8:
///
///     p(x) = p_router(group of x) p_group(x),    p_router renormalised over the n groups
///
/// p_group is a softmax over the group alone. The row holds log p, to which sampling parameters
/// apply as to any logits. Tokens of other groups, or of none, get -infinity, so groups of a token
/// list make a routed head over a trimmed one. Lossless, as headed_model says.
///
/// Cost of a row: the router, the products of the n groups' head rows, a row filled with -infinity.
/// `copied` stores the rows of each group one behind the other. `gathered` reads the head's own
/// rows, as a stream for groups of neighbouring ids. Models ListingHeadOf<Id>. Borrows head and
/// router. Memory: a few numbers a group and products of the largest one, a list, and the copy.
/// Errors: specdec::error where head, router and groups disagree, and for n = 0 or above N.
template <class Id, LmHeadOf<Id> Head, Router R>
class routed_head {
public:
    using id_type = Id;

    routed_head(Head& head, R& router, token_groups<Id> groups, std::size_t active,
                head_rows from = head_rows::gathered)
        : head_(head), router_(router), groups_(std::move(groups)),
          rows_(head, groups_.ids(), from, "routed head"), route_(groups_.size()), chosen_(active),
          of_chosen_(active) {
        constexpr const char* source = "routed head";
        require_size<Id>(groups_.vocabulary_size(), head.vocabulary_size(), source, "head");
        require_that(router.groups() == groups_.size(), source, "router",
                     "expected a router of " + std::to_string(groups_.size()) + " groups");
        require_that(router.width() == head.width(), source, "router", "expected the head's width");
        require_that(active >= 1 && active <= groups_.size(), source, "active groups",
                     "expected 1 to " + std::to_string(groups_.size()));
        for (std::size_t g = 0; g < groups_.size(); ++g)
            if (products_.size() < groups_[g].size())
                products_.resize(groups_[g].size());
        const std::size_t most = active * products_.size(), all = groups_.ids().size();
        ids_.resize(most < all ? most : all);
        logits_.resize(ids_.size());
    }

    [[nodiscard]] std::size_t vocabulary_size() const { return head_.vocabulary_size(); }
    [[nodiscard]] std::size_t width() const { return head_.width(); }
    [[nodiscard]] law_version version() const { return version_of(head_) + version_of(router_); }
    [[nodiscard]] std::size_t active() const { return chosen_.size(); }

    void rows(const hidden_states& x, scores_out out) {
        list(x, [&](std::size_t i, std::span<const Id> ids, std::span<const float> logits) {
            scatter(logits, ids, out.row(i, vocabulary_size()));
        });
    }

    [[nodiscard]] std::size_t most_listed() const { return ids_.size(); }
    template <class F>
    void list(const hidden_states& x, F&& f) {
        for (std::size_t i = 0; i < x.size(); ++i) {
            const std::size_t n = make_list({x[i].values.data(), 1, x.width(), x.width()});
            f(i, std::span<const Id>(ids_).first(n), std::span<const float>(logits_).first(n));
        }
    }

private:
    using group_id = token_id<struct group_space>;

    /// The tokens of the likeliest groups and their logits; returns how many.
    std::size_t make_list(const hidden_states& x) {
        std::size_t n = 0;
        router_.route(x[0], route_);
        bool finite = true;
        for (const float logit : route_)
            finite = finite && logit > -builtin::infinity && logit < builtin::infinity;
        if (!finite)
            fail("routed head", "router", "expected a finite logit for each group");
        top_ids(logits_row<group_id>{route_}, std::span(chosen_));
        for (std::size_t k = 0; k < active(); ++k)
            of_chosen_[k] = route_[chosen_[k].index()];
        const double of_all = log_sum(of_chosen_);
        for (std::size_t k = 0; k < active(); ++k) {
            const std::size_t g = chosen_[k].index();
            const std::span<const Id> ids = groups_[g];
            const std::span<float> products = std::span(products_).first(ids.size());
            rows_.multiply(x, groups_.begin_of(g), ids, {products.data(), products.size()});
            const double log_router = static_cast<double>(of_chosen_[k]) - of_all;
            const double of_group = log_sum(products);
            for (float& logit : products)
                logit = static_cast<float>(log_router + static_cast<double>(logit) - of_group);
            n = merge(n, ids, products);
        }
        return n;
    }
    /// Merges more tokens into the first n of the list, both ascending. Returns how many there are
    /// now.
    std::size_t merge(std::size_t n, std::span<const Id> ids, std::span<const float> logits) {
        const std::size_t all = n + ids.size();
        for (std::size_t to = all, more = ids.size(); more > 0;) {
            --to;
            if (n > 0 && ids[more - 1] < ids_[n - 1]) {
                --n;
                ids_[to] = ids_[n];
                logits_[to] = logits_[n];
            } else {
                --more;
                ids_[to] = ids[more];
                logits_[to] = logits[more];
            }
        }
        return all;
    }
    [[nodiscard]] static double log_sum(std::span<const float> row) {
        return row_spread(row, row_reading::sureness).log_sum;
    }

    Head& head_;
    R& router_;
    token_groups<Id> groups_;
    head_row_subset<Id, Head> rows_;
    std::vector<float> route_;     // [groups]
    std::vector<group_id> chosen_; // [active]
    std::vector<float> of_chosen_; // [active] their logits
    std::vector<float> products_;  // [largest group]
    std::vector<Id> ids_;          // [most listed]
    std::vector<float> logits_;    // [most listed]
};

} // namespace specdec
