// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include <specdec/core/proposal.hpp>
#include <specdec/sampling/law/dense_law.hpp>
#include <specdec/sampling/law/softmax_law.hpp>

#include "support/enumeration/enumerating_coin.hpp"
#include "support/enumeration/interval_coin.hpp"
#include "support/toy_rows.hpp"

namespace specdec::testing {

/// The total variation that rounding explains.
inline constexpr double exact = 1e-12;

inline softmax_law<target_id> target_law_at(row_tree& p, const sequence& prefix,
                                            const sampling_parameters& parameters = {}) {
    return make_law(logits_row<target_id>{p(prefix)}, parameters);
}

struct too_many_paths {};

/// The law of what outcome(coin) returns, over every path; adds how many there were. Throws
/// too_many_paths beyond `most`.
template <class C = interval_coin, class Outcome>
auto on_every_path(const Outcome& outcome, std::uint64_t& paths, std::uint64_t most = 20'000'000) {
    std::map<decltype(outcome(std::declval<C&>())), double> law;
    enumerate<C>([&](C& coin) {
        const auto found = outcome(coin);
        law[found] += coin.probability();
        if (++paths > most)
            throw too_many_paths{};
    });
    return law;
}
template <class C = interval_coin, class Outcome>
auto on_every_path(const Outcome& outcome) {
    std::uint64_t paths = 0;
    return on_every_path<C>(outcome, paths);
}

/// The mean of a number.
template <class Number>
double mean_of(const std::map<Number, double>& law) {
    double sum = 0;
    for (const auto& [x, probability] : law)
        sum += static_cast<double>(x) * probability;
    return sum;
}

/// Draft laws made from the rows of q.
struct from_logits {
    row_tree& q;
    softmax_law<target_id> operator()(const sequence& prefix) const {
        return target_law_at(q, prefix);
    }
};
struct from_argmax {
    row_tree& q;
    one_hot_law<target_id> operator()(const sequence& prefix) const {
        return one_hot_law<target_id>(target_law_at(q, prefix, {.temperature = 0}).at(0.0));
    }
};

/// Adds `probability` times the target's own law of what follows `text` up to `length` tokens.
inline void continue_with_target(joint_law& law, const sequence& text, double probability,
                                 row_tree& p, std::size_t length,
                                 const sampling_parameters& parameters = {}) {
    if (text.size() >= length) {
        law[text] += probability;
        return;
    }
    const auto row = target_law_at(p, text, parameters);
    for (std::size_t v = 0; v < row.size(); ++v) {
        const double step = row.probability(id_at<target_id>(v));
        if (step == 0)
            continue;
        sequence longer = text;
        longer.push_back(static_cast<int>(v));
        continue_with_target(law, longer, probability * step, p, length, parameters);
    }
}

/// The law of the first `length` tokens of texts that begin under a law and that the target goes on
/// with.
inline joint_law continued_with_target(const joint_law& begun, row_tree& p, std::size_t length,
                                       const sampling_parameters& parameters = {}) {
    joint_law law;
    for (const auto& [text, probability] : begun)
        continue_with_target(law, text, probability, p, length, parameters);
    return law;
}

/// The law of the first `length` tokens of the target alone.
inline joint_law target_alone(row_tree& p, std::size_t length,
                              const sampling_parameters& parameters = {}) {
    return continued_with_target({{{}, 1.0}}, p, length, parameters);
}

/// Of so many texts, counted, under their law.
inline double chi_square(joint_law counts, const joint_law& law, std::size_t samples) {
    double sum = 0;
    for (const auto& [text, probability] : law) {
        const double expected = probability * static_cast<double>(samples);
        sum += (counts[text] - expected) * (counts[text] - expected) / expected;
    }
    return sum;
}

/// The joint law of two texts, and what it has to be: that of two targets alone.
using pair_law = std::map<std::pair<sequence, sequence>, double>;
inline pair_law both_alone(row_tree& p, std::size_t length, std::size_t of_the_second) {
    pair_law law;
    const joint_law one = target_alone(p, length), other = target_alone(p, of_the_second);
    for (const auto& [x, px] : one)
        for (const auto& [y, py] : other)
            law[{x, y}] = px * py;
    return law;
}
inline pair_law both_alone(row_tree& p, std::size_t length) {
    return both_alone(p, length, length);
}

/// The tokens of a round of the rule on gamma proposals drawn from laws that make_draft_law(prefix)
/// makes: those that are kept, and the one behind them.
template <class Rule, class MakeDraftLaw, Coin C>
sequence rule_round(const Rule& rule, MakeDraftLaw make_draft_law, row_tree& p, std::size_t gamma,
                    C& coin, const sampling_parameters& parameters = {}) {
    using law_type = decltype(make_draft_law(sequence{}));
    std::vector<proposal<law_type>> draft;
    sequence drafted;
    for (std::size_t i = 0; i < gamma; ++i) {
        draft.push_back(proposal<law_type>::draw(
            make_draft_law(drafted), coin, {0, purpose::draft, static_cast<std::uint32_t>(i)}));
        drafted.push_back(draft.back().token().value);
    }
    const auto law_at = [&](std::size_t i) {
        return target_law_at(
            p, sequence(drafted.begin(), drafted.begin() + static_cast<std::ptrdiff_t>(i)),
            parameters);
    };
    const verdict v = rule(law_at, std::span<const proposal<law_type>>(draft), coin, 0);
    drafted.resize(v.accepted);
    drafted.push_back(v.next.value);
    return drafted;
}

/// The law of the first gamma + 1 tokens when the first round is such a one, and the target goes on
/// alone.
template <class CoinType = interval_coin, class Rule, class MakeDraftLaw>
joint_law rule_law(const Rule& rule, MakeDraftLaw make_draft_law, row_tree& p, std::size_t gamma,
                   const sampling_parameters& parameters = {}) {
    const joint_law rounds = on_every_path<CoinType>([&](CoinType& coin) {
        return rule_round(rule, make_draft_law, p, gamma, coin, parameters);
    });
    return continued_with_target(rounds, p, gamma + 1, parameters);
}

} // namespace specdec::testing
