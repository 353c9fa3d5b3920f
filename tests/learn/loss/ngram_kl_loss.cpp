// SPDX-License-Identifier: MIT
#include <specdec/learn/loss/ngram_kl_loss.hpp>

#include <vector>

#include "learn/loss_toys.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace ngram_kl_loss_tests {

/// Three rows of a toy, an n-gram d_1 d_2 d_3 that is no shared token.
struct ngram_toy : loss_toy {
    static constexpr std::size_t n = 3;

    explicit ngram_toy(unsigned seed) : loss_toy(seed), rows{z} {
        for (std::size_t j = 1; j < n; ++j) {
            rows.push_back(toy_logits(draft, random));
            rows[j][j] = seed % 3 == 0 ? 12.0F : 0.5F; // a continuation that is nearly sure, too
        }
        const auto q = plain_shared(widened(z), map);
        while (q[token.index()] > 0)
            ++token.value;
        for (const auto& row : rows)
            block.insert(block.end(), row.begin(), row.end());
    }

    [[nodiscard]] logits_rows<draft_id> rest() const {
        return logits_rows<draft_id>(block.data(), n, draft, draft).last(n - 1);
    }

    std::vector<std::vector<float>> rows;
    std::vector<float> block;
    target_id token{0};
    std::vector<draft_id> ids{draft_id{0}, draft_id{1}, draft_id{2}};
};

/// Eq. 2 and the reverse KL, from the rows.
long double formula(const std::vector<double>& p, const std::vector<row_of_doubles>& rows,
                    const ngram_toy& toy, double temperature, double floor) {
    auto q = plain_shared(rows[0], toy.map, temperature);
    row_of_doubles first = rows[0];
    for (std::size_t d = 0; d < first.size(); ++d)
        if (!toy.map.to_target(id_at<draft_id>(d)).valid())
            first[d] = -std::numeric_limits<double>::infinity();
    long double merged = plain_softmax(first, temperature)[toy.ids[0].index()];
    for (std::size_t j = 1; j < rows.size(); ++j)
        merged *= plain_softmax(rows[j], temperature)[toy.ids[j].index()];
    q[toy.map.to_target(toy.ids[0]).index()] -= merged;
    q[toy.token.index()] = merged;
    return plain_reverse_kl(p, q, floor);
}

TEST_CASE("the n-gram KL is the formula with Eq. 2, and its gradients the formula's") {
    std::size_t taught = 0;
    for (unsigned seed = 0; seed < 40; ++seed) {
        const ngram_toy toy(seed);
        const double temperature = seed % 2 == 0 ? 1.0 : 0.6, floor = 1e-5;
        const shared_softmax first({toy.z}, toy.map, temperature);
        for_each_target_law(toy, [&](const auto& p) {
            std::vector<float> gradients(toy.block.size(), 77);
            const double value =
                ngram_kl_loss(p, toy.token, first, toy.rest(), toy.ids, gradients, 0.4, {floor});
            const auto numbers = probabilities_of(p);
            double mass = numbers[toy.token.index()];
            for (std::size_t t = 0; t < numbers.size(); ++t)
                if (std::isfinite(first.log_probability(id_at<target_id>(t))))
                    mass += numbers[t];
            if (mass == 0) {
                CHECK(value == 0);
                for (const float g : gradients)
                    CHECK(g == 0);
                return;
            }
            ++taught;
            std::vector<row_of_doubles> rows;
            for (const auto& row : toy.rows)
                rows.push_back(widened(row));
            CHECK(value == Approx(static_cast<double>(
                                      0.4L * formula(numbers, rows, toy, temperature, floor)))
                               .margin(1e-11));
            for (std::size_t j = 0; j < toy.n; ++j) {
                const auto at = [&](const row_of_doubles& z) {
                    auto others = rows;
                    others[j] = z;
                    return 0.4L * formula(numbers, others, toy, temperature, floor);
                };
                CAPTURE(seed, j);
                check_gradient(at, toy.rows[j],
                               std::span(gradients).subspan(j * toy.draft, toy.draft));
            }
        });
    }
    CHECK(taught > 180);
}

TEST_CASE("an n-gram that is sure leaves its prefix nothing, and no NaN") {
    const id_map map({0, 1, -1}, {0, 1, -1}, 1, 2);
    const std::vector<float> z{1, 0, 0}, sure{-900, forbidden, 900}, row{0, 1, 2};
    const std::vector<draft_id> ids{draft_id{0}, draft_id{2}};
    std::vector<float> gradients(6);
    const auto p = make_law(logits_row<target_id>{row}, {});
    const double value = ngram_kl_loss(p, target_id{2}, shared_softmax({z}, map),
                                       {sure.data(), 1, 3, 3}, ids, gradients);
    const double q = 1 / (1 + std::exp(-1.0));
    CHECK(value == Approx(q * std::log(q / p.probability(target_id{2})) +
                          (1 - q) * std::log((1 - q) / p.probability(target_id{1}))));
    CHECK(gradients[0] == Approx(-static_cast<double>(gradients[1])));
    for (std::size_t i = 2; i < 6; ++i)
        CHECK(gradients[i] == 0);
}

TEST_CASE("an n-gram KL of what does not fit is refused") {
    const ngram_toy toy(1);
    const shared_softmax first({toy.z}, toy.map);
    const auto p = make_law(logits_row<target_id>{toy.target_row}, {});
    std::vector<float> out(toy.block.size());
    const auto loss = [&](target_id t, std::vector<draft_id> ids, logits_rows<draft_id> rest) {
        return ngram_kl_loss(p, t, first, rest, ids, out);
    };
    CHECK_NOTHROW(loss(toy.token, toy.ids, toy.rest()));
    CHECK_THROWS_WITH(loss(toy.token, {draft_id{0}}, toy.rest()), Catch::Contains("two or more"));
    CHECK_THROWS_WITH(loss(toy.token, toy.ids, toy.rest().last(1)),
                      Catch::Contains("drafter's rows"));
    CHECK_THROWS_WITH(loss(target_id{12}, toy.ids, toy.rest()), Catch::Contains("target's token"));
    CHECK_THROWS_WITH(loss(toy.map.to_target(draft_id{0}), toy.ids, toy.rest()),
                      Catch::Contains("not shared"));
    CHECK_THROWS_WITH(loss(toy.token, {draft_id{0}, draft_id{99}, draft_id{2}}, toy.rest()),
                      Catch::Contains("drafter's tokens"));
    int own = 0;
    while (toy.map.to_target(draft_id{own}).valid())
        ++own;
    CHECK_THROWS_WITH(loss(toy.token, {draft_id{own}, draft_id{1}, draft_id{2}}, toy.rest()),
                      Catch::Contains("drafter's first token"));
    out.pop_back();
    CHECK_THROWS_WITH(loss(toy.token, toy.ids, toy.rest()), Catch::Contains("gradients"));
}

TEST_CASE("an n-gram KL through a token that its row forbids is refused") {
    ngram_toy toy(1);
    toy.block[toy.draft + 1] = forbidden;
    const shared_softmax first({toy.z}, toy.map);
    const auto p = make_law(logits_row<target_id>{toy.target_row}, {});
    std::vector<float> out(toy.block.size());
    CHECK_THROWS_WITH(ngram_kl_loss(p, toy.token, first, toy.rest(), toy.ids, out),
                      Catch::Contains("expected tokens that the logits allow"));
}

} // namespace ngram_kl_loss_tests
