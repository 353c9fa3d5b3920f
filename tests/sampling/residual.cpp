// SPDX-License-Identifier: MIT
#include <specdec/sampling/residual.hpp>

#include <map>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/sampling/coin/philox_coin.hpp>
#include <specdec/sampling/law/dense_law.hpp>
#include <specdec/sampling/law/softmax_law.hpp>
#include <specdec/sampling/law/sparse_law.hpp>

#include "interval_measure.hpp"
#include "random_rows.hpp"
#include "support/enumeration/enumerating_coin.hpp"
#include "support/enumeration/interval_coin.hpp"

using namespace specdec;

namespace {

using dense = dense_law<target_id>;
static_assert(LawOf<residual_law<dense, one_hot_law<target_id>>, target_id>);

using weights = std::vector<float>;

dense law_of(const weights& row) {
    return dense(probabilities_row<target_id>{row});
}

/// norm(max(p - q, 0)), as the formula stands.
template <class P, class Q>
std::map<std::size_t, double> formula(const P& p, const Q& q) {
    std::map<std::size_t, double> law;
    double mass = 0;
    for (std::size_t i = 0; i < p.size(); ++i) {
        const auto id = id_at<target_id>(i);
        const double excess = std::max(p.probability(id) - q.probability(id), 0.0);
        mass += law[i] = excess;
    }
    for (auto& [id, probability] : law)
        probability /= mass;
    return law;
}

template <class P, class Q>
void check_residual(const P& p, const Q& q) {
    const auto expected = formula(p, q);
    const residual_law exact(p, q);
    std::map<std::size_t, double> by_law;
    for (std::size_t i = 0; i < exact.size(); ++i)
        by_law[i] = exact.probability(id_at<target_id>(i));
    CHECK(total_variation(by_law, expected) < 1e-14);
    check_intervals<target_id>(exact, 1e-12);
    for (const std::uint32_t attempts : {0U, 1U, 2U, 3U}) {
        INFO("attempts " << attempts);
        std::map<std::size_t, double> by_thinning;
        enumerate([&](enumerating_coin& coin) {
            const target_id t = draw_residual(p, q, coin, 0, {attempts, attempts});
            by_thinning[t.index()] += coin.probability();
        });
        CHECK(total_variation(by_thinning, expected) < 1e-14);
    }
}

const std::vector<weights> rows{
    {0.1F, 0.2F, 0.3F, 0.4F},
    {0.4F, 0.3F, 0.2F, 0.1F},
    {1, 0, 0, 0},
    {0, 0, 0.5F, 0.5F},
    {1, 1, 1, 1},
    {1e-38F, 1, 1e-42F, 0},
    {0.5F, 0.5F, 0, 0},
    {1e-7F, 1, 1, 1e-7F},
};

/// The same law, which is compared.
struct compared_law : dense {
    [[nodiscard]] bool below(target_id t, UnitNumber auto bound) const {
        return bound > probability(t);
    }
    [[nodiscard]] bool below(target_id t, double bound) const { return probability(t) < bound; }
};

} // namespace

TEST_CASE("thinning and the residual law are the normalised residual") {
    for (const auto& p : rows)
        for (const auto& q : rows) {
            if (p == q)
                continue;
            INFO("p " << Catch::Detail::stringify(p) << " q " << Catch::Detail::stringify(q));
            check_residual(law_of(p), law_of(q));
        }
}

TEST_CASE("residuals of laws of several kinds") {
    const std::vector<float> logits{1, 3, 2, minus_infinity, 0.5F},
        draft{2, 2, 2, 2, minus_infinity};
    const softmax_law p(logits_row<target_id>{logits}), q(logits_row<target_id>{draft});
    check_residual(p, q);
    check_residual(p, one_hot_law(target_id{1}));
    check_residual(p, one_hot_law(target_id{3}));
    const std::vector<weighted_id<target_id>> some{{target_id{0}, 1}, {target_id{3}, 2}};
    check_residual(p, sparse_law<target_id>(some, 5));
    check_residual(p, law_of({1, 2, 3, 4, 5}));
}

TEST_CASE("the residual law of a large row") {
    for (const std::size_t size : {std::size_t{1025}, std::size_t{40000}}) {
        const auto target = random_row(size, 1), draft = random_row(size, 2);
        const softmax_law p(logits_row<target_id>{target}), q(logits_row<target_id>{draft});
        const residual_law residual(p, q);
        const auto expected = formula(p, q);
        double reached = 0, mass = 0;
        for (std::size_t i = 0; i < size; ++i) {
            const auto id = id_at<target_id>(i);
            const double probability = residual.probability(id);
            REQUIRE(probability == Approx(expected.at(i)).epsilon(1e-11));
            if (probability > 1e-10)
                REQUIRE(residual.at(reached + probability / 2) == id);
            reached += probability;
            mass += std::max(p.probability(id) - q.probability(id), 0.0);
        }
        CHECK(reached == Approx(1).epsilon(1e-12));
        CHECK(residual.mass() == Approx(mass).epsilon(1e-12));
    }
}

TEST_CASE("a scale on p: the residual of block verification") {
    for (const auto& p_row : rows)
        for (const auto& q_row : rows)
            for (const double scale : {1.0, 0.75, 0.3, 1e-3}) {
                const dense p = law_of(p_row), q = law_of(q_row);
                const residual_law residual(p, q, scale);
                double mass = 0;
                for (std::size_t i = 0; i < p.size(); ++i) {
                    const auto id = id_at<target_id>(i);
                    mass += std::max(scale * p.probability(id) - q.probability(id), 0.0);
                }
                REQUIRE(residual.mass() == Approx(mass).margin(1e-15));
                for (std::size_t i = 0; i < p.size() && mass > 0; ++i) {
                    const auto id = id_at<target_id>(i);
                    const double excess =
                        std::max(scale * p.probability(id) - q.probability(id), 0.0);
                    REQUIRE(residual.probability(id) == Approx(excess / mass).margin(1e-15));
                }
                check_intervals<target_id>(residual, 1e-12);
            }
}

TEST_CASE("without residual mass the draw is from p") {
    const weights row{1, 2, 0, 5};
    const dense p = law_of(row);
    const residual_law residual(p, p);
    CHECK(residual.mass() == 0);
    CHECK(residual.probability(target_id{3}) == Approx(0.625));
    check_intervals<target_id>(residual, 1e-12);
    std::map<std::size_t, double> drawn;
    enumerate([&](enumerating_coin& coin) {
        const target_id t = draw_residual(p, p, coin, 0, {2, 2});
        drawn[t.index()] += coin.probability();
    });
    CHECK(drawn.at(3) == Approx(0.625));
    CHECK(drawn.count(2) == 0);
}

TEST_CASE("a compared law's residual is exact behind any cap on the draws") {
    const weights target{1, 2, 3}, draft{3, 2, 1};
    const dense p = law_of(target);
    const compared_law q{law_of(draft)};
    for (const std::uint32_t draws : {0U, 1U, 2U, 3U}) {
        INFO("draws " << draws);
        std::map<std::size_t, double> drawn;
        enumerate<interval_coin>([&](interval_coin& coin) {
            const target_id t = draw_residual(p, q, coin, 0, {.draws = 9, .lazy_draws = draws});
            drawn[t.index()] += coin.probability();
        });
        CHECK(total_variation(drawn, formula(p, q)) < 1e-12);
    }
}

TEST_CASE("a residual that outlasts the draws by default is summed, too") {
    constexpr float mass = 0x1p-24F; // 15 of 16 residuals do
    const weights target{0.5F, 0.5F}, draft{0.5F - mass, 0.5F + mass};
    const dense p = law_of(target);
    const compared_law q{law_of(draft)};
    for (std::uint64_t seed = 1; seed < 9; ++seed) {
        const philox_coin coin(seed);
        CHECK(draw_residual(p, q, coin, 0) == target_id{0});
    }
}

TEST_CASE("limits of thinning are refused where sites would meet") {
    CHECK_NOTHROW(validate(thinning_limits{}, 0));
    CHECK_NOTHROW(validate(thinning_limits{}, (1U << 24) - 1));
    CHECK_THROWS_WITH(validate(thinning_limits{}, 1U << 24),
                      "thinning: draws: expected less than 2^29, times the places of the round");
    CHECK_THROWS_AS(validate(thinning_limits{.draws = ~0U}, 1), error);
    CHECK_THROWS_WITH(validate(thinning_limits{.lazy_draws = 1U << 29}, 1),
                      "thinning: lazy_draws: expected less than 2^29");
}

TEST_CASE("thinning draws at sites of its own") {
    // The enumerating coin refuses a site that is used twice.
    const weights a{1, 2, 3}, b{3, 2, 1};
    const dense p = law_of(a), q = law_of(b);
    std::map<std::size_t, double> pairs;
    enumerate([&](enumerating_coin& coin) {
        const auto first = draw_residual(p, q, coin, 7, {2, 2});
        const auto second = draw_residual(q, p, coin, 8, {2, 2});
        pairs[first.index() * 3 + second.index()] += coin.probability();
    });
    CHECK(pairs.at(2 * 3 + 0) == Approx(1));
}
