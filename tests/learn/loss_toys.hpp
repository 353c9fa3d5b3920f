// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <ostream>
#include <random>
#include <span>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include <catch2/catch.hpp>
#include <range/v3/view/zip.hpp>

#include <specdec/core/rows.hpp>
#include <specdec/core/token_id.hpp>
#include <specdec/learn/loss/shared_softmax.hpp>
#include <specdec/sampling/law/dense_law.hpp>
#include <specdec/sampling/law/softmax_law.hpp>
#include <specdec/sampling/law/sparse_law.hpp>
#include <specdec/vocab/table/id_map.hpp>

#include "support/holds.hpp"

namespace specdec::testing {

inline constexpr float forbidden = -std::numeric_limits<float>::infinity();

/// A long row with some forbidden tokens, never all of them: of tests whose rows fill several
/// chunks, where a shrunk case would say no more.
inline std::vector<float> toy_logits(std::size_t size, std::mt19937& random, float spread = 2) {
    std::normal_distribution<float> normal(0, spread);
    std::vector<float> row(size);
    for (float& logit : row)
        logit = random() % 5 == 0 ? forbidden : normal(random);
    row[random() % size] = 1;
    return row;
}

/// Unmapped tokens on both sides, and target tokens with several draft ids: of long rows.
inline id_map toy_map(std::size_t draft, std::size_t target, std::mt19937& random) {
    std::vector<std::int32_t> forward(draft, -1), back(target, -1);
    for (std::size_t d = 0; d < draft; ++d) {
        const std::size_t t = random() % target;
        if (d != 0 && random() % 4 == 0)
            continue;
        forward[d] = static_cast<std::int32_t>(t);
        if (back[t] == -1 || random() % 2 == 0)
            back[t] = static_cast<std::int32_t>(d);
    }
    return {forward, back, 1, 2};
}

/// Two rows over two vocabularies. Draft token 0 is shared, and both rows allow it.
struct loss_toy {
    std::vector<std::int32_t> to_target{0, 1, -1, 1};
    std::vector<float> z{0.5F, -1, 2, 1}, target_row{1, 0, -0.5F};
    id_map map = map_of(to_target, target_row.size());

    [[nodiscard]] std::size_t draft() const { return z.size(); }

    /// The first draft token of a target token is the one that it becomes.
    static id_map map_of(const std::vector<std::int32_t>& to_target, std::size_t target) {
        std::vector<std::int32_t> back(target, -1);
        for (std::size_t d = to_target.size(); d-- > 0;)
            if (to_target[d] >= 0)
                back[static_cast<std::size_t>(to_target[d])] = static_cast<std::int32_t>(d);
        return {to_target, back, 1, 2};
    }
};

inline std::ostream& operator<<(std::ostream& out, const loss_toy& toy) {
    const auto list = [&](const char* name, const auto& numbers) {
        out << name;
        for (const auto x : numbers)
            out << " " << x;
    };
    list("draft to target", toy.to_target);
    list("; z", toy.z);
    list("; target's row", toy.target_row);
    return out;
}

/// Logits on a grid, one in seven of them forbidden. They shrink to zeros.
inline rc::Gen<std::vector<float>> logits_on_grid(std::size_t size, float grid) {
    const auto logit = rc::gen::map(any_in(0, 27), [grid](std::size_t k) {
        const float x = grid * static_cast<float>((k + 1) / 2);
        return k >= 24 ? forbidden : k % 2 == 0 ? -x : x;
    });
    return rc::gen::container<std::vector<float>>(size, logit);
}

/// Rows of at least so many draft tokens and at most six, on grids without a common multiple: two
/// probabilities are equal by chance only where both rows are even. They shrink to fewer tokens.
inline rc::Gen<loss_toy> loss_toys(std::size_t least_draft = 1) {
    const auto sizes = rc::gen::pair(any_in(least_draft, 6), any_in(1, 5));
    return rc::gen::mapcat(sizes, [](const auto& size) {
        const auto [draft, target] = size;
        const auto partner = rc::gen::map(any_in(0, target), [most = target](std::size_t t) {
            return t == most ? -1 : static_cast<std::int32_t>(t);
        });
        return rc::gen::map(
            rc::gen::tuple(rc::gen::container<std::vector<std::int32_t>>(draft, partner),
                           logits_on_grid(draft, 0.37F), logits_on_grid(target, 0.29F)),
            [](const auto& drawn) {
                loss_toy toy{std::get<0>(drawn), std::get<1>(drawn), std::get<2>(drawn)};
                toy.to_target[0] = toy.to_target[0] < 0 ? 0 : toy.to_target[0];
                toy.z[0] = toy.z[0] == forbidden ? 0.5F : toy.z[0];
                float& partner_row = toy.target_row[static_cast<std::size_t>(toy.to_target[0])];
                partner_row = partner_row < 0 ? -partner_row : partner_row;
                partner_row = partner_row == -forbidden ? 1 : partner_row;
                toy.map = loss_toy::map_of(toy.to_target, toy.target_row.size());
                return toy;
            });
    });
}

/// Temperatures of a loss. They shrink to 1.
inline rc::Gen<double> loss_temperatures() {
    return any_of(std::vector<double>{1, 0.5, 2});
}

/// The numbers of a law.
template <class Law>
std::vector<double> probabilities_of(const Law& law) {
    std::vector<double> out;
    for (std::size_t i = 0; i < law.size(); ++i)
        out.push_back(law.probability(decltype(law.at(0.0)){static_cast<std::int32_t>(i)}));
    return out;
}

using row_of_doubles = std::vector<double>;

inline row_of_doubles widened(const std::vector<float>& row) {
    return {row.begin(), row.end()};
}

/// KL(p || q) with p conditioned on the tokens that q has, straight from the formula.
inline long double plain_forward_kl(std::vector<double> p, const std::vector<long double>& q) {
    long double mass = 0, sum = 0;
    for (auto [p_t, q_t] : ranges::views::zip(p, q))
        mass += p_t *= q_t > 0;
    for (const auto [p_t, q_t] : ranges::views::zip(p, q))
        if (p_t > 0)
            sum += p_t / mass * std::log(p_t / mass / q_t);
    return sum;
}

/// KL(q || p) over the tokens that q has, with p raised to a floor and conditioned on those that
/// `allowed` has.
inline long double plain_reverse_kl(const std::vector<double>& p, const std::vector<long double>& q,
                                    double floor, const std::vector<long double>& allowed) {
    long double mass = 0, sum = 0;
    for (const auto [p_t, q_t] : ranges::views::zip(p, allowed))
        mass += q_t > 0 ? std::max(p_t, floor) : 0;
    for (const auto [p_t, q_t] : ranges::views::zip(p, q))
        if (q_t > 0)
            sum += q_t * std::log(q_t / (std::max(p_t, floor) / mass));
    return sum;
}

/// softmax(z / T), straight from the formula.
inline std::vector<long double> plain_softmax(const row_of_doubles& z, double temperature = 1) {
    long double sum = 0;
    std::vector<long double> q;
    for (const double logit : z)
        sum += q.emplace_back(std::exp(static_cast<long double>(logit) / temperature));
    for (long double& value : q)
        value /= sum;
    return q;
}

/// q'(t), 0 for tokens that are not shared, straight from the formula.
inline std::vector<long double> plain_shared(row_of_doubles z, const id_map& map,
                                             double temperature = 1) {
    std::vector<std::size_t> token(z.size());
    for (std::size_t d = 0; d < z.size(); ++d) {
        const target_id t = map.to_target(id_at<draft_id>(d));
        token[d] = t.valid() ? t.index() : 0;
        if (!t.valid())
            z[d] = -std::numeric_limits<double>::infinity();
    }
    const auto q = plain_softmax(z, temperature);
    std::vector<long double> out(map.target_size());
    for (std::size_t d = 0; d < z.size(); ++d)
        out[token[d]] += q[d];
    return out;
}

/// Calls f(p) with target laws of every kind: logits at temperatures, cut off, greedy;
/// probabilities; a list.
template <class F>
void for_each_target_law(const loss_toy& toy, F&& f) {
    const logits_row<target_id> row{toy.target_row};
    f(make_law(row, {}));
    f(make_law(row, {.temperature = 0.5F}));
    f(make_law(row, {.top_k = 4, .top_p = 0.9F}));
    f(make_law(row, {.temperature = 0}));
    std::vector<float> weights;
    std::vector<weighted_id<target_id>> entries;
    for (std::size_t t = 0; t < toy.target_row.size(); ++t) {
        weights.push_back(3 * std::exp(toy.target_row[t]));
        if (weights.back() > 1)
            entries.push_back({id_at<target_id>(t), weights.back()});
    }
    f(dense_law(probabilities_row<target_id>{weights}));
    f(sparse_law<target_id>(entries, toy.target_row.size()));
}

/// How a gradient that is written differs from central differences of a formula, which are 0 where
/// z is -infinity, and in sum. Nothing where it does not. slack: what rounding explains of numbers
/// that cancel.
inline std::string gradient_error(const std::function<long double(const row_of_doubles&)>& formula,
                                  const std::vector<float>& z, std::span<const float> gradient,
                                  double slack = 1e-7) {
    constexpr double step = 1e-5;
    row_of_doubles differences, at = widened(z);
    double largest = 0, sum = 0;
    for (std::size_t i = 0; i < z.size(); ++i) {
        const double here = at[i];
        at[i] = here + step;
        const long double above = formula(at);
        at[i] = here - step;
        const long double below = formula(at);
        at[i] = here;
        const double slope = static_cast<double>((above - below) / (2 * step));
        differences.push_back(z[i] == forbidden ? 0 : slope);
        largest = std::max(largest, std::abs(differences.back()));
    }
    for (std::size_t i = 0; i < z.size(); ++i) {
        const double found = static_cast<double>(gradient[i]);
        if (!(std::abs(found - differences[i]) <= 1e-5 * largest + slack) ||
            (z[i] == forbidden && found != 0)) {
            std::ostringstream out;
            out << "derivative " << i << ": " << found << ", by differences " << differences[i];
            return out.str();
        }
        sum += found;
    }
    return std::abs(sum) <= 1e-6 * largest + slack ? "" : "the derivatives' sum is not 0";
}
inline void check_gradient(const std::function<long double(const row_of_doubles&)>& formula,
                           const std::vector<float>& z, std::span<const float> gradient) {
    CHECK(gradient_error(formula, z, gradient) == "");
}

/// f(toy, temperature, q, p) holds for generated toys and temperatures, q' of the toy's row, and
/// target laws of every kind.
template <class F>
void hold_for_losses(const F& f) {
    require_holds([&] {
        const loss_toy toy = *loss_toys();
        const double temperature = *loss_temperatures();
        const shared_softmax q({toy.z}, toy.map, temperature);
        for_each_target_law(toy, [&](const auto& p) { f(toy, temperature, q, p); });
    });
}

/// The mass that a target's law has on the tokens that q' has.
template <class Shared>
[[nodiscard]] double shared_mass(const std::vector<double>& p, const Shared& q) {
    double mass = 0;
    for (std::size_t t = 0; t < p.size(); ++t)
        if (std::isfinite(q.log_probability(id_at<target_id>(t))))
            mass += p[t];
    return mass;
}

/// Whether p has no mass on shared tokens; a divergence and its gradient are 0 then.
template <class Shared>
[[nodiscard]] bool teaches_nothing(const std::vector<double>& p, const Shared& q, double value,
                                   const std::vector<float>& dz) {
    if (shared_mass(p, q) != 0)
        return false;
    RC_ASSERT(value == 0.0);
    RC_ASSERT(dz == std::vector<float>(dz.size(), 0));
    return true;
}

/// Two numbers that rounding alone may tell apart.
[[nodiscard]] inline bool close(double found, long double wanted, double epsilon = 1e-9) {
    return std::abs(static_cast<long double>(found) - wanted) <= epsilon * (1 + std::abs(wanted));
}

} // namespace specdec::testing
