// SPDX-License-Identifier: MIT
#include <specdec/learn/loss/reverse_kl_loss.hpp>

#include <vector>

#include "learn/loss_toys.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace reverse_kl_loss_tests {

TEST_CASE("reverse KL is the formula, and its gradient the formula's") {
    std::size_t taught = 0;
    hold_for_losses([&](const loss_toy& toy, double temperature, const auto& q, const auto& p) {
        const double floor = *any_of(std::vector<double>{1e-30, 1e-3});
        std::vector<float> dz(toy.draft(), 77);
        const double value = reverse_kl_loss(p, q, dz, 2.5, {floor});
        const auto numbers = probabilities_of(p);
        if (teaches_nothing(numbers, q, value, dz))
            return;
        ++taught;
        const auto expected = [&](const row_of_doubles& z) {
            const auto shared = plain_shared(z, toy.map, temperature);
            return 2.5L * plain_reverse_kl(numbers, shared, floor, shared);
        };
        RC_ASSERT(close(value, expected(widened(toy.z)), 1e-11));
        RC_ASSERT(value > -1e-12);
        const double slack = 1e-6 * std::log(1 / floor); // of ratios as large as this
        RC_ASSERT(gradient_error(expected, toy.z, dz, slack) == "");
    });
    CHECK(taught > 300);
}

TEST_CASE("tokens that the target forbids lose mass, those it has no partner for do not count") {
    const id_map map({0, 1, 2, -1}, {0, 1, 2, -1}, 1, 2);
    const std::vector<float> z{0, 0, 0, 9}, row{1, 1, forbidden, 9};
    std::vector<float> dz(4);
    const double value =
        reverse_kl_loss(make_law(logits_row<target_id>{row}, {}), shared_softmax({z}, map), dz);
    // log(1/3 / 1/2) for two thirds of the mass, the rest at p' = 1e-30 / p(shared).
    const double p_shared = 2 * std::exp(1.0) / (2 * std::exp(1.0) + std::exp(9.0));
    CHECK(value ==
          Approx(2 / 3.0 * std::log(2 / 3.0) + 1 / 3.0 * std::log(1 / 3.0 / (1e-30 / p_shared)))
              .epsilon(1e-6));
    CHECK(dz[2] > 10);
    CHECK(dz[0] < 0);
    CHECK(dz[3] == 0);
}

TEST_CASE("logits of any size have a reverse KL") {
    const id_map map = id_map::identity(3, 3);
    const std::vector<float> z{-1e30F, 1e30F, -2000}, row{1e30F, -1e30F, 3};
    std::vector<float> dz(3);
    const double value =
        reverse_kl_loss(make_law(logits_row<target_id>{row}, {}), shared_softmax({z}, map), dz);
    CHECK(value == Approx(30 * std::log(10.0)));
    for (const float g : dz)
        CHECK(g == 0); // a q of 1 has no slope
}

TEST_CASE("reverse KL refuses what does not fit") {
    const loss_toy toy;
    const shared_softmax q({toy.z}, toy.map);
    std::vector<float> dz(toy.z.size());
    const std::vector<float> other(toy.target_row.size() + 1, 0);
    CHECK_THROWS_WITH(reverse_kl_loss(make_law(logits_row<target_id>{other}, {}), q, dz),
                      Catch::Contains("reverse KL loss: target's vocabulary"));
    const auto p = make_law(logits_row<target_id>{toy.target_row}, {});
    CHECK_THROWS_WITH(reverse_kl_loss(p, q, std::span(dz).first(3)), Catch::Contains("gradient"));
    for (const double floor : {0.0, 1.0, -1.0, std::nan("")})
        CHECK_THROWS_WITH(reverse_kl_loss(p, q, dz, 1, {floor}), Catch::Contains("floor"));
}

} // namespace reverse_kl_loss_tests
