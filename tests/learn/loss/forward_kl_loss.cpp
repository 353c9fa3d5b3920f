// SPDX-License-Identifier: MIT
#include <specdec/learn/loss/forward_kl_loss.hpp>

#include <vector>

#include "learn/loss_toys.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace forward_kl_loss_tests {

TEST_CASE("forward KL is the formula, and its gradient the formula's") {
    std::size_t taught = 0;
    for (unsigned seed = 0; seed < 60; ++seed)
        for (const double temperature : {0.5, 1.0, 2.0}) {
            const loss_toy toy(seed);
            const shared_softmax q({toy.z}, toy.map, temperature);
            for_each_target_law(toy, [&](const auto& p) {
                std::vector<float> dz(toy.z.size(), 77);
                const double value = forward_kl_loss(p, q, dz, 0.3);
                const auto numbers = probabilities_of(p);
                double mass = 0;
                for (std::size_t t = 0; t < numbers.size(); ++t)
                    if (std::isfinite(q.log_probability(id_at<target_id>(t))))
                        mass += numbers[t];
                if (mass == 0) {
                    CHECK(value == 0);
                    CHECK(dz == std::vector<float>(dz.size(), 0));
                    return;
                }
                ++taught;
                const auto expected = [&](const row_of_doubles& z) {
                    return 0.3L * plain_forward_kl(numbers, plain_shared(z, toy.map, temperature));
                };
                CHECK(value == Approx(static_cast<double>(expected(widened(toy.z))))
                                   .epsilon(1e-12)
                                   .margin(1e-12));
                check_gradient(expected, toy.z, dz);
            });
        }
    CHECK(taught > 900);
}

TEST_CASE("logits of any size have a forward KL") {
    const id_map map = id_map::identity(3, 3);
    const std::vector<float> z{-1e30F, 1e30F, -2000}, row{1e30F, -1e30F, 3};
    std::vector<float> dz(3);
    const double value =
        forward_kl_loss(make_law(logits_row<target_id>{row}, {}), shared_softmax({z}, map), dz);
    CHECK(value == Approx(2e30).epsilon(1e-6));
    CHECK(dz == std::vector<float>{-1, 1, 0});
}

TEST_CASE("forward KL refuses what does not fit") {
    const loss_toy toy(1);
    const shared_softmax q({toy.z}, toy.map);
    std::vector<float> dz(toy.z.size());
    const std::vector<float> other(toy.target_row.size() + 1, 0);
    CHECK_THROWS_WITH(forward_kl_loss(make_law(logits_row<target_id>{other}, {}), q, dz),
                      Catch::Contains("forward KL loss: target's vocabulary"));
    const auto p = make_law(logits_row<target_id>{toy.target_row}, {});
    CHECK_THROWS_WITH(forward_kl_loss(p, q, std::span(dz).first(3)), Catch::Contains("gradient"));
    CHECK_THROWS_WITH(forward_kl_loss(p, q, dz, std::nan("")), Catch::Contains("weight"));
}

} // namespace forward_kl_loss_tests
