// SPDX-License-Identifier: MIT
#include "papers/exit_loss.hpp"

#include <vector>

#include <specdec/learn/loss/forward_kl_loss.hpp>

#include "learn/loss_toys.hpp"

using namespace specdec;
using namespace specdec::papers;
using namespace specdec::testing;

namespace exit_loss_tests {

TEST_CASE(
    "the exit loss is the mean of the exits' losses, its gradient that of each exit's share") {
    require_holds([] {
        const loss_toy toy = *loss_toys();
        const std::size_t exits = *any_in(1, 3), size = toy.draft();
        const draft_id next{0};
        std::vector<float> block;
        std::vector<std::vector<float>> rows;
        for (std::size_t n = 0; n < exits; ++n) {
            rows.push_back(*logits_on_grid(size, 0.37F));
            rows[n][0] = 0.5F;
            block.insert(block.end(), rows[n].begin(), rows[n].end());
        }
        const logits_rows<draft_id> view(block.data(), exits, size, size);
        std::vector<float> gradients(block.size(), 77);
        const double value = exit_loss(
            view, gradients,
            [&](logits_row<draft_id> z, std::span<float> dz, double weight) {
                return nll_loss(row_softmax(z), next, dz, weight);
            },
            2);
        const auto share = 2 / static_cast<long double>(exits);
        long double sum = 0;
        for (std::size_t n = 0; n < exits; ++n) {
            sum -= std::log(plain_softmax(widened(rows[n]))[0]);
            RC_ASSERT(
                gradient_error(
                    [&](const row_of_doubles& z) { return -share * std::log(plain_softmax(z)[0]); },
                    rows[n], std::span(gradients).subspan(n * size, size)) == "");
        }
        RC_ASSERT(close(value, share * sum));

        // Any other loss of a row: exits that learn from the target.
        const auto p = make_law(logits_row<target_id>{toy.target_row}, {});
        const double distilled = exit_loss(
            view, gradients, [&](logits_row<draft_id> z, std::span<float> dz, double weight) {
                return forward_kl_loss(p, shared_softmax(z, toy.map), dz, weight);
            });
        long double mean = 0;
        std::vector<float> dz(size);
        for (const auto& row : rows)
            mean +=
                static_cast<long double>(forward_kl_loss(p, shared_softmax({row}, toy.map), dz)) /
                static_cast<long double>(exits);
        RC_ASSERT(close(distilled, mean));
    });
}

TEST_CASE("an exit loss of no exits, or of gradients that do not fit, is refused") {
    const std::vector<float> z(6, 0);
    std::vector<float> dz(5);
    const auto loss = [](logits_row<draft_id>, std::span<float>, double) { return 0.0; };
    CHECK_THROWS_WITH(exit_loss({z.data(), 0, 3, 3}, std::span(dz).first(0), loss),
                      Catch::Contains("one or more"));
    CHECK_THROWS_WITH(exit_loss({z.data(), 2, 3, 3}, dz, loss),
                      Catch::Contains("exit loss: gradients"));
}

} // namespace exit_loss_tests
