// SPDX-License-Identifier: MIT
// No law, draw or coin of the sampling layer allocates.
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/sampling/coin/philox_coin.hpp>
#include <specdec/sampling/law/dense_law.hpp>
#include <specdec/sampling/law/draw.hpp>
#include <specdec/sampling/law/softmax_law.hpp>
#include <specdec/sampling/residual.hpp>

#include "random_rows.hpp"
#include "support/count_allocations.hpp"

using namespace specdec;
using specdec::testing::allocations;

TEST_CASE("sampling allocates nothing") {
    const auto target = random_row(30000, 1), draft = random_row(30000, 2);
    const std::vector<float> weights(30000, 1);
    const philox_coin coin(1);
    std::vector<target_id> ids(64);
    double kept = 0;
    const long before = allocations;
    for (const sampling_parameters& parameters :
         {sampling_parameters{}, sampling_parameters{.top_k = 50, .top_p = 0.9F, .min_p = 0.01F},
          sampling_parameters{.temperature = 0}}) {
        const auto p = make_law(logits_row<target_id>{target}, parameters);
        const auto q = make_law(logits_row<target_id>{draft}, parameters);
        const dense_law r(probabilities_row<target_id>{weights});
        const residual_law exact(p, r);
        kept += p.probability(coin.pick({}, q)) + exact.probability(coin.pick({}, exact));
        kept += p.probability(draw_residual(p, q, coin, 1));
        kept += p.probability(draw_residual(p, r, coin, 1, {0}));
    }
    kept += static_cast<double>(argmax(logits_row<target_id>{target}).index());
    kept += static_cast<double>(top_ids(logits_row<target_id>{target}, std::span(ids)));
    const long after = allocations;
    CHECK(after == before);
    CHECK(kept > 0);
}
