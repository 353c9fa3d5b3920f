// SPDX-License-Identifier: MIT
// Sessions with targets that do not give rows of floats: lists of a sampler's top-k, probabilities,
// halves. The joint law is that of these rows.
#include <specdec/process/given_laws.hpp>

#include <bit>
#include <cstdint>

#include <specdec/process/processed_rows.hpp>

#include "support/rows_model.hpp"
#include "toy_bridges.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace {

/// The joint law of three tokens, over two rounds that draft two tokens each.
template <class Rows, class Rule, class Laws>
joint_law law_of(row_tree& p, row_tree& q, const Rule& rule, const Laws& laws) {
    const auto make = [&](auto&, const auto& use) {
        rows_model<Rows> target(p, 3);
        auto draft = model_of<draft_id>(q);
        model_drafter drafter(draft);
        use(target, drafter);
    };
    return play(made_world{p, make}, permuted_words().tli(), rule,
                scenario{.steps = {{.gamma = 2}, {.gamma = 2}}, .length = 3}, laws)
        .law;
}

/// The two likeliest of three, renormalised: numbers of a sampler.
row_tree top_two(std::uint64_t seed) {
    return row_tree([inner = toy_rows(row_kind::random, 3, seed)](const sequence& prefix) {
        std::vector<float> row = inner(prefix);
        std::size_t least = 0;
        for (std::size_t v = 0; v < 3; ++v)
            least = row[v] < row[least] ? v : least;
        float sum = 0;
        for (std::size_t v = 0; v < 3; ++v) {
            row[v] = v == least ? 0 : __builtin_expf(row[v]);
            sum += row[v];
        }
        for (float& x : row)
            x /= sum;
        return row;
    });
}

/// Of a tree of probabilities, as they are.
void continue_with(joint_law& law, const sequence& text, double probability, row_tree& p) {
    if (text.size() == 3) {
        law[text] += probability;
        return;
    }
    const std::vector<float> row = p(text);
    double sum = 0;
    for (const float x : row)
        sum += static_cast<double>(x);
    for (std::size_t v = 0; v < row.size(); ++v) {
        sequence longer = text;
        longer.push_back(static_cast<int>(v));
        if (row[v] > 0)
            continue_with(law, longer, probability * static_cast<double>(row[v]) / sum, p);
    }
}

} // namespace

TEST_CASE("sessions over lists of a sampler have the law of the lists", "[law]") {
    row_tree p = top_two(7), q(toy_rows(row_kind::random, 4, 8));
    joint_law wanted;
    continue_with(wanted, {}, 1, p);
    for_lossless_rules([&](const auto& rule) {
        CHECK(total_variation(law_of<listed_rows<target_id>>(p, q, rule, given_laws{}), wanted) <
              1e-12);
        CHECK(total_variation(law_of<probabilities_rows<target_id>>(p, q, rule, given_laws{}),
                              wanted) < 1e-12);
    });
}

TEST_CASE("sessions over halves have the law of the widened rows", "[law]") {
    row_tree p(toy_rows(row_kind::random, 3, 9)), q(toy_rows(row_kind::random, 4, 10));
    row_tree widened([&](const sequence& prefix) {
        std::vector<float> row = p(prefix);
        for (float& x : row)
            x = std::bit_cast<float>(std::bit_cast<std::uint32_t>(x) & 0xFFFF0000U);
        return row;
    });
    const joint_law wanted = target_alone(widened, 3);
    for_lossless_rules([&](const auto& rule) {
        const joint_law law =
            law_of<logits_rows<target_id, bfloat16>>(p, q, rule, processed_rows(3));
        CHECK(total_variation(law, wanted) < 1e-12);
        CHECK(total_variation(law, target_alone(p, 3)) > 1e-4); // bits are lost
    });
}
