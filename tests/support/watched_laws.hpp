// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/core/proposal.hpp>
#include <specdec/sampling/coin/philox_coin.hpp>
#include <specdec/sampling/law/softmax_law.hpp>

#include "toy_rows.hpp"

namespace specdec::testing {

/// The target's laws of one round, as a rule is given them; remembers which were asked for.
class watched_laws {
public:
    explicit watched_laws(std::vector<std::vector<float>> rows, sampling_parameters parameters = {})
        : rows_(std::move(rows)), parameters_(parameters) {}

    softmax_law<target_id> operator()(std::size_t i) {
        asked.push_back(i);
        return make_law(logits_row<target_id>{rows_.at(i)}, parameters_);
    }

    std::vector<std::size_t> asked;

private:
    std::vector<std::vector<float>> rows_;
    sampling_parameters parameters_;
};

/// gamma + 1 rows of random logits.
inline std::vector<std::vector<float>> random_rows(std::size_t count, std::size_t vocabulary,
                                                   std::uint64_t seed) {
    const auto make = toy_rows(row_kind::random, vocabulary, seed);
    std::vector<std::vector<float>> rows;
    for (std::size_t i = 0; i < count; ++i)
        rows.push_back(make({static_cast<int>(i)}));
    return rows;
}

/// 0, 1, .. n - 1.
inline std::vector<std::size_t> first_places(std::size_t n) {
    std::vector<std::size_t> places(n);
    for (std::size_t i = 0; i < n; ++i)
        places[i] = i;
    return places;
}

/// A round of a rule behind five tokens.
template <class Rule, class L>
verdict verify(watched_laws& laws, const std::vector<proposal<L>>& draft, std::uint64_t seed,
               const Rule& rule) {
    philox_coin coin(seed);
    return rule(laws, std::span<const proposal<L>>(draft), coin, 5);
}

/// Without a draft a rule draws once from the target.
template <class Rule>
void check_no_draft(const Rule& rule) {
    watched_laws laws(random_rows(1, 5, 1));
    const target_id own = philox_coin(9).pick({5, purpose::target}, laws(0));
    laws.asked.clear();
    const verdict v = verify(laws, std::vector<proposal<one_hot_law<target_id>>>{}, 9, rule);
    CHECK(v.accepted == 0);
    CHECK(v.evaluated == 0);
    CHECK(v.next == own);
    CHECK(v.origin == token_origin::free);
    CHECK(laws.asked == first_places(1));
}

/// A rule keeps a sure prefix and asks for no row behind what p forbids.
template <class Rule>
void check_sure_prefixes(const Rule& rule) {
    constexpr std::size_t gamma = 4;
    for (std::size_t agreeing = 0; agreeing <= gamma; ++agreeing) {
        watched_laws laws(random_rows(gamma + 1, 5, agreeing), {.temperature = 0});
        std::vector<target_id> top;
        for (std::size_t i = 0; i <= gamma; ++i)
            top.push_back(laws(i).top());
        laws.asked.clear();
        std::vector<proposal<one_hot_law<target_id>>> draft;
        for (std::size_t i = 0; i < gamma; ++i)
            draft.push_back(certain(i < agreeing ? top[i] : target_id{(top[i].value + 1) % 5}));
        const verdict v = verify(laws, draft, 1, rule);
        const bool all = agreeing == gamma;
        CHECK(v.accepted == agreeing);
        CHECK(v.evaluated == (all ? gamma : agreeing + 1));
        CHECK(v.origin == (all ? token_origin::free : token_origin::corrected));
        CHECK(v.next == top[agreeing]);
        CHECK(laws.asked == first_places(agreeing + 1));
    }
}

} // namespace specdec::testing
