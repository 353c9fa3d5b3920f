// SPDX-License-Identifier: MIT
#include <specdec/process/log_probabilities.hpp>

#include <cmath>
#include <limits>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/core/basic/half.hpp>

using namespace specdec;

namespace {

constexpr double none = -std::numeric_limits<double>::infinity();
const std::vector accepted{target_id{1}};

/// Of a round that accepted token 1 and ends with token 0.
template <class Rows>
round_log_probabilities recorded(log_probability_record& record, const Rows& rows) {
    record.record(rows, accepted, target_id{0});
    return record.all();
}

double softmax(const float* row, std::size_t n, std::size_t t) {
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i)
        sum += std::exp(static_cast<double>(row[i]));
    return static_cast<double>(row[t]) - std::log(sum);
}

struct own_rows : logits_rows<target_id> {
    struct row_type {
        using id_type = target_id;
    };
    row_type operator[](std::size_t) const { return {}; }
};

} // namespace

TEST_CASE("log-probabilities of the round's tokens and of the likeliest") {
    constexpr float forbidden = -std::numeric_limits<float>::infinity();
    const float logits[] = {0, 3, 1, 2, -900, 5, forbidden, forbidden};
    log_probability_record record;
    record.reserve(3, 4);
    const auto r = recorded(record, logits_rows<target_id>(logits, 2, 4, 4));
    REQUIRE(r.of_tokens.size() == 2);
    CHECK(r.of_tokens[0] == Approx(softmax(logits, 4, 1)).margin(1e-6));
    CHECK(r.of_tokens[1] == Approx(-905).margin(1e-3)); // also where the probability underflows
    CHECK(r.likeliest(0)[0].token == target_id{1});
    CHECK(r.likeliest(0)[1].token == target_id{3});
    CHECK(r.likeliest(0)[2].token == target_id{2});
    CHECK(r.likeliest(0)[2].log_probability == Approx(softmax(logits, 4, 2)).margin(1e-6));
    CHECK(r.likeliest(1)[0].token == target_id{1});
    CHECK(r.likeliest(1)[1].token == target_id{0});
    CHECK_FALSE(r.likeliest(1)[2].token.valid()); // there is no third
    CHECK(r.likeliest(1)[2].log_probability == none);
}

TEST_CASE("of the tokens alone, or of nothing") {
    const float logits[] = {0, 1, 2, 3};
    const logits_rows<target_id> rows(logits, 2, 2, 2);
    log_probability_record record;
    CHECK(recorded(record, rows).of_tokens.empty());
    record.reserve(0, 2);
    CHECK(recorded(record, rows).of_tokens.size() == 2);
    CHECK(recorded(record, rows).top.empty());
    CHECK(recorded(record, rows).likeliest(1).empty());
}

TEST_CASE("of halves, of probabilities and of lists") {
    log_probability_record record;
    record.reserve(1, 2);
    const float16 halves[] = {{0x3C00}, {0x4000}, {0x4000}, {0x3C00}}; // 1, 2, 2, 1
    auto r = recorded(record, logits_rows<target_id, float16>(halves, 2, 2, 2));
    CHECK(r.of_tokens[0] == Approx(-std::log(1 + std::exp(-1))).margin(1e-6));
    CHECK(r.likeliest(1)[0].token == target_id{0});

    const float shares[] = {0.25F, 0.75F, 0.5F, 0.5F};
    r = recorded(record, probabilities_rows<target_id>(shares, 2, 2, 2));
    CHECK(r.of_tokens[0] == Approx(std::log(0.75)));
    CHECK(r.likeliest(0)[0].token == target_id{1});

    const weighted_id<target_id> entries[] = {
        {target_id{1}, 0.25F}, {target_id{4}, 0.75F}, {target_id{4}, 1}, {}};
    const std::size_t counts[] = {2, 1};
    r = recorded(record, listed_rows<target_id>(entries, 2, 5, counts));
    CHECK(r.of_tokens[0] == Approx(std::log(0.25)));
    CHECK(r.of_tokens[1] == none); // not in the list
    CHECK(r.likeliest(0)[0].token == target_id{4});
    CHECK(r.likeliest(0)[0].log_probability == Approx(std::log(0.75)));
}

TEST_CASE("rows of an engine's own kind have none") {
    log_probability_record record;
    CHECK(recorded(record, own_rows{}).of_tokens.empty());
    record.reserve(0, 2);
    CHECK_THROWS_WITH(recorded(record, own_rows{}),
                      "session: log_probabilities: expected rows of logits, of probabilities, or "
                      "lists of them");
}
