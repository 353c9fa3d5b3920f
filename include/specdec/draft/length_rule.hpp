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
        return std::visit(
            [&](const auto& r) {
                if constexpr (requires { r.predict(now); })
                    return r.predict(now);
                else
                    return 1.0;
            },
            rule_);
    }
    [[nodiscard]] law_version version() const {
        return std::visit([](const auto& r) -> law_version { return r.version(); }, rule_) +
               version_of_values(rule_.index(), resting_);
    }
    /// Between rounds: whether nothing is drafted, whatever the rule says.
    void rest(bool resting) { resting_ = resting; }
    void learn(const draft_outcome& o) {
        std::visit(
            [&](auto& r) {
                if constexpr (requires { r.learn(o); })
                    r.learn(o);
            },
            rule_);
    }
    /// Before a text, whose prompt has so many tokens.
    void start(std::size_t prompt) {
        std::visit(
            [&](auto& r) {
                if constexpr (requires { r.start(prompt); })
                    r.start(prompt);
            },
            rule_);
    }
    /// From the next draft on so many texts share the target's passes: rules that go by costs.
    void share_pass(std::size_t texts) {
        std::visit(
            [&](auto& r) {
                if constexpr (requires { r.share_pass(texts); })
                    r.share_pass(texts);
            },
            rule_);
    }

    /// From the next draft on a rule that goes by costs goes by these, and drafts or may not.
    void follow(const cost_table& costs, bool may_draft) {
        std::visit(
            [&](auto& r) {
                if constexpr (requires { r.follow(costs, may_draft); })
                    r.follow(costs, may_draft);
            },
            rule_);
    }

    /// From the next draft on a rule that asks an acceptance_table asks this one, which is
    /// borrowed.
    void ask(acceptance_table& table) {
        std::visit(
            [&](auto& r) {
                if constexpr (requires { r.ask(table); })
                    r.ask(table);
            },
            rule_);
    }

private:
    choice rule_;
    bool resting_ = false;
};
static_assert(LearnsLengths<length_rule>);

} // namespace specdec
