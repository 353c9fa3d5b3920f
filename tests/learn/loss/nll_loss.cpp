// SPDX-License-Identifier: MIT
#include <specdec/learn/loss/nll_loss.hpp>

#include <vector>

#include "learn/loss_toys.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace nll_loss_tests {

TEST_CASE("the NLL of every token is the formula, and its gradient the formula's") {
    require_holds([] {
        const loss_toy toy = *loss_toys();
        const double temperature = *loss_temperatures();
        const row_softmax q({toy.z}, temperature);
        for (std::size_t d = 0; d < toy.draft(); ++d) {
            std::vector<float> dz(toy.draft(), 77);
            const auto loss = [&] { return nll_loss(q, id_at<draft_id>(d), dz, 0.2); };
            if (toy.z[d] == forbidden) {
                RC_ASSERT_THROWS_AS(loss(), error);
                continue;
            }
            const auto expected = [&](const row_of_doubles& z) {
                return -0.2L * std::log(plain_softmax(z, temperature)[d]);
            };
            RC_ASSERT(close(loss(), expected(widened(toy.z))));
            RC_ASSERT(gradient_error(expected, toy.z, dz) == "");
        }
    });
    std::vector<float> z{0, forbidden}, dz(2);
    CHECK_THROWS_WITH(nll_loss(row_softmax({z}), draft_id{1}, dz),
                      Catch::Contains("expected a token that the logits allow"));
}

TEST_CASE("an n-gram's NLL is -lambda log of the product of its tokens, row by row") {
    require_holds([] {
        constexpr double lambda = 0.2;
        const double temperature = *loss_temperatures();
        const std::size_t n = *any_in(1, 3), size = *any_in(1, 5), stride = size + *any_in(0, 2);
        std::vector<float> block(n * stride, 50); // a padded head
        std::vector<std::vector<float>> rows;
        std::vector<draft_id> ids;
        for (std::size_t j = 0; j < n; ++j) {
            rows.push_back(*logits_on_grid(size, 0.37F));
            ids.push_back(id_at<draft_id>(*any_in(0, size - 1)));
            rows[j][ids[j].index()] = 0.25F;
            std::copy(rows[j].begin(), rows[j].end(),
                      block.begin() + static_cast<std::ptrdiff_t>(j * stride));
        }
        std::vector<float> gradients(n * size, 77);
        const double value =
            ngram_nll_loss({block.data(), n, size, stride}, ids, gradients, lambda, temperature);
        long double product = 1;
        for (std::size_t j = 0; j < n; ++j) {
            const std::size_t d = ids[j].index();
            product *= plain_softmax(widened(rows[j]), temperature)[d];
            RC_ASSERT(gradient_error(
                          [&](const row_of_doubles& z) {
                              return -0.2L * std::log(plain_softmax(z, temperature)[d]);
                          },
                          rows[j], std::span(gradients).subspan(j * size, size)) == "");
        }
        RC_ASSERT(close(value, -0.2L * std::log(product)));
    });
}

TEST_CASE("an NLL of ids, rows and gradients that do not fit is refused") {
    const std::vector<float> z(6, 0);
    const row_softmax q({std::span(z).first(3)});
    std::vector<float> dz(6);
    for (const int d : {-1, 3})
        CHECK_THROWS_WITH(nll_loss(q, draft_id{d}, std::span(dz).first(3)),
                          Catch::Contains("expected ids from 0 to 3 - 1"));
    const logits_rows<draft_id> rows(z.data(), 2, 3, 3);
    const std::vector<draft_id> ids(3, draft_id{0});
    CHECK_THROWS_WITH(ngram_nll_loss(rows, ids, dz, 1), Catch::Contains("drafter's rows"));
    CHECK_THROWS_WITH(ngram_nll_loss(rows, std::span(ids).first(2), std::span(dz).first(5), 1),
                      Catch::Contains("gradients: expected 2 rows of 3, found 5"));
    CHECK_NOTHROW(ngram_nll_loss(rows, std::span(ids).first(2), dz, 1));
}

} // namespace nll_loss_tests
