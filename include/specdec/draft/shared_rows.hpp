// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include <specdec/draft/cost_table.hpp>

namespace specdec {

/// What a text could draft in its next round, as far as that is known before anything is drawn. By
/// default nothing.
struct draft_offer {
    static constexpr std::size_t most = 16;

    const cost_table* costs = nullptr; ///< that the text goes by; null: by none
    std::array<double, most> worth{};  ///< [i] target tokens that draft token i + 1 is to give
    std::size_t tokens = 0;            ///< whose worth is known
    double width = 1;                  ///< positions of the target's pass for each
    double begin = 0;                  ///< what a draft costs beside its tokens
    double draft = 0;                  ///< what each costs beside the target's pass
};

/// One text's part of a pass of the target that several share.
struct pass_share {
    /// Nothing is planned: the text expects of all others what it does itself.
    explicit(false) pass_share(std::size_t all = 1) : texts(all > 0 ? all : 1) {}

    std::size_t texts;    ///< in the pass, this one included
    bool planned = false; ///< by shared_rows: the members below are given
    bool drafts = true;   ///< whether the text has draft tokens by the plan
    double others = 0;    ///< positions of the other texts
    double rate = 0;      ///< tokens of all texts a unit of cost

    friend bool operator==(const pass_share&, const pass_share&) = default;
};

/// Which texts that share a pass of the target draft, and how much. Draft tokens compete for the
/// positions of the pass. For every number k of them it takes those that are worth most,
///
///     w_1 >= w_2 >= ..   expected target tokens, less what drafting costs at the rate of no drafts
///     rate(k) := (texts + sum of worths) / (pass(texts + positions) + cost of drafting)
///
/// and the k of the highest rate; 0, so that nobody drafts, unless that is least_gain above
/// rate(0). Each text is told of the rate and of the positions that the others have then, and goes
/// by these as its draft shows how sure it is. All of it depends on committed rounds and costs
/// alone. Every pass over some positions is looked at by itself: where kernels work in blocks, it
/// fills them.
///
///     plan.clear(); plan.add(offer) for each text; plan.decide(); plan.share(i) to text i
///
/// Symbols: a unit of cost as in the table of the first text that has one. Complexity: texts times
/// draft tokens that are worth their drafting. Allocates at construction only.
class shared_rows {
public:
    /// Gains below this may be an error of the costs.
    static constexpr double least_gain = 1.03;

    explicit shared_rows(std::size_t most_texts) { texts_.reserve(most_texts); }

    void clear() { texts_.clear(); }
    void add(const draft_offer& offer) { texts_.push_back({.offer = offer}); }

    void decide() {
        rows_ = static_cast<double>(texts_.size());
        rate_ = 0;
        const cost_table* const costs = costs_of_first();
        if (costs == nullptr)
            return;
        const double plain = rows_ / costs->pass_over(rows_);
        rate_ = plain;
        double rows = rows_, tokens = rows_, drafting = 0, best = least_gain * plain;
        while (text* const t = most_worth(plain)) {
            tokens += t->offer.worth[t->next];
            drafting += t->cost();
            rows += t->offer.width;
            ++t->next;
            if (const double now = tokens / (costs->pass_over(rows) + drafting); now > best) {
                best = rate_ = now;
                rows_ = rows;
                for (text& any : texts_)
                    any.tokens = any.next;
            }
        }
    }

    /// Draft tokens of text i.
    [[nodiscard]] std::size_t tokens(std::size_t i) const { return texts_[i].tokens; }
    /// What text i is told. A text alone is told of no plan.
    [[nodiscard]] pass_share share(std::size_t i) const {
        pass_share out(texts_.size());
        const text& own = texts_[i];
        if (texts_.size() == 1 || own.offer.costs == nullptr)
            return out;
        out.planned = true;
        out.drafts = own.tokens > 0;
        out.others = rows_ - 1 - own.offer.width * static_cast<double>(own.tokens);
        out.rate = rate_;
        return out;
    }

private:
    struct text {
        draft_offer offer{};
        std::size_t next = 0, tokens = 0; // looked at; in the best plan so far

        [[nodiscard]] double cost() const { return offer.draft + (next == 0 ? offer.begin : 0); }
    };

    [[nodiscard]] const cost_table* costs_of_first() const {
        for (const text& t : texts_)
            if (t.offer.costs != nullptr)
                return t.offer.costs;
        return nullptr;
    }
    /// Whose next token is worth most, if any is worth its drafting.
    [[nodiscard]] text* most_worth(double rate) {
        text* best = nullptr;
        double most = 0;
        for (text& t : texts_) {
            if (t.next == t.offer.tokens)
                continue;
            if (const double worth = t.offer.worth[t.next] - rate * t.cost(); worth > most) {
                most = worth;
                best = &t;
            }
        }
        return best;
    }

    std::vector<text> texts_;
    double rows_ = 0, rate_ = 0;
};

} // namespace specdec
