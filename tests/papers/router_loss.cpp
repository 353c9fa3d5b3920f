// SPDX-License-Identifier: MIT
#include "papers/router_loss.hpp"

#include <vector>

#include "learn/loss_toys.hpp"

using namespace specdec;
using namespace specdec::papers;
using namespace specdec::testing;

namespace router_loss_tests {

TEST_CASE("the router's loss is the cross-entropy with the groups' mass, its gradient the "
          "formula's") {
    require_holds([] {
        loss_toy toy = *loss_toys();
        const std::size_t n = *any_in(1, 3);
        while (toy.target_row.size() < n)
            toy.target_row.push_back(-0.58F);
        std::vector<std::uint32_t> group_of(toy.target_row.size());
        for (std::size_t t = 0; t < group_of.size(); ++t)
            group_of[t] =
                t < n ? static_cast<std::uint32_t>(t) // no group is empty
                      : *any_of(std::vector<std::uint32_t>{0, static_cast<std::uint32_t>(n - 1),
                                                           token_groups<draft_id>::none});
        std::vector<float> route = *logits_on_grid(n, 0.37F);
        for (float& f : route)
            f = f == forbidden ? 3 : f;
        const token_groups<draft_id> groups(group_of, n);
        for_each_target_law(toy, [&](const auto& p) {
            std::vector<double> inside(n);
            double mass = 0;
            for (std::size_t t = 0; t < group_of.size(); ++t)
                if (group_of[t] != token_groups<draft_id>::none)
                    inside[group_of[t]] += p.probability(id_at<target_id>(t));
            for (const double m : inside)
                mass += m;
            const auto expected = [&](const row_of_doubles& z) {
                const auto router = plain_softmax(z);
                long double sum = 0;
                for (std::size_t g = 0; g < n && mass > 0; ++g)
                    sum -= 0.3L * inside[g] / mass * std::log(router[g]);
                return sum;
            };
            std::vector<float> dz(n, 77);
            const double value = router_loss(p, groups, route, dz, 0.3);
            RC_ASSERT(close(value, expected(widened(route))));
            RC_ASSERT(gradient_error(expected, route, dz) == "");
        });
    });
}

TEST_CASE("a router's loss of groups, laws and logits that do not fit is refused") {
    const loss_toy toy;
    const auto p = make_law(logits_row<target_id>{toy.target_row}, {});
    const auto groups = token_groups<draft_id>::equal_parts(3, 3);
    std::vector<float> route(2), dz(3);
    CHECK_THROWS_WITH(router_loss(p, groups, route, dz), Catch::Contains("logit of each group"));
    route.resize(3);
    CHECK_THROWS_WITH(router_loss(p, token_groups<draft_id>::equal_parts(9, 3), route, dz),
                      Catch::Contains("target's vocabulary"));
    CHECK_THROWS_WITH(router_loss(p, groups, route, std::span(dz).first(2)),
                      Catch::Contains("gradient"));
}

} // namespace router_loss_tests
