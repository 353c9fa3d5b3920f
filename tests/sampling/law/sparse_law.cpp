// SPDX-License-Identifier: MIT
#include <specdec/sampling/law/sparse_law.hpp>

#include <cmath>
#include <vector>

#include <catch2/catch.hpp>

#include "sampling/interval_measure.hpp"

using namespace specdec;

namespace {

using entries = std::vector<weighted_id<target_id>>;

} // namespace

static_assert(FillsProbabilities<sparse_law<target_id>>);

TEST_CASE("a sparse law is its normalised entries") {
    const entries some{{target_id{1}, 1}, {target_id{4}, 0}, {target_id{7}, 3}};
    const sparse_law<target_id> law(some, 10);
    CHECK(law.size() == 10);
    CHECK(law.probability(target_id{1}) == 0.25);
    CHECK(law.probability(target_id{4}) == 0);
    CHECK(law.probability(target_id{7}) == 0.75);
    for (const int absent : {0, 2, 3, 5, 6, 8, 9, 100})
        CHECK(law.probability(target_id{absent}) == 0);
    check_intervals<target_id>(law, 1e-12);
    for (std::size_t first = 0; first < 10; ++first) {
        std::vector<double> several(10 - first, -1);
        law.probabilities(first, several);
        for (std::size_t i = 0; i < several.size(); ++i)
            CHECK(several[i] == law.probability(id_at<target_id>(first + i)));
    }
}

TEST_CASE("a sparse law's entropy is that of its entries, whatever their scale") {
    for (const float unit : {1.0F, 0.125F, 1e6F}) {
        const entries some{{target_id{1}, unit}, {target_id{4}, 0}, {target_id{7}, 3 * unit}};
        CHECK(sparse_law<target_id>(some, 10).entropy() ==
              Approx(-(0.25 * std::log(0.25) + 0.75 * std::log(0.75))).epsilon(1e-9));
    }
    const entries one{{target_id{3}, 2}};
    CHECK(sparse_law<target_id>(one, 10).entropy() == Approx(0).margin(1e-12));
}

TEST_CASE("entries that are no law are refused") {
    const auto refuse = [](const entries& some) {
        CHECK_THROWS_AS(sparse_law<target_id>(some, 10), error);
    };
    refuse({});
    refuse({{target_id{1}, 0}});
    refuse({{target_id{2}, 1}, {target_id{1}, 1}});
    refuse({{target_id{1}, 1}, {target_id{1}, 1}});
    refuse({{target_id{10}, 1}});
    refuse({{target_id{}, 1}});
    refuse({{target_id{1}, -1}, {target_id{2}, 3}});
    refuse({{target_id{1}, std::nanf("")}});
}
