// SPDX-License-Identifier: MIT
// The production coin against the enumerated law: the same code, drawn from with Philox. Seeds are
// fixed, so the outcome is too. 26 degrees of freedom, an error of total variation 0.01 found with
// power 0.99 at a significance of 1e-3: 162,000 samples.
#include <specdec/bridge/tli.hpp>
#include <specdec/sampling/coin/philox_coin.hpp>
#include <specdec/verify/block_verification.hpp>
#include <specdec/verify/exact_match.hpp>
#include <specdec/verify/token_rejection.hpp>

#include <cmath>
#include <random>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/vocab/table/intersection.hpp>

#include "session_law.hpp"
#include "support/tiny_tokenizer.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace {

constexpr std::size_t samples = 162'000;
constexpr double critical_26 = 54.05; // chi-square, 26 degrees of freedom, 1e-3

struct toy {
    tiny_tokenizer<target_id> target{{"a", "b", "c"}};
    tiny_tokenizer<draft_id> draft{{"c", "a", "b"}};
    id_map map = intersect(draft.table(), target.table());
    row_tree p{toy_rows(row_kind::random, 3, 11)};
    row_tree q{toy_rows(row_kind::random, 3, 12)};

    auto bridge() const {
        using context = retokenised_context<tiny_tokenizer<target_id>, tiny_tokenizer<draft_id>>;
        return tli_bridge<tiny_tokenizer<target_id>, tiny_tokenizer<draft_id>>(
            tli_map(map), context(target, draft, map, 16), 2);
    }

    /// The same behind a round of which nothing is used; what was seen of it says whether the next
    /// one drafts.
    template <class Rule, class C>
    sequence decode_again(const Rule& rule, C& coin) {
        sequence text;
        with_session(toy_models{p, q}, always(bridge()), rule, {.prefix = {}}, coin, [&](auto x) {
            std::size_t next = 2;
            text = x.play(3, [&](std::size_t i) {
                const round_result r =
                    x.round(fixed_length{i < 2 ? next : 0}, 4 - x.decoder.tokens().size());
                next = r.accepted == r.proposed.size() ? 0 : 1;
                x.decoder.commit(i == 0 ? 0 : r.tokens.size());
            });
        });
        return text;
    }

    /// One text of three tokens; how many proposals of its first round were kept.
    template <class Rule, class C>
    sequence decode(const Rule& rule, C& coin, std::size_t& kept) {
        sequence text;
        with_session(toy_models{p, q}, always(bridge()), rule, {.prefix = {}}, coin, [&](auto x) {
            text = x.play(3, [&](std::size_t i) {
                const round_result r = x.round(fixed_length{2}, 4 - x.decoder.tokens().size());
                kept = i == 0 ? r.accepted : kept;
                x.decoder.commit(r.tokens.size());
            });
        });
        return text;
    }
};

/// Of the target's texts of three tokens.
double chi_square_of(const joint_law& counts, row_tree& p) {
    const joint_law law = target_alone(p, 3);
    REQUIRE(law.size() == 27);
    REQUIRE(counts.size() == 27);
    return chi_square(counts, law, samples);
}

template <class Rule>
void check_sampled(const Rule& rule, std::uint64_t seed) {
    toy t;
    const auto kept_law = on_every_path<enumerating_coin>([&](enumerating_coin& coin) {
        std::size_t kept = 0;
        t.decode(Rule{}, coin, kept);
        return kept;
    });
    double square = 0;
    for (const auto& [kept, probability] : kept_law)
        square += probability * static_cast<double>(kept * kept);
    const double mean = mean_of(kept_law);
    joint_law counts;
    std::size_t sum = 0;
    for (std::size_t i = 0; i < samples; ++i) {
        philox_coin coin(seed, i);
        std::size_t kept = 0;
        counts[t.decode(rule, coin, kept)] += 1;
        sum += kept;
    }
    CHECK(chi_square_of(counts, t.p) < critical_26);
    const double n = static_cast<double>(samples);
    const double deviation = std::sqrt((square - mean * mean) / n);
    CHECK(std::abs(static_cast<double>(sum) / n - mean) < 3.3 * deviation);
}

/// Thinning at one draw keeps the enumeration small; the law is the same at any cap.
struct rejection_once : token_rejection {
    rejection_once() : token_rejection{.thinning = {1, 1}} {}
};
struct block_once : block_verification {
    block_once() : block_verification{.thinning = {1, 1}} {}
};

} // namespace

TEST_CASE("sampled texts follow the target's law: token rejection", "[law][computes]") {
    check_sampled(rejection_once{}, 7);
}

TEST_CASE("sampled texts follow the target's law: exact match", "[law][computes]") {
    check_sampled(exact_match{}, 8);
}

TEST_CASE("sampled texts follow the target's law: block verification", "[law][computes]") {
    check_sampled(block_once{}, 9);
}

TEST_CASE("sampled texts behind a round that was not used follow the target's law",
          "[law][computes]") {
    toy t;
    joint_law counts;
    for (std::size_t i = 0; i < samples; ++i) {
        philox_coin coin(10, i);
        counts[t.decode_again(rejection_once{}, coin)] += 1;
    }
    CHECK(chi_square_of(counts, t.p) < critical_26);
}

TEST_CASE("texts sampled with another generator follow the target's law", "[law][computes]") {
    toy t;
    std::mt19937 words(11);
    generator_coin coin(words);
    joint_law counts;
    for (std::size_t i = 0; i < samples; ++i) {
        std::size_t kept = 0;
        counts[t.decode(rejection_once{}, coin, kept)] += 1;
    }
    CHECK(chi_square_of(counts, t.p) < critical_26);
}
