// SPDX-License-Identifier: MIT
#include <specdec/learn/loss/shared_softmax.hpp>

#include <limits>
#include <vector>

#include <specdec/bridge/tli.hpp>
#include <specdec/bridge/token/mapped_law.hpp>
#include <specdec/sampling/law/softmax_law.hpp>
#include <specdec/sampling/law/sparse_law.hpp>

#include "learn/loss_toys.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace shared_softmax_tests {

TEST_CASE("q' is the law that TLI proposes from") {
    require_holds([] {
        const loss_toy toy = *loss_toys();
        const float temperature = *any_of(std::vector<float>{1, 0.7F});
        const shared_softmax q({toy.z}, toy.map, static_cast<double>(temperature));
        std::vector<float> prepared(toy.draft());
        const tli_map map(toy.map);
        map.prepare(toy.z, prepared);
        const mapped_law proposed(
            make_law(logits_row<draft_id>{prepared}, {.temperature = temperature}), map);
        const auto plain = plain_shared(widened(toy.z), toy.map, static_cast<double>(temperature));
        for (std::size_t i = 0; i < plain.size(); ++i) {
            const target_id t = id_at<target_id>(i);
            const double found = std::exp(q.log_probability(t));
            RC_ASSERT(close(found, plain[i], 1e-12));
            RC_ASSERT(close(found, static_cast<long double>(proposed.probability(t)), 1e-5));
        }
    });
}

TEST_CASE("each visits every shared token with its laws, of a list those with mass") {
    std::mt19937 random(5);
    const std::size_t draft = 900, target = 1000; // more than a chunk
    const id_map map = toy_map(draft, target, random);
    const auto z = toy_logits(draft, random), row = toy_logits(target, random);
    const shared_softmax q({z}, map);
    const auto p = make_law(logits_row<target_id>{row}, {});
    const auto plain = plain_shared(widened(z), map);
    std::vector<std::size_t> seen, with_mass, of_list, expected, expected_with_mass;
    for (std::size_t t = 0; t < target; ++t)
        if (plain[t] > 0) {
            expected.push_back(t);
            if (row[t] != forbidden)
                expected_with_mass.push_back(t);
        }
    q.each(p, [&](target_id t, double p_t, double log_q) {
        seen.push_back(t.index());
        CHECK(p_t == p.probability(t));
        CHECK(log_q == q.log_probability(t));
    });
    q.each_with_mass(p, [&](target_id t, double, double) { with_mass.push_back(t.index()); });
    CHECK(seen == expected);
    CHECK(with_mass == expected_with_mass);

    const std::vector<weighted_id<target_id>> entries{{id_at<target_id>(expected[3]), 1},
                                                      {id_at<target_id>(expected[4]), 0},
                                                      {id_at<target_id>(expected[400]), 3}};
    const sparse_law<target_id> list(entries, target);
    double mass = 0;
    q.each_with_mass(list, [&](target_id t, double p_t, double) {
        of_list.push_back(t.index());
        mass += p_t;
    });
    CHECK(of_list == std::vector{expected[3], expected[400]});
    CHECK(mass == Approx(1));
}

TEST_CASE(
    "a row of another drafter is refused, whatever stands at tokens without a partner is not") {
    loss_toy toy;
    const std::vector<float> longer(toy.z.size() + 1, 0);
    CHECK_THROWS_WITH(shared_softmax({longer}, toy.map), Catch::Contains("drafter's vocabulary"));
    for (std::size_t d = 0; d < toy.z.size(); ++d)
        if (!toy.map.to_target(id_at<draft_id>(d)).valid())
            toy.z[d] = std::numeric_limits<float>::quiet_NaN();
    CHECK_NOTHROW(shared_softmax({toy.z}, toy.map));
    for (float& logit : toy.z)
        logit = forbidden;
    CHECK_THROWS_WITH(shared_softmax({toy.z}, toy.map), Catch::Contains("logits"));
}

} // namespace shared_softmax_tests
