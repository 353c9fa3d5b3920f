// SPDX-License-Identifier: MIT
#include <specdec/sampling/any_distribution.hpp>

#include <cstddef>
#include <span>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/sampling/coin/philox_coin.hpp>
#include <specdec/sampling/law/dense_law.hpp>
#include <specdec/sampling/remaining_law.hpp>
#include <specdec/sampling/residual.hpp>

using namespace specdec;

namespace any_distribution_tests {

using dense = dense_law<target_id>;

/// Says that it compares, or keeps, or ends drafts.
struct comparing : dense {
    using dense::dense;
    template <class B>
    [[nodiscard]] bool below(target_id t, B bound) const {
        return bound > probability(t);
    }
};
struct keeping : comparing {
    using comparing::comparing;
    template <class U>
    [[nodiscard]] bool keeps(target_id t, double p, U u) const {
        return u * probability(t) < p;
    }
    [[nodiscard]] static constexpr bool ends_drafts() { return true; }
};

/// Is subtracted at once: its probabilities are not in the order of the ids.
struct at_once {
    std::vector<double> values{0.5, 0.125, 0.25, 0.125};
    [[nodiscard]] std::size_t size() const { return values.size(); }
    [[nodiscard]] double probability(target_id t) const { return values[t.index()]; }
    template <class U>
    [[nodiscard]] target_id at(const U&) const {
        return target_id{0};
    }
    void subtract_from(std::span<double> row) const {
        for (std::size_t t = values.size(); t > 0; --t)
            row[t - 1] -= values[t - 1];
    }
};

template <class Law>
proposal<Law> drawn(const Law& law) {
    philox_coin coin(5);
    return proposal<Law>::draw(law, coin, {.position = 3});
}

template <class Law>
void check_same(law_flip flip, bool ends) {
    const std::vector<float> values{0.5F, 0.125F, 0.25F, 0.125F}, target{0.1F, 0.5F, 0.2F, 0.2F};
    const Law law(probabilities_row<target_id>{values});
    const dense p(probabilities_row<target_id>{target});
    const auto x = drawn(law);
    const any_distribution<> any(x);
    CHECK(any.flips_by() == flip);
    CHECK(any.ends_drafts() == ends);
    CHECK(any.size() == law.size());
    philox_coin coin(9);
    CHECK(any.draw(coin, {.position = 1}) == x.token());
    std::vector<double> all(4);
    any.probabilities(0, all);
    for (std::size_t t = 0; t < 4; ++t) {
        const auto id = id_at<target_id>(t);
        CHECK(any.probability(id) == law.probability(id));
        CHECK(all[t] == law.probability(id));
        for (std::uint64_t n = 0; n < 50; ++n) { // the same decision, to the bit
            const draw_site site{.position = n};
            CHECK(flip_ratio(coin, site, p.probability(id), any, id) ==
                  flip_ratio(coin, site, p.probability(id), law, id));
            CHECK(flip_excess(coin, site, p.probability(id), any, id) ==
                  flip_excess(coin, site, p.probability(id), law, id));
        }
    }
    for (std::uint64_t n = 0; n < 50; ++n)
        CHECK(draw_residual(p, any, coin, round_name(n)) ==
              draw_residual(p, law, coin, round_name(n)));
    CHECK(any.at(0.7) == law.at(0.7));
}

TEST_CASE("any distribution: decides as the distribution that it views, to the bit") {
    check_same<dense>(law_flip::ratio, false);
    check_same<comparing>(law_flip::comparison, false);
    check_same<keeping>(law_flip::keeping, true);
}

TEST_CASE("any distribution: what is left of a law without it is the same, at once or in order") {
    const std::vector<float> target{0.1F, 0.5F, 0.2F, 0.2F}, values{0.5F, 0.125F, 0.25F, 0.125F};
    const dense p(probabilities_row<target_id>{target});
    const auto check = [&](const auto& law, bool whole) {
        const auto x = drawn(law);
        const any_distribution<> any(x);
        CHECK(any.subtracts_at_once() == whole);
        std::vector<double> row(4), same(4);
        remaining_law left(p, std::span(row)), wanted(p, std::span(same));
        CHECK(left.subtract(any, 0.5) == wanted.subtract(law, 0.5));
        CHECK(row == same);
    };
    check(at_once{}, true);
    check(dense(probabilities_row<target_id>{values}), false);
}

} // namespace any_distribution_tests
