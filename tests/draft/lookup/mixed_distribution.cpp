// SPDX-License-Identifier: MIT
#include <specdec/draft/lookup/mixed_distribution.hpp>

#include <array>
#include <span>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/sampling/coin/philox_coin.hpp>
#include <specdec/sampling/law/dense_law.hpp>

using namespace specdec;

namespace mixed_distribution_tests {

using drawn_law = dense_law<target_id>;

struct ending_law : drawn_law {
    using drawn_law::drawn_law;
    static constexpr bool ends_drafts() { return true; }
};
/// As the laws of strings: sums that can be compared.
struct lazy_law {
    [[nodiscard]] std::size_t size() const { return 2; }
    [[nodiscard]] double probability(target_id t) const { return t.value == 0 ? 0.25 : 0.75; }
    template <class U>
    [[nodiscard]] target_id at(U u) const {
        return target_id{u < 0.25 ? 0 : 1};
    }
    [[nodiscard]] bool below(target_id t, double bound) const { return probability(t) < bound; }
    [[nodiscard]] bool keeps(target_id t, double p, double u) const {
        return u * probability(t) < p;
    }
};
struct rows_law : drawn_law {
    using drawn_law::drawn_law;
    void probabilities(std::size_t, std::span<double>) const {}
    void subtract_from(std::span<double>) const {}
};
static_assert(LawOf<mixed_distribution<drawn_law>, target_id>);
static_assert(!ComparableLaw<mixed_distribution<drawn_law>, target_id>);
static_assert(KeepingLaw<mixed_distribution<lazy_law>, target_id>);
static_assert(EndsDrafts<mixed_distribution<ending_law>> &&
              !EndsDrafts<mixed_distribution<drawn_law>>);
static_assert(FillsProbabilities<mixed_distribution<rows_law>> &&
              SubtractsFrom<mixed_distribution<rows_law>> &&
              !FillsProbabilities<mixed_distribution<drawn_law>>);

TEST_CASE("spoken law: the drafter's proposal, with the law that it was drawn from") {
    const std::vector<float> q{0.25F, 0.5F, 0.25F};
    philox_coin coin(3);
    const auto x = proposal<drawn_law>::draw(drawn_law(probabilities_row<target_id>{q}), coin,
                                             {.position = 1});
    const mixed_distribution law(x);
    for (std::uint64_t seed = 0; seed < 8; ++seed) { // it is drawn once
        philox_coin any(seed);
        CHECK(law.draw(any, {.position = seed}) == x.token());
    }
    CHECK(law.size() == 3);
    for (int t = 0; t < 3; ++t)
        CHECK(law.probability(target_id{t}) == static_cast<double>(q[static_cast<std::size_t>(t)]));
    CHECK(law.at(0.6) == target_id{1});
}

TEST_CASE("spoken law: a found token has all the mass") {
    philox_coin coin(3);
    const mixed_distribution<lazy_law> law(target_id{1});
    CHECK(law.draw(coin, {}) == target_id{1});
    CHECK(law.at(0.1) == target_id{1});
    CHECK(law.probability(target_id{1}) == 1);
    CHECK(law.probability(target_id{0}) == 0);
    CHECK(law.below(target_id{1}, 1.5));
    CHECK_FALSE(law.below(target_id{1}, 1.0));
    CHECK(law.below(target_id{0}, 0.1));
    CHECK(law.keeps(target_id{1}, 0.6, 0.5));
    CHECK_FALSE(law.keeps(target_id{1}, 0.6, 0.7));
    const mixed_distribution<rows_law> dense(target_id{1});
    std::array<double, 3> values{9, 9, 9};
    dense.probabilities(0, values);
    CHECK(values == std::array<double, 3>{0, 1, 0});
    dense.probabilities(2, std::span(values).first(1));
    CHECK(values[0] == 0);
    dense.subtract_from(values);
    CHECK(values[1] == 0);
}

} // namespace mixed_distribution_tests
