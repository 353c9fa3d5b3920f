// SPDX-License-Identifier: MIT
// Texts longer than the drafter's context: what is dropped, and when, must not depend on what was
// drafted or looked at. The law of whole sessions, enumerated.
#include <specdec/draft/windowed_drafter.hpp>

#include <cstdio>
#include <vector>

#include <catch2/catch.hpp>

#include "toy_bridges.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace {

using windows = windowed_drafter<model_drafter<toy_model<draft_id>>>;

/// Does not tell where rounds begin, and has no rows(): each context is asked for by itself.
struct untold {
    windows& inner;
    [[nodiscard]] std::size_t capacity() const { return inner.capacity(); }
    void sync(std::span<const draft_id> context, std::size_t same) { inner.sync(context, same); }
    logits_row<draft_id> row() { return inner.row(); }
    [[nodiscard]] law_mark mark() const { return inner.mark(); }
    void push(draft_id id) { inner.push(id); }
};

/// The law of the first tokens of sessions whose drafter has a context of three tokens. It is full
/// when the first round begins, so every draft drops something, long ones in their midst.
template <class AskedBy, class WithBridge, class Rule>
double deviation_of_windows(const WithBridge& with_bridge, const Rule& rule, const toy_words& two,
                            std::size_t gamma, std::uint64_t seed) {
    constexpr std::size_t length = 3;
    row_tree p(toy_rows(row_kind::random, two.target_size(), seed));
    row_tree q(toy_rows(row_kind::random, two.draft_size(), seed + 1));
    joint_law law;
    bool always = true; // something was dropped
    enumerate<interval_coin>([&](interval_coin& coin) {
        auto target = model_of<target_id>(p, two.target_size());
        const auto row_of = [&q](const std::vector<draft_id>& context) {
            sequence shown;
            for (const draft_id d : context)
                shown.push_back(d.value);
            return q(shown);
        };
        toy_model<draft_id> draft(two.draft_size(), row_of, 3, 3);
        model_drafter whole(draft);
        windows drafter(whole, {.keep = 1, .block = 1, .room = 1});
        AskedBy asked{drafter};
        with_bridge(gamma, [&](auto bridge) {
            session decoder(std::move(bridge), rule, session_settings{.capacity = 16});
            decoder.start(std::vector{target_id{0}}, std::vector{draft_id{0}, draft_id{1}});
            const sequence text = play(decoder, length, [&](std::size_t i) {
                const fixed_length stop{i == 0 ? gamma : 1};
                decoder.commit(decoder.round(target, asked, stop, coin, 8).tokens.size());
            });
            always = always && drafter.dropped() > 0;
            law[text] += coin.probability();
        });
    });
    CHECK(always);
    return total_variation(law, target_alone(p, length));
}

template <class WithBridge>
void check_windows(const char* name, const WithBridge& with_bridge) {
    constexpr token_rejection rule{.thinning = {1, 1}};
    const double told = deviation_of_windows<windows&>(with_bridge, rule, twofold_words(), 3, 1);
    const double not_told = deviation_of_windows<untold>(with_bridge, rule, twofold_words(), 3, 1);
    std::printf("windows, %-4s total variation %.1e, rounds not told %.1e\n", name, told, not_told);
    CHECK(told < 1e-12);
    CHECK(not_told < 1e-12);
}

} // namespace

TEST_CASE("texts longer than the drafter's context have the target's law", "[law]") {
    check_windows("tli", twofold_words().tli());
    check_windows("slrs", twofold_words().slrs(0));
}
