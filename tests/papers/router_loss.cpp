// SPDX-License-Identifier: MIT
#include "papers/router_loss.hpp"

#include <vector>

#include "learn/loss_toys.hpp"

using namespace specdec;
using namespace specdec::papers;
using namespace specdec::testing;

namespace router_loss_tests {

constexpr std::uint32_t none = token_groups<draft_id>::none;
const std::vector<std::uint32_t> group_of{2, 0, 1, none, 0, 2, 2, 1, none, 0, 1, 1};

TEST_CASE("the router's loss is the cross-entropy with the groups' mass, its gradient the "
          "formula's") {
    const token_groups<draft_id> groups(group_of, 3);
    for (unsigned seed = 0; seed < 20; ++seed) {
        loss_toy toy(seed);
        std::normal_distribution<float> normal;
        const std::vector<float> route{normal(toy.random), normal(toy.random), normal(toy.random)};
        for_each_target_law(toy, [&](const auto& p) {
            std::vector<double> inside(3);
            double mass = 0;
            for (std::size_t t = 0; t < group_of.size(); ++t)
                if (group_of[t] != none)
                    inside[group_of[t]] += p.probability(id_at<target_id>(t));
            for (const double m : inside)
                mass += m;
            const auto expected = [&](const row_of_doubles& z) {
                const auto router = plain_softmax(z);
                long double sum = 0;
                for (std::size_t g = 0; g < 3 && mass > 0; ++g)
                    sum -= 0.3L * inside[g] / mass * std::log(router[g]);
                return sum;
            };
            std::vector<float> dz(3, 77);
            const double value = router_loss(p, groups, route, dz, 0.3);
            CHECK(value == Approx(static_cast<double>(expected(widened(route)))));
            check_gradient(expected, route, dz);
        });
    }
}

TEST_CASE("a router's loss of groups, laws and logits that do not fit is refused") {
    const loss_toy toy(1);
    const auto p = make_law(logits_row<target_id>{toy.target_row}, {});
    const token_groups<draft_id> groups(group_of, 3);
    std::vector<float> route(2), dz(3);
    CHECK_THROWS_WITH(router_loss(p, groups, route, dz), Catch::Contains("logit of each group"));
    route.resize(3);
    CHECK_THROWS_WITH(router_loss(p, token_groups<draft_id>::equal_parts(9, 3), route, dz),
                      Catch::Contains("target's vocabulary"));
    CHECK_THROWS_WITH(router_loss(p, groups, route, std::span(dz).first(2)),
                      Catch::Contains("gradient"));
}

} // namespace router_loss_tests
