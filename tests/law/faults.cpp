// SPDX-License-Identifier: MIT
// A drafter that fails while a decision asks it: the round is drafted again. The law is the
// target's where all is as it was, and not where a decision that needs no row was kept and one
// that does is made in another way.
#include <specdec/decode/session.hpp>

#include <catch2/catch.hpp>

#include <specdec/testing/interval_coin.hpp>
#include <specdec/verify/token_rejection.hpp>

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
    [[nodiscard]] law_mark mark() const { return inner.mark(); }
    void push(draft_id id) { inner.push(id); }
    logits_row<draft_id> row() {
        if (rows_left-- == 0)
            throw failed{};
        return inner.row();
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

enum class again : std::uint8_t { same, without_draft };

/// The law of two tokens with slrs, whose drafter fails once, behind so many rows.
template <class WrapCoin>
double deviation_after_failure(std::size_t rows, again how, WrapCoin wrap) {
    const toy_words two({"a", "b", "ab", "ba"}, {"b", "a"});
    row_tree p(toy_rows(row_kind::random, 4, 1)), q(toy_rows(row_kind::random, 2, 2));
    const auto make = [&](auto&, const auto& use) {
        auto target = model_of<target_id>(p);
        auto draft = model_of<draft_id>(q);
        failing_drafter drafter{model_drafter(draft), rows};
        use(target, drafter);
    };
    const auto law = on_every_path([&](interval_coin& coin) {
        auto&& drawn = wrap(coin);
        sequence tokens;
        fixed_length stop{2};
        with_session(made_world{p, make}, two.slrs(0), token_rejection{.thinning = {1, 1}}, {},
                     drawn, [&](auto text) {
                         tokens = text.play(2, [&](std::size_t) {
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
    return total_variation(law, target_alone(p, 2));
}

const auto by_site = [](interval_coin& coin) -> interval_coin& { return coin; };
const auto by_order = [](interval_coin& coin) { return fresh_coin{coin}; };

} // namespace

TEST_CASE("a drafter that failed once and is asked the same again leaves the target's law",
          "[law]") {
    for (std::size_t rows = 0; rows < 6; ++rows)
        CHECK(deviation_after_failure(rows, again::same, by_site) < 1e-12);
}

TEST_CASE("who goes on in another way where a decision failed changes the law", "[law]") {
    double other_draft = 0, other_draws = 0;
    for (std::size_t rows = 0; rows < 6; ++rows) {
        const double a = deviation_after_failure(rows, again::without_draft, by_site);
        const double b = deviation_after_failure(rows, again::same, by_order);
        other_draft = a > other_draft ? a : other_draft;
        other_draws = b > other_draws ? b : other_draws;
    }
    CAPTURE(other_draft, other_draws);
    CHECK(other_draft > 0.01);
    CHECK(other_draws > 0.01);
}
