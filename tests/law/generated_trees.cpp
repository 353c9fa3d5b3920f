// SPDX-License-Identifier: MIT
// Generated trees: any shape of a few nodes, every law of siblings, every rule, rounds that are
// kept, forgotten, used in part or given up; generated rows of one vocabulary or two. The law,
// enumerated, is the target's; what does not hold is shrunk.
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <vector>

#include <specdec/verify/tree/coupled_tree_match.hpp>

#include "generated.hpp"
#include "tree_law.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace generated_trees_tests {

enum class rule : std::uint8_t { recursive, traversal, exact, coupled };

/// Node i is a child of parents[i]: 0 for the root, k for node k - 1.
struct generated_round {
    std::vector<std::size_t> parents{0};
    use what = use::keep;
    std::size_t room = 8;
    bool by_last_round = false;
};

std::ostream& operator<<(std::ostream& out, const generated_round& r) {
    static constexpr const char* uses[] = {"keep", "commit", "part", "nothing", "abandon"};
    out << "tree";
    for (const std::size_t parent : r.parents)
        out << " " << parent;
    return out << " room " << r.room << (r.by_last_round ? " if something was kept" : "") << ", "
               << uses[static_cast<std::size_t>(r.what)];
}

struct generated_case {
    vocabulary_pair words{};
    bool one_vocabulary = true;
    weighted_rows p{}, q{};
    rule decides = rule::recursive;
    sibling_draw siblings = sibling_draw::independent;
    std::vector<generated_round> rounds{};
};

std::ostream& operator<<(std::ostream& out, const generated_case& x) {
    static constexpr const char* rules[] = {"recursive", "traversal", "exact", "coupled"};
    static constexpr const char* draws[] = {"independent", "without replacement", "likeliest"};
    if (x.one_vocabulary)
        out << "identity";
    else
        out << x.words;
    out << "\n  p = " << x.p << "; q = " << x.q << "\n  "
        << rules[static_cast<std::size_t>(x.decides)];
    for (std::size_t i = 0; i < 3; ++i)
        if (x.siblings == sibling_draws[i])
            out << ", siblings " << draws[i];
    for (const generated_round& r : x.rounds)
        out << "; " << r;
    return out;
}

generated_round any_round(std::size_t most_nodes) {
    generated_round r;
    for (std::size_t n = *any_in(1, most_nodes); r.parents.size() < n;)
        r.parents.push_back(*any_in(0, r.parents.size()));
    r.what = *any_of(std::vector{use::keep, use::commit, use::part, use::nothing, use::abandon});
    r.room = *any_of(std::vector<std::size_t>{8, 1, 2});
    r.by_last_round = *any_of(std::vector<bool>{false, true});
    return r;
}

rc::Gen<generated_case> cases_of(std::vector<rule> rules, bool one_vocabulary) {
    return rc::gen::exec([=] {
        generated_case x{.words = *vocabularies(1), .one_vocabulary = one_vocabulary};
        x.p = *laws_of(3);
        x.q = *laws_of(3);
        x.decides = *any_of(rules);
        x.siblings =
            *any_of(std::vector<sibling_draw>(std::begin(sibling_draws), std::end(sibling_draws)));
        x.rounds.push_back(any_round(4));
        for (std::size_t n = *any_in(0, 1); n > 0; --n)
            x.rounds.push_back(any_round(2));
        return x;
    });
}

void require_law(const generated_case& x, generated_ledger& ledger) {
    const toy_words two(x.words.target, x.words.draft);
    const std::size_t target_size = x.one_vocabulary ? 3 : two.target_size(),
                      draft_size = x.one_vocabulary ? 3 : two.draft_size();
    row_tree p(rows_behind(x.p, target_size)), q(rows_behind(x.q, draft_size));
    std::vector<tree_step<fixed_tree>> steps;
    for (const generated_round& r : x.rounds) {
        std::vector<std::size_t> parents;
        for (const std::size_t parent : r.parents)
            parents.push_back(parent == 0 ? tree_root : parent - 1);
        steps.push_back({fixed_tree::of_parents(parents), r.what, r.room, r.by_last_round});
    }
    const tree_case how{.siblings = x.siblings, .length = 2};
    ledger.require([&](std::uint64_t most) {
        played found;
        const auto play_with = [&](const auto& verifier, const auto& make_bridge) {
            tree_ledger paths{.most_paths = most};
            found.law = tree_law(verifier, steps, how, p, q, paths, make_bridge);
            found.paths = paths.paths;
        };
        const auto decide = [&](const auto& make_bridge) {
            switch (x.decides) {
            case rule::recursive:
                return play_with(recursive, make_bridge);
            case rule::traversal:
                return play_with(traversal, make_bridge);
            case rule::exact:
                return play_with(tree_exact_match{}, make_bridge);
            case rule::coupled:
                return play_with(coupled_tree_match(two.keys), make_bridge);
            }
        };
        if (x.one_vocabulary)
            decide([&](const tree_settings& s) { return identity_trees(3, s); });
        else
            decide(two.tli_trees());
        found.wanted = target_alone(p, how.length, how.target);
        return found;
    });
}

TEST_CASE("generated trees of one vocabulary: the law of the target", "[law]") {
    check_generated("trees, identity",
                    cases_of({rule::recursive, rule::traversal, rule::exact}, true), require_law,
                    150);
}

TEST_CASE("generated trees of two vocabularies: the law of the target", "[law]") {
    check_generated("trees, tli",
                    cases_of({rule::recursive, rule::traversal, rule::exact, rule::coupled}, false),
                    require_law, 150);
}

} // namespace generated_trees_tests
