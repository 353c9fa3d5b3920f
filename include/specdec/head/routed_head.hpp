// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
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

/// What a routed head did: groups / calls is the size of the union of its rows' choices.
struct routed_counts {
    std::uint64_t calls = 0;  ///< of rows or list
    std::uint64_t rows = 0;   ///< made
    std::uint64_t groups = 0; ///< whose head rows were read, once a call each
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
/// Several rows of one call, such as a level of a draft tree, share passes over the head (Appendix
/// F): each group of the union of their choices is multiplied once, with the states that chose it.
/// A row still has its own n groups alone, so that it does not depend on the others.
///
/// Cost of a call: the router for each state, the head rows of the union, and a row filled with
/// -infinity. `copied` stores the rows of each group one behind the other. `gathered` reads the
/// head's own rows, as a stream for groups of neighbouring ids. Models ListingHeadOf<Id>. Borrows
/// head and router. Memory: a few numbers a group, the products, states and choices of `rows` rows,
/// a list, and the copy; a call with more rows allocates. Errors: specdec::error where head, router
/// and groups disagree, and for n = 0 or above N.
template <class Id, LmHeadOf<Id> Head, Router R>
class routed_head {
public:
    using id_type = Id;

    routed_head(Head& head, R& router, token_groups<Id> groups, std::size_t active,
                head_rows from = head_rows::gathered, std::size_t rows = 16)
        : head_(head), router_(router), groups_(std::move(groups)),
          rows_(head, groups_.ids(), from, "routed head"), active_(active), route_(groups_.size()) {
        constexpr const char* source = "routed head";
        require_size<Id>(groups_.vocabulary_size(), head.vocabulary_size(), source, "head");
        require_that(router.groups() == groups_.size(), source, "router",
                     "expected a router of " + std::to_string(groups_.size()) + " groups");
        require_that(router.width() == head.width(), source, "router", "expected the head's width");
        require_that(active >= 1 && active <= groups_.size(), source, "active groups",
                     "expected 1 to " + std::to_string(groups_.size()));
        for (std::size_t g = 0; g < groups_.size(); ++g)
            if (largest_ < groups_[g].size())
                largest_ = groups_[g].size();
        const std::size_t most = active * largest_, all = groups_.ids().size();
        ids_.resize(most < all ? most : all);
        logits_.resize(ids_.size());
        make_room(rows);
    }

    [[nodiscard]] std::size_t vocabulary_size() const { return head_.vocabulary_size(); }
    [[nodiscard]] std::size_t width() const { return head_.width(); }
    [[nodiscard]] law_version version() const { return version_of(head_) + version_of(router_); }
    [[nodiscard]] std::size_t active() const { return active_; }
    [[nodiscard]] const routed_counts& counts() const { return counts_; }

    void rows(const hidden_states& x, scores_out out) {
        list(x, [&](std::size_t i, std::span<const Id> ids, std::span<const float> logits) {
            scatter(logits, ids, out.row(i, vocabulary_size()));
        });
    }

    [[nodiscard]] std::size_t most_listed() const { return ids_.size(); }
    template <class F>
    void list(const hidden_states& x, F&& f) {
        make_room(x.size());
        for (std::size_t i = 0; i < x.size(); ++i)
            choose(x[i], i);
        for (std::size_t g = 0; g < groups_.size(); ++g)
            multiply(x, g);
        ++counts_.calls;
        counts_.rows += x.size();
        for (std::size_t i = 0; i < x.size(); ++i) {
            const std::size_t n = make_list(i);
            f(i, std::span<const Id>(ids_).first(n), std::span<const float>(logits_).first(n));
        }
    }

private:
    using group_id = token_id<struct group_space>;

    void make_room(std::size_t rows) {
        if (rows * active_ <= chosen_.size())
            return;
        chosen_.resize(rows * active_);
        of_chosen_.resize(rows * active_);
        products_.resize(rows * active_ * largest_);
        states_.resize(rows * width());
        together_.resize(rows * largest_);
        takers_.resize(rows);
    }
    /// The likeliest groups of row i, and the logits of the router for them.
    void choose(hidden_state x, std::size_t i) {
        router_.route(x, route_);
        bool finite = true;
        for (const float logit : route_)
            finite = finite && logit > -builtin::infinity && logit < builtin::infinity;
        if (!finite)
            fail("routed head", "router", "expected a finite logit for each group");
        const std::span chosen = std::span(chosen_).subspan(i * active_, active_);
        top_ids(logits_row<group_id>{route_}, chosen);
        for (std::size_t k = 0; k < active_; ++k)
            of_chosen_[i * active_ + k] = route_[chosen[k].index()];
    }
    /// The products of group g for the rows that chose it, in one pass over its head rows.
    void multiply(const hidden_states& x, std::size_t g) {
        const std::size_t size = groups_[g].size();
        std::size_t n = 0; // rows that take it
        for (std::size_t at = 0; at < x.size() * active_; ++at)
            if (chosen_[at].index() == g)
                takers_[n++] = at;
        if (n == 0)
            return;
        ++counts_.groups;
        if (n == 1) // no copy
            return rows_.multiply(x.middle(takers_[0] / active_, 1), groups_.begin_of(g),
                                  groups_[g], {products_of(takers_[0]).data(), size});
        for (std::size_t k = 0; k < n; ++k)
            for (std::size_t j = 0; j < width(); ++j)
                states_[k * width() + j] = x[takers_[k] / active_].values[j];
        rows_.multiply({states_.data(), n, width(), width()}, groups_.begin_of(g), groups_[g],
                       {together_.data(), size});
        for (std::size_t k = 0; k < n; ++k)
            for (std::size_t j = 0; j < size; ++j)
                products_of(takers_[k])[j] = together_[k * size + j];
    }
    [[nodiscard]] std::span<float> products_of(std::size_t at) {
        return std::span(products_).subspan(at * largest_, largest_);
    }

    /// The tokens of row i's groups and their logits; returns how many.
    std::size_t make_list(std::size_t i) {
        std::size_t n = 0;
        const std::span of_chosen = std::span(of_chosen_).subspan(i * active_, active_);
        const double of_all = log_sum(of_chosen);
        for (std::size_t k = 0; k < active_; ++k) {
            const std::size_t at = i * active_ + k;
            const std::span<const Id> ids = groups_[chosen_[at].index()];
            const std::span<float> products = products_of(at).first(ids.size());
            const double log_router = static_cast<double>(of_chosen[k]) - of_all;
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
    std::size_t active_, largest_ = 0; // groups of a row; tokens of the largest group
    std::vector<float> route_;         // [groups]
    std::vector<group_id> chosen_;     // [rows, active]
    std::vector<float> of_chosen_;     // [rows, active] their logits
    std::vector<float> products_;      // [rows, active, largest group]
    std::vector<float> states_;        // [rows, width] of the rows that share a group
    std::vector<float> together_;      // [rows, largest group] their products
    std::vector<std::size_t> takers_;  // [rows] where in chosen_ the group stands
    std::vector<Id> ids_;              // [most listed]
    std::vector<float> logits_;        // [most listed]
    routed_counts counts_;
};

} // namespace specdec
