// SPDX-License-Identifier: MIT
#include <specdec/bridge/tree/sibling_law.hpp>

#include <vector>

#include <catch2/catch.hpp>

#include <specdec/bridge/identity.hpp>
#include <specdec/bridge/tli.hpp>
#include <specdec/sampling/coin/philox_coin.hpp>
#include <specdec/sampling/law/dense_law.hpp>
#include <specdec/vocab/table/intersection.hpp>

#include "support/tiny_tokenizer.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace sibling_law_tests {

using inner = dense_law<draft_id>;
using law = sibling_law<inner, identity_map>;
static_assert(LawOf<law, target_id>);
static_assert(FillsProbabilities<law> && SubtractsFrom<law> && DrawsItself<law, philox_coin>);

inner of(const std::vector<float>& values) {
    return inner(probabilities_row<draft_id>{values});
}

TEST_CASE("a sibling's law is what the siblings before it leave") {
    const std::vector<float> weights{0.5F, 0.25F, 0.125F, 0.125F};
    const inner q = of(weights);
    const identity_map map(4, 4);
    const law first(q, map);
    CHECK(first.probability(target_id{0}) == 0.5);
    CHECK(first.at(0.6) == target_id{1});
    const std::vector gone{target_id{0}};
    const law second(q, map, gone);
    CHECK(second.rest() == 0.5);
    CHECK(second.probability(target_id{0}) == 0.0);
    CHECK(second.probability(target_id{1}) == 0.5);
    CHECK(second.at(0.0) == target_id{1});
    CHECK(second.at(0.74) == target_id{2});
    CHECK(second.at(0.76) == target_id{3});
    const philox_coin coin(1);
    CHECK(second.draw(coin, {}) != target_id{0});
    std::vector<double> row(4, 0.0);
    second.subtract_from(row);
    CHECK(row == std::vector<double>{0, -0.5, -0.25, -0.25});
    CHECK(second.size() == 4);
}

TEST_CASE("nothing is left where the siblings before it were all there is") {
    const std::vector<float> weights{0, 1, 0};
    const inner q = of(weights);
    const std::vector gone{target_id{1}};
    CHECK(law(q, identity_map(3, 3), gone).rest() == 0.0);
}

TEST_CASE("little that is left keeps its digits") {
    const std::vector<float> weights{1, 3e-20F, 1e-20F};
    const inner q = of(weights);
    const std::vector gone{target_id{0}};
    const law rest(q, identity_map(3, 3), gone);
    CHECK(rest.probability(target_id{1}) == Approx(0.75).epsilon(1e-6));
    CHECK(rest.at(0.76) == target_id{2});
}

TEST_CASE("a certain sibling is one token") {
    const law certain = law::certain(target_id{2}, identity_map(4, 4));
    CHECK(certain.probability(target_id{2}) == 1.0);
    CHECK(certain.probability(target_id{1}) == 0.0);
    CHECK(certain.at(0.9) == target_id{2});
    std::vector<double> row(4, 0.25);
    certain.subtract_from(row);
    CHECK(row[2] == -0.75);
}

TEST_CASE("draft tokens of one target token are gone together") {
    const tiny_tokenizer<target_id> target({"a", "b"});
    const tiny_tokenizer<draft_id> draft({"b", "a", "a"});
    const id_map ids = intersect(draft.table(), target.table());
    const std::vector<float> weights{0.5F, 0.25F, 0.25F};
    const inner q = of(weights);
    const std::vector gone{target_id{0}}; // a
    const sibling_law<inner, tli_map> second(q, tli_map(ids), gone);
    CHECK(second.rest() == 0.5);
    CHECK(second.probability(target_id{1}) == 1.0);
    std::vector<double> row(2, 0.0);
    sibling_law<inner, tli_map>(q, tli_map(ids)).subtract_from(row);
    CHECK(row == std::vector<double>{-0.5, -0.5});
}

} // namespace sibling_law_tests
