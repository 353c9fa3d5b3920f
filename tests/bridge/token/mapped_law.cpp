// SPDX-License-Identifier: MIT
#include <specdec/bridge/token/mapped_law.hpp>

#include <vector>

#include <catch2/catch.hpp>

#include <specdec/bridge/tli.hpp>
#include <specdec/bridge/union.hpp>
#include <specdec/sampling/coin/philox_coin.hpp>
#include <specdec/sampling/law/dense_law.hpp>

#include "support/enumeration/enumerating_coin.hpp"
#include "support/toy_pair.hpp"

using namespace specdec;
using namespace specdec::testing;

using mapped_dense = mapped_law<dense_law<draft_id>, union_map>;
static_assert(LawOf<mapped_dense, target_id>);
static_assert(DrawsItself<mapped_dense, philox_coin>);
static_assert(!LawOf<mapped_dense, draft_id>);

TEST_CASE("q of a target token is the sum over its draft ids, and what left T has none") {
    const toy_pair two;
    const std::vector<float> weights{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}; // sum 55
    const dense_law<draft_id> inner(probabilities_row<draft_id>{weights});
    const mapped_dense q(inner, union_map(two.map));
    CHECK(q.size() == two.map.target_size());
    CHECK(q.probability(target_id{1}) == Approx((2 + 10) / 55.0)); // a, twice in D
    CHECK(q.probability(target_id{2}) == Approx(6 / 55.0));        // b
    CHECK(q.probability(toy_pair::end) == Approx(7 / 55.0));       // <stop> by equivalence
    CHECK(q.probability(target_id{5}) == 0.0);                     // ab: not in D
    CHECK(q.probability(toy_pair::mark) == 0.0);
    CHECK(q.probability(target_id{}) == 0.0);
    double inside = 0;
    for (std::size_t t = 0; t < q.size(); ++t)
        inside += q.probability(id_at<target_id>(t));
    CHECK(inside == Approx(1 - (1 + 4 + 9) / 55.0)); // without <bos>, ba, ca
}

TEST_CASE("draw and at agree with the probabilities") {
    const toy_pair two;
    const std::vector<float> weights{1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    const mapped_dense q(dense_law<draft_id>(probabilities_row<draft_id>{weights}),
                         union_map(two.map));
    std::vector<double> drawn(two.map.target_size());
    double outside = 0;
    enumerate([&](enumerating_coin& coin) {
        const target_id t = q.draw(coin, {});
        (t.valid() ? drawn[t.index()] : outside) += coin.probability();
    });
    for (std::size_t t = 0; t < drawn.size(); ++t)
        CHECK(drawn[t] == Approx(q.probability(id_at<target_id>(t))));
    CHECK(outside == Approx(14 / 55.0));
    for (std::uint64_t i = 0; i < 100; ++i) {
        philox_coin coin(i);
        CHECK(q.draw(coin, {}) == q.at(coin.uniform({})));
    }
}
