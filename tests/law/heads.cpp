// SPDX-License-Identifier: MIT
// Drafters whose heads compute a part of the vocabulary: trimmed, following the text, routed; in
// rows over the vocabulary, and in lists of what was computed. The law of whole sessions,
// enumerated, is the target's.
#include <specdec/head/adaptive/adaptive_model.hpp>

#include <cstdio>
#include <vector>

#include <specdec/head/adaptive/topk_recorder.hpp>
#include <specdec/head/full_head.hpp>
#include <specdec/head/headed_model.hpp>
#include <specdec/head/listing_model.hpp>
#include <specdec/head/routed_head.hpp>
#include <specdec/head/trimmed_head.hpp>

#include "support/ids.hpp"
#include "support/toy_head.hpp"
#include "toy_bridges.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace heads_tests {

using head_type = toy_head<draft_id>;
using hidden_model = toy_hidden_model<draft_id>;

/// What becomes of a head's products: rows, whose law the session makes, or lists, which are laws.
struct in_rows {
    static constexpr bool laws = false;
    static auto of(hidden_model& model, auto& part, const sampling_parameters&) {
        return headed_model(model, part);
    }
};
struct in_lists {
    static constexpr bool laws = true;
    static auto of(hidden_model& model, auto& part, const sampling_parameters& sampling) {
        return listing_model(model, part, sampling);
    }
};

/// Makes models of parts of a head, and has what the target finds likely.
template <class Kind>
struct model_maker {
    hidden_model& model;
    const sampling_parameters& sampling;
    target_topk& likely;

    auto operator()(auto& part) const { return Kind::of(model, part, sampling); }
};

/// Sessions whose drafters are made anew for each path: with_drafter(head, with_model, use) calls
/// use(drafter), over with_model(part of the head).
template <class Kind, class WithDrafter, class Rule>
played play_head(const toy_words& two, const auto& with_bridge, const WithDrafter& with_drafter,
                 const Rule& rule, scenario s, std::uint64_t seed) {
    toy_rows_of rows(two, seed);
    const sampling_parameters sampling = s.draft;
    if (Kind::laws)
        s.draft = {};
    const auto make = [&](auto&, const auto& use) {
        auto toy = model_of<target_id>(rows.p);
        target_topk likely(2, 4);
        likely.translate(two.map, two.target_size());
        topk_recorder target(toy, likely);
        hidden_model model(two.draft_size(), two.draft_size(),
                           [&](const sequence& prefix) { return rows.q(prefix); });
        head_type head = head_type::unit(two.draft_size());
        const model_maker<Kind> with_model{model, sampling, likely};
        with_drafter(head, with_model, [&](auto& drafter) { use(target, drafter); });
    };
    return play(made_world{rows.p, make}, with_bridge, rule, s);
}

/// check(pair, bridge) of the sessions of one drafter.
template <class Kind, class WithDrafter>
auto checks_of(const char* name, const WithDrafter& with_drafter, law_ledger& ledger) {
    return [=, &ledger, seed = std::uint64_t{300}](const toy_words& two,
                                                   const auto& with_bridge) mutable {
        check_under_rules(ledger, name, short_scenarios(id_at<target_id>(two.target_size() - 1)),
                          [&](const auto& rule, const scenario& s) {
                              return play_head<Kind>(two, with_bridge, with_drafter, rule, s,
                                                     ++seed);
                          });
    };
}

template <class WithDrafter>
void check_head(const char* name, const WithDrafter& with_drafter, bool all_bridges = false) {
    law_ledger ledger;
    auto check = checks_of<in_rows>(name, with_drafter, ledger);
    const toy_words& two = permuted_words();
    check(two, two.identity());
    check(two, two.tli());
    if (all_bridges) {
        check(two, two.nested());
        check(two, two.slem());
        static const toy_words joined({"a", "b", "aa", "ab"}, {"b", "a", "ab", "aa"});
        check(joined, joined.slrs(0)); // asks for rows of drafts that were not drawn
    }
    std::printf("heads, %-22s worst total variation %.1e\n", name, ledger.worst);
}

/// The same in lists, through the bridges that take them.
template <class WithDrafter>
void check_lists(const char* name, const WithDrafter& with_drafter) {
    using target_words = toy_words::target_words;
    using draft_words = toy_words::draft_words;
    law_ledger ledger;
    auto check = checks_of<in_lists>(name, with_drafter, ledger);
    const toy_words& two = permuted_words();
    check(two, [&](std::size_t n, auto use) {
        use(make_identity_bridge<draft_list_store>(two.draft_size(), two.target_size(), 16, n, 4));
    });
    check(two, [&](std::size_t n, auto use) {
        use(tli_bridge<target_words, draft_words, draft_list_store>(tli_map(two.map), two.text(), n,
                                                                    4));
    });
    check(two, [&](std::size_t n, auto use) {
        use(union_bridge<target_words, draft_words, draft_list_store>(union_map(two.map),
                                                                      two.text(), n));
    });
    std::printf("lists, %-22s worst total variation %.1e\n", name, ledger.worst);
}

/// Sessions over a head that make_head makes of the whole one.
template <class MakeHead>
auto headed(const MakeHead& make_head) {
    return [=](head_type& head, const auto& with_model, auto use) {
        auto part = make_head(head);
        auto draft = with_model(part);
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
    return [=](head_type& head, const auto& with_model, auto use) {
        toy_router router{2, 4};
        const std::vector<std::uint32_t> groups =
            over_trimmed ? std::vector<std::uint32_t>{1, token_groups<draft_id>::none, 0, 1}
                         : std::vector<std::uint32_t>{1, 0, 0, 1};
        routed_head part(head, router, token_groups<draft_id>(groups, 2), active,
                         over_trimmed ? head_rows::copied : head_rows::gathered);
        auto draft = with_model(part);
        model_drafter drafter(draft);
        use(drafter);
    };
}

auto adaptive(head_rows from, bool to_likely = false) {
    return [=](head_type& head, const auto& with_model, auto use) {
        const token_list<draft_id> list(ids_of({1, 3}), 4);
        trimmed_head part(head, list, from);
        auto draft = with_model(part);
        adaptive_token_list<draft_id> hot(list, {}, {.half_life = 1, .likely = 0.5});
        adaptive_model following(draft, part, hot, to_likely ? &with_model.likely : nullptr);
        model_drafter drafter(following);
        use(drafter);
    };
}

TEST_CASE("trimmed heads: the law of the target", "[law]") {
    check_head("gathered", trimmed(head_rows::gathered));
    check_head("copied", trimmed(head_rows::copied));
}

TEST_CASE("heads whose list changes every round: the law of the target", "[law]") {
    for (const head_rows from : {head_rows::gathered, head_rows::copied})
        check_head("adaptive", adaptive(from), from == head_rows::gathered);
    check_head("adaptive, likely tokens, too", adaptive(head_rows::copied, true), true);
}

TEST_CASE("likely tokens behind drafts that were thrown away: the law of the target", "[law]") {
    const toy_words two({"a", "b", "aa", "ab"}, {"b", "a", "ab", "aa"});
    const scenario redone{"abandoned and redone",
                          {{.gamma = 2, .what = then::abandon}, {.gamma = 2}, {.gamma = 1}}};
    const auto check = [&](const char* bridge, const auto& with_bridge) {
        std::uint64_t seed = 500;
        law_ledger ledger;
        check_under_rules(ledger, bridge, {redone}, [&](const auto& rule, const scenario& s) {
            return play_head<in_rows>(two, with_bridge, adaptive(head_rows::copied, true), rule, s,
                                      ++seed);
        });
        std::printf("heads, abandoned, %-11s worst total variation %.1e\n", bridge, ledger.worst);
    };
    check("identity", two.identity());
    check("tli", two.tli());
}

TEST_CASE("routed heads, any number of groups: the law of the target", "[law]") {
    check_head("routed, 1 of 2", routed(1, false));
    check_head("routed, 2 of 2", routed(2, false));
    check_head("routed over trimmed", routed(1, true));
}

TEST_CASE("lists of what heads compute: the law of the target", "[law]") {
    check_lists("trimmed", trimmed(head_rows::gathered));
    check_lists("adaptive", adaptive(head_rows::copied));
    check_lists("adaptive, likely tokens, too", adaptive(head_rows::copied, true));
    check_lists("routed, 1 of 2", routed(1, false));
    check_lists("routed, 2 of 2", routed(2, false));
}

} // namespace heads_tests
