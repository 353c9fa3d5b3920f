// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <random>
#include <span>
#include <vector>

#include <catch2/catch.hpp>
#include <range/v3/view/zip.hpp>

#include <specdec/core/rows.hpp>
#include <specdec/core/token_id.hpp>
#include <specdec/sampling/law/dense_law.hpp>
#include <specdec/sampling/law/softmax_law.hpp>
#include <specdec/sampling/law/sparse_law.hpp>
#include <specdec/vocab/table/id_map.hpp>

namespace specdec::testing {

inline constexpr float forbidden = -std::numeric_limits<float>::infinity();

/// A row with some forbidden tokens, never all of them.
inline std::vector<float> toy_logits(std::size_t size, std::mt19937& random, float spread = 2) {
    std::normal_distribution<float> normal(0, spread);
    std::vector<float> row(size);
    for (float& logit : row)
        logit = random() % 5 == 0 ? forbidden : normal(random);
    row[random() % size] = 1;
    return row;
}

/// Unmapped tokens on both sides, and target tokens with several draft ids.
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

/// Two rows over two vocabularies, of which a shared draft token is allowed.
struct loss_toy {
    static constexpr std::size_t draft = 14, target = 12;

    explicit loss_toy(unsigned seed)
        : random(seed), map(toy_map(draft, target, random)), z(toy_logits(draft, random)),
          target_row(toy_logits(target, random)) {
        z[0] = 0.5F; // shared in every toy_map
        target_row[map.to_target(draft_id{0}).index()] = 1;
    }

    std::mt19937 random;
    id_map map;
    std::vector<float> z, target_row;
};

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

/// KL(q || p) over the tokens that q has, with p raised to a floor.
inline long double plain_reverse_kl(const std::vector<double>& p, const std::vector<long double>& q,
                                    double floor) {
    long double mass = 0, sum = 0;
    for (const auto [p_t, q_t] : ranges::views::zip(p, q))
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

/// The gradient that is written, against central differences of a formula; 0 where z is -infinity,
/// and in sum.
inline void check_gradient(const std::function<long double(const row_of_doubles&)>& formula,
                           const std::vector<float>& z, std::span<const float> gradient) {
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
        CAPTURE(i, found, differences[i], largest);
        CHECK(std::abs(found - differences[i]) <= 1e-5 * largest + 1e-12);
        CHECK((z[i] != forbidden || found == 0));
        sum += found;
    }
    CHECK(std::abs(sum) <= 1e-6 * largest + 1e-12);
}

} // namespace specdec::testing
