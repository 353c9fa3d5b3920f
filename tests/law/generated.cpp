// SPDX-License-Identifier: MIT
// Generated sessions: several exits, trimmed and routed heads, and plain rows; the bridges that
// ask a drafter once and again, every rule, coupled match too; vocabularies, rows, thresholds,
// lists, groups and rounds are generated. The law, enumerated, is the target's; what does not hold
// is shrunk.
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <span>
#include <vector>

#include <specdec/core/model/one_sequence.hpp>
#include <specdec/head/exits/confidence_exit.hpp>
#include <specdec/head/exits/early_exit_model.hpp>
#include <specdec/head/exits/sampled_token_exit.hpp>
#include <specdec/head/headed_model.hpp>
#include <specdec/head/routed_head.hpp>
#include <specdec/head/trimmed_head.hpp>

#include "generated.hpp"
#include "support/toy_exits.hpp"
#include "support/toy_head.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace generated_tests {

enum class drafts_by : std::uint8_t { rows, row_exits, token_exits, trimmed, routed };
enum class route : std::uint8_t { tli, slem, slrs, merge };
enum class rule : std::uint8_t { token, block, exact, coupled };

constexpr const char* drafter_names[] = {"rows", "exits by row", "exits by token", "trimmed head",
                                         "routed head"};
constexpr const char* route_names[] = {"tli", "slem", "slrs", "merge"};
constexpr const char* rule_names[] = {"token", "block", "exact", "coupled"};

struct generated_case {
    vocabulary_pair words{};
    weighted_rows p{};
    std::vector<weighted_rows> q{}; ///< of the exits
    drafts_by drafter = drafts_by::rows;
    route how = route::tli;
    rule decides = rule::token;
    std::vector<double> tau{};         ///< of the exits
    std::size_t listed = 1;            ///< bits: the draft tokens that a trimmed head keeps
    std::vector<std::size_t> groups{}; ///< of draft tokens: 0, 1, or 2 for none
    std::size_t active = 1;            ///< groups that are chosen
    std::vector<step> steps{};
};

std::ostream& operator<<(std::ostream& out, const generated_case& x) {
    out << x.words << "\n  p = " << x.p;
    for (const weighted_rows& q : x.q)
        out << "; q = " << q;
    out << "\n  " << drafter_names[static_cast<std::size_t>(x.drafter)] << ", "
        << route_names[static_cast<std::size_t>(x.how)] << ", "
        << rule_names[static_cast<std::size_t>(x.decides)];
    if (x.tau.size() > 0)
        out << ", thresholds";
    for (const double tau : x.tau)
        out << " " << tau;
    if (x.drafter == drafts_by::trimmed)
        out << ", bits of the list " << x.listed;
    if (x.drafter == drafts_by::routed) {
        out << ", " << x.active << " of groups";
        for (const std::size_t g : x.groups)
            out << " " << g;
    }
    return out << "\n  " << x.steps;
}

rc::Gen<generated_case> cases_of(drafts_by drafter, const std::vector<rule>& rules) {
    return rc::gen::exec([=] {
        const bool exits = drafter == drafts_by::row_exits || drafter == drafts_by::token_exits;
        generated_case x{.words = *vocabularies(), .p = *laws_of(4), .drafter = drafter};
        const std::size_t n = exits ? *any_in(1, 3) : 1;
        for (std::size_t e = 0; e < n; ++e) {
            x.q.push_back(*laws_of(4));
            if (exits) // the last one says something
                x.tau.push_back(e + 1 == n ? *any_of(std::vector{0.0, 0.4, 0.6, 0.9, 1.0})
                                           : *any_of(std::vector{0.0, 0.4, 0.6, 0.9, 1.0,
                                                                 exit_thresholds::never}));
        }
        x.how = *any_of(std::vector{route::tli, route::slem, route::slrs, route::merge});
        x.decides = *any_of(rules);
        x.listed = *any_in(1, 7);
        for (std::size_t d = 0; d < x.words.draft.size(); ++d)
            x.groups.push_back(d < 2 ? d : *any_in(0, 2)); // no group is empty
        x.active = *any_in(1, 2);
        x.steps = *rounds();
        return x;
    });
}

/// use(coin, drafter) of the drafter of a case on one path.
void with_drafter(const generated_case& x, std::size_t vocabulary, interval_coin& coin,
                  const auto& use) {
    const auto rows_of_exit = [&](std::size_t e) {
        return row_tree(rows_behind(x.q[e], vocabulary));
    };
    const auto with_exits = [&](auto choice) {
        std::vector<row_tree> rows;
        for (std::size_t e = 0; e < x.q.size(); ++e)
            rows.push_back(rows_of_exit(e));
        toy_exits model(vocabulary, x.q.size(),
                        [&](std::size_t e, const sequence& prefix) { return rows[e](prefix); });
        early_exit_model sorted(model, choice);
        one_sequence<draft_id, decltype(sorted)> draft(sorted, 0);
        model_drafter drafter(draft);
        use(drafter);
    };
    const auto with_head = [&](const auto& make_head) {
        row_tree rows = rows_of_exit(0);
        toy_hidden_model<draft_id> model(vocabulary, vocabulary, [&](const sequence& prefix) {
            std::vector<float> state = rows(prefix);
            for (float& f : state) // a head's products are finite
                f = f < -80 ? -80.0F : f;
            return state;
        });
        toy_head<draft_id> head = toy_head<draft_id>::unit(vocabulary);
        auto part = make_head(head);
        headed_model draft(model, part);
        model_drafter drafter(draft);
        use(drafter);
    };
    toy_router router{2, vocabulary};
    switch (x.drafter) {
    case drafts_by::rows: {
        row_tree rows = rows_of_exit(0);
        auto draft = model_of<draft_id>(rows);
        model_drafter drafter(draft);
        return use(drafter);
    }
    case drafts_by::row_exits:
        return with_exits(confidence_exit(exit_thresholds(x.tau)));
    case drafts_by::token_exits:
        return with_exits(
            sampled_token_exit<interval_coin>(exit_thresholds(x.tau), {}, std::span(&coin, 1)));
    case drafts_by::trimmed:
        return with_head([&](toy_head<draft_id>& head) {
            std::vector<draft_id> ids;
            for (std::size_t d = 0; d < vocabulary; ++d)
                if ((x.listed >> (d % 3) & 1) != 0)
                    ids.push_back(id_at<draft_id>(d));
            if (ids.empty())
                ids.push_back(draft_id{0});
            return trimmed_head(head, token_list<draft_id>(ids, vocabulary), head_rows::gathered);
        });
    case drafts_by::routed:
        return with_head([&](toy_head<draft_id>& head) {
            std::vector<std::uint32_t> groups(vocabulary, token_groups<draft_id>::none);
            for (std::size_t d = 0; d < vocabulary; ++d)
                if (d < x.groups.size() && x.groups[d] < 2)
                    groups[d] = static_cast<std::uint32_t>(x.groups[d]);
            return routed_head(head, router, token_groups<draft_id>(groups, 2), x.active,
                               head_rows::gathered);
        });
    }
}

/// use(maker of bridges).
void with_route(const generated_case& x, const toy_words& two, const auto& use) {
    switch (x.how) {
    case route::tli:
        return use(two.tli());
    case route::slem:
        return use(two.slem());
    case route::slrs:
        return use(two.slrs(0));
    case route::merge: {
        const auto ngrams = ngrams_of(two);
        return ngrams.empty() ? use(two.tli()) : use(two.merge(0, ngrams));
    }
    }
}

void with_rule(const generated_case& x, const toy_words& two, const auto& use) {
    switch (x.decides) {
    case rule::token:
        return use(by_rejection);
    case rule::block:
        return use(by_block);
    case rule::exact:
        return use(by_match);
    case rule::coupled:
        return use(by_coupling(two.keys));
    }
}

void require_law(const generated_case& x, generated_ledger& ledger) {
    const toy_words two(x.words.target, x.words.draft);
    const scenario s{"generated", x.steps, 2};
    row_tree p(rows_behind(x.p, two.target_size()));
    const auto make = [&](interval_coin& coin, const auto& use) {
        auto target = model_of<target_id>(p);
        with_drafter(x, two.draft_size(), coin, [&](auto& drafter) { use(target, drafter); });
    };
    ledger.require([&](std::uint64_t most) {
        played found;
        with_route(x, two, [&](const auto& with_bridge) {
            with_rule(x, two, [&](const auto& verifier) {
                found = play(made_world{p, make}, with_bridge, verifier, s, softmax_rows{}, most);
            });
        });
        return found;
    });
}

void check_drafter(drafts_by drafter, const std::vector<rule>& rules, int cases) {
    check_generated(drafter_names[static_cast<std::size_t>(drafter)], cases_of(drafter, rules),
                    require_law, cases);
}

const std::vector<rule> lossless{rule::token, rule::block, rule::exact};

TEST_CASE("generated exits: the law of the target", "[law]") {
    check_drafter(drafts_by::row_exits, lossless, 150);
    check_drafter(drafts_by::token_exits, lossless, 150);
}

TEST_CASE("generated heads, trimmed and routed: the law of the target", "[law]") {
    check_drafter(drafts_by::trimmed, lossless, 100);
    check_drafter(drafts_by::routed, lossless, 100);
}

TEST_CASE("generated sessions of coupled match: the law of the target", "[law]") {
    check_drafter(drafts_by::rows, {rule::coupled}, 150);
}

} // namespace generated_tests
