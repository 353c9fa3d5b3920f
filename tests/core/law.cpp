// SPDX-License-Identifier: MIT
#include <specdec/core/law.hpp>

#include <concepts>

#include <catch2/catch.hpp>

#include <specdec/sampling/law/dense_law.hpp>
#include <specdec/sampling/law/softmax_law.hpp>
#include <specdec/sampling/law/sparse_law.hpp>

#include "support/archetypes.hpp"

using namespace specdec;
using namespace specdec::testing;

// Dense, sparse and one-hot laws are different types; a law of one side is none of the other.
static_assert(!std::convertible_to<dense_law<target_id>, sparse_law<target_id>>);
static_assert(!std::convertible_to<one_hot_law<target_id>, dense_law<target_id>>);
static_assert(!LawOf<one_hot_law<draft_id>, target_id>);
static_assert(!LawOf<softmax_law<target_id>, draft_id>);
static_assert(!LawOf<law_archetype<draft_id>, target_id>);

namespace {
struct no_size {
    double probability(target_id) const { return 1; }
    target_id at(double) const { return {}; }
};
struct no_probability {
    std::size_t size() const { return 1; }
    target_id at(double) const { return {}; }
};
struct no_draw {
    std::size_t size() const { return 1; }
    double probability(target_id) const { return 1; }
};
struct draws_a_number {
    std::size_t size() const { return 1; }
    double probability(target_id) const { return 1; }
    int at(double) const { return 0; }
};
struct not_const {
    std::size_t size() { return 1; }
    double probability(target_id) { return 1; }
    target_id at(double) { return {}; }
};
} // namespace
static_assert(!LawOf<int, target_id>);
static_assert(!LawOf<logits_row<target_id>, target_id>); // q is a processed law, never raw logits
static_assert(!LawOf<no_size, target_id>);
static_assert(!LawOf<no_probability, target_id>);
static_assert(!LawOf<no_draw, target_id>);
static_assert(!LawOf<draws_a_number, target_id>);
static_assert(!LawOf<not_const, target_id>);

TEST_CASE("a one-hot law has its mass on its id") {
    constexpr one_hot_law<target_id> law(target_id{3});
    CHECK(law.size() == 4);
    CHECK(law.probability(target_id{3}) == 1.0);
    CHECK(law.probability(target_id{2}) == 0.0);
    CHECK(law.probability(target_id{}) == 0.0);
    for (const double u : {0.0, 0.5, 0.9999999999})
        CHECK(law.at(u) == target_id{3});
}

TEST_CASE("a one-hot law on no id is empty") {
    CHECK(one_hot_law<target_id>().size() == 0);
    CHECK(one_hot_law<target_id>().probability(target_id{0}) == 0.0);
}
