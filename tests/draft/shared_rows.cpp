// SPDX-License-Identifier: MIT
#include <specdec/draft/shared_rows.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

#include <catch2/catch.hpp>

using namespace specdec;

namespace shared_rows_tests {

/// Positions cost nothing up to 5 of them, and a pass more from there.
const cost_table block_of_five{.pass = {1, 1, 1, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9}};

draft_offer offer_of(const cost_table& costs, const std::vector<double>& worth, double draft = 0,
                     double begin = 0) {
    draft_offer out{.costs = &costs, .tokens = worth.size(), .begin = begin, .draft = draft};
    std::copy(worth.begin(), worth.end(), out.worth.begin());
    return out;
}
std::vector<std::size_t> planned(shared_rows& plan, const std::vector<draft_offer>& offers) {
    plan.clear();
    for (const draft_offer& offer : offers)
        plan.add(offer);
    plan.decide();
    std::vector<std::size_t> out;
    for (std::size_t i = 0; i < offers.size(); ++i)
        out.push_back(plan.tokens(i));
    return out;
}

TEST_CASE("the positions of a pass go to the texts whose drafts are worth most") {
    shared_rows plan(8);
    using tokens = std::vector<std::size_t>;
    const auto offer = [](const std::vector<double>& worth) {
        return offer_of(block_of_five, worth);
    };
    // Two positions are left.
    CHECK(planned(plan, {offer({0.5, 0.4}), offer({0.9, 0.6}), offer({0.7, 0.1})}) ==
          tokens{0, 1, 1});
    CHECK(planned(plan, {offer({0.9, 0.8}), offer({0.7, 0.1}), offer({0.1})}) == tokens{2, 0, 0});
    CHECK(planned(plan, {offer({}), offer({0.2, 0.1}), offer({})}) == tokens{0, 2, 0});
    // One of these is left.
    CHECK(planned(plan, {offer({0.5}), offer({0.5}), offer({0.6}), offer({0.5})}) ==
          tokens{0, 0, 1, 0});
}

TEST_CASE("where a pass is full nobody drafts, however sure all are") {
    shared_rows plan(8);
    const draft_offer sure = offer_of(block_of_five, std::vector<double>(8, 1.0));
    for (const std::size_t texts : {5U, 6U, 8U}) {
        const std::vector<std::size_t> tokens = planned(plan, std::vector(texts, sure));
        CHECK(tokens == std::vector<std::size_t>(texts));
        CHECK(plan.share(0).planned);
        CHECK_FALSE(plan.share(0).drafts);
    }
    CHECK(planned(plan, std::vector(4, sure)) != std::vector<std::size_t>(4));
}

TEST_CASE("a gain that may be an error of the costs is none") {
    shared_rows plan(2);
    const cost_table costs{.pass = {1, 1, 1.3}};
    const auto tokens_of = [&](double worth) {
        return planned(plan, {offer_of(costs, {worth}), draft_offer{}})[0];
    };
    CHECK(tokens_of(0.61) == 0); // a gain of 0.4 %
    CHECK(tokens_of(0.66) == 0);
    CHECK(tokens_of(0.69) == 1);
}

TEST_CASE("drafting has to be gained, too, and what begins a draft once") {
    shared_rows plan(2);
    const cost_table flat{.pass = {1, 1, 1, 1, 1, 1, 1, 1}};
    const draft_offer other{};
    using tokens = std::vector<std::size_t>;
    CHECK(planned(plan, {offer_of(flat, {0.5, 0.5}, 0.2), other}) == tokens{2, 0});
    CHECK(planned(plan, {offer_of(flat, {0.5, 0.5}, 0.3), other}) == tokens{0, 0});
    CHECK(planned(plan, {offer_of(flat, {0.9, 0.9}, 0.2, 0.2), other}) == tokens{2, 0});
    CHECK(planned(plan, {offer_of(flat, {0.5, 0.5}, 0.1, 0.5), other}) == tokens{0, 0});
}

TEST_CASE("texts are told what the others have, and the rate of all") {
    shared_rows plan(3);
    draft_offer wide = offer_of(block_of_five, {0.8}, 0.1);
    wide.width = 2;
    const auto tokens = planned(plan, {wide, draft_offer{}, offer_of(block_of_five, {0.1})});
    REQUIRE(tokens == std::vector<std::size_t>{1, 0, 0});
    const pass_share own = plan.share(0), others = plan.share(1), last = plan.share(2);
    CHECK(own.texts == 3);
    CHECK(own.planned);
    CHECK(own.drafts);
    CHECK(own.others == 2);
    CHECK(own.rate == Approx(3.8 / 1.1));
    CHECK_FALSE(others.planned); // it goes by no costs
    CHECK(others.texts == 3);
    CHECK(last.planned);
    CHECK_FALSE(last.drafts);
    CHECK(last.others == 4);
    planned(plan, {wide});
    CHECK_FALSE(plan.share(0).planned); // alone
    CHECK(pass_share(0).texts == 1);
}

TEST_CASE("no other plan gives more tokens for the time") {
    std::uint64_t state = 1;
    const auto uniform = [&] {
        state = state * 6364136223846793005U + 1442695040888963407U;
        return static_cast<double>(state >> 11) * 0x1p-53;
    };
    constexpr std::size_t texts = 3, most = 4;
    shared_rows plan(texts);
    std::size_t drafting = 0;
    for (int i = 0; i < 500; ++i) {
        cost_table costs{.pass = {1}};
        while (costs.pass.size() < texts * (1 + most))
            costs.pass.push_back(costs.pass.back() + (uniform() < 0.3 ? 0.5 : 0.05) * uniform());
        const double draft = 0.1 * uniform();
        std::vector<draft_offer> offers;
        for (std::size_t t = 0; t < texts; ++t) {
            std::vector<double> worth{uniform()};
            while (worth.size() < most)
                worth.push_back(worth.back() * uniform());
            offers.push_back(offer_of(costs, worth, draft));
        }
        const auto rate = [&](const std::vector<std::size_t>& tokens) {
            double gained = texts, rows = texts, drafts = 0;
            for (std::size_t t = 0; t < texts; ++t)
                for (std::size_t k = 0; k < tokens[t]; ++k) {
                    gained += offers[t].worth[k];
                    rows += 1;
                    drafts += draft;
                }
            return gained / (costs.pass_over(rows) + drafts);
        };
        double best = 0;
        for (std::size_t a = 0; a <= most; ++a)
            for (std::size_t b = 0; b <= most; ++b)
                for (std::size_t c = 0; c <= most; ++c)
                    best = std::max(best, rate({a, b, c}));
        const std::vector<std::size_t> tokens = planned(plan, offers);
        const double plain = rate({0, 0, 0});
        if (best > shared_rows::least_gain * plain) {
            CHECK(rate(tokens) == Approx(best).epsilon(1e-12));
            CHECK(plan.share(0).rate == Approx(best).epsilon(1e-12));
            ++drafting;
        } else {
            CHECK(rate(tokens) == plain);
        }
    }
    CHECK(drafting > 100);
    CHECK(drafting < 500);
}

} // namespace shared_rows_tests
