// SPDX-License-Identifier: MIT
#include <specdec/sampling/remaining_law.hpp>

#include <vector>

#include <catch2/catch.hpp>

#include <specdec/sampling/law/dense_law.hpp>

using namespace specdec;

namespace remaining_law_tests {

using law = dense_law<target_id>;

law of(const std::vector<float>& values) {
    return law(probabilities_row<target_id>{values});
}

static_assert(FillsProbabilities<remaining_law<law>>);

TEST_CASE("what remains of a law behind rejected proposals") {
    const std::vector<float> wp{0.5F, 0.25F, 0.25F, 0}, wq{0.75F, 0.125F, 0, 0.125F};
    const law p = of(wp), q = of(wq);
    std::vector<double> row(5);
    remaining_law left(p, row);
    CHECK(left.probability(target_id{1}) == 0.25);
    CHECK(left.at(0.6) == target_id{1});
    CHECK(left.subtract(q) == Approx(0.375)); // 0.125 + 0.25
    CHECK(left.probability(target_id{0}) == 0.0);
    CHECK(left.probability(target_id{1}) == Approx(1.0 / 3));
    CHECK(left.probability(target_id{2}) == Approx(2.0 / 3));
    CHECK(left.at(0.3) == target_id{1});
    CHECK(left.at(0.34) == target_id{2});
    CHECK(left.subtract(of({0, 1, 0, 0}), 0.5) == Approx(1.0 / 3));
    CHECK(left.probability(target_id{2}) == 1.0);
    CHECK(left.probability(target_id{7}) == 0.0);
}

TEST_CASE("where nothing remains it is the law itself") {
    const std::vector<float> wp{0.5F, 0.5F};
    const law p = of(wp);
    std::vector<double> row(2);
    remaining_law left(p, row);
    CHECK(left.subtract(p) == 0.0);
    CHECK(left.probability(target_id{1}) == 0.5);
}

TEST_CASE("laws of certain tokens are subtracted at once") {
    struct certain {
        void subtract_from(std::span<double> row) const { row[1] -= 1; }
    };
    const std::vector<float> wp{0.5F, 0.25F, 0.25F};
    const law p = of(wp);
    std::vector<double> row(3);
    remaining_law left(p, row);
    CHECK(left.subtract(certain{}) == Approx(0.75));
    CHECK(left.probability(target_id{0}) == Approx(2.0 / 3));
}

} // namespace remaining_law_tests
