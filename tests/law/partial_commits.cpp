// SPDX-License-Identifier: MIT
// What a commit of fewer tokens may depend on: what session::commit() promises, and what it does
// not.
#include <specdec/decode/session.hpp>

#include <algorithm>

#include <catch2/catch.hpp>

#include <specdec/bridge/identity.hpp>

#include "play.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace {

/// The law of three tokens: a round that drafts two, of which choose(round) tokens are committed,
/// then one that drafts next_length(round), then rounds without drafts.
template <class Rule, class Choose, class Next>
double deviation_of_commits(const Rule& rule, Choose choose, Next next_length) {
    row_tree p(same_rows({0.2F, 0.4F, 0.4F})), q(same_rows({0.8F, 0.1F, 0.1F}));
    std::size_t next = 0;
    const auto round = [&](auto& text, std::size_t i) {
        const round_result r = text.round(fixed_length{i == 0 ? 2 : next});
        next = i == 0 ? next_length(r) : 0;
        text.decoder.commit(i == 0 ? choose(r) : r.tokens.size());
    };
    return play(toy_models{p, q}, always(make_identity_bridge(3, 3, 16, 2)), rule,
                rounds_by{scenario{.length = 3}, round})
        .deviation();
}

constexpr token_rejection thinned_token{.thinning = {2, 2}};
constexpr block_verification thinned_block{.thinning = {2, 2}};

const auto one = [](const round_result&) { return std::size_t{1}; };
const auto none = [](const round_result&) { return std::size_t{0}; };
const auto one_if_all_was_kept = [](const round_result& r) {
    return r.accepted == r.proposed.size() ? std::size_t{1} : std::size_t{0};
};
const auto one_if_the_second_was_replaced_by_1 = [](const round_result& r) {
    return r.accepted == 1 && r.tokens[1].value == 1 ? std::size_t{1} : std::size_t{0};
};
const auto two = [](const round_result& r) { return std::min(r.tokens.size(), std::size_t{2}); };
const auto none_if_a_third_was_1 = [](const round_result& r) {
    return r.accepted == 2 && r.tokens[2].value == 1 ? std::size_t{0} : std::size_t{1};
};

} // namespace

TEST_CASE("what is drafted next may depend on what was discarded", "[law]") {
    CHECK(deviation_of_commits(thinned_token, two, none_if_a_third_was_1) < 1e-12);
    CHECK(deviation_of_commits(thinned_block, two, none_if_a_third_was_1) < 1e-12);
    CHECK(deviation_of_commits(thinned_token, one, one_if_the_second_was_replaced_by_1) < 1e-12);
    CHECK(deviation_of_commits(thinned_block, one, one_if_the_second_was_replaced_by_1) < 1e-12);
    CHECK(deviation_of_commits(thinned_token, one, one_if_all_was_kept) < 1e-12);
    CHECK(deviation_of_commits(thinned_block, one, one_if_all_was_kept) < 1e-12);
    CHECK(deviation_of_commits(exact_match{}, one, one_if_all_was_kept) < 1e-12);
}

TEST_CASE("what is drafted next may depend on a round that was not used", "[law]") {
    CHECK(deviation_of_commits(thinned_token, none, one_if_all_was_kept) < 1e-12);
    CHECK(deviation_of_commits(thinned_block, none, one_if_all_was_kept) < 1e-12);
    CHECK(deviation_of_commits(exact_match{}, none, one_if_all_was_kept) < 1e-12);
}

TEST_CASE("how many are committed may depend on those that are", "[law]") {
    const auto to_the_first_1 = [](const round_result& r) {
        std::size_t n = 1;
        while (n < r.tokens.size() && r.tokens[n - 1].value != 1)
            ++n;
        return n;
    };
    CHECK(deviation_of_commits(thinned_token, to_the_first_1, one_if_all_was_kept) < 1e-12);
    CHECK(deviation_of_commits(thinned_block, to_the_first_1, one_if_all_was_kept) < 1e-12);
    CHECK(deviation_of_commits(exact_match{}, to_the_first_1, one_if_all_was_kept) < 1e-12);
}

TEST_CASE("who discards what displeases changes the law, except of the target's own draws",
          "[law]") {
    const auto no_second_0 = [](const round_result& r) {
        return r.tokens.size() > 1 && r.tokens[1].value == 0 ? std::size_t{1} : r.tokens.size();
    };
    CHECK(deviation_of_commits(thinned_token, no_second_0, one) > 0.05);
    CHECK(deviation_of_commits(thinned_block, no_second_0, one) > 0.05);
    CHECK(deviation_of_commits(exact_match{}, no_second_0, one) < 1e-12);
}
