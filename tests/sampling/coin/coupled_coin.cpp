// SPDX-License-Identifier: MIT
// The coin's own law, sampled: the two sides' draws at one place have the joint law of the Gumbel
// coupling. (Different places, equal ids and control tokens: tests/law/coupled.cpp; large laws: the
// race.)
#include <specdec/sampling/coin/coupled_coin.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/core/coin.hpp>
#include <specdec/sampling/law/dense_law.hpp>
#include <specdec/verify/token_rejection.hpp>

#include "support/toy_pair.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace {

// An error of total variation 0.01, found with power 0.99 at a significance of 1e-6.
constexpr std::size_t samples = 233'000;
constexpr double critical_3 = 30.7, critical_9 = 44.9;

using matrix = std::vector<std::vector<double>>; // [target id][draft id]

/// P[target's winner is i, drafter's is j], both racing on the noise E of shared ids. For i = j it
/// is 1 / sum over k of max(p_k / p_i, q_k / q_i). For i != j, with r = E_j / E_i between p_j / p_i
/// and q_j / q_i, every other E_k is at least E_i max(p_k / p_i, r q_k / q_j):
///     integral of dr / (1 + r + sum over other k of max(p_k / p_i, r q_k / q_j))^2.
matrix coupling(const std::vector<double>& p, const std::vector<double>& q) {
    const std::size_t n = p.size();
    matrix joint(n, std::vector<double>(n));
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j) {
            const auto rate = [&](double r) {
                double sum = i == j ? 1 : 1 + r;
                for (std::size_t k = 0; k < n; ++k)
                    if (k != i && k != j)
                        sum += std::max(p[k] / p[i], r * q[k] / q[j]);
                return sum;
            };
            if (i == j) {
                joint[i][j] = 1 / rate(1);
                continue;
            }
            const double low = p[j] / p[i], high = q[j] / q[i];
            std::vector<double> cuts{low, high};
            for (std::size_t k = 0; k < n; ++k)
                if (const double r = p[k] * q[j] / (p[i] * q[k]); r > low && r < high)
                    cuts.push_back(r);
            std::sort(cuts.begin(), cuts.end());
            for (std::size_t c = 0; low < high && c + 1 < cuts.size(); ++c) {
                // The rate is linear between cuts: the integral of 1 / rate^2 is exact.
                const double a = rate(cuts[c]), b = rate(cuts[c + 1]);
                joint[i][j] += (cuts[c + 1] - cuts[c]) / (a * b);
            }
        }
    return joint;
}

/// Weights as the law of one side.
template <class Id>
dense_law<Id> dense_law_of(const std::vector<float>& weights) {
    return dense_law<Id>(probabilities_row<Id>{weights});
}
template <class Id>
std::vector<double> probabilities(const std::vector<float>& weights) {
    const auto law = dense_law_of<Id>(weights);
    std::vector<double> p;
    for (std::size_t i = 0; i < weights.size(); ++i)
        p.push_back(law.probability(id_at<Id>(i)));
    return p;
}

double chi_square(const matrix& counts, const matrix& law) {
    double sum = 0;
    for (std::size_t i = 0; i < law.size(); ++i)
        for (std::size_t j = 0; j < law[i].size(); ++j) {
            const double expected = law[i][j] * static_cast<double>(samples);
            if (!(expected > 0)) {
                REQUIRE(counts[i][j] == 0);
                continue;
            }
            REQUIRE(expected > 5);
            sum += (counts[i][j] - expected) * (counts[i][j] - expected) / expected;
        }
    return sum;
}

matrix zeros(std::size_t rows, std::size_t columns) {
    return matrix(rows, std::vector<double>(columns));
}

draw_site target_at(std::uint64_t place, std::uint64_t position = 0) {
    return {position, purpose::target, 0, place};
}
draw_site draft_at(std::uint64_t place, std::uint64_t position = 0, std::uint32_t attempt = 0) {
    return {position, purpose::draft, attempt, place};
}

/// Gives a residual the noise of the draft token that it replaces.
struct one_noise_coin {
    coupled_coin coin;
    bool flip(draw_site site, double probability) const { return coin.flip(site, probability); }
    template <class L>
    auto pick(draw_site site, const L& law) const {
        if (site.why == purpose::residual)
            site = draft_at(site.position + 1, site.position);
        return coin.pick(site, law);
    }
};

/// Four letters in two orders.
struct letters {
    target_words target{{"a", "b", "c", "d"}};
    draft_words draft{{"d", "b", "a", "c"}};
    id_map map = intersect(draft.table(), target.table());
    text_keys keys{target, map};
};

const std::vector<float> p_weights{5, 1, 3, 2};
const std::vector<float> q_weights{4, 2, 3, 1}; // of d, b, a, c

/// q in the target's order.
std::vector<double> q_over_target(const letters& l) {
    const auto q = probabilities<draft_id>(q_weights);
    std::vector<double> sorted;
    for (int t = 0; t < 4; ++t)
        sorted.push_back(q[l.map.to_draft(target_id{t}).index()]);
    return sorted;
}

} // namespace

TEST_CASE("both sides draw from their laws and agree as the coupling says", "[law]") {
    const letters l;
    const coupled_coin coin(l.keys, 11);
    const auto p = dense_law_of<target_id>(p_weights);
    const auto q = dense_law_of<draft_id>(q_weights);
    matrix counts = zeros(4, 4);
    for (std::uint64_t place = 1; place <= samples; ++place) {
        const target_id t = coin.pick(target_at(place), p);
        const target_id x = l.map.to_target(coin.pick(draft_at(place), q));
        counts[t.index()][x.index()] += 1;
    }
    const matrix joint = coupling(probabilities<target_id>(p_weights), q_over_target(l));
    CHECK(chi_square(counts, joint) < critical_9); // of (i, j) and (j, i) one cannot happen
}

TEST_CASE("what replaces a rejected draft token has noise of its own", "[law]") {
    // A bug of 2026 (draft and residual share a noise vector), with drafts that race at a place and
    // token rejection: the coin itself, and one with that bug.
    const std::vector<float> p{5, 1, 3, 2}, q{1, 6, 2, 2};
    const letters l;
    const text_keys keys(l.target);
    using law = dense_law<target_id>;
    const auto off = [&](auto coin) {
        std::vector<double> counts(4);
        for (std::uint64_t i = 0; i < samples; ++i) {
            const proposal<law> x[] = {
                proposal<law>::draw(dense_law_of<target_id>(q), coin, draft_at(i + 1, i))};
            const auto law_at = [&](std::size_t) { return dense_law_of<target_id>(p); };
            const verdict v = token_rejection{.thinning = {0, 0}}(
                law_at, std::span<const proposal<law>>(x), coin, i);
            counts[(v.accepted > 0 ? x[0].token() : v.next).index()] += 1;
        }
        const auto expected = probabilities<target_id>(p);
        double sum = 0;
        for (std::size_t t = 0; t < 4; ++t) {
            const double wanted = expected[t] * static_cast<double>(samples);
            sum += (counts[t] - wanted) * (counts[t] - wanted) / wanted;
        }
        return sum;
    };
    CHECK(off(coupled_coin(keys, 5)) < critical_3);
    CHECK(off(one_noise_coin{coupled_coin(keys, 5)}) > 1000);
}

TEST_CASE("without a place, and for other purposes, it is the philox coin") {
    const letters l;
    const coupled_coin coin(l.keys, 5, 6);
    const philox_coin plain(5, 6);
    const auto p = dense_law_of<target_id>(p_weights);
    int differ = 0;
    for (std::uint64_t i = 0; i < 200; ++i) {
        CHECK(coin.pick(target_at(0, i), p) == plain.pick(target_at(0, i), p));
        CHECK(coin.pick(draft_at(0, i), p) == plain.pick(draft_at(0, i), p));
        for (const purpose why : {purpose::residual, purpose::accept}) {
            CHECK(coin.pick({i, why, 0, i + 1}, p) == plain.pick({i, why, 0, i + 1}, p));
            CHECK(coin.flip({i, why, 0, i + 1}, 0.4) == plain.flip({i, why, 0, i + 1}, 0.4));
            CHECK(coin.uniform({i, why, 0, i + 1}) == plain.uniform({i, why, 0, i + 1}));
        }
        differ += coin.pick(target_at(i + 1, i), p) != plain.pick(target_at(i + 1, i), p) ? 1 : 0;
    }
    CHECK(differ > 50);
}

TEST_CASE("coupled coin: without keys it is the plain one, at every site") {
    const std::vector<float> weights{1, 2, 3, 4};
    const dense_law law(probabilities_row<target_id>{weights});
    const coupled_coin coin(7, 3);
    const philox_coin plain(7, 3);
    for (std::uint64_t place = 0; place < 50; ++place) {
        const draw_site site{.position = place, .why = purpose::target, .place = place};
        CHECK(coin.pick(site, law) == plain.pick(site, law));
        CHECK(coin.uniform(site) == plain.uniform(site));
        CHECK(coin.flip(site, 0.5) == plain.flip(site, 0.5));
    }
}

TEST_CASE("a law of more ids than the keys know is refused") {
    const letters l;
    const coupled_coin coin(l.keys, 5);
    const std::vector<float> five{1, 1, 1, 1, 1};
    CHECK_THROWS_WITH(coin.pick(target_at(1), dense_law_of<target_id>(five)),
                      "coupled coin: law: expected at most 4 ids, one for each key, found 5");
    const text_keys target_only(l.target);
    CHECK_THROWS_AS(coupled_coin(target_only, 1).pick(draft_at(1), dense_law_of<draft_id>(five)),
                    error);
    static_assert(!std::is_constructible_v<coupled_coin, text_keys, std::uint64_t>); // gone
    CHECK(coin.pick(target_at(0), dense_law_of<target_id>(five)).valid());
}
