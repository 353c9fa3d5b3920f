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
    for (unsigned seed = 0; seed < 60; ++seed)
        for (const double temperature : {0.5, 1.0, 2.0}) {
            const loss_toy toy(seed);
            const shared_softmax q({toy.z}, toy.map, temperature);
            for_each_target_law(toy, [&](const auto& p) {
                std::vector<float> dz(toy.z.size(), 77);
                const double value = total_variation_loss(p, q, dz, 0.3);
                const auto numbers = probabilities_of(p);
                const auto expected = [&](const row_of_doubles& z) {
                    return 0.3L * formula(numbers, z, toy.map, temperature);
                };
                CHECK(value == Approx(static_cast<double>(expected(widened(toy.z)))).margin(1e-12));
                check_gradient(expected, toy.z, dz);
            });
        }
}

TEST_CASE("total variation is what token rejection rejects of TLI's proposals") {
    constexpr token_rejection rule{.thinning = {1, 1}}; // a low cap has few paths
    for (unsigned seed = 0; seed < 30; ++seed) {
        const loss_toy toy(seed);
        const auto p = make_law(logits_row<target_id>{toy.target_row}, {.top_k = 5});
        std::vector<float> prepared(toy.z.size()), dz(toy.z.size());
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
        CHECK(total_variation_loss(p, q, dz) == Approx(rejected).margin(1e-5));
    }
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
    const loss_toy toy(1);
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
