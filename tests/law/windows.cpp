// SPDX-License-Identifier: MIT
// Texts longer than the drafter's context: what is dropped, and when, must not depend on what was
// drafted or looked at. The law of whole sessions, enumerated.
#include <specdec/draft/windowed_drafter.hpp>

#include <cstdio>

#include <catch2/catch.hpp>

#include "toy_bridges.hpp"
#include "tree_law.hpp"

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
    [[nodiscard]] law_version version() const { return inner.version(); }
    void push(draft_id id) { inner.push(id); }
};

/// The law of the first tokens of sessions whose drafter has a context of three tokens. It is full
/// when the first round begins, so every draft drops something, long ones in their midst.
template <class AskedBy, class WithBridge, class Rule>
double deviation_of_windows(const WithBridge& with_bridge, const Rule& rule, const toy_words& two,
                            std::size_t gamma, std::uint64_t seed) {
    toy_rows_of rows(two, seed);
    bool always = true; // something was dropped
    const auto make = [&](auto&, const auto& use) {
        auto target = model_of<target_id>(rows.p);
        toy_model<draft_id> draft(
            two.draft_size(), [&](const auto& context) { return rows.q(std::span(context)); }, 3,
            3);
        model_drafter whole(draft);
        windows drafter(whole, {.keep = 1, .block = 1, .room = 1});
        AskedBy asked{drafter};
        use(target, asked);
        always = always && drafter.dropped() > 0;
    };
    const auto round = [&](auto& text, std::size_t i) {
        text.decoder.commit(text.round(fixed_length{i == 0 ? gamma : 1}).tokens.size());
    };
    const session_start full{.max_draft = gamma, .prefix = {draft_id{0}, draft_id{1}}};
    const double tv = play(made_world{rows.p, make}, with_bridge, rule,
                           rounds_by{scenario{.length = 3, .start = full}, round})
                          .deviation();
    CHECK(always);
    return tv;
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

TEST_CASE("trees that a window has no room to end have the target's law", "[law]") {
    std::size_t accepted = 0, whole = 0, cut = 0; // rounds whose tree has all levels, or fewer
    const auto check = [&](const char* name, const auto& rule, sibling_draw siblings) {
        double worst = 0;
        for (std::size_t context = 3; context <= 8; ++context) {
            row_tree p(toy_rows(row_kind::random, 3, 40 + context)),
                q(toy_rows(row_kind::random, 3, 50 + context));
            joint_law law;
            enumerate<interval_coin>([&](interval_coin& coin) {
                auto target = model_of<target_id, toy_tree_model<target_id>>(p);
                toy_tree_model<draft_id> draft(
                    3, [&](const auto& ids) { return q(std::span(ids)); }, context);
                model_drafter all(draft);
                windowed_drafter drafter(all, {.keep = 1, .block = 1, .room = 4});
                session text(
                    identity_trees(3, {.max_nodes = 8, .max_depth = 3, .siblings = siblings}), rule,
                    session_settings{.capacity = 24});
                text.start(std::vector{target_id{0}}, std::vector{draft_id{0}, draft_id{1}});
                sequence found;
                while (found.size() < 4) {
                    const bool drafts = found.empty();
                    const round_result r = text.round(
                        target, drafter, drafts ? tree_of({2, 1, 1}) : no_tree(), coin, 8);
                    if (drafts && r.tree != nullptr)
                        ++(r.tree->size() < 6 ? cut : whole);
                    for (const target_id t : r.tokens)
                        found.push_back(t.value);
                    text.commit(r.tokens.size(), drafter);
                }
                found.resize(4);
                law[found] += coin.probability();
                accepted += text.counts().accepted;
            });
            CAPTURE(name, context);
            const double tv = total_variation(law, target_alone(p, 4));
            worst = tv > worst ? tv : worst;
            REQUIRE(tv < exact);
        }
        std::printf("trees in windows, %-10s worst total variation %.1e\n", name, worst);
    };
    check("recursive", recursive, sibling_draw::without_replacement);
    check("traversal", traversal, sibling_draw::likeliest);
    CHECK(accepted > 100);
    CHECK(whole > 0);
    CHECK(cut > 0);
}
