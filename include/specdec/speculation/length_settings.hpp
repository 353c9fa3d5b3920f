// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include <specdec/core/error.hpp>
#include <specdec/core/tree/token_tree.hpp>
#include <specdec/draft/acceptance_table.hpp>
#include <specdec/draft/any_predictor.hpp>
#include <specdec/draft/cost_table.hpp>
#include <specdec/draft/costs/baseline_schedule.hpp>
#include <specdec/draft/costs/cost_model.hpp>
#include <specdec/draft/costs/drafting_balance.hpp>
#include <specdec/draft/length_rule.hpp>
#include <specdec/draft/lookup/lookup_turns.hpp>
#include <specdec/source/lookup_source.hpp>
#include <specdec/speculation/rule.hpp>
#include <specdec/speculation/tree/tree_drafts.hpp>

namespace specdec {

/// The stop rules by name (docs/use/choosing-a-rule.md): when a draft ends.
enum class length_kind {
    automatic,  ///< where one more token is not expected to give more tokens for the time
    fixed,      ///< after `length` tokens; length 0 turns drafting off
    confidence, ///< after the first token that is less likely than `threshold`
    entropy,    ///< where AdaEDL's bound on the acceptance falls below `threshold`
    heuristic,  ///< after n tokens, as in Transformers: n grows by 2 if all were accepted, else it
                ///< shrinks by 1
    predicted,  ///< where the predicted chance of a rejection exceeds `threshold`, as in SpecDec++
};

inline constexpr std::array<std::string_view, 6> length_names{"auto",    "fixed",     "confidence",
                                                              "entropy", "heuristic", "predicted"};

[[nodiscard]] constexpr std::string_view name(length_kind k) {
    return length_names[static_cast<std::size_t>(k)];
}

/// How long drafts are.
struct length_settings {
    /// The stop rule.
    length_kind kind = length_kind::automatic;
    /// Tokens of a fixed draft; of the other kinds the most tokens of a draft. 0: no drafts. Rules
    /// of which by_target_tokens() holds count target tokens, the others draft tokens.
    std::size_t length = 8;
    /// The threshold of the kinds `confidence`, `entropy` and `predicted`; the others ignore it.
    double threshold = 0.4;
    /// The costs that automatic lengths use; they then depend on no clock. None: costs are measured
    /// once, and corrected by the time that rounds take.
    std::optional<cost_table> costs{};
    /// The predictor that automatic and predicted lengths use, such as an acceptance_head. It is
    /// borrowed, and learns from the requests that use it. Null: an acceptance_table for each kind
    /// of requests (reuse_settings::lengths).
    any_predictor* predictor = nullptr;
};

/// Errors: specdec::error that names the setting, of those that the kind reads.
inline void validate(const length_settings& s) {
    if (static_cast<std::size_t>(s.kind) >= length_names.size())
        fail("lengths", "kind", "expected a length_kind");
    if (s.costs)
        validate(*s.costs);
    if (s.length > most_draft_tokens)
        fail("lengths", "length", "expected at most " + std::to_string(most_draft_tokens));
    const bool reads_threshold = s.kind == length_kind::confidence ||
                                 s.kind == length_kind::entropy || s.kind == length_kind::predicted;
    if (reads_threshold && !(s.threshold >= 0 && s.threshold <= 1))
        fail("lengths", "threshold", "expected a number from 0 to 1");
}

/// The most target tokens that rule `lookup` proposes: of automatic lengths twice as many as those
/// of other rules, since looking up costs nothing.
[[nodiscard]] constexpr std::size_t longest_lookup(const length_settings& s) {
    return s.kind == length_kind::automatic ? 2 * s.length : s.length;
}

/// What texts of one kind (learned_by_settings::key) teach about lengths, from text to text.
struct learned_lengths {
    acceptance_table table{};
    acceptance_table found{};             ///< of what is looked up beside a drafter
    drafter_ahead ahead{};                ///< of a drafter's rounds where a grammar forces text
    cost_model costs{};                   ///< that automatic lengths go by
    bool follows = false;                 ///< these follow the rounds
    drafting_balance balance{};           ///< of the rounds so far, where they do
    baseline_schedule plain{};            ///< of trees: the stop rules have their own
    std::uint64_t pass = 0;               ///< that a text told of last, of those that texts share
    any_predictor* predictor = nullptr;   ///< that `last` goes by, instead of the table
    std::optional<length_rule> last{};    ///< the stop rule of the text that ended last, which has
                                          ///< to be told which table to ask
    std::optional<any_tree_shape> tree{}; ///< the same of texts whose drafts are trees

    /// Other costs than before: what was learnt by those is gone.
    void go_by(const cost_table& now, bool measured) {
        costs = cost_model(now);
        follows = measured;
        balance = {};
        plain = {};
        last.reset();
        tree.reset();
    }
};

/// Before any text, of rules that usually keep this share of first draft tokens.
[[nodiscard]] inline std::shared_ptr<learned_lengths> learnt_nothing(double default_acceptance) {
    return std::make_shared<learned_lengths>(
        learned_lengths{.table = acceptance_table(default_acceptance)});
}

/// What texts have taught, by what those that teach each other have in common. At most `most` kinds
/// of texts: of more, that is forgotten which was asked for longest ago.
class learned_by_settings {
public:
    using key = std::tuple<rule, float, length_kind, std::size_t, bool, bool, bool>;
    static constexpr std::size_t most = 64;

    /// Null: nothing yet. It stays where it is until the next call.
    [[nodiscard]] std::shared_ptr<learned_lengths>& of(const key& k) {
        if (all_.size() >= most && !all_.contains(k))
            all_.erase(std::min_element(all_.begin(), all_.end(), [](const auto& a, const auto& b) {
                return a.second.asked < b.second.asked;
            }));
        entry& e = all_[k];
        e.asked = ++asked_;
        return e.learned;
    }
    void clear() { all_.clear(); }

private:
    struct entry {
        std::shared_ptr<learned_lengths> learned;
        std::uint64_t asked = 0;
    };
    std::map<key, entry> all_;
    std::uint64_t asked_ = 0;
};

/// Before it changes: texts under way keep what they learn into, and the next one gets a copy.
inline void leave_to_others(std::shared_ptr<learned_lengths>& learned) {
    if (learned.use_count() > 1)
        learned = std::make_shared<learned_lengths>(*learned);
}

/// Goes by these costs, which follow the rounds if they were measured, unless it does.
inline void follow_costs(const cost_table& costs, bool measured,
                         std::shared_ptr<learned_lengths>& learned) {
    if (learned->costs.measured() == costs && learned->follows == measured)
        return;
    leave_to_others(learned);
    learned->go_by(costs, measured);
}

/// Forgets what was learnt by another predictor, or by other costs than these of automatic lengths
/// (null: the lengths are others).
inline void follow_settings(const length_settings& s, std::shared_ptr<learned_lengths>& learned,
                            const cost_table* costs) {
    if (learned->predictor != s.predictor) {
        leave_to_others(learned);
        learned->predictor = s.predictor;
        learned->last.reset();
    }
    if (costs == nullptr)
        return;
    follow_costs(*costs, !s.costs, learned);
}

/// The stop rule of a text of at most `longest` draft tokens a round, which goes on from what was
/// learnt and asks `table`, unless the settings name a predictor. Borrows table and predictor.
[[nodiscard]] inline length_rule stop_rule_of(const length_settings& s, std::size_t longest,
                                              const learned_lengths& learned,
                                              acceptance_table& table) {
    switch (s.kind) {
    case length_kind::confidence:
        return confidence{s.threshold, longest};
    case length_kind::entropy:
        return entropy_bound{.threshold = s.threshold, .length = longest};
    case length_kind::heuristic:
        return learned.last ? *learned.last : heuristic_length(longest < 5 ? longest : 5, longest);
    case length_kind::predicted:
        if (s.predictor != nullptr)
            return predicted_end(*s.predictor, s.threshold, longest);
        return predicted_end(table, s.threshold, longest);
    case length_kind::automatic:
        if (learned.last) {
            length_rule rule = *learned.last;
            rule.ask(table);
            return rule;
        }
        if (s.predictor != nullptr)
            return profitable_length(*s.predictor, learned.costs.now(), {.longest = longest});
        return profitable_length(table, learned.costs.now(), {.longest = longest});
    case length_kind::fixed:
        break;
    }
    return fixed_length{longest};
}

/// The shape goes by what rounds have cost, where that is followed, and makes plain rounds now and
/// then. Before a draft.
template <class Shape>
void follow_rounds(Shape& shape, const learned_lengths& learned) {
    if (learned.follows)
        shape.follow(learned.costs.of_found(), learned.balance.may_draft() && !learned.plain.now());
}

/// The shape of a text's trees, which goes on from what was learnt under the same settings.
[[nodiscard]] inline any_tree_shape tree_of(const tree_drafts& s, float temperature,
                                            const learned_lengths& learned) {
    return learned.tree && learned.tree->drafts() == s ? *learned.tree
                                                       : any_tree_shape(s, temperature);
}

/// How much of what a text looks up is proposed; borrows what was learnt.
[[nodiscard]] inline lookup_limits lookup_of(const length_settings& s, learned_lengths& learned) {
    lookup_limits limits{.max_draft = longest_lookup(s)};
    if (s.kind == length_kind::automatic && s.length > 0)
        limits.length.emplace(learned.table, learned.costs.of_found());
    return limits;
}

} // namespace specdec
