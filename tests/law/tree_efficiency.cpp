// SPDX-License-Identifier: MIT
// How many tokens a round with a tree gives, by enumeration: siblings without replacement keep at
// least as much as independent ones, traversal at least as much as recursive rejection, none more
// than the optimum.
#include <specdec/verify/tree/traversal_verification.hpp>

#include <cstdio>
#include <vector>

#include <catch2/catch.hpp>

#include "support/optimal_acceptance.hpp"
#include "tree_law.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace tree_efficiency_tests {

/// E[tokens of a round].
template <class Rule>
double tokens_of(const Rule& rule, const fixed_tree& shape, sibling_draw siblings, row_tree& p,
                 row_tree& q) {
    const auto bridge = identity_trees(p({}).size(), {.siblings = siblings});
    return mean_of(on_every_path<enumerating_coin>([&](enumerating_coin& coin) {
        std::size_t tokens = 0;
        with_trees(p, q, rule, bridge, {.capacity = 24},
                   [&](auto& text, auto& target, auto& drafter) {
                       tokens = text.round(target, drafter, shape, coin, 8).tokens.size();
                   });
        return tokens;
    }));
}

constexpr recursive_rejection by_sums{.thinning = {0, 0}};
constexpr traversal_verification traversal_by_sums{.thinning = {0, 0}};

std::vector<double> probabilities(row_tree& rows) {
    const auto law = target_law_at(rows, {});
    std::vector<double> values(law.size());
    law.probabilities(0, values);
    return values;
}

fixed_tree of(std::vector<std::size_t> widths) {
    return fixed_tree::of_widths(widths);
}

TEST_CASE("one level: without replacement keeps more than independent, none more than the optimum",
          "[law]") {
    for_rows(4, every_pair_of_kinds(), [&](row_tree& p, row_tree& q) {
        for (const std::size_t k : {1U, 2U, 3U}) {
            double kept[3] = {};
            for (const sibling_draw siblings : sibling_draws) {
                std::size_t some = 0; // tokens of q; a logit may be too low for a probability
                for (const double chance : probabilities(q))
                    some += chance > 0 ? 1U : 0U;
                if (siblings == sibling_draw::likeliest && some < k)
                    continue;
                const double found = tokens_of(by_sums, of({k}), siblings, p, q) - 1;
                const double most =
                    optimal_acceptance(probabilities(p), probabilities(q), k, siblings);
                CAPTURE(k, static_cast<int>(siblings));
                CHECK(found <= most + 1e-9);
                if (k == 1)
                    CHECK(found == Approx(most).margin(1e-9));
                CHECK(tokens_of(traversal_by_sums, of({k}), siblings, p, q) ==
                      Approx(found + 1).margin(1e-9)); // the rules differ from two levels on
                kept[static_cast<std::size_t>(siblings)] = found;
            }
            CHECK(kept[1] >= kept[0] - 1e-9);
        }
    });
}

TEST_CASE("several levels: traversal keeps at least what recursive rejection keeps", "[law]") {
    double most = 0;
    for (const sibling_draw siblings :
         {sibling_draw::independent, sibling_draw::without_replacement})
        for (const auto& shape : {of({1, 1}), of({2, 2}), of({2, 1, 1}), of({1, 2, 1})})
            for_rows(2, every_pair_of_kinds(), [&](row_tree& p, row_tree& q) {
                const double down = tokens_of(by_sums, shape, siblings, p, q);
                const double up = tokens_of(traversal_by_sums, shape, siblings, p, q);
                CHECK(up >= down - 1e-9);
                most = up - down > most ? up - down : most;
            });
    CHECK(most > 0.05);
}

TEST_CASE("the figures of the table in the documents", "[law][computes]") {
    // Means over rows of two models that agree about as much as a good drafter does.
    constexpr int pairs = 20;
    const auto mean = [&](std::size_t vocabulary, const auto& f) {
        double sum = 0;
        for (std::uint64_t i = 0; i < pairs; ++i) {
            const auto p_rows = toy_rows(row_kind::random, vocabulary, 50 + i);
            const auto noise = toy_rows(row_kind::random, vocabulary, 150 + i);
            row_tree p(p_rows);
            row_tree q([=](const sequence& prefix) {
                std::vector<float> row = p_rows(prefix);
                const std::vector<float> own = noise(prefix);
                for (std::size_t v = 0; v < row.size(); ++v)
                    row[v] += 0.6F * own[v];
                return row;
            });
            sum += f(p, q);
        }
        return sum / pairs;
    };
    for (const std::size_t k : {1U, 2U, 3U})
        for (const sibling_draw siblings : sibling_draws) {
            const double found = mean(6, [&](row_tree& p, row_tree& q) {
                return tokens_of(by_sums, of({k}), siblings, p, q) - 1;
            });
            const double most = mean(6, [&](row_tree& p, row_tree& q) {
                return optimal_acceptance(probabilities(p), probabilities(q), k, siblings);
            });
            std::printf("one level, %zu siblings, draw %d: kept %.3f of %.3f, %.1f %%\n", k,
                        static_cast<int>(siblings), found, most, 100 * found / most);
            CHECK(found <= most + 1e-9);
        }
    for (const auto& widths : std::vector<std::vector<std::size_t>>{{1, 1, 1}, {2, 2}, {2, 1, 1}})
        for (const sibling_draw siblings : sibling_draws) {
            const double down = mean(3, [&](row_tree& p, row_tree& q) {
                return tokens_of(by_sums, of(widths), siblings, p, q);
            });
            const double up = mean(3, [&](row_tree& p, row_tree& q) {
                return tokens_of(traversal_by_sums, of(widths), siblings, p, q);
            });
            std::printf("%zu levels, width %zu, draw %d: recursive %.3f, traversal %.3f\n",
                        widths.size(), widths[0], static_cast<int>(siblings), down, up);
            CHECK(up >= down - 1e-9);
        }
}

} // namespace tree_efficiency_tests
