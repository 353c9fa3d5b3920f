// SPDX-License-Identifier: MIT
// The output law of block verification, enumerated through the production code, and how many
// proposals it keeps beside token-wise rejection.
#include <specdec/verify/block_verification.hpp>

#include <map>

#include <catch2/catch.hpp>

#include <specdec/bridge/identity.hpp>
#include <specdec/bridge/slem.hpp>
#include <specdec/bridge/tli.hpp>
#include <specdec/bridge/union.hpp>
#include <specdec/sampling/law/dense_law.hpp>
#include <specdec/sampling/law/sparse_law.hpp>

#include "bridge_cases.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace {

constexpr block_verification by_sums{.thinning = {0, 0}};
constexpr block_verification by_thinning{.thinning = {1, 1}};

/// The law of (tokens kept, token behind them) over drafts and verdicts: what a round emits.
using verdict_law = std::map<sequence, double>;

template <class Rule, class Make>
verdict_law verdicts(const Rule& rule, Make make, row_tree& p, std::size_t gamma) {
    return on_every_path<enumerating_coin>(
        [&](enumerating_coin& coin) { return rule_round(rule, make, p, gamma, coin); });
}

/// E[tau].
double kept(const verdict_law& law) {
    double sum = 0;
    for (const auto& [emitted, probability] : law)
        sum += probability * static_cast<double>(emitted.size() - 1);
    return sum;
}

template <class Make>
void check_block(std::size_t vocabulary, std::size_t gamma) {
    for_every_pair_of_rows(vocabulary, vocabulary, [&](row_tree& p, row_tree& q) {
        CAPTURE(vocabulary, gamma);
        const joint_law expected = target_alone(p, gamma + 1);
        REQUIRE(total_variation(rule_law(by_sums, Make{q}, p, gamma), expected) < exact);
        REQUIRE(total_variation(rule_law(by_thinning, Make{q}, p, gamma), expected) < exact);
    });
}

} // namespace

TEST_CASE("block verification has the target's law, one to four proposals", "[law]") {
    for (const std::size_t gamma : {0U, 1U, 2U, 3U}) {
        check_block<from_logits>(3, gamma);
        check_block<from_argmax>(3, gamma);
    }
    check_block<from_logits>(4, 2);
    check_block<from_logits>(2, 4);
    check_block<from_argmax>(4, 4);
}

TEST_CASE("block verification draws the same law by thinning and by sums", "[law]") {
    for_every_pair_of_rows(3, 3, [&](row_tree& p, row_tree& q) {
        const verdict_law expected = verdicts(by_sums, from_logits{q}, p, 2);
        for (const std::uint32_t draws : {1U, 2U})
            REQUIRE(
                total_variation(verdicts(block_verification{{draws, draws}}, from_logits{q}, p, 2),
                                expected) < exact);
    });
}

TEST_CASE("block verification under temperature, top-k and top-p", "[law]") {
    for (const sampling_parameters& parameters :
         {sampling_parameters{.temperature = 0.5F}, sampling_parameters{.top_k = 2},
          sampling_parameters{.top_p = 0.7F}, sampling_parameters{.temperature = 0}})
        for_every_pair_of_rows(3, 3, [&](row_tree& p, row_tree& q) {
            const auto make = [&](const sequence& prefix) {
                return target_law_at(q, prefix, parameters);
            };
            REQUIRE(total_variation(rule_law(by_thinning, make, p, 2, parameters),
                                    target_alone(p, 3, parameters)) < exact);
        });
}

TEST_CASE("block verification keeps at least as many proposals as token rejection", "[law]") {
    double most = 0;
    for (const std::size_t gamma : {1U, 2U, 3U})
        for_every_pair_of_rows(3, 3, [&](row_tree& p, row_tree& q) {
            const double block = kept(verdicts(by_sums, from_logits{q}, p, gamma));
            const double token = kept(verdicts(rejection, from_logits{q}, p, gamma));
            REQUIRE(block >= token - exact);
            if (gamma == 1)
                REQUIRE(block == Approx(token).margin(exact));
            most = block - token > most ? block - token : most;
        });
    CHECK(most > 0.05); // and more where that is possible
}

TEST_CASE("one-hot proposals: block verification emits what token rejection emits", "[law]") {
    // What engines get wrong by leaving the draft's one-hot row out of the residual.
    for (const std::size_t gamma : {1U, 2U, 3U, 4U})
        for_every_pair_of_rows(3, 3, [&](row_tree& p, row_tree& q) {
            REQUIRE(total_variation(verdicts(by_thinning, from_argmax{q}, p, gamma),
                                    verdicts(rejection, from_argmax{q}, p, gamma)) < exact);
        });
}

TEST_CASE("the example of Sun et al.: 10/9 tokens kept one by one, 11/9 as a block", "[law]") {
    row_tree p(same_rows({1.0F / 3, 2.0F / 3})), q(same_rows({2.0F / 3, 1.0F / 3}));
    CHECK(kept(verdicts(rejection, from_logits{q}, p, 2)) == Approx(10.0 / 9).epsilon(1e-6));
    CHECK(kept(verdicts(by_thinning, from_logits{q}, p, 2)) == Approx(11.0 / 9).epsilon(1e-6));
}

TEST_CASE("block verification and every bridge: the law of the target", "[law]") {
    const auto identity = [](std::size_t t, std::size_t d) {
        return [=](std::size_t gamma) { return make_identity_bridge(d, t, 16, gamma); };
    };
    check_rounds_of(by_thinning, identity(3, 3), 3, 3);
    check_rounds_of(by_sums, identity(2, 2), 2, 2, 4);
    check_rounds_of(by_sums, identity(3, 4), 3, 4);
    check_rounds_of(by_sums, identity(4, 3), 4, 3, 2);

    const pair_of_tokenizers two;
    using context = retokenised_context<target_words, draft_words>;
    const context text(two.target, two.draft, two.map, 16);
    check_rounds_of(
        by_thinning,
        [&](std::size_t gamma) {
            return tli_bridge<target_words, draft_words>(tli_map(two.map), text, gamma);
        },
        4, 4);
    check_rounds_of(
        by_thinning,
        [&](std::size_t gamma) {
            return union_bridge<target_words, draft_words>(union_map(two.map), text, gamma);
        },
        4, 4);
    check_rounds_of(
        by_thinning,
        [&](std::size_t gamma) { return slem_bridge(two.target, two.draft, two.map, 16, gamma); },
        4, 4);
}

TEST_CASE("block verification, whole decodes: the law of the text, over bytes", "[law][computes]") {
    check_decodes_of(by_thinning, by_sums);
}
