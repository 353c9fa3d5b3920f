// SPDX-License-Identifier: MIT
#include <specdec/learn/loss/forward_kl_loss.hpp>

#include <vector>

#include "learn/loss_toys.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace forward_kl_loss_tests {

TEST_CASE("forward KL is the formula, and its gradient the formula's") {
    std::size_t taught = 0;
    hold_for_losses([&](const loss_toy& toy, double temperature, const auto& q, const auto& p) {
        std::vector<float> dz(toy.draft(), 77);
        const double value = forward_kl_loss(p, q, dz, 0.3);
        const auto numbers = probabilities_of(p);
        if (teaches_nothing(numbers, q, value, dz))
            return;
        ++taught;
        const auto expected = [&](const row_of_doubles& z) {
            return 0.3L * plain_forward_kl(numbers, plain_shared(z, toy.map, temperature));
        };
        RC_ASSERT(close(value, expected(widened(toy.z)), 1e-12));
        RC_ASSERT(gradient_error(expected, toy.z, dz) == "");
    });
    CHECK(taught > 300);
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
    const loss_toy toy;
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
