// SPDX-License-Identifier: MIT
// A drafter or a tokenizer that fails while a decision asks it: the round is drafted or decided
// again. The law is the target's where the draws are; another stop rule is refused.
#include <specdec/decode/session.hpp>

#include <functional>
#include <string>

#include <catch2/catch.hpp>

#include <specdec/verify/block_verification.hpp>
#include <specdec/verify/exact_match.hpp>
#include <specdec/verify/token_rejection.hpp>

#include "support/enumeration/interval_coin.hpp"
#include "toy_bridges.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace {

struct failed {};

struct failing_drafter {
    model_drafter<toy_model<draft_id>> inner;
    std::size_t rows_left; ///< the row behind them fails, once

    [[nodiscard]] std::size_t capacity() const { return inner.capacity(); }
    void sync(std::span<const draft_id> context, std::size_t unchanged) {
        inner.sync(context, unchanged);
    }
    [[nodiscard]] law_version version() const { return inner.version(); }
    void push(draft_id id) { inner.push(id); }
    logits_row<draft_id> row() {
        if (rows_left-- == 0)
            throw failed{};
        return inner.row();
    }
};

/// A tokenizer whose text behind so many others fails, once.
template <class Id>
struct failing_words : tiny_tokenizer<Id> {
    std::size_t* texts_left;

    void encode(std::string_view text, encode_mode where, std::vector<Id>& out) const {
        if ((*texts_left)-- == 0)
            throw failed{};
        tiny_tokenizer<Id>::encode(text, where, out);
    }
};

/// Draws anew where it is asked again, as generator_coin does.
struct fresh_coin {
    interval_coin& coin;
    std::uint64_t draws = 0;

    bool flip(draw_site, double p) { return coin.flip({++draws}, p); }
    auto uniform(draw_site) { return coin.uniform({++draws}); }
    template <class L>
    auto pick(draw_site, const L& law) {
        return coin.pick({++draws}, law);
    }
};

/// What follows a failure: the same round, one without a draft, or the decision alone.
enum class again : std::uint8_t { same, without_draft, decision };

/// Does `what` until it goes well. Returns how often it failed.
std::size_t insist(const auto& what) {
    for (std::size_t failures = 0;; ++failures)
        try {
            what();
            return failures;
        } catch (const failed&) {
            continue;
        }
}

/// A draft and its decision, each made until it goes well. Returns how often the decision failed.
std::size_t insist_on_round(auto& text, const fixed_length& stop, const auto& before_deciding) {
    auto& decoder = text.decoder;
    (void)decoder.prepare(text.target);
    (void)insist([&] { decoder.draft(text.drafter, stop, text.coin, 3); });
    const auto rows = decoder.score(text.target);
    before_deciding();
    std::size_t tokens = 0;
    const std::size_t failures =
        insist([&] { tokens = decoder.verify(rows, text.coin).tokens.size(); });
    decoder.commit(tokens);
    return failures;
}

struct outcome {
    double deviation;
    std::size_t failures = 0; ///< of decisions that were made again, over all paths
};

/// The law of two tokens, whose drafter fails once, behind so many rows.
template <class WrapCoin>
outcome after_failure(
    std::size_t rows, again how, WrapCoin wrap, const toy_words& two, const auto& bridge,
    std::uint64_t seed, const std::function<void()>& before_deciding = [] {}) {
    row_tree p(toy_rows(row_kind::random, two.target_size(), seed)),
        q(toy_rows(row_kind::random, two.draft_size(), seed + 1));
    const auto make = [&](auto&, const auto& use) {
        auto target = model_of<target_id>(p);
        auto draft = model_of<draft_id>(q);
        failing_drafter drafter{model_drafter(draft), rows};
        use(target, drafter);
    };
    std::size_t failures = 0;
    const auto law = on_every_path([&](interval_coin& coin) {
        auto&& drawn = wrap(coin);
        sequence tokens;
        fixed_length stop{2};
        with_session(made_world{p, make}, bridge, by_rejection, {}, drawn, [&](auto text) {
            tokens = text.play(2, [&](std::size_t) {
                if (how == again::decision) {
                    failures += insist_on_round(text, stop, before_deciding);
                    stop.length = 0;
                    return;
                }
                try {
                    text.decoder.commit(text.round(stop, 3).tokens.size());
                    stop.length = 0;
                } catch (const failed&) {
                    if (how == again::without_draft)
                        stop.length = 0;
                }
            });
        });
        return tokens;
    });
    return {total_variation(law, target_alone(p, 2)), failures};
}

/// The same with slrs.
template <class WrapCoin>
double deviation_after_failure(std::size_t rows, again how, WrapCoin wrap) {
    const toy_words two({"a", "b", "ab", "ba"}, {"b", "a"});
    return after_failure(rows, how, wrap, two, two.slrs(0), 1).deviation;
}

const auto by_site = [](interval_coin& coin) -> interval_coin& { return coin; };
const auto by_order = [](interval_coin& coin) { return fresh_coin{coin}; };

} // namespace

TEST_CASE("a drafter that failed once and is asked the same again leaves the target's law",
          "[law]") {
    for (std::size_t rows = 0; rows < 6; ++rows)
        CHECK(deviation_after_failure(rows, again::same, by_site) < 1e-12);
}

TEST_CASE("a decision that failed and is made again leaves the target's law", "[law]") {
    const toy_words two({"a", "b", "ab", "ba"}, {"b", "a"});
    const auto check = [&](const auto& bridge) {
        std::size_t failures = 0;
        for (std::uint64_t seed = 1; seed < 6; seed += 2)
            for (std::size_t rows = 0; rows < 5; ++rows) {
                CAPTURE(seed, rows);
                const outcome found =
                    after_failure(rows, again::decision, by_site, two, bridge, seed);
                CHECK(found.deviation < 1e-12);
                failures += found.failures;
            }
        CHECK(failures > 0);
    };
    check(two.slrs(0));
    check(two.merge(0, {{{1, 0}, 2}}));
}

TEST_CASE("a decision in which a tokenizer failed and that is made again leaves the target's law",
          "[law]") {
    const toy_words& two = permuted_words();
    constexpr std::size_t never = ~std::size_t{0};
    std::size_t texts_left = never, failures = 0;
    const auto slrs = [&](std::size_t n, const auto& use) {
        texts_left = never;
        const failing_words<target_id> words{two.target, &texts_left};
        const failing_words<draft_id> pieces{two.draft, &texts_left};
        use(make_slrs_bridge(words, pieces, two.map, two.order, two.edges, 16, {n, 0}));
    };
    for (std::size_t texts = 0; texts < 12; ++texts) {
        CAPTURE(texts);
        const outcome found = after_failure(never, again::decision, by_site, two, slrs, 1,
                                            [&] { texts_left = texts; });
        CHECK(found.deviation < 1e-12);
        failures += found.failures;
    }
    CHECK(failures > 0);
}

TEST_CASE("who goes on in another way where a decision failed is refused, or changes the law",
          "[law]") {
    double other_draws = 0;
    std::size_t refused = 0;
    for (std::size_t rows = 0; rows < 6; ++rows) {
        try { // the draft is kept, but not its stop rule
            const double a = deviation_after_failure(rows, again::without_draft, by_site);
            CHECK(a < 1e-12);
        } catch (const error& problem) {
            CHECK_THAT(std::string(problem.what()),
                       Catch::Contains("round: stop rule: expected no change"));
            ++refused;
        }
        const double b = deviation_after_failure(rows, again::same, by_order);
        other_draws = b > other_draws ? b : other_draws;
    }
    CAPTURE(refused, other_draws);
    CHECK(refused > 0);
    CHECK(other_draws > 0.01);
}

namespace {

/// A drafter that has no row behind some tokens: its failure depends on what was drawn.
struct picky_drafter {
    model_drafter<toy_model<draft_id>> inner;
    std::size_t fails_at;  ///< drafted tokens
    draft_id fails_behind; ///< the last of them; invalid: any
    std::size_t pushed = 0;
    draft_id last{};

    [[nodiscard]] std::size_t capacity() const { return inner.capacity(); }
    void sync(std::span<const draft_id> context, std::size_t unchanged) {
        pushed = 0;
        last = {};
        inner.sync(context, unchanged);
    }
    [[nodiscard]] law_version version() const { return inner.version(); }
    void push(draft_id id) {
        ++pushed;
        last = id;
        inner.push(id);
    }
    logits_row<draft_id> row() {
        if (pushed == fails_at && (!fails_behind.valid() || last == fails_behind))
            throw failed{};
        return inner.row();
    }
};

struct ended {
    double deviation;
    std::size_t drafts = 0, tokens = 0; ///< ended, and proposed, over all paths
};

/// The law of two tokens where a failing drafter's draft is ended, if it can be.
ended where_drafts_end(std::size_t fails_at, draft_id fails_behind, const toy_words& two,
                       const auto& bridge, const auto& rule, std::uint64_t seed) {
    row_tree p(toy_rows(row_kind::random, two.target_size(), seed)),
        q(toy_rows(row_kind::random, two.draft_size(), seed + 1));
    const auto make = [&](auto&, const auto& use) {
        auto target = model_of<target_id>(p);
        auto draft = model_of<draft_id>(q);
        picky_drafter drafter{model_drafter(draft), fails_at, fails_behind};
        use(target, drafter);
    };
    ended found{};
    const auto law = on_every_path([&](interval_coin& coin) {
        sequence tokens;
        fixed_length stop{2};
        with_session(made_world{p, make}, bridge, rule, {}, coin, [&](auto text) {
            tokens = text.play(2, [&](std::size_t) {
                auto& decoder = text.decoder;
                (void)decoder.prepare(text.target);
                try {
                    decoder.draft(text.drafter, stop, text.coin, 3);
                } catch (const failed&) {
                    REQUIRE(decoder.end_draft(no_draft::drafter_failed));
                    ++found.drafts;
                }
                const auto rows = decoder.score(text.target);
                found.tokens += decoder.rows_needed() - 1;
                decoder.commit(decoder.verify(rows, text.coin).tokens.size());
            });
        });
        return tokens;
    });
    found.deviation = total_variation(law, target_alone(p, 2));
    return found;
}

} // namespace

TEST_CASE("a draft that ends where its drafter fails leaves the target's law", "[law]") {
    const toy_words& two = permuted_words();
    for (std::uint64_t seed = 1; seed < 4; seed += 2)
        for (const std::size_t fails_at : {0U, 1U})
            for (std::int32_t behind = -1; behind < 2; ++behind) {
                if (fails_at == 0 && behind >= 0)
                    continue;
                CAPTURE(seed, fails_at, behind);
                const draft_id last = behind < 0 ? draft_id{} : draft_id{behind};
                const auto check = [&](const auto& bridge, const auto& rule) {
                    const ended found = where_drafts_end(fails_at, last, two, bridge, rule, seed);
                    CHECK(found.deviation < 1e-12);
                    CHECK(found.drafts > 0);
                    CHECK((found.tokens > 0) == (fails_at > 0));
                };
                check(two.tli(), by_rejection);
                check(two.tli(), by_block);
                check(two.union_of(), by_rejection);
                check(two.slem(), by_match);
            }
}
