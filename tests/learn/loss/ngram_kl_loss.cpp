// SPDX-License-Identifier: MIT
#include <specdec/learn/loss/ngram_kl_loss.hpp>

#include <utility>
#include <vector>

#include "learn/loss_toys.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace ngram_kl_loss_tests {

/// Rows of a toy and of an n-gram's further tokens; the n-gram is the target's last token, which is
/// not shared.
struct ngram_toy : loss_toy {
    std::vector<std::vector<float>> rows; ///< z, and those of d_2 .. d_n
    std::vector<draft_id> ids;
    std::vector<float> block{};

    explicit ngram_toy(loss_toy toy = {},
                       std::vector<std::vector<float>> rest = {{1, 0.5F, 0, 0}, {2, -1, 0.5F, 0}},
                       std::vector<draft_id> spelling = {draft_id{0}, draft_id{1}, draft_id{2}})
        : loss_toy(std::move(toy)), rows{z}, ids(std::move(spelling)) {
        rows.insert(rows.end(), rest.begin(), rest.end());
        target_row.push_back(0.5F);
        map = map_of(to_target, target_row.size());
        for (const auto& row : rows)
            block.insert(block.end(), row.begin(), row.end());
    }

    [[nodiscard]] target_id token() const { return id_at<target_id>(target_row.size() - 1); }
    [[nodiscard]] logits_rows<draft_id> rest() const {
        return logits_rows<draft_id>(block.data(), rows.size(), draft(), draft())
            .last(rows.size() - 1);
    }
};

/// n-grams of two or three draft tokens, whose continuations may be nearly sure.
ngram_toy any_ngram_toy() {
    const loss_toy toy = *loss_toys(2);
    std::vector<std::vector<float>> rest;
    std::vector<draft_id> ids{draft_id{0}};
    for (std::size_t n = *any_in(1, 2); n > 0; --n) {
        rest.push_back(*logits_on_grid(toy.draft(), 0.37F));
        ids.push_back(id_at<draft_id>(*any_in(0, toy.draft() - 1)));
        rest.back()[ids.back().index()] = *any_of(std::vector<float>{0.5F, 12});
    }
    return ngram_toy(toy, rest, ids);
}

/// Eq. 2 and the reverse KL, from the rows.
long double formula(const std::vector<double>& p, const std::vector<row_of_doubles>& rows,
                    const ngram_toy& toy, double temperature, double floor) {
    auto q = plain_shared(rows[0], toy.map, temperature), allowed = q;
    allowed[toy.token().index()] = 1;
    row_of_doubles first = rows[0];
    for (std::size_t d = 0; d < first.size(); ++d)
        if (!toy.map.to_target(id_at<draft_id>(d)).valid())
            first[d] = -std::numeric_limits<double>::infinity();
    long double merged = plain_softmax(first, temperature)[toy.ids[0].index()];
    for (std::size_t j = 1; j < rows.size(); ++j)
        merged *= plain_softmax(rows[j], temperature)[toy.ids[j].index()];
    q[toy.map.to_target(toy.ids[0]).index()] -= merged;
    q[toy.token().index()] = merged;
    return plain_reverse_kl(p, q, floor, allowed);
}

TEST_CASE("the n-gram KL is the formula with Eq. 2, and its gradients the formula's") {
    std::size_t taught = 0;
    require_holds([&] {
        const ngram_toy toy = any_ngram_toy();
        const double temperature = *any_of(std::vector<double>{1, 0.6}), floor = 1e-5;
        const shared_softmax first({toy.z}, toy.map, temperature);
        std::vector<row_of_doubles> rows;
        for (const auto& row : toy.rows)
            rows.push_back(widened(row));
        for_each_target_law(toy, [&](const auto& p) {
            std::vector<float> gradients(toy.block.size(), 77);
            const double value =
                ngram_kl_loss(p, toy.token(), first, toy.rest(), toy.ids, gradients, 0.4, {floor});
            const auto numbers = probabilities_of(p);
            if (numbers.back() + shared_mass(numbers, first) == 0) {
                RC_ASSERT(value == 0.0);
                RC_ASSERT(gradients == std::vector<float>(gradients.size(), 0));
                return;
            }
            ++taught;
            RC_ASSERT(close(value, 0.4L * formula(numbers, rows, toy, temperature, floor)));
            for (std::size_t j = 0; j < rows.size(); ++j) {
                const auto at = [&](const row_of_doubles& z) {
                    auto others = rows;
                    others[j] = z;
                    return 0.4L * formula(numbers, others, toy, temperature, floor);
                };
                RC_ASSERT(gradient_error(
                              at, toy.rows[j],
                              std::span(gradients).subspan(j * toy.draft(), toy.draft())) == "");
            }
        });
    });
    CHECK(taught > 300);
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
    const ngram_toy toy;
    const shared_softmax first({toy.z}, toy.map);
    const auto p = make_law(logits_row<target_id>{toy.target_row}, {});
    std::vector<float> out(toy.block.size());
    const auto loss = [&](target_id t, std::vector<draft_id> ids, logits_rows<draft_id> rest) {
        return ngram_kl_loss(p, t, first, rest, ids, out);
    };
    CHECK_NOTHROW(loss(toy.token(), toy.ids, toy.rest()));
    CHECK_THROWS_WITH(loss(toy.token(), {draft_id{0}}, toy.rest()), Catch::Contains("two or more"));
    CHECK_THROWS_WITH(loss(toy.token(), toy.ids, toy.rest().last(1)),
                      Catch::Contains("drafter's rows"));
    CHECK_THROWS_WITH(loss(target_id{12}, toy.ids, toy.rest()), Catch::Contains("target's token"));
    CHECK_THROWS_WITH(loss(toy.map.to_target(draft_id{0}), toy.ids, toy.rest()),
                      Catch::Contains("not shared"));
    CHECK_THROWS_WITH(loss(toy.token(), {draft_id{0}, draft_id{99}, draft_id{2}}, toy.rest()),
                      Catch::Contains("drafter's tokens"));
    int own = 0;
    while (toy.map.to_target(draft_id{own}).valid())
        ++own;
    CHECK_THROWS_WITH(loss(toy.token(), {draft_id{own}, draft_id{1}, draft_id{2}}, toy.rest()),
                      Catch::Contains("drafter's first token"));
    out.pop_back();
    CHECK_THROWS_WITH(loss(toy.token(), toy.ids, toy.rest()), Catch::Contains("gradients"));
}

TEST_CASE("an n-gram KL through a token that its row forbids is refused") {
    ngram_toy toy;
    toy.block[toy.draft() + 1] = forbidden;
    const shared_softmax first({toy.z}, toy.map);
    const auto p = make_law(logits_row<target_id>{toy.target_row}, {});
    std::vector<float> out(toy.block.size());
    CHECK_THROWS_WITH(ngram_kl_loss(p, toy.token(), first, toy.rest(), toy.ids, out),
                      Catch::Contains("expected tokens that the logits allow"));
}

} // namespace ngram_kl_loss_tests
