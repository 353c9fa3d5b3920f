// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>
#include <variant>

#include <specdec/core/text_offset.hpp>
#include <specdec/core/token_id.hpp>
#include <specdec/verify/block_verification.hpp>
#include <specdec/verify/coupled_match.hpp>
#include <specdec/verify/exact_match.hpp>
#include <specdec/verify/token_rejection.hpp>
#include <specdec/verify/tree/coupled_tree_match.hpp>
#include <specdec/verify/tree/recursive_rejection.hpp>
#include <specdec/verify/tree/traversal_verification.hpp>
#include <specdec/verify/tree/tree_exact_match.hpp>
#include <specdec/verify/tree/tree_verifier.hpp>
#include <specdec/verify/verdict.hpp>

namespace specdec {

/// One of these verification rules, chosen at run time. Models Verifier or TreeVerifier, as they
/// do, and FollowsText: a rule that counts no places has the unknown one. Allocates nothing.
template <class... Rules>
class one_of_verifiers {
public:
    template <class Rule>
        requires(std::same_as<Rule, Rules> || ...)
    one_of_verifiers(Rule rule) : rule_(std::move(rule)) {}

    void start(std::span<const target_id> prompt) {
        std::visit(
            [&](auto& rule) {
                if constexpr (FollowsText<std::remove_cvref_t<decltype(rule)>>)
                    rule.start(prompt);
            },
            rule_);
    }
    void follow(std::span<const target_id> committed) {
        std::visit(
            [&](auto& rule) {
                if constexpr (FollowsText<std::remove_cvref_t<decltype(rule)>>)
                    rule.follow(committed);
            },
            rule_);
    }
    [[nodiscard]] text_offset place() const {
        return std::visit(
            [](const auto& rule) {
                if constexpr (FollowsText<std::remove_cvref_t<decltype(rule)>>)
                    return rule.place();
                else
                    return text_offset{};
            },
            rule_);
    }
    /// Of rules of trees.
    [[nodiscard]] std::size_t rows(std::size_t depth) const
        requires(DecidesTrees<Rules> && ...)
    {
        return std::visit([&](const auto& rule) { return std::size_t{rule.rows(depth)}; }, rule_);
    }

    template <class... Arguments>
    [[nodiscard]] verdict operator()(Arguments&&... of_the_round) const {
        return std::visit([&](const auto& rule) { return rule(of_the_round...); }, rule_);
    }

private:
    std::variant<Rules...> rule_;
};

using any_verifier =
    one_of_verifiers<token_rejection, block_verification, exact_match, coupled_match>;
using any_tree_verifier = one_of_verifiers<recursive_rejection, traversal_verification,
                                           tree_exact_match, coupled_tree_match>;

} // namespace specdec
