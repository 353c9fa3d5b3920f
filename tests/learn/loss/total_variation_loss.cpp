// SPDX-License-Identifier: MIT
#include <specdec/learn/loss/total_variation_loss.hpp>

#include <vector>

#include <specdec/bridge/tli.hpp>
#include <specdec/bridge/token/mapped_law.hpp>
#include <specdec/core/proposal.hpp>
#include <specdec/verify/token_rejection.hpp>

#include "learn/loss_toys.hpp"
#include "support/enumeration/enumerating_coin.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace total_variation_loss_tests {

long double formula(const std::vector<double>& p, const row_of_doubles& z, const id_map& map,
                    double temperature) {
    const auto q = plain_shared(z, map, temperature);
    long double accepted = 0;
    for (const auto [p_t, q_t] : ranges::views::zip(p, q))
        accepted += std::min<long double>(p_t, q_t);
    return 1 - accepted;
}

TEST_CASE("total variation is 1 - sum min(p, q'), and its gradient the formula's") {
    std::size_t smooth = 0;
    hold_for_losses([&](const loss_toy& toy, double temperature, const auto& q, const auto& p) {
        std::vector<float> dz(toy.draft(), 77);
        const double value = total_variation_loss(p, q, dz, 0.3);
        const auto numbers = probabilities_of(p);
        const auto expected = [&](const row_of_doubles& z) {
            return 0.3L * formula(numbers, z, toy.map, temperature);
        };
        RC_ASSERT(close(value, expected(widened(toy.z)), 1e-12));
        for (std::size_t t = 0; t < numbers.size(); ++t)
            if (std::abs(numbers[t] - std::exp(q.log_probability(id_at<target_id>(t)))) < 1e-4 &&
                numbers[t] > 0)
                return; // equal probabilities: there is no slope
        ++smooth;
        RC_ASSERT(gradient_error(expected, toy.z, dz) == "");
    });
    CHECK(smooth > 300);
}

TEST_CASE("total variation is what token rejection rejects of TLI's proposals") {
    constexpr token_rejection rule{.thinning = {1, 1}}; // a low cap has few paths
    require_holds([&] {
        const loss_toy toy = *loss_toys();
        const auto p = make_law(logits_row<target_id>{toy.target_row}, {.top_k = 5});
        std::vector<float> prepared(toy.draft()), dz(toy.draft());
        const tli_map map(toy.map);
        map.prepare(toy.z, prepared);
        const mapped_law proposed(make_law(logits_row<draft_id>{prepared}, {}), map);
        using law_type = std::remove_const_t<decltype(proposed)>;
        double rejected = 0;
        enumerate<enumerating_coin>([&](enumerating_coin& coin) {
            const proposal<law_type> x[] = {
                proposal<law_type>::draw(proposed, coin, {0, purpose::draft, 0})};
            const verdict v = rule([&](std::size_t) { return p; },
                                   std::span<const proposal<law_type>>(x), coin, 0);
            rejected += v.accepted == 0 ? coin.probability() : 0;
        });
        const shared_softmax q({toy.z}, toy.map);
        RC_ASSERT(close(total_variation_loss(p, q, dz), static_cast<long double>(rejected), 1e-5));
    });
}

TEST_CASE("total variation of equal laws is 0, of disjoint ones 1") {
    std::mt19937 random(8);
    const auto z = toy_logits(500, random);
    const id_map map = id_map::identity(500, 500);
    std::vector<float> dz(500);
    CHECK(total_variation_loss(make_law(logits_row<target_id>{z}, {}), shared_softmax({z}, map),
                               dz) == Approx(0).margin(1e-6));
    const id_map two = id_map::identity(2, 2);
    const std::vector<float> left{0, forbidden}, right{forbidden, 0};
    std::vector<float> none(2);
    CHECK(total_variation_loss(make_law(logits_row<target_id>{right}, {}),
                               shared_softmax({left}, two), none) == 1);
    CHECK(none == std::vector<float>{0, 0});
}

TEST_CASE("total variation refuses what does not fit") {
    const loss_toy toy;
    const shared_softmax q({toy.z}, toy.map);
    std::vector<float> dz(toy.z.size());
    const std::vector<float> other(toy.target_row.size() + 1, 0);
    CHECK_THROWS_WITH(total_variation_loss(make_law(logits_row<target_id>{other}, {}), q, dz),
                      Catch::Contains("total variation loss: target's vocabulary"));
    const auto p = make_law(logits_row<target_id>{toy.target_row}, {});
    CHECK_THROWS_WITH(total_variation_loss(p, q, std::span(dz).first(3)),
                      Catch::Contains("gradient"));
}

} // namespace total_variation_loss_tests
