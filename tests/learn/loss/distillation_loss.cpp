// SPDX-License-Identifier: MIT
#include <specdec/learn/loss/distillation_loss.hpp>

#include <cmath>
#include <vector>

#include <catch2/catch.hpp>

namespace distillation_loss_tests {

using namespace specdec;

/// Draft tokens 0 .. 4 are the target's, its 5 is 1 2; 5 is the drafter's own.
id_map map() {
    return {{0, 1, 2, 3, 4, -1}, {0, 1, 2, 3, 4, -1}, 1, 2};
}

distillation_sample text() {
    distillation_sample t;
    for (const int d : {0, 3, 1, 2, 4})
        t.tokens.push_back(draft_id{d});
    t.entries = {{target_id{2}, 0.2F},
                 {target_id{3}, 0.7F},
                 {target_id{1}, 0.3F},
                 {target_id{5}, 0.6F},
                 {target_id{4}, 0.9F}};
    t.rows = {{0, 0, 2}, {1, 2, 2}, {3, 4, 1}};
    t.merges = {{2, 2, 0.6F, target_id{5}}};
    return t;
}

std::vector<float> logits(std::size_t rows) {
    std::vector<float> z;
    for (std::size_t i = 0; i < 6 * rows; ++i)
        z.push_back(std::sin(static_cast<float>(i)));
    return z;
}

TEST_CASE("the rows of a text are those taught and those of its merges") {
    const id_map both = map();
    std::vector<std::size_t> rows;
    distillation_loss(both, {.ngram = ngram_loss::none}).rows_of(text(), rows);
    CHECK(rows == std::vector<std::size_t>{0, 1, 3});
    distillation_loss(both, {}).rows_of(text(), rows);
    CHECK(rows == std::vector<std::size_t>{0, 1, 2, 3});
}

TEST_CASE("a text's loss is that of its rows and merges") {
    const id_map both = map();
    const distillation_sample t = text();
    const std::vector<float> z = logits(4);
    const logits_rows<draft_id> rows(z.data(), 4, 6, 6);
    std::vector<std::size_t> behind{0, 1, 2, 3};
    std::vector<float> dz(24), one(6), expected(24), merged(12);
    for (const auto ngram : {ngram_loss::nll, ngram_loss::nll_by_probability}) {
        distillation_loss loss(both,
                               {.direct = direct_loss::forward_kl, .ngram = ngram, .lambda = 0.25});
        const distillation_losses found = loss(t, behind, rows, dz, 0.5);
        std::fill(expected.begin(), expected.end(), 0.0F);
        double direct = 0;
        for (const distillation_sample::row& r : t.rows) {
            direct += forward_kl_loss(sparse_law<target_id>(t.entries_of(r), 6),
                                      shared_softmax(rows[r.behind], both), one, 0.5);
            std::copy(one.begin(), one.end(),
                      expected.begin() + static_cast<std::ptrdiff_t>(6 * r.behind));
        }
        const double lambda = ngram == ngram_loss::nll ? 0.25 : static_cast<double>(0.6F);
        const double nll = ngram_nll_loss(rows.middle(1, 2), std::span(t.tokens).subspan(2, 2),
                                          merged, 0.5 * lambda);
        for (std::size_t i = 0; i < 12; ++i)
            expected[6 + i] += merged[i];
        CHECK(found.direct == Approx(2 * direct));
        CHECK(found.ngram == Approx(2 * nll));
        CHECK(found.rows == 3);
        CHECK(found.merges == 1);
        for (std::size_t i = 0; i < 24; ++i)
            CHECK(dz[i] == Approx(expected[i]).margin(1e-7));
    }
}

TEST_CASE("the draft token that a text goes on with may teach, but where merges do") {
    const id_map both = map();
    const distillation_sample t = text();
    const std::vector<float> z = logits(4);
    const logits_rows<draft_id> rows(z.data(), 4, 6, 6);
    const std::vector<std::size_t> behind{0, 1, 2, 3};
    std::vector<float> dz(24), one(6), merged(12);
    distillation_loss loss(both,
                           {.direct = direct_loss::nll, .ngram = ngram_loss::nll, .lambda = 0.25});
    const distillation_losses found = loss(t, behind, rows, dz);
    // Behind token 1 a merge begins; behind 0 comes token 3, behind 3 token 4.
    const double first = nll_loss(row_softmax(rows[0]), draft_id{3}, one);
    for (std::size_t i = 0; i < 6; ++i)
        CHECK(dz[i] == Approx(one[i]).margin(1e-7));
    CHECK(found.direct == Approx(first + nll_loss(row_softmax(rows[3]), draft_id{4}, one)));
    for (std::size_t i = 0; i < 6; ++i)
        CHECK(dz[18 + i] == Approx(one[i]).margin(1e-7));
    const double nll =
        ngram_nll_loss(rows.middle(1, 2), std::span(t.tokens).subspan(2, 2), merged, 0.25);
    CHECK(found.ngram == Approx(nll));

    distillation_loss merges(
        both, {.direct = direct_loss::none, .ngram = ngram_loss::nll, .lambda = 0.25});
    const distillation_losses of_merges = merges(t, behind, rows, dz);
    CHECK(of_merges.direct == 0);
    CHECK(of_merges.ngram == Approx(nll));
    for (std::size_t i = 0; i < 24; ++i)
        CHECK(dz[i] == (i < 6 || i >= 18 ? Approx(0) : Approx(merged[i - 6]).margin(1e-7)));
}

TEST_CASE("the n-gram KL stands for the direct loss where a merge begins") {
    const id_map both = map();
    const distillation_sample t = text();
    const std::vector<float> z = logits(4);
    const logits_rows<draft_id> rows(z.data(), 4, 6, 6);
    const std::vector<std::size_t> behind{0, 1, 2, 3};
    std::vector<float> dz(24), merged(12);
    distillation_loss loss(both, {.ngram = ngram_loss::kl});
    const distillation_losses found = loss(t, behind, rows, dz);
    const sparse_law<target_id> p(t.entries_of(t.rows[1]), 6);
    const double missing = (1 - p.total()) / 6;
    CHECK(found.ngram == Approx(ngram_kl_loss(p, target_id{5}, shared_softmax(rows[1], both),
                                              rows.middle(2, 1), std::span(t.tokens).subspan(2, 2),
                                              merged, 1, probability_floor{missing})));
    for (std::size_t i = 0; i < 12; ++i)
        CHECK(dz[6 + i] == Approx(merged[i]).margin(1e-7));

    distillation_sample unknown = t; // without the token it is taught by rows alone
    unknown.merges[0].token = {};
    CHECK(loss(unknown, behind, rows, dz).ngram == 0);
}

TEST_CASE("rows may be taught at another temperature") {
    const id_map both = map();
    distillation_sample t = text(), squared = t;
    t.merges.clear();
    squared.merges.clear();
    for (auto& x : squared.entries)
        x.weight *= x.weight;
    const std::vector<float> z = logits(3);
    const logits_rows<draft_id> rows(z.data(), 3, 6, 6);
    const std::vector<std::size_t> behind{0, 1, 3};
    std::vector<float> dz(18), expected(18);
    distillation_loss sharp(both, {.direct = direct_loss::forward_kl, .taught_temperature = 0.5});
    distillation_loss plain(both, {.direct = direct_loss::forward_kl});
    CHECK(sharp(t, behind, rows, dz).direct ==
          Approx(plain(squared, behind, rows, expected).direct));
    for (std::size_t i = 0; i < 18; ++i)
        CHECK(dz[i] == Approx(expected[i]).margin(1e-6));
}

TEST_CASE("what does not fit is refused") {
    const id_map both = map();
    const std::vector<float> z = logits(4);
    std::vector<std::size_t> behind{0, 1, 2, 3};
    std::vector<float> dz(24);
    distillation_loss loss(both);
    CHECK_THROWS_WITH(loss(text(), behind, {z.data(), 3, 6, 6}, dz),
                      Catch::StartsWith("distillation loss: "));
    CHECK_THROWS_AS(loss(text(), behind, {z.data(), 4, 5, 6}, dz), error);
    CHECK_THROWS_AS(loss(text(), behind, {z.data(), 4, 6, 6}, std::span(dz).first(23)), error);
}

} // namespace distillation_loss_tests
