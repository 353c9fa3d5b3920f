// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <specdec/bridge/strings/draft_node.hpp>
#include <specdec/bridge/strings/draft_source.hpp>
#include <specdec/bridge/strings/translation.hpp>
#include <specdec/core/basic/builtins.hpp>
#include <specdec/core/basic/on_throw.hpp>
#include <specdec/core/error.hpp>
#include <specdec/sampling/law/softmax_law.hpp>

namespace specdec {

/// The draft strings of one round whose next-token law is known: the drawn one's and those that a
/// decision made it look at. A node is a draft that goes on.
///
/// A draft ends where step says so, after an end token of the drafter, at max_draft tokens, where
/// its probability falls below `lightest`, and where the stop rule or a row without mass ends it:
/// all of that is a function of the draft alone, so f's law is defined on drafts that were never
/// drawn, and refused once a mark has changed. Memory: 2 |D| floats, |D| + 1 doubles and about 1 KB
/// a node, kept from round to round.
template <Translation F>
class possible_drafts {
public:
    using state_type = typename F::state_type;
    static constexpr std::size_t none = draft_node<state_type>::none;

    /// Contexts and drafts of `capacity` draft tokens are held without allocating.
    possible_drafts(F f, std::size_t capacity) : f_(std::move(f)) { context_.reserve(capacity); }
    [[nodiscard]] F& translation() { return f_; }
    [[nodiscard]] const F& translation() const { return f_; }

    /// A new round. `unchanged`: the context's first ids that are as in the last round. The row
    /// behind the context is there if the last round has looked there with the drafter as it is;
    /// else take_first_row() makes it, before anything else is asked.
    void begin(const draft_source& source, std::span<const draft_id> context, std::size_t unchanged,
               const sampling_parameters& sampling, std::size_t max_draft, double lightest) {
        const std::size_t kept = unchanged < context_size_ ? unchanged : context_size_;
        first_known_ = source.drafter == source_.drafter && marks_.has_drafter_of(source) &&
                       kept == context_size_ && recall(context.subspan(kept));
        source_ = source;
        sampling_ = sampling;
        max_draft_ = max_draft;
        lightest_ = lightest;
        unchanged_ = unchanged < unchanged_ ? unchanged : unchanged_;
        context_.resize(kept);
        context_.insert(context_.end(), context.begin() + static_cast<std::ptrdiff_t>(kept),
                        context.end());
        context_size_ = context.size();
        size_ = 0;
        laws_.clear();
        forwards_ = 0;
        (void)add(none, draft_id{}, {}, 1.0);
        has_first_row_ = false;
        if (first_known_)
            take_first_row();
    }
    /// The round goes on with these, whose marks have to be those of its first row.
    void ask(const draft_source& source) { source_ = source; }
    [[nodiscard]] bool has_first_row() const { return has_first_row_; }
    void take_first_row() {
        first_known_ ? prepare(nodes_[0]) : fetch(0, {});
        marks_ = {source_, f_.version()};
        has_first_row_ = true;
    }
    /// Announces to the drafter the first row, or with d the row of the node behind a step.
    [[nodiscard]] row_batcher* request_row(std::size_t node, draft_id d = {}) {
        path_to(node);
        if (d.valid())
            context_.push_back(d);
        row_batcher* const who = source_.request_row(source_.drafter, context_, unchanged_);
        unchanged_ = context_size_;
        return who;
    }

    void require_unchanged() const { marks_.require_unchanged(source_, f_.version()); }
    /// Forward passes of the drafter in this round.
    [[nodiscard]] std::size_t forwards() const { return forwards_; }
    /// Whether the round's first row was known from the last.
    [[nodiscard]] bool first_row_known() const { return first_known_; }
    [[nodiscard]] const state_type& state(std::size_t node) const { return nodes_[node].state; }
    /// Draft tokens of the node's draft.
    [[nodiscard]] std::size_t depth(std::size_t node) const { return nodes_[node].depth; }
    [[nodiscard]] double mass(std::size_t node) const { return nodes_[node].mass; }
    /// Whether anything may be drawn behind the node.
    [[nodiscard]] bool has_law(std::size_t node) const { return nodes_[node].law != none; }
    /// q of the token behind the node. Pre: has_law(node).
    [[nodiscard]] const softmax_law<draft_id>& law(std::size_t node) const {
        return laws_[nodes_[node].law];
    }
    /// q of the tokens in the range.
    [[nodiscard]] double probability(std::size_t node, order_range range) const {
        if (range.size() == 1)
            return law(node).probability(f_.order().id(range.first));
        const std::vector<double>& sums = nodes_[node].sums;
        return sums[range.last] - sums[range.first];
    }

    /// The draft of `node` goes on with d. False: it ends there, and `state` holds all that it
    /// becomes.
    [[nodiscard]] bool step(std::size_t node, draft_id d, double mass, state_type& state) const {
        state = nodes_[node].state;
        if (f_.step(state, d) && !is_one_of(source_.end_ids, d) &&
            nodes_[node].depth + 1 < max_draft_ && mass >= lightest_ &&
            source_.more(source_.stop, progress_behind(node, d)))
            return true;
        f_.finish(state);
        return false;
    }

    /// How the draft of `node` looks to the stop rule behind d.
    [[nodiscard]] draft_progress progress_behind(std::size_t node, draft_id d) const {
        const draft_node<state_type>& n = nodes_[node];
        const double last = law(node).probability(d);
        const bool read = source_.reads != row_reading::none;
        return source_.behind(source_.stop, n.progress, d, last,
                              read ? n.spread.sureness(n.row[d.index()]) : last, n.spread.entropy);
    }

    /// Whether the node behind the step is there: behind() takes no forward.
    [[nodiscard]] bool knows(std::size_t node, draft_id d) const {
        return child_of(nodes_, node, d) != none;
    }
    [[nodiscard]] std::size_t place(draft_id d) const { return f_.order().place(d, f_.bytes(d)); }

    /// The node behind a step that goes on: found, or made by a drafter forward, which brings the
    /// nodes along `ahead` with it.
    [[nodiscard]] std::size_t behind(std::size_t node, draft_id d, double mass,
                                     const state_type& state,
                                     std::span<const draft_id> ahead = {}) {
        if (const std::size_t known = child_of(nodes_, node, d); known != none)
            return known;
        std::size_t left = // rows it can be asked for
            source_.several ? max_draft_ - nodes_[node].depth - 1 : 0;
        for (std::size_t i = 0; i < left && i < ahead.size(); ++i)
            if (is_one_of(source_.end_ids, ahead[i]))
                left = i; // none after an end token
        const std::size_t made = add(node, d, state, mass);
        on_throw guard([&] { size_ = made; });
        fetch(made, ahead.first(ahead.size() < left ? ahead.size() : left));
        require_unchanged();
        guard.done();
        link(nodes_, made); // not before its row is there: without one, a draft ends
        return made;
    }

private:
    /// Gives the root the row that the last round saw behind these tokens, if it did.
    bool recall(std::span<const draft_id> ids) {
        std::size_t n = size_ > 0 ? 0 : none;
        for (std::size_t i = 0; i < ids.size() && n != none; ++i)
            n = child_of(nodes_, n, ids[i]);
        if (n == none || !has_law(n))
            return false;
        nodes_[0].given.swap(nodes_[n].given);
        return true;
    }

    std::size_t add(std::size_t parent, draft_id d, const state_type& state, double mass) {
        if (size_ == nodes_.size())
            nodes_.emplace_back();
        draft_node<state_type>& n = nodes_[size_];
        n.state = state;
        n.parent = parent;
        n.law = n.child = n.sibling = none;
        n.token = d;
        n.mass = mass;
        n.depth = parent == none ? 0 : nodes_[parent].depth + 1;
        n.progress = parent == none ? draft_progress{} : progress_behind(parent, d);
        return size_++;
    }

    /// One forward pass: the rows of a new node and of those along `ahead` behind it.
    void fetch(std::size_t node, std::span<const draft_id> ahead) {
        path_to(node);
        context_.insert(context_.end(), ahead.begin(), ahead.end());
        ++forwards_;
        bool goes_on = true;
        source_.rows(context_, unchanged_, 1 + ahead.size(), [&](std::size_t i, auto row) {
            if (i > 0 && goes_on)
                goes_on = descend(node, ahead[i - 1]);
            if (goes_on)
                fill(nodes_[node], row);
        });
        unchanged_ = context_size_;
    }

    /// Makes the node behind d, if the draft goes on there and is not known.
    bool descend(std::size_t& node, draft_id d) {
        if (!has_law(node) || child_of(nodes_, node, d) != none)
            return false;
        const double mass = nodes_[node].mass * law(node).probability(d);
        if (!(mass > 0) || !step(node, d, mass, ahead_))
            return false;
        node = add(node, d, ahead_, mass);
        link(nodes_, node);
        return true;
    }

    void fill(draft_node<state_type>& n, logits_row<draft_id> row) {
        if (const std::size_t most = f_.order().size(); row.size() > most)
            fail("bridge", "drafter's row",
                 "expected at most " + std::to_string(most) + " logits, one for each id, found " +
                     std::to_string(row.size()));
        n.given.assign(row.values.begin(), row.values.end());
        prepare(n);
    }

    /// The law of the row given to the node.
    void prepare(draft_node<state_type>& n) {
        const byte_order<draft_id>& order = f_.order();
        n.row.assign(order.size(), -builtin::infinity);
        f_.prepare(n.state, n.given, std::span<float>(n.row).first(n.given.size()));
        n.law = none;
        if (!any_allowed(n.row))
            return;
        laws_.push_back(make_law(logits_row<draft_id>{n.row}, sampling_));
        n.law = laws_.size() - 1;
        n.spread = row_spread(n.row, source_.reads);
        probabilities_.resize(order.size());
        laws_.back().probabilities(0, probabilities_);
        n.sums.assign(order.size() + 1, 0);
        for (std::size_t i = 0; i < order.size(); ++i)
            n.sums[i + 1] = n.sums[i] + probabilities_[order.id(i).index()];
    }

    void path_to(std::size_t node) {
        context_.resize(context_size_);
        append_path(nodes_, node, context_);
    }

    F f_;
    draft_source source_;
    round_marks marks_;
    sampling_parameters sampling_;
    std::size_t max_draft_ = 0;
    double lightest_ = 0;
    std::vector<draft_id> context_; // of the round, then the path of what was asked for last
    std::size_t context_size_ = 0, unchanged_ = 0; // of its first ids since the last forward
    bool first_known_ = false, has_first_row_ = false;
    std::vector<draft_node<state_type>> nodes_; // [0, size_) are this round's
    std::size_t size_ = 0, forwards_ = 0;
    state_type ahead_; // scratch
    std::vector<softmax_law<draft_id>> laws_;
    std::vector<double> probabilities_; // scratch
};

} // namespace specdec
