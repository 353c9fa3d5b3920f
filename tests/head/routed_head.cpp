// SPDX-License-Identifier: MIT
#include <specdec/head/routed_head.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include <catch2/catch.hpp>

#include "support/toy_head.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace routed_tests {

constexpr std::size_t tokens = 6, width = 4;
using head_type = toy_head<draft_id>;
const std::vector<float> states{0.5F, -1.0F, 2.0F, 0.25F, -0.5F, 1.5F, 1.0F, -2.0F};

/// exp of the rows of both states.
template <class Head>
std::vector<std::vector<double>> laws_of(Head& head) {
    std::vector<float> out(2 * tokens);
    head.rows(states_of(states, width), {out.data(), tokens});
    std::vector<std::vector<double>> laws(2);
    for (std::size_t i = 0; i < out.size(); ++i)
        laws[i / tokens].push_back(std::exp(static_cast<double>(out[i])));
    return laws;
}

/// The same of its lists, which ascend.
template <class Head>
std::vector<std::vector<double>> listed_laws_of(Head& head) {
    static_assert(ListingHeadOf<Head, draft_id>);
    std::vector<std::vector<double>> laws(2, std::vector<double>(tokens));
    head.list(states_of(states, width),
              [&](std::size_t i, std::span<const draft_id> ids, std::span<const float> logits) {
                  CHECK(ids.size() <= head.most_listed());
                  CHECK(ids.size() == logits.size());
                  CHECK(std::is_sorted(ids.begin(), ids.end()));
                  for (std::size_t k = 0; k < ids.size(); ++k)
                      laws[i][ids[k].index()] = std::exp(static_cast<double>(logits[k]));
              });
    return laws;
}

/// Eq. 8 with n groups, by hand.
std::vector<double> wanted(head_type& head, const toy_router& router,
                           const std::vector<std::uint32_t>& group, std::size_t n, std::size_t i) {
    std::vector<float> logits(tokens), route(router.n);
    const hidden_states x = states_of(states, width);
    head.multiply(hidden_states(x[i].values.data(), 1, width, width), {logits.data(), tokens});
    router.route(x[i], route);
    std::vector<double> p_group(router.n), sum(router.n), law(tokens);
    for (std::size_t k = 0; k < n; ++k) { // the n likeliest
        std::size_t best = router.n;
        for (std::size_t g = 0; g < router.n; ++g)
            if (p_group[g] == 0 && (best == router.n || route[g] > route[best]))
                best = g;
        p_group[best] = std::exp(static_cast<double>(route[best]));
    }
    double all = 0;
    for (const double p : p_group)
        all += p;
    for (std::size_t v = 0; v < tokens; ++v)
        if (group[v] < router.n)
            sum[group[v]] += std::exp(static_cast<double>(logits[v]));
    for (std::size_t v = 0; v < tokens; ++v)
        if (group[v] < router.n)
            law[v] =
                p_group[group[v]] / all * std::exp(static_cast<double>(logits[v])) / sum[group[v]];
    return law;
}

TEST_CASE("a routed head's law is the router's, renormalised, times the groups'") {
    constexpr std::uint32_t none = token_groups<draft_id>::none;
    head_type head = head_type::random(tokens, width, 3);
    toy_router router{3, width};
    for (const auto& group : {std::vector<std::uint32_t>{0, 0, 1, 1, 2, 2},
                              std::vector<std::uint32_t>{2, 0, none, 1, 0, 2},
                              std::vector<std::uint32_t>{1, 0, 1, 0, 1, 2}})
        for (const head_rows from : {head_rows::gathered, head_rows::copied})
            for (std::size_t n = 1; n <= 3; ++n) {
                routed_head part(head, router, token_groups<draft_id>(group, 3), n, from);
                const auto laws = laws_of(part);
                CHECK(listed_laws_of(part) == laws);
                for (std::size_t i = 0; i < 2; ++i) {
                    const std::vector<double> law = wanted(head, router, group, n, i);
                    double sum = 0;
                    for (std::size_t v = 0; v < tokens; ++v) {
                        CHECK(laws[i][v] == Approx(law[v]).margin(1e-6));
                        sum += laws[i][v];
                    }
                    CHECK(sum == Approx(1));
                }
            }
}

TEST_CASE("a routed head makes no product of a group that was not chosen") {
    head_type head = head_type::random(tokens, width, 3);
    toy_router router{3, width};
    routed_head part(head, router, token_groups<draft_id>::equal_parts(tokens, 3), 1);
    head.products = 0;
    (void)laws_of(part);
    CHECK(head.products == 4);
}

TEST_CASE("rows of one call read each group of their union once, and are those of calls apart") {
    head_type head = head_type::random(tokens, width, 3);
    toy_router router{3, width};
    std::vector<float> many;
    for (std::size_t i = 0; i < 20 * width; ++i) // more than the head has room for at first
        many.push_back(static_cast<float>(scramble(9, {}, i) % 1000) / 250.0F - 2.0F);
    const std::vector<std::uint32_t> group{2, 0, 0, 1, 0, 2};
    for (const std::size_t active : {1U, 2U})
        for (const head_rows from : {head_rows::gathered, head_rows::copied}) {
            const auto make = [&] {
                return routed_head(head, router, token_groups<draft_id>(group, 3), active, from);
            };
            auto together = make(), apart = make();
            std::vector<float> all(20 * tokens), one(tokens);
            together.rows(states_of(many, width), {all.data(), tokens});
            CHECK(together.counts().calls == 1);
            CHECK(together.counts().rows == 20);
            CHECK(together.counts().groups <= 3);
            CHECK(together.counts().groups >= active);
            for (std::size_t i = 0; i < 20; ++i) {
                apart.rows(states_of(many, width).middle(i, 1), {one.data(), tokens});
                for (std::size_t v = 0; v < tokens; ++v)
                    CHECK(all[i * tokens + v] == one[v]);
            }
            CHECK(apart.counts().groups == 20 * active);
        }
}

TEST_CASE("a routed head whose parts disagree is refused") {
    using Catch::Contains;
    head_type head = head_type::random(tokens, width, 3);
    toy_router router{3, width};
    const auto make = [&](std::size_t vocabulary, std::size_t groups, std::size_t n) {
        (void)routed_head(head, router, token_groups<draft_id>::equal_parts(vocabulary, groups), n);
    };
    CHECK_THROWS_WITH(make(tokens + 1, 3, 1), Contains("vocabulary"));
    CHECK_THROWS_WITH(make(tokens, 2, 1), Contains("router"));
    CHECK_THROWS_WITH(make(tokens, 3, 0), Contains("active groups"));
    CHECK_THROWS_WITH(make(tokens, 3, 4), Contains("active groups"));
    router.width_ = 3;
    CHECK_THROWS_WITH(make(tokens, 3, 1), Contains("width"));
}

/// Says one thing of every hidden state.
struct fixed_router {
    std::vector<float> logits;
    [[nodiscard]] std::size_t groups() const { return logits.size(); }
    [[nodiscard]] std::size_t width() const { return routed_tests::width; }
    void route(hidden_state, std::span<float> out) const {
        std::copy(logits.begin(), logits.end(), out.begin());
    }
};

TEST_CASE("the mark of a routed head is that of its parts: a router that learns changes it") {
    struct learning : toy_router {
        law_version learnt = 0;
        [[nodiscard]] law_version version() const { return learnt; }
    };
    head_type head = head_type::random(tokens, width, 3);
    learning router{{3, width}};
    const routed_head part(head, router, token_groups<draft_id>::equal_parts(tokens, 3), 1);
    const law_version before = part.version();
    ++router.learnt;
    CHECK(part.version() != before);
}

TEST_CASE("what is not finite is refused, of the router and of the head") {
    using Catch::Contains;
    head_type head = head_type::random(tokens, width, 3);
    const float infinity = __builtin_inff(), nan = std::nanf("");
    for (const float bad : {infinity, -infinity, nan})
        for (const std::size_t g : {0U, 1U, 2U}) {
            fixed_router router{{3, 2, 1}};
            router.logits[g] = bad; // of a group that is chosen, and of one that is not
            routed_head part(head, router, token_groups<draft_id>::equal_parts(tokens, 3), 2);
            CHECK_THROWS_WITH(laws_of(part), Contains("routed head") && Contains("router"));
        }
    toy_router router{3, width};
    routed_head part(head, router, token_groups<draft_id>::equal_parts(tokens, 3), 3);
    for (const float bad : {infinity, nan}) {
        std::vector<float> broken = states;
        broken[2] = bad;
        std::vector<float> out(2 * tokens);
        CHECK_THROWS_AS(part.rows(states_of(broken, width), {out.data(), tokens}), error);
    }
}

} // namespace routed_tests
