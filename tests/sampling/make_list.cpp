// SPDX-License-Identifier: MIT
#include <specdec/sampling/make_list.hpp>

#include <cmath>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/sampling/law/softmax_law.hpp>

#include "support/toy_rows.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace make_list_tests {

using entries = std::vector<weighted_id<draft_id>>;

entries list_of(const std::vector<draft_id>& ids, const std::vector<float>& logits,
                const sampling_parameters& sampling) {
    entries out(ids.size());
    out.resize(make_list<draft_id>(ids, logits, sampling, out));
    return out;
}

TEST_CASE("a list has the law of the row that has nothing elsewhere") {
    constexpr std::size_t vocabulary = 2000;
    std::vector<draft_id> ids;
    std::vector<float> logits, row(vocabulary, -__builtin_inff());
    for (std::size_t v = 3; v < vocabulary; v += 1 + v % 3) {
        ids.push_back(id_at<draft_id>(v));
        logits.push_back(static_cast<float>(scramble(1, {}, v) % 997) / 100.0F);
        row[v] = logits.back();
    }
    for (const sampling_parameters& sampling :
         {sampling_parameters{}, sampling_parameters{.temperature = 0.6F},
          sampling_parameters{.temperature = 0}, sampling_parameters{.top_k = 10},
          sampling_parameters{.temperature = 1.3F, .top_p = 0.9F},
          sampling_parameters{.min_p = 0.2F}, sampling_parameters{.temperature = 1e-3F}}) {
        const softmax_law<draft_id> wanted(logits_row<draft_id>{row}, sampling);
        const entries list = list_of(ids, logits, sampling);
        std::size_t next = 0;
        for (std::size_t v = 0; v < vocabulary; ++v) {
            const double p = wanted.probability(id_at<draft_id>(v));
            const bool listed = next < list.size() && list[next].id.index() == v;
            CHECK((listed ? static_cast<double>(list[next].weight) : 0.0) ==
                  Approx(p).epsilon(1e-5));
            CHECK((listed || !(p > 0)));
            next += listed ? 1U : 0U;
        }
        CHECK(next == list.size());
        if (sampling.top_k > 0)
            CHECK(list.size() < 20); // what a cutoff drops is not listed
    }
}

TEST_CASE("at temperature 0 a list is one id, the lowest among equals") {
    const std::vector<draft_id> ids{draft_id{2}, draft_id{5}, draft_id{9}};
    const entries list = list_of(ids, {1, 3, 3}, {.temperature = 0});
    REQUIRE(list.size() == 1);
    CHECK(list[0].id == draft_id{5});
    CHECK(list[0].weight == 1);
}

TEST_CASE("a list of nothing is empty, and what is no logit is refused") {
    const std::vector<draft_id> ids{draft_id{0}, draft_id{1}};
    const float nothing = -__builtin_inff();
    CHECK(list_of(ids, {nothing, nothing}, {}).empty());
    CHECK(list_of({}, {}, {}).empty());
    CHECK(list_of(ids, {nothing, 2}, {})[0].weight == 0);
    CHECK(list_of(ids, {nothing, 2}, {})[1].weight == 1);
    CHECK_THROWS_AS(list_of(ids, {std::nanf(""), 1}, {}), error);
    CHECK_THROWS_AS(list_of(ids, {0, 1}, {.temperature = -1}), error);
}

} // namespace make_list_tests
