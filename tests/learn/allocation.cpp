// SPDX-License-Identifier: MIT
// No loss allocates.
#include <vector>

#include <specdec/learn/acceptance_loss.hpp>
#include <specdec/learn/exit_loss.hpp>
#include <specdec/learn/forward_kl_loss.hpp>
#include <specdec/learn/ngram_kl_loss.hpp>
#include <specdec/learn/nll_loss.hpp>
#include <specdec/learn/reverse_kl_loss.hpp>
#include <specdec/learn/total_variation_loss.hpp>

#include "../support/count_allocations.hpp"
#include "loss_toys.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace learn_allocation_tests {

TEST_CASE("losses allocate nothing") {
    std::mt19937 random(1);
    constexpr std::size_t size = 3000;
    const id_map map = toy_map(size, size, random);
    std::vector<float> rows = toy_logits(size, random);
    const auto second = toy_logits(size, random), target = toy_logits(size, random);
    rows.insert(rows.end(), second.begin(), second.end());
    rows[0] = rows[1] = rows[size] = rows[size + 1] = 1;
    target_id merged{0};
    while (map.to_draft(merged).valid())
        ++merged.value;
    std::vector<float> dz(2 * size), labels(size, 0.5F), logits(size, 2);
    const std::vector<draft_id> ids{draft_id{0}, draft_id{1}};
    const logits_rows<draft_id> view(rows.data(), 2, size, size);
    const std::span<float> one = std::span(dz).first(size);

    double sum = 0;
    const long before = allocations;
    {
        const auto p = make_law(logits_row<target_id>{target}, {});
        const shared_softmax q(view[0], map);
        sum += forward_kl_loss(p, q, one) + reverse_kl_loss(p, q, one) +
               total_variation_loss(p, q, one) + nll_loss(row_softmax(view[0]), ids[0], one) +
               ngram_nll_loss(view, ids, dz, 0.2) +
               ngram_kl_loss(p, merged, q, view.last(1), ids, dz) +
               acceptance_loss(logits, labels, one) +
               exit_loss(view, dz, [&](logits_row<draft_id> z, std::span<float> g, double weight) {
                   return nll_loss(row_softmax(z), ids[0], g, weight);
               });
    }
    const long after = allocations;
    CHECK(after == before);
    CHECK(sum > 0);
}

} // namespace learn_allocation_tests
