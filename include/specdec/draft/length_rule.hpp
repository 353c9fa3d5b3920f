// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <utility>
#include <variant>

#include <specdec/core/law_version.hpp>
#include <specdec/draft/any_predictor.hpp>
#include <specdec/draft/heuristic_length.hpp>
#include <specdec/draft/predicted_end.hpp>
#include <specdec/draft/profitable_length.hpp>
#include <specdec/draft/stop_rule.hpp>

namespace specdec {

/// A stop rule that is chosen at run time: any of the library's, with the built-in predictor or
/// any other. A call costs a branch a draft token. Models StopRule, LearnsLengths (those that learn
/// nothing ignore it). Copies keep what was learnt.
class length_rule {
public:
    static constexpr rule_traits traits{.reads = true, .predict = true, .learn = true};
    using choice =
        std::variant<fixed_length, confidence, entropy_bound, heuristic_length,
                     predicted_end<acceptance_table>, profitable_length<acceptance_table>,
                     predicted_end<any_predictor>, profitable_length<any_predictor>>;

    template <class Rule>
        requires std::constructible_from<choice, Rule>
    explicit(false) length_rule(Rule rule) : rule_(std::move(rule)) {}

    [[nodiscard]] row_reading reads() const {
        return std::visit([](const auto& r) { return reading_of(r); }, rule_);
    }
    [[nodiscard]] bool more(const draft_progress& now) const {
        return !resting_ && std::visit([&](const auto& r) { return r.more(now); }, rule_);
    }
    [[nodiscard]] double predict(const draft_progress& now) const {
        return std::visit([&](const auto& r) { return predicted_acceptance(r, now); }, rule_);
    }
    [[nodiscard]] law_version version() const {
        return std::visit([](const auto& r) -> law_version { return r.version(); }, rule_) +
               version_of_values(rule_.index(), resting_);
    }
    /// Between rounds: whether nothing is drafted, whatever the rule says.
    void rest(bool resting) { resting_ = resting; }
    void learn(const draft_outcome& o) {
        const auto told = [&]<class R>(R& r) {
            if constexpr (traits_of<rule_traits, R>.learn)
                r.learn(o);
        };
        std::visit(told, rule_);
    }
    /// Before a text, whose prompt has so many tokens.
    void start(std::size_t prompt) {
        with_costs([&](auto& r) { r.start(prompt); });
    }
    /// From the next draft on the target's passes are shared so: rules that go by costs.
    void share_pass(const pass_share& share) {
        with_costs([&](auto& r) { r.share_pass(share); });
    }
    /// What the next draft could have. Nothing of rules that do not go by costs.
    [[nodiscard]] draft_offer offer() const {
        draft_offer out;
        with_costs([&](const auto& r) { out = r.offer(); });
        return out;
    }
    /// From the next draft on a rule that goes by costs goes by these, and drafts or may not.
    void follow(const cost_table& costs, bool may_draft) {
        with_costs([&](auto& r) { r.follow(costs, may_draft); });
    }
    /// From the next draft on a rule that asks an acceptance_table asks this one, which is
    /// borrowed.
    void ask(acceptance_table& table) {
        if (auto* end = std::get_if<predicted_end<acceptance_table>>(&rule_))
            end->ask(table);
        else if (auto* length = std::get_if<profitable_length<acceptance_table>>(&rule_))
            length->ask(table);
    }

private:
    /// f(rule), if the rule goes by costs.
    template <class F>
    void with_costs(const F& f) {
        with_costs(rule_, f);
    }
    template <class F>
    void with_costs(const F& f) const {
        with_costs(rule_, f);
    }
    template <class F>
    static void with_costs(auto& rule, const F& f) {
        if (auto* known = std::get_if<profitable_length<acceptance_table>>(&rule))
            f(*known);
        else if (auto* any = std::get_if<profitable_length<any_predictor>>(&rule))
            f(*any);
    }

    choice rule_;
    bool resting_ = false;
};
static_assert(LearnsLengths<length_rule>);

} // namespace specdec
