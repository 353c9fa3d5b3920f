// SPDX-License-Identifier: MIT
#include <specdec/bridge/strings/pushforward_bridge.hpp>

#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/bridge/ngram_merge.hpp>
#include <specdec/bridge/slrs.hpp>
#include <specdec/sampling/coin/philox_coin.hpp>
#include <specdec/vocab/ngrams/ngram_cache.hpp>

#include "law/bridge_cases.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace {

/// The same numbers as philox_coin, but shown to nobody: every probability is computed in full.
class blind_coin {
public:
    explicit blind_coin(std::uint64_t seed) : coin_(seed) {}
    [[nodiscard]] bool flip(draw_site site, double probability) const {
        return coin_.flip(site, probability);
    }
    template <class L>
    [[nodiscard]] auto pick(draw_site site, const L& law) const {
        return coin_.pick(site, law);
    }

private:
    philox_coin coin_;
};

struct one_round {
    std::vector<target_id> tokens;
    std::size_t accepted = 0;
    std::size_t extra_forwards = 0;
};

template <class Bridge, Coin C>
one_round run_round(const Bridge& bridge, C coin, row_tree& p, row_tree& q, std::size_t gamma) {
    auto target = model_of<target_id>(p);
    auto draft = model_of<draft_id>(q);
    model_drafter drafter(draft);
    session decoder(bridge, token_rejection{.thinning = {100000}},
                    session_settings{.capacity = 16});
    const std::vector prompt{target_id{0}};
    const std::vector prefix{draft_id{0}};
    decoder.start(prompt, prefix);
    const round_result r = decoder.round(target, drafter, fixed_length{gamma}, coin, gamma + 2);
    return {{r.tokens.begin(), r.tokens.end()}, r.accepted, decoder.bridge().extra_forwards()};
}

/// `cases` random rounds, lazily and in full: the same tokens. Returns extra forwards of both.
template <class MakeBridge>
std::pair<std::size_t, std::size_t> check_lazy(MakeBridge make, std::size_t target_size,
                                               std::size_t draft_size, std::uint64_t cases) {
    std::size_t lazy_forwards = 0, full_forwards = 0;
    for (std::uint64_t i = 0; i < cases; ++i) {
        const std::size_t gamma = 1 + i % 4;
        row_tree p(toy_rows(row_kinds[i % 7], target_size, 2 * i));
        row_tree q(toy_rows(row_kinds[i / 7 % 7], draft_size, 2 * i + 1));
        const one_round lazy = run_round(make(gamma), philox_coin(i), p, q, gamma);
        const one_round full = run_round(make(gamma), blind_coin(i), p, q, gamma);
        CAPTURE(i);
        if (lazy.tokens != full.tokens || lazy.accepted != full.accepted)
            FAIL("a lazy decision differs");
        lazy_forwards += lazy.extra_forwards;
        full_forwards += full.extra_forwards;
    }
    return {lazy_forwards, full_forwards};
}

/// A handle of a drafter that counts its forwards.
template <class D>
class counting_drafter {
public:
    counting_drafter(D& drafter, std::size_t& forwards) : drafter_(drafter), forwards_(&forwards) {}
    [[nodiscard]] std::size_t capacity() const { return drafter_.capacity(); }
    void sync(std::span<const draft_id> context, std::size_t unchanged) {
        drafter_.sync(context, unchanged);
    }
    [[nodiscard]] logits_row<draft_id> row() {
        ++*forwards_;
        return drafter_.row();
    }
    [[nodiscard]] logits_rows<draft_id> rows(std::size_t n) {
        ++*forwards_;
        return drafter_.rows(n);
    }
    [[nodiscard]] law_version version() const { return drafter_.version(); }
    void push(draft_id id) { drafter_.push(id); }

private:
    D& drafter_;
    std::size_t* forwards_;
};

/// The probability that a round draws tokens and keeps the last of them, over all ways to draw
/// them and all u, is what the law of the tokens says: how lazily that was decided does not show.
template <class MakeTranslation>
void check_kept(MakeTranslation make, std::size_t target_size, std::size_t draft_size,
                std::uint64_t cases) {
    const std::vector context{draft_id{0}};
    for (std::uint64_t i = 0; i < cases; ++i) {
        const std::size_t gamma = 1 + i % 4, proposals = 1 + i % 2;
        row_tree p(toy_rows(row_kinds[i % 7], target_size, 2 * i));
        row_tree q(toy_rows(row_kinds[i / 7 % 7], draft_size, 2 * i + 1));
        const auto target = target_law_at(p, {});
        auto draft = model_of<draft_id>(q);
        model_drafter drafter(draft);
        const fixed_length stop{gamma};
        pushforward law(make(), 16);
        std::map<std::vector<target_id>, double> drawn, kept;
        std::map<std::vector<target_id>, double> should; // probability of the last one
        enumerate<interval_coin>([&](interval_coin& coin) {
            law.begin(draft_source::of(drafter, stop), context, 0, {}, gamma, 0, proposals);
            law.take_first_row();
            std::vector<target_id> tokens;
            while (tokens.size() < proposals) {
                const target_id t = law.draw(tokens.size(), coin, {tokens.size(), purpose::draft});
                if (!t.valid())
                    return;
                tokens.push_back(t);
            }
            const double wanted = target.probability(tokens.back());
            const bool keeps = law.keeps(proposals - 1, wanted, coin.uniform({0, purpose::accept}));
            drawn[tokens] += coin.probability();
            kept[tokens] += keeps ? coin.probability() : 0.0;
            should[tokens] = law.probability(proposals - 1, tokens.back());
        });
        CAPTURE(i);
        for (const auto& [tokens, mass] : drawn) {
            const double ratio = target.probability(tokens.back()) / should[tokens];
            if (!(std::abs(kept[tokens] - mass * (ratio < 1 ? ratio : 1.0)) < 1e-12))
                FAIL("kept by another probability than the law's");
        }
    }
}

using words_pair = slrs_pair<target_words, draft_words>;

words_pair spelled_pair() {
    return {target_words{{"a", "b", "ab", "bba", "aab"}}, draft_words{{"a", "b", "ba"}}};
}

} // namespace

TEST_CASE("slrs: lazy decisions are those of the whole sums, on 50,000 random rounds",
          "[computes]") {
    const words_pair two = spelled_pair();
    const auto [lazy, full] =
        check_lazy([&](std::size_t gamma) { return two.bridge(gamma); }, 5, 3, 50000);
    CHECK(lazy < full / 2);
}

TEST_CASE("slrs: the last proposal is kept with the law's probability, over all ways to draw it",
          "[computes]") {
    const words_pair two = spelled_pair();
    check_kept([&] { return two.translation(); }, 5, 3, 700);
}

TEST_CASE("merge: the last proposal is kept with the law's probability", "[computes]") {
    const words_pair two = spelled_pair();
    ngram_cache<no_eviction> cache;
    const auto insert = [&](std::vector<draft_id> ids, int t) { cache.insert(ids, target_id{t}); };
    insert({draft_id{0}, draft_id{1}}, 2);
    insert({draft_id{1}, draft_id{1}, draft_id{0}}, 3);
    check_kept([&] { return merging(cache, two.target, two.draft, two.map, two.order); }, 5, 3,
               700);
}

TEST_CASE("a coin of exactly 0 keeps nothing of p = 0, however lazily that is decided") {
    const words_pair two = spelled_pair();
    const std::vector context{draft_id{0}};
    std::size_t asked = 0;
    for (std::uint64_t i = 0; i < 300; ++i) {
        row_tree q(toy_rows(row_kinds[i % 7], 3, i));
        auto draft = model_of<draft_id>(q);
        model_drafter drafter(draft);
        const fixed_length stop{4};
        philox_coin coin(i);
        pushforward law(two.translation(), 16);
        law.begin(draft_source::of(drafter, stop), context, 0, {}, 4, 0, 2);
        law.take_first_row();
        for (std::size_t j = 0; j < 2; ++j) {
            const target_id t = law.draw(j, coin, {j, purpose::draft});
            if (!t.valid())
                break;
            CAPTURE(i, j);
            CHECK_FALSE(law.below(j, t, 0.0 / 0.0)); // p / u of both 0
            CHECK_FALSE(law.below(j, t, 0.0));
            if (j == 1)
                CHECK_FALSE(law.keeps(j, 0.0, 0.0));
            CHECK_FALSE(law.below(j, t, 0.0));
            asked += j;
        }
    }
    CHECK(asked > 100);
}

TEST_CASE("a lightest draft that is no probability is refused") {
    const words_pair two = spelled_pair();
    for (const double lightest : {-0.1, 1.5, 400.0, std::nan("")})
        CHECK_THROWS_AS(two.bridge(4, lightest), error);
}

TEST_CASE("slrs: a limit of drafter forwards is kept, at any price") {
    const words_pair two = spelled_pair();
    std::size_t most = 0;
    for (std::uint64_t i = 0; i < 500; ++i) {
        row_tree p(toy_rows(row_kind::random, 5, i)), q(toy_rows(row_kind::random, 3, i + 1000));
        const one_round r = run_round(two.bridge(4, 4.0 / 12), blind_coin(i), p, q, 4);
        most = r.extra_forwards > most ? r.extra_forwards : most;
    }
    CHECK(most <= 12);
    CHECK(most > 0);
}

/// Texts whose rounds begin with the row that the last round saw there are those of a drafter that
/// is asked again.
template <class MakeBridge>
void check_known_rows(MakeBridge make) {
    std::size_t forwards = 0, spared = 0, most = 0, least = 0;
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        row_tree p(toy_rows(row_kind::random, 5, seed)), q(toy_rows(row_kind::random, 3, seed + 7));
        auto target = model_of<target_id>(p), again = model_of<target_id>(p);
        auto draft = model_of<draft_id>(q), drafting = model_of<draft_id>(q);
        model_drafter one(draft), two_handles(drafting);
        counting_drafter drafter(one, least);
        // Another drafter than the last round's: nothing is known of it.
        counting_drafter first(two_handles, most), second(two_handles, most);
        const session_settings settings{.capacity = 16, .max_proposals = 1};
        session with(make(0), token_rejection{}, settings);
        session without(make(1), token_rejection{}, settings);
        const std::vector prompt{target_id{0}};
        const std::vector prefix{draft_id{0}};
        with.start(prompt, prefix);
        without.start(prompt, prefix);
        for (std::size_t i = 0; i < 5; ++i) {
            philox_coin a(seed), b(seed);
            const round_result r = with.round(target, drafter, fixed_length{3}, a, 4);
            const round_result s =
                without.round(again, i % 2 == 0 ? first : second, fixed_length{3}, b, 4);
            CHECK(std::vector(r.tokens.begin(), r.tokens.end()) ==
                  std::vector(s.tokens.begin(), s.tokens.end()));
            CHECK(with.bridge().extra_forwards() == without.bridge().extra_forwards());
            CHECK_FALSE(without.bridge().first_row_known());
            forwards += with.bridge().extra_forwards();
            spared += with.bridge().first_row_known() ? 1U : 0U;
            const std::size_t n = r.tokens.size();
            with.commit(n);
            without.commit(n);
        }
        philox_coin a(seed);
        (void)with.round(target, drafter, fixed_length{3}, a, 1); // no room for a proposal
        CHECK(with.bridge().extra_forwards() == 0);
        CHECK_FALSE(with.bridge().first_row_known());
    }
    CHECK(least + spared == most);
    CHECK(spared > forwards / 10);
}

TEST_CASE("slrs: a row that the last round saw behind what was committed is not asked for again",
          "[computes]") {
    const words_pair two = spelled_pair();
    check_known_rows([&](std::size_t) { return two.bridge(3); });
}

TEST_CASE("merge: a row of the last round is prepared anew, as the cache has learned since",
          "[computes]") {
    const words_pair two = spelled_pair();
    ngram_cache<no_eviction> caches[2]; // they learn as they go
    check_known_rows([&](std::size_t i) {
        caches[i].clear();
        return make_ngram_merge_bridge(caches[i], two.target, two.draft, two.map, two.order, 16,
                                       {3, 0});
    });
}

TEST_CASE("the end of a draft is no proposal: it counts as nothing, what follows is a residual") {
    const words_pair two{target_words{{"a", "b"}}, draft_words{{"a", "b"}}};
    row_tree rows(toy_rows(row_kind::random, 2, 4)); // of both
    auto p = model_of<target_id>(rows);
    auto q = model_of<draft_id>(rows);
    model_drafter drafter(q);
    session decoder(two.bridge(3), token_rejection{}, session_settings{.capacity = 16});
    const std::vector prompt{target_id{0}};
    decoder.start(prompt);
    philox_coin coin(3);
    const round_result r = decoder.round(p, drafter, fixed_length{2}, coin, 10);
    CHECK(r.proposed.size() == 2);
    CHECK(r.accepted == 2);
    CHECK(r.last == token_origin::residual);
    CHECK(r.reason == no_draft::none);
    decoder.commit(3);
    CHECK(decoder.counts().proposed == 2);
    CHECK(decoder.counts().evaluated == 2);
    CHECK(decoder.counts().residual == 1);
    CHECK(decoder.counts().free == 0);
    CHECK(decoder.counts().acceptance_rate() == 1.0);
}

TEST_CASE("decisions stay right where a draft is as improbable as rounding errors", "[computes]") {
    // Letters proposed by letters and pairs: many spellings, a mass of 1e-30 behind 20 tokens.
    constexpr std::size_t letters = 8, length = 20;
    std::vector<std::string> pieces, words;
    for (std::size_t i = 0; i < letters; ++i)
        words.emplace_back(1, static_cast<char>('a' + i));
    pieces = words;
    for (const std::string& a : words)
        for (const std::string& b : words)
            pieces.push_back(a + b);
    const words_pair two{target_words(words), draft_words(pieces)};
    row_tree rows(toy_rows(row_kind::random, pieces.size(), 5));
    auto model = model_of<draft_id>(rows);
    model_drafter drafter(model);
    const fixed_length stop{length};
    const std::vector context{draft_id{0}};
    double least = 1;
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
        philox_coin coin(seed);
        pushforward law(two.translation(), 64);
        const auto draw = [&] {
            law.begin(draft_source::of(drafter, stop), context, 0, {}, length, 0, length);
            law.take_first_row();
            std::vector<target_id> tokens;
            while (tokens.size() < length)
                tokens.push_back(law.draw(tokens.size(), coin, {0, purpose::draft}));
            return tokens;
        };
        const std::vector<target_id> tokens = draw();
        std::vector<double> q;
        double mass = 1;
        for (std::size_t j = 0; j < length; ++j) {
            q.push_back(law.probability(j, tokens[j]));
            mass *= q[j];
        }
        least = mass < least ? mass : least;
        draw(); // the bounds begin anew
        for (std::size_t j = 0; j < length; ++j) {
            CAPTURE(seed, j, q[j]);
            CHECK_FALSE(law.below(j, tokens[j], q[j] * 0.99));
            CHECK(law.below(j, tokens[j], q[j] * 1.01));
        }
    }
    CHECK(least < 1e-17);
}
