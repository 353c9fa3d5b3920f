// SPDX-License-Identifier: MIT
#include <specdec/head/adaptive/covered_mass.hpp>

#include <vector>

#include <catch2/catch.hpp>

#include <specdec/head/adaptive/adaptive_token_list.hpp>
#include <specdec/sampling/law/dense_law.hpp>
#include <specdec/vocab/table/intersection.hpp>

#include "support/tiny_tokenizer.hpp"

using namespace specdec;
using namespace specdec::testing;

TEST_CASE("the mass that a list can propose, duplicates once") {
    const tiny_tokenizer<target_id> words{{"a", "b", "c"}};
    const tiny_tokenizer<draft_id> pieces{{"a", "x", "a", "b", "a"}}; // and the end token
    const id_map map = intersect(pieces.table(), words.table());
    const std::vector<float> masses{0.5F, 0.25F, 0.125F, 0.125F};
    const dense_law p(
        probabilities_row<target_id>{std::span(masses).first(words.vocabulary_size())});
    const double total = p.total();
    const auto mass = [&](std::vector<draft_id> ids) {
        return covered_mass(p, token_list<draft_id>(std::move(ids), pieces.vocabulary_size()),
                            map) *
               total;
    };
    CHECK(mass({draft_id{0}}) == Approx(0.5));
    CHECK(mass({draft_id{2}, draft_id{4}}) == Approx(0.5));
    CHECK(mass({draft_id{0}, draft_id{1}, draft_id{2}, draft_id{3}}) == Approx(0.75));
    CHECK(mass({draft_id{1}}) == 0);
    const token_list<draft_id> b({draft_id{3}}, pieces.vocabulary_size());
    CHECK(covered_mass(p, adaptive_token_list<draft_id>(b), map) * total == Approx(0.25));
}
