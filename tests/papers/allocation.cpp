// SPDX-License-Identifier: MIT
// None of the papers' losses allocates.
#include "papers/exit_loss.hpp"
#include "papers/feature_loss.hpp"
#include "papers/router_loss.hpp"

#include <vector>

#include "learn/loss_toys.hpp"
#include "support/count_allocations.hpp"

using namespace specdec;
using namespace specdec::papers;
using namespace specdec::testing;

namespace papers_allocation_tests {

TEST_CASE("the papers' losses allocate nothing") {
    std::mt19937 random(1);
    constexpr std::size_t size = 3000;
    std::vector<float> rows = toy_logits(size, random);
    const auto second = toy_logits(size, random), target = toy_logits(size, random);
    rows.insert(rows.end(), second.begin(), second.end());
    rows[0] = rows[size] = 1;
    std::vector<float> dz(2 * size), labels(size, 0.5F), logits(size, 2);
    const logits_rows<draft_id> view(rows.data(), 2, size, size);
    const std::span<float> one = std::span(dz).first(size), three = one.first(3);
    const auto groups = token_groups<draft_id>::equal_parts(size, 3);

    double sum = 0;
    const long before = allocations;
    {
        const auto p = make_law(logits_row<target_id>{target}, {});
        sum += router_loss(p, groups, std::span(labels).first(3), three) +
               regression_loss(logits, labels, one) +
               alignment_loss(std::span(labels).first(6), 1, 3, three) +
               exit_loss(view, dz, [&](logits_row<draft_id> z, std::span<float> g, double weight) {
                   return nll_loss(row_softmax(z), draft_id{0}, g, weight);
               });
    }
    const long after = allocations;
    CHECK(after == before);
    CHECK(sum > 0);
}

} // namespace papers_allocation_tests
