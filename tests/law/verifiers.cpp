// SPDX-License-Identifier: MIT
// The output law of every verification rule, enumerated through the production code: joint
// sequences of gamma + 1 tokens against the target alone.
#include <specdec/verify/exact_match.hpp>
#include <specdec/verify/token_rejection.hpp>

#include <array>
#include <memory>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/sampling/law/dense_law.hpp>
#include <specdec/sampling/law/sparse_law.hpp>

#include "rule_law.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace {

/// As from_logits, of another type.
struct from_probabilities {
    row_tree& q;
    std::shared_ptr<row_tree> kept =
        std::make_shared<row_tree>([tree = &q](const sequence& prefix) {
            std::vector<float> weights;
            for (const float logit : (*tree)(prefix))
                weights.push_back(3.0F * __builtin_expf(logit));
            return weights;
        });
    dense_law<target_id> operator()(const sequence& prefix) const {
        return dense_law<target_id>(probabilities_row<target_id>{(*kept)(prefix)});
    }
};

template <class MakeDraftLaw, class Rule>
void check_lossless(const Rule& rule, std::size_t vocabulary, std::size_t gamma,
                    const sampling_parameters& parameters = {}) {
    std::uint64_t seed = 1;
    for (const row_kind p_kind : row_kinds)
        for (const row_kind q_kind : row_kinds) {
            row_tree p(toy_rows(p_kind, vocabulary, ++seed));
            row_tree q(toy_rows(q_kind, vocabulary, ++seed));
            const joint_law law = rule_law(rule, MakeDraftLaw{q}, p, gamma, parameters);
            CAPTURE(static_cast<int>(p_kind), static_cast<int>(q_kind), vocabulary, gamma);
            REQUIRE(total_variation(law, target_alone(p, gamma + 1, parameters)) < exact);
        }
}

template <class Rule>
void check_every_draft_law(const Rule& rule) {
    for (const std::size_t gamma : {0U, 1U, 2U, 3U}) {
        check_lossless<from_logits>(rule, 3, gamma);
        check_lossless<from_probabilities>(rule, 3, gamma);
        check_lossless<from_argmax>(rule, 3, gamma);
    }
    check_lossless<from_logits>(rule, 4, 2);
    check_lossless<from_logits>(rule, 2, 4);
}

/// Expected number of accepted proposals of one proposal.
template <class Rule, class MakeDraftLaw>
double acceptance(const Rule& rule, MakeDraftLaw make, row_tree& p) {
    return mean_of(on_every_path<enumerating_coin>(
        [&](enumerating_coin& coin) { return rule_round(rule, make, p, 1, coin).size() - 1; }));
}

} // namespace

TEST_CASE("exact match has the target's law for every draft law", "[law]") {
    check_every_draft_law(exact_match{});
}

TEST_CASE("token rejection has the target's law for every draft law", "[law]") {
    check_every_draft_law(token_rejection{.thinning = {0, 0}});
    check_every_draft_law(token_rejection{.thinning = {1, 1}});
}

TEST_CASE("the rules keep the target's law under temperature, top-k, top-p and min-p", "[law]") {
    for (const sampling_parameters& parameters :
         {sampling_parameters{.temperature = 0.5F}, sampling_parameters{.top_k = 2},
          sampling_parameters{.top_p = 0.7F}, sampling_parameters{.min_p = 0.4F},
          sampling_parameters{.temperature = 0}}) {
        check_lossless<from_logits>(exact_match{}, 3, 2, parameters);
        check_lossless<from_logits>(token_rejection{.thinning = {1, 1}}, 3, 2, parameters);
        check_lossless<from_argmax>(token_rejection{.thinning = {1, 1}}, 3, 2, parameters);
    }
}

TEST_CASE("sparse draft laws: token rejection has the target's law", "[law]") {
    using entry = weighted_id<target_id>;
    for (std::uint64_t seed = 1; seed < 20; ++seed) {
        row_tree p(toy_rows(row_kind::random, 4, seed));
        std::map<sequence, std::array<entry, 2>> kept;
        const auto make = [&](const sequence& prefix) {
            const int a = static_cast<int>(scramble(seed, prefix, 7) % 4);
            const int b = (a + 1 + static_cast<int>(scramble(seed, prefix, 8) % 3)) % 4;
            const auto [at, fresh] = kept.try_emplace(
                prefix, std::array<entry, 2>{entry{target_id{a < b ? a : b}, 0.3F},
                                             entry{target_id{a < b ? b : a}, 0.9F}});
            return sparse_law<target_id>(at->second, 4);
        };
        const joint_law law = rule_law(token_rejection{.thinning = {1, 1}}, make, p, 3);
        REQUIRE(total_variation(law, target_alone(p, 4)) < exact);
    }
}

TEST_CASE("a one-proposal round accepts as often as the papers say", "[law]") {
    for (std::uint64_t seed = 1; seed < 30; ++seed) {
        row_tree p(toy_rows(row_kind::random, 4, seed));
        row_tree q(toy_rows(row_kind::random, 4, seed + 1000));
        const auto p0 = target_law_at(p, {}), q0 = target_law_at(q, {});
        double overlap = 0, product = 0;
        for (std::size_t v = 0; v < 4; ++v) {
            const double a = p0.probability(id_at<target_id>(v)),
                         b = q0.probability(id_at<target_id>(v));
            overlap += a < b ? a : b;
            product += a * b;
        }
        CHECK(acceptance(token_rejection{.thinning = {1, 1}}, from_logits{q}, p) ==
              Approx(overlap).epsilon(1e-12));
        CHECK(acceptance(exact_match{}, from_logits{q}, p) == Approx(product).epsilon(1e-12));
    }
}

TEST_CASE("Theorem 3.1: exact match of q = p accepts less, unless a token is certain", "[law]") {
    const auto accepted = [](std::vector<float> probabilities, const auto& rule) {
        row_tree p(same_rows(std::move(probabilities)));
        return acceptance(rule, from_logits{p}, p);
    };
    const token_rejection rejection{.thinning = {1, 1}};
    CHECK(accepted({0, 1, 0, 0}, exact_match{}) == Approx(1).epsilon(1e-12));
    CHECK(accepted({0.25F, 0.25F, 0.25F, 0.25F}, exact_match{}) == Approx(0.25).epsilon(1e-6));
    CHECK(accepted({0.5F, 0.25F, 0.25F, 0}, exact_match{}) == Approx(0.375).epsilon(1e-6));
    for (const std::vector<float>& p : std::vector<std::vector<float>>{
             {0, 1, 0, 0}, {0.25F, 0.25F, 0.25F, 0.25F}, {0.5F, 0.25F, 0.25F, 0}})
        CHECK(accepted(p, rejection) == Approx(1).epsilon(1e-12));
}

TEST_CASE("equal laws are always accepted, disjoint ones never", "[law]") {
    row_tree p(toy_rows(row_kind::random, 4, 5));
    CHECK(acceptance(token_rejection{.thinning = {1, 1}}, from_logits{p}, p) ==
          Approx(1.0).epsilon(1e-12));
    row_tree first(toy_rows(row_kind::first, 4, 5)), second(toy_rows(row_kind::second, 4, 6));
    CHECK(acceptance(token_rejection{.thinning = {1, 1}}, from_logits{first}, second) == 0.0);
}
