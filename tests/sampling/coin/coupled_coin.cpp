// SPDX-License-Identifier: MIT
// The coin's own law, exactly and sampled: each side's draws have its law, the two sides' draws at
// one place have the joint law of the Gumbel coupling, draws at different places are independent.
#include <specdec/sampling/coin/coupled_coin.hpp>

#include <algorithm>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/core/coin.hpp>
#include <specdec/sampling/law/dense_law.hpp>
#include <specdec/sampling/law/softmax_law.hpp>
#include <specdec/verify/token_rejection.hpp>

#include "support/toy_pair.hpp"

using namespace specdec;
using namespace specdec::testing;

static_assert(Coin<coupled_coin>);

namespace {

// An error of total variation 0.01, found with power 0.99 at a significance of 1e-6; at most 26
// degrees of freedom.
constexpr std::size_t samples = 233'000;
constexpr double critical_3 = 30.7, critical_9 = 44.9, critical_24 = 72.3, critical_50 = 112.7;

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

TEST_CASE("the law of the coupling: its sides are p and q, it agrees as often as the paper says") {
    philox4x64_engine random(3);
    for (int repetition = 0; repetition < 200; ++repetition) {
        std::vector<double> p(5), q(5);
        double p_sum = 0, q_sum = 0, overlap = 0, agree = 0;
        for (std::size_t i = 0; i < 5; ++i) {
            p_sum += p[i] = uniform01(random()) + 0.01;
            q_sum += q[i] = uniform01(random()) + 0.01;
        }
        for (std::size_t i = 0; i < 5; ++i) {
            p[i] /= p_sum;
            q[i] /= q_sum;
            overlap += std::min(p[i], q[i]);
        }
        const matrix joint = coupling(p, q);
        for (std::size_t i = 0; i < 5; ++i) {
            double row = 0, column = 0;
            for (std::size_t j = 0; j < 5; ++j) {
                row += joint[i][j];
                column += joint[j][i];
            }
            REQUIRE(row == Approx(p[i]).epsilon(1e-12));
            REQUIRE(column == Approx(q[i]).epsilon(1e-12));
            agree += joint[i][i];
        }
        const double variation = 1 - overlap;
        CHECK(agree >= (1 - variation) / (1 + variation));
        CHECK(agree <= overlap);
    }
}

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

TEST_CASE("equal laws draw one token, whatever else the sites say", "[law]") {
    const letters l;
    const coupled_coin coin(l.keys, 12, 3);
    const std::vector<float> same{2, 1, 5, 3}; // p in the drafter's order
    const auto p = dense_law_of<target_id>(p_weights);
    const auto q = dense_law_of<draft_id>(same);
    for (std::uint64_t place = 1; place < 2000; ++place) {
        const target_id t = coin.pick(target_at(place, 7), p);
        CHECK(l.map.to_target(coin.pick(draft_at(place, 6, 1), q)) == t);
        CHECK(coin.pick(target_at(place, 9), p) == t);
    }
}

TEST_CASE("draws at different places are independent", "[law][computes]") {
    const toy_pair two;
    const text_keys keys(two.target, two.map);
    const std::vector<float> weights{0, 3, 1, 0, 2, 1, 3};
    const auto p = probabilities<target_id>(weights);
    matrix product = zeros(7, 7);
    for (std::size_t i = 0; i < 7; ++i)
        for (std::size_t j = 0; j < 7; ++j)
            product[i][j] = p[i] * p[j];
    const auto reduced = [](const matrix& m) { // the five ids with mass
        matrix small;
        for (const std::size_t i : {1U, 2U, 4U, 5U, 6U}) {
            small.emplace_back();
            for (const std::size_t j : {1U, 2U, 4U, 5U, 6U})
                small.back().push_back(m[i][j]);
        }
        return small;
    };
    const auto law = dense_law_of<target_id>(weights);
    const auto check = [&](auto&& first, auto&& second) {
        matrix counts = zeros(7, 7);
        for (std::uint64_t i = 0; i < samples; ++i)
            counts[first(i).index()][second(i).index()] += 1;
        CHECK(chi_square(reduced(counts), reduced(product)) < critical_24);
    };
    const coupled_coin coin(keys, 21);
    check([&](std::uint64_t i) { return coin.pick(target_at(2 * i + 1), law); },
          [&](std::uint64_t i) { return coin.pick(target_at(2 * i + 2), law); });
    check([&](std::uint64_t i) { return coupled_coin(keys, i).pick(target_at(5), law); },
          [&](std::uint64_t i) { return coupled_coin(keys, i).pick(target_at(6), law); });
    check(
        [&](std::uint64_t i) { return coupled_coin(keys, 4, 2 * i).pick(target_at(5), law); },
        [&](std::uint64_t i) { return coupled_coin(keys, 4, 2 * i + 1).pick(target_at(5), law); });
    // A drafter that shares no token draws apart from the target, at one place.
    const target_words abc{{"a", "b", "c", "d", "e", "f", "g"}};
    const draft_words xyz{{"t", "u", "v", "w", "x", "y", "z"}};
    const id_map none = intersect(xyz.table(), abc.table());
    const text_keys apart(abc, none);
    const coupled_coin other(apart, 22);
    const auto draft = dense_law_of<draft_id>(weights);
    check([&](std::uint64_t i) { return other.pick(target_at(i + 1), law); },
          [&](std::uint64_t i) { return other.pick(draft_at(i + 1), draft); });
}

TEST_CASE("ids of equal bytes, and control tokens, have noise of their own", "[law]") {
    // 0 and 2 are both a; 1 and 3 have no bytes.
    const target_words target{{"a", "<x>", "a", "<y>"}};
    const draft_words draft{{"a", "<y>", "a", "b"}};
    equivalences same;
    same.add("<y>", "<y>");
    const id_map map = intersect(draft.table(), target.table(), same);
    const text_keys keys(target, map);
    const coupled_coin coin(keys, 31);
    const auto p = dense_law_of<target_id>(p_weights);
    const auto q = dense_law_of<draft_id>(q_weights);
    matrix drawn = zeros(1, 4), drafted = zeros(1, 4);
    for (std::uint64_t place = 1; place <= samples; ++place) {
        drawn[0][coin.pick(target_at(place), p).index()] += 1;
        drafted[0][coin.pick(draft_at(place), q).index()] += 1;
    }
    CHECK(chi_square(drawn, {probabilities<target_id>(p_weights)}) < critical_3);
    CHECK(chi_square(drafted, {probabilities<draft_id>(q_weights)}) < critical_3);
}

TEST_CASE("a large law with cutoffs: the coin draws from what they keep", "[law]") {
    std::vector<std::string> names;
    std::vector<float> logits;
    for (int i = 0; i < 600; ++i) {
        names.push_back("t" + std::to_string(i));
        logits.push_back(static_cast<float>(i % 5 == 0 ? (i / 5) % 7 : -4));
    }
    const target_words target(names);
    const text_keys keys(target);
    const coupled_coin coin(keys, 41);
    const auto law =
        make_law(logits_row<target_id>{logits}, {.temperature = 2, .top_k = 50, .top_p = 0.99F});
    std::vector<double> p, counts(600);
    for (int i = 0; i < 600; ++i)
        p.push_back(law.probability(target_id{i}));
    for (std::uint64_t place = 1; place <= samples; ++place)
        counts[coin.pick(target_at(place), law).index()] += 1;
    double sum = 0;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < 600; ++i) {
        if (!(p[i] > 0)) {
            CHECK(counts[i] == 0);
            continue;
        }
        ++kept;
        const double expected = p[i] * static_cast<double>(samples);
        sum += (counts[i] - expected) * (counts[i] - expected) / expected;
    }
    CHECK(kept == 51);
    CHECK(sum < critical_50);
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

TEST_CASE("a law of more ids than the keys know is refused") {
    const letters l;
    const coupled_coin coin(l.keys, 5);
    const std::vector<float> five{1, 1, 1, 1, 1};
    CHECK_THROWS_WITH(coin.pick(target_at(1), dense_law_of<target_id>(five)),
                      "coupled coin: law: expected at most 4 ids, one for each key, got 5");
    const text_keys target_only(l.target);
    CHECK_THROWS_AS(coupled_coin(target_only, 1).pick(draft_at(1), dense_law_of<draft_id>(five)),
                    error);
    static_assert(!std::is_constructible_v<coupled_coin, text_keys, std::uint64_t>); // gone
    CHECK(coin.pick(target_at(0), dense_law_of<target_id>(five)).valid());
}
