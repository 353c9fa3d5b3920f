// SPDX-License-Identifier: MIT
// Draft trees: every rule x law of siblings x shape, through the session, one round and several:
// the joint law is the target's.
#include <specdec/decode/tree/tree_session.hpp>

#include <cstdio>
#include <vector>

#include <catch2/catch.hpp>

#include "tree_law.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace trees_tests {

using step = tree_step<fixed_tree>;

fixed_tree of(std::vector<std::size_t> widths) {
    return fixed_tree::of_widths(widths);
}

template <class Check>
void for_rules(const Check& check) {
    check("recursive", recursive);
    check("traversal", traversal);
    check("exact", tree_exact_match{});
}

void report(const char* what, const tree_ledger& ledger) {
    std::printf("%-28s %4llu laws %9llu paths, worst total variation %.1e\n", what,
                static_cast<unsigned long long>(ledger.laws),
                static_cast<unsigned long long>(ledger.paths), ledger.worst);
}

TEST_CASE("trees of one round have the target's law", "[law]") {
    for_rules([](const char* name, const auto& rule) {
        tree_ledger ledger;
        for (const sibling_draw siblings : sibling_draws) {
            CAPTURE(name, static_cast<int>(siblings));
            for_rows(3, every_pair_of_kinds(), [&](row_tree& p, row_tree& q) {
                for (const auto& shape : {of({1, 1, 1}), of({2}), of({3})})
                    check_trees(rule, std::vector<step>{{shape}},
                                {.siblings = siblings, .length = shape.depth() + 1}, p, q, ledger);
            });
            for_rows(3, few_kinds(), [&](row_tree& p, row_tree& q) {
                check_trees(rule, std::vector<step>{{of({2, 2})}},
                            {.siblings = siblings, .length = 3}, p, q, ledger);
            });
            for_rows(2, few_kinds(), [&](row_tree& p, row_tree& q) {
                for (const auto& shape : {of({2, 2}), of({2, 1, 1}), of({1, 2, 2})})
                    check_trees(rule, std::vector<step>{{shape}},
                                {.vocabulary = 2, .siblings = siblings, .length = 4}, p, q, ledger);
            });
        }
        report(name, ledger);
    });
}

} // namespace trees_tests
