// SPDX-License-Identifier: MIT
#include <specdec/learn/loss/nll_loss.hpp>

#include <vector>

#include "learn/loss_toys.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace nll_loss_tests {

TEST_CASE("the NLL of every token is the formula, and its gradient the formula's") {
    for (unsigned seed = 0; seed < 20; ++seed)
        for (const double temperature : {0.5, 1.0, 2.0}) {
            const loss_toy toy(seed);
            const row_softmax q({toy.z}, temperature);
            for (std::size_t d = 0; d < toy.z.size(); ++d) {
                std::vector<float> dz(toy.z.size(), 77);
                const auto loss = [&] { return nll_loss(q, id_at<draft_id>(d), dz, 0.2); };
                if (toy.z[d] == forbidden) {
                    CHECK_THROWS_WITH(loss(),
                                      Catch::Contains("expected a token that the logits allow"));
                    continue;
                }
                const auto expected = [&](const row_of_doubles& z) {
                    return -0.2L * std::log(plain_softmax(z, temperature)[d]);
                };
                CHECK(loss() == Approx(static_cast<double>(expected(widened(toy.z)))));
                check_gradient(expected, toy.z, dz);
            }
        }
}

TEST_CASE("an n-gram's NLL is -lambda log of the product of its tokens, row by row") {
    std::mt19937 random(4);
    constexpr std::size_t n = 3, size = 9, stride = 11; // a padded head
    std::vector<float> block(n * stride, 50);
    std::vector<std::vector<float>> rows;
    for (std::size_t j = 0; j < n; ++j) {
        rows.push_back(toy_logits(size, random));
        rows[j][2 * j] = 0.25F;
        std::copy(rows[j].begin(), rows[j].end(),
                  block.begin() + static_cast<std::ptrdiff_t>(j * stride));
    }
    const std::vector<draft_id> ids{draft_id{0}, draft_id{2}, draft_id{4}};
    std::vector<float> gradients(n * size, 77);
    const double lambda = 0.2, temperature = 0.8;
    const double value =
        ngram_nll_loss({block.data(), n, size, stride}, ids, gradients, lambda, temperature);
    long double product = 1;
    for (std::size_t j = 0; j < n; ++j) {
        product *= plain_softmax(widened(rows[j]), temperature)[2 * j];
        check_gradient(
            [&](const row_of_doubles& z) {
                return -0.2L * std::log(plain_softmax(z, temperature)[2 * j]);
            },
            rows[j], std::span(gradients).subspan(j * size, size));
    }
    CHECK(value == Approx(static_cast<double>(-0.2L * std::log(product))));
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
