// SPDX-License-Identifier: MIT
// Drafters whose heads compute a part of the vocabulary: trimmed, following the text, routed. The
// law of whole sessions, enumerated, is the target's.
#include <specdec/head/adaptive_model.hpp>

#include <cstdio>
#include <span>
#include <vector>

#include <specdec/head/full_head.hpp>
#include <specdec/head/headed_model.hpp>
#include <specdec/head/routed_head.hpp>
#include <specdec/head/trimmed_head.hpp>

#include "../support/ids.hpp"
#include "../support/toy_head.hpp"
#include "toy_bridges.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace heads_tests {

using head_type = toy_head<draft_id>;
using hidden_model = toy_hidden_model<draft_id>;

/// Whether the law of the scenario's sessions is the target's, drafters being made anew for each
/// path: with_drafter(model, head, use) calls use(drafter).
template <class WithBridge, class WithDrafter, class Rule>
double deviation(const toy_words& two, const WithBridge& with_bridge,
                 const WithDrafter& with_drafter, const Rule& rule, const scenario& s,
                 std::uint64_t seed) {
    row_tree p(toy_rows(row_kind::random, two.target_size(), seed));
    row_tree q(toy_rows(row_kind::random, two.draft_size(), seed + 1));
    joint_law law;
    enumerate<interval_coin>([&](interval_coin& coin) {
        auto target = model_of<target_id>(p, two.target_size());
        hidden_model model(two.draft_size(), two.draft_size(),
                           [&](const sequence& prefix) { return q(prefix); });
        head_type head = head_type::unit(two.draft_size());
        with_drafter(model, head, [&](auto& drafter) {
            with_bridge(std::size_t{2}, [&](auto bridge) {
                add_session(law, session(std::move(bridge), rule, settings_of(s)), s, target,
                            drafter, coin);
            });
        });
    });
    return total_variation(law, target_alone(p, s.length, s.target));
}

template <class WithDrafter>
void check_head(const char* name, const WithDrafter& with_drafter, bool all_bridges = false) {
    double worst = 0;
    std::uint64_t seed = 300;
    const auto check = [&](const toy_words& two, const auto& with_bridge) {
        const target_id end = id_at<target_id>(two.target_size() - 1);
        const double tv =
            worst_under_rules(name, short_scenarios(end), [&](const auto& rule, const scenario& s) {
                return deviation(two, with_bridge, with_drafter, rule, s, ++seed);
            });
        worst = tv > worst ? tv : worst;
    };
    const toy_words& two = permuted_words();
    check(two, two.identity());
    check(two, two.tli());
    if (all_bridges) {
        check(two, two.nested());
        check(two, two.slem());
        static const toy_words joined({"a", "b", "aa", "ab"}, {"b", "a", "ab", "aa"});
        check(joined, joined.slrs(0)); // asks for rows of drafts that were not drawn
    }
    std::printf("heads, %-22s worst total variation %.1e\n", name, worst);
}

/// Sessions over a head that make_head makes of the whole one.
template <class MakeHead>
auto headed(const MakeHead& make_head) {
    return [=](hidden_model& model, head_type& head, auto use) {
        auto part = make_head(head);
        headed_model draft(model, part);
        model_drafter drafter(draft);
        use(drafter);
    };
}

auto trimmed(head_rows from) {
    return headed([=](head_type& head) {
        return trimmed_head(head, token_list<draft_id>(ids_of({0, 2, 3}), 4), from);
    });
}

auto routed(std::size_t active, bool over_trimmed) {
    return [=](hidden_model& model, head_type& head, auto use) {
        toy_router router{2, 4};
        const std::vector<std::uint32_t> groups =
            over_trimmed ? std::vector<std::uint32_t>{1, token_groups<draft_id>::none, 0, 1}
                         : std::vector<std::uint32_t>{1, 0, 0, 1};
        routed_head part(head, router, token_groups<draft_id>(groups, 2), active,
                         over_trimmed ? head_rows::copied : head_rows::gathered);
        headed_model draft(model, part);
        model_drafter drafter(draft);
        use(drafter);
    };
}

TEST_CASE("trimmed heads: the law of the target", "[law]") {
    check_head("gathered", trimmed(head_rows::gathered));
    check_head("copied", trimmed(head_rows::copied));
}

TEST_CASE("heads whose list changes every round: the law of the target", "[law]") {
    for (const head_rows from : {head_rows::gathered, head_rows::copied})
        check_head(
            "adaptive",
            [=](hidden_model& model, head_type& head, auto use) {
                const token_list<draft_id> list(ids_of({1, 3}), 4);
                trimmed_head part(head, list, from);
                headed_model draft(model, part);
                hot_set<draft_id> hot(list, {}, {.half_life = 1});
                adaptive_model following(draft, part, hot);
                model_drafter drafter(following);
                use(drafter);
            },
            from == head_rows::gathered);
}

TEST_CASE("routed heads, any number of groups: the law of the target", "[law]") {
    check_head("routed, 1 of 2", routed(1, false));
    check_head("routed, 2 of 2", routed(2, false));
    check_head("routed over trimmed", routed(1, true));
}

} // namespace heads_tests
