// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <specdec/bridge/strings/possible_drafts.hpp>
#include <specdec/core/basic/heap.hpp>
#include <specdec/core/basic/on_throw.hpp>
#include <specdec/vocab/table/token_strings.hpp>

namespace specdec {

/// Q(t_1 .. t_j) = P[f(d) begins with t_1 .. t_j], d drawn by the drafter: bounds that tighten.
///
///     low  = mass of drafts known to become t_1 .. t_j ...
///     high = low + mass of drafts that are still open: compatible, but not determined
///     refine: looks into the open part of greatest mass (that of the spelling which the drafter's
///             own tokenizer would write counts for more: the drafter's mass is mostly there; what
///             takes a drafter forward counts for less)
///
/// Timor et al. (2025), Theorem 3.2 with t = t_1: psi(t) = Q(t); for f = merge by cache the law
/// that OmniDraft's Eq. 2 approximates. The bounds are ours. Fully refined, low is exact to double
/// rounding. refine() halves a range of tokens by two sums, or follows one token: only that may
/// cost a drafter forward, and none for a draft that the tree knows. Allocates as the buffers grow.
template <Translation F>
class prefix_mass {
    using tree_type = possible_drafts<F>;
    using state_type = typename F::state_type;

public:
    /// Begins with what is known: nothing. `wanted` = before + last.
    void begin(const F& f, std::span<const target_id> before, target_id last) {
        wanted_.assign(before.begin(), before.end());
        wanted_.push_back(last);
        wanted_text_.clear();
        for (const target_id t : wanted_)
            wanted_text_ += f.bytes(t);
        spelling_.clear();
        f.spell(wanted_text_, spelling_);
        know_nothing();
    }

    /// Then bounds, instead of Q, the mass of those drafts of Q that stand before the drawn one,
    /// all of them in an order that does not depend on it: at each node first those that settle
    /// the wanted tokens there, then the token which the drafter's tokenizer would write, then the
    /// others by their bytes. Returns the mass of those that stand where the drawn one does. Pre:
    /// just begun; drawn from the tree, and becomes the wanted tokens. Costs no forward.
    [[nodiscard]] double stop_before(tree_type& tree, std::span<const draft_id> drawn) {
        heap_.clear();
        open_ = 0;
        std::size_t node = 0;
        draft_id first = next_of_spelling(true, 0);
        for (const draft_id d : drawn) {
            if (!tree.has_law(node))
                break; // the draft ended there
            before_.clear();
            double settled = 0;
            bool here = false;
            children(tree, node,
                     children_before{before_, tree, node, tree.place(d), first, settled, here});
            if (here) // what is open at this node stands behind
                return tree.mass(node) * settled;
            low_ += tree.mass(node) * settled;
            for (const order_range range : before_)
                add({tree.mass(node) * tree.probability(node, range), node, range});
            const double mass = tree.mass(node) * tree.law(node).probability(d);
            const bool goes_on = tree.step(node, d, mass, state_);
            if (!goes_on || begins_with(state_.tokens, wanted_))
                return mass;
            node = tree.behind(node, d, mass, state_);
            first = next_of_spelling(d == first, tree.depth(node));
        }
        return tree.mass(node);
    }

    [[nodiscard]] double low() const { return low_; }
    [[nodiscard]] double high() const { return low_ + open_; }
    [[nodiscard]] double open() const { return open_; }
    [[nodiscard]] bool exact() const { return heap_.empty(); }

    /// Tightens the bounds. Pre: !exact().
    void refine(tree_type& tree) {
        const item widest = heap_pop(heap_, lighter);
        open_ -= widest.mass;
        on_throw guard([&] { know_nothing(); }); // parts of it may be in the sums
        if (widest.is_node)
            open_node(tree, widest);
        else if (widest.range.size() == 1)
            follow(tree, widest);
        else
            halve(tree, widest);
        guard.done();
        if (heap_.empty()) {
            open_ = 0;                              // what rounding left
        } else if (!(open_ > counted_ * 0x1p-16)) { // the differences have eaten its digits
            open_ = 0;
            for (const item& i : heap_)
                open_ += i.mass;
            counted_ = open_;
        }
    }

private:
    /// The drafts through a node, or those that follow it with a token of the range.
    struct item {
        double mass;
        std::size_t node;
        order_range range;
        bool is_node = false;
        bool likely = false; ///< on the way that the drafter's tokenizer would take
        bool dear = false;   ///< takes a drafter forward
    };
    static bool lighter(const item& a, const item& b) { return weight(a) < weight(b); }
    static double weight(const item& i) { return i.mass * (!i.dear ? 64 : i.likely ? 8 : 1); }

    /// Of a node's children the mass of those that are settled, `here`: with the one at `at`, and
    /// the open ones that stand before that one.
    struct children_before {
        std::vector<order_range>& before;
        const tree_type& tree;
        std::size_t node, at;
        draft_id first;
        double& settled;
        bool& here;

        void in(order_range range) const {
            settled += tree.probability(node, range);
            here = here || (range.first <= at && at < range.last);
        }
        void open(order_range range) const {
            const std::size_t one = first.valid() ? tree.place(first) : tree_type::none;
            if (one == at)
                return;
            const std::size_t last = range.last < at ? range.last : at;
            if (range.first <= one && one < range.last) {
                add(one, one + 1);
                add(range.first, last < one ? last : one);
                add(one + 1, last);
            } else {
                add(range.first, last);
            }
        }
        void add(std::size_t begin, std::size_t end) const {
            if (begin < end)
                before.push_back({begin, end});
        }
    };

    void know_nothing() { // allocates the first time only
        heap_.assign(1, item{1.0, 0, {}, true, true});
        low_ = 0;
        open_ = counted_ = 1;
    }
    void add(const item& i) {
        if (!(i.mass > 0))
            return;
        open_ = heap_.empty() ? i.mass : open_ + i.mass;
        heap_push(heap_, i, lighter);
    }

    void open_node(tree_type& tree, const item& i) {
        if (!tree.has_law(i.node)) { // the draft ends there
            state_ = tree.state(i.node);
            tree.translation().finish(state_);
            if (begins_with(state_.tokens, wanted_))
                low_ += i.mass;
            return;
        }
        struct {
            prefix_mass& self;
            const tree_type& tree;
            const item& from;
            draft_id next;
            void in(order_range range) const {
                self.low_ += from.mass * tree.probability(from.node, range);
            }
            void open(order_range range) const {
                if (range.empty())
                    return;
                const bool likely =
                    range.size() == 1 && tree.translation().order().id(range.first) == next;
                self.add({from.mass * tree.probability(from.node, range), from.node, range, false,
                          likely});
            }
        } const sink{*this, tree, i, next_of_spelling(i.likely, tree.depth(i.node))};
        children(tree, i.node, sink);
    }

    template <class Sink>
    void children(const tree_type& tree, std::size_t node, const Sink& sink) const {
        const state_type& s = tree.state(node);
        const wanted_tokens wanted{wanted_, wanted_text_};
        if (lacks(s.text))
            tree.translation().within(s, wanted, sink);
        else if (s.text.starts_with(wanted_text_))
            tree.translation().behind(s, wanted, sink);
    }

    /// Whether the text is the wanted text's beginning, and not all of it.
    [[nodiscard]] bool lacks(std::string_view text) const {
        return text.size() < wanted_text_.size() && wanted_text_.starts_with(text);
    }

    [[nodiscard]] draft_id next_of_spelling(bool on_it, std::size_t depth) const {
        return on_it && depth < spelling_.size() ? spelling_[depth] : draft_id{};
    }

    void halve(const tree_type& tree, const item& i) {
        const std::size_t middle = i.range.first + i.range.size() / 2;
        for (const order_range half :
             {order_range{i.range.first, middle}, order_range{middle, i.range.last}})
            add({tree.mass(i.node) * tree.probability(i.node, half), i.node, half});
    }

    void follow(tree_type& tree, const item& i) {
        const draft_id d = tree.translation().order().id(i.range.first);
        const bool goes_on = tree.step(i.node, d, i.mass, state_);
        if (begins_with(state_.tokens, wanted_)) {
            low_ += i.mass;
        } else if (!goes_on || !tree.translation().may_become(state_, wanted_)) {
            return; // it becomes something else
        } else if (!i.dear && !tree.knows(i.node, d)) {
            add({i.mass, i.node, i.range, false, i.likely, true});
        } else {
            ahead_.clear();
            if (lacks(state_.text))
                tree.translation().spell(std::string_view(wanted_text_).substr(state_.text.size()),
                                         ahead_);
            add({i.mass, tree.behind(i.node, d, i.mass, state_, ahead_), {}, true, i.likely});
        }
    }

    std::vector<target_id> wanted_;
    std::string wanted_text_;        // their bytes
    std::vector<draft_id> spelling_; // those, as the drafter's tokenizer writes them
    std::vector<item> heap_;
    state_type state_; // scratch
    std::vector<draft_id> ahead_;
    std::vector<order_range> before_;
    double low_ = 0;
    double open_ = 0;
    double counted_ = 0; // open_ when it was last summed anew
};

} // namespace specdec
