// SPDX-License-Identifier: MIT
// Vocabularies of many blocks, in which laws keep their sums, and of several chunks, in which loops
// go over them. The mass lies on few ids far apart, so that every path can be taken.
#include <specdec/sampling/residual.hpp>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/draft/lookup/prompt_lookup.hpp>
#include <specdec/sampling/law/sparse_law.hpp>
#include <specdec/source/lookup_branch.hpp>
#include <specdec/source/lookup_or_draft.hpp>

#include "toy_bridges.hpp"
#include "tree_law.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace wide_rows_tests {

constexpr std::size_t wide = 600;
constexpr int places[] = {7, 258, 270, 590}; // two of them in one block

/// Rows of four ids, which stand at these places of a wide row.
row_tree::maker spread(row_kind kind, std::uint64_t seed) {
    return [few = toy_rows(kind, 4, seed)](const sequence& prefix) {
        const std::vector<float> row = few(prefix);
        std::vector<float> all(wide, -__builtin_inff());
        for (std::size_t i = 0; i < 4; ++i)
            all[static_cast<std::size_t>(places[i])] = row[i];
        return all;
    };
}

/// check(p, q) of such rows.
template <class Check>
void for_wide_rows(const Check& check) {
    std::uint64_t seed = 40;
    for (const auto& [p_kind, q_kind] : few_kinds()) {
        row_tree p(spread(p_kind, ++seed)), q(spread(q_kind, ++seed));
        CAPTURE(static_cast<int>(p_kind), static_cast<int>(q_kind));
        check(p, q);
    }
}

/// Of the ids of a list without weight, too.
struct from_list {
    row_tree& q;
    std::vector<weighted_id<target_id>>& entries;
    sparse_law<target_id> operator()(const sequence& prefix) const {
        const auto row = target_law_at(q, prefix);
        entries.clear();
        for (std::size_t v = 0; v < wide; ++v)
            if (const double p = row.probability(id_at<target_id>(v)); p > 0 || v % 4 == 0)
                entries.push_back({id_at<target_id>(v), static_cast<float>(p)});
        return {entries, wide};
    }
};

TEST_CASE("wide rows: the rules have the target's law", "[law]") {
    for_wide_rows([](row_tree& p, row_tree& q) {
        const auto check = [&](const auto& rule) {
            for (const sampling_parameters& cut :
                 {sampling_parameters{}, sampling_parameters{.top_k = 2},
                  sampling_parameters{.top_p = 0.7F}, sampling_parameters{.min_p = 0.4F}})
                CHECK(total_variation(rule_law(rule, from_logits{q}, p, 2, cut),
                                      target_alone(p, 3, cut)) < exact);
            std::vector<weighted_id<target_id>> entries;
            CHECK(total_variation(rule_law(rule, from_list{q, entries}, p, 1), target_alone(p, 2)) <
                  exact);
        };
        check(token_rejection{.thinning = {0, 0}});
        check(token_rejection{.thinning = {1, 1}});
        check(block_verification{.thinning = {1, 1}});
        check(exact_match{});
    });
}

TEST_CASE("wide rows: trees have the target's law", "[law]") {
    tree_ledger ledger;
    for_wide_rows([&](row_tree& p, row_tree& q) {
        for (const sibling_draw siblings : sibling_draws) {
            const auto check = [&](const auto& rule) {
                check_trees(rule, std::vector<tree_step<fixed_tree>>{{tree_of({3})}},
                            {.siblings = siblings}, p, q, ledger);
            };
            CAPTURE(static_cast<int>(siblings));
            check(recursive);
            check(traversal);
        }
    });
}

/// `wide` words, in another order on each side.
const toy_words& wide_words() {
    static const toy_words two = [] {
        std::vector<std::string> all{"a", "b"};
        for (std::size_t i = 0; all.size() < wide; ++i)
            for (const char c : {'a', 'b'})
                all.push_back(all[i] + c);
        std::vector<std::string> other(all.rbegin(), all.rend());
        return toy_words(all, other);
    }();
    return two;
}

TEST_CASE("wide rows: trees with tli have the target's law", "[law]") {
    const toy_words& two = wide_words();
    tree_ledger ledger;
    for_wide_rows([&](row_tree& p, row_tree& same) {
        row_tree q([&](const sequence& prefix) { // the same words, by their draft ids
            const std::vector<float>& row = same(prefix);
            return std::vector<float>(row.rbegin(), row.rend());
        });
        for (const sibling_draw siblings : sibling_draws) {
            const auto law =
                tree_law(recursive, std::vector<tree_step<fixed_tree>>{{tree_of({3})}},
                         {.siblings = siblings, .length = 1}, p, q, ledger, two.tli_trees());
            CAPTURE(static_cast<int>(siblings));
            ledger.check(law, target_alone(p, 1));
        }
    });
}

/// Rows of four ids of 600, one of which is what a lookup finds.
row_tree::maker spread_over(row_kind kind, std::uint64_t seed, std::size_t found) {
    return [few = toy_rows(kind, 4, seed), found](const sequence& prefix) {
        const std::vector<float> row = few(prefix);
        std::vector<float> all(wide, -__builtin_inff());
        for (std::size_t i = 0; i < 4; ++i)
            all[i == 1 ? found : static_cast<std::size_t>(places[i])] = row[i];
        return all;
    };
}

/// The same `wide` words on both sides, and a prompt whose end was followed by a late one of them.
struct seen_words {
    toy_words two = [] {
        std::vector<std::string> all{"a", "b"};
        for (std::size_t i = 0; all.size() < wide; ++i)
            for (const char c : {'a', 'b'})
                all.push_back(all[i] + c);
        return toy_words(all, all);
    }();
    std::string seen = "babbabaabbbabaab"; // two words of eight letters
    std::vector<target_id> prompt = encoded(two.target, seen + seen);
    std::size_t found = encoded(two.target, seen)[0].index();
    cost_table cheap{{1, 1.01, 1.02, 1.03, 1.04}, 0.1, 0};
};
const seen_words& seen_of() {
    static const seen_words words;
    return words;
}

TEST_CASE("wide rows: what is looked up beside a drafter has the target's law", "[law]") {
    const seen_words& w = seen_of();
    REQUIRE(w.found > 270);
    REQUIRE(w.prompt.size() == 4);
    std::size_t looked_up = 0, accepted = 0;
    std::uint64_t seed = 80;
    for (const auto& [p_kind, q_kind] : few_kinds()) {
        row_tree p(spread_over(p_kind, ++seed, w.found)), q(spread_over(q_kind, ++seed, w.found));
        CAPTURE(static_cast<int>(p_kind), static_cast<int>(q_kind));
        const auto models = [&](auto&, const auto& use) {
            auto target = model_behind<target_id>(p, w.prompt.size());
            auto draft = model_behind<draft_id>(q, w.prompt.size());
            model_drafter drafter(draft);
            use(target, drafter);
        };
        scenario one{.name = "one round", .steps = {{.gamma = 1}}, .length = 2};
        one.start.prompt = w.prompt;
        one.start.prefix = {};
        const auto check = [&](const auto& with_bridge, const auto& rule) {
            const auto beside = [&](std::size_t n, const auto& use) {
                acceptance_table table;
                with_bridge(n, [&](auto bridge) {
                    using lookup_type =
                        lookup_with<prompt_lookup, toy_words::target_words, lookup_turns>;
                    use(lookup_or_draft<decltype(bridge), prompt_lookup, toy_words::target_words,
                                        interval_number>(
                        std::move(bridge),
                        lookup_type{{prompt_lookup(1024), w.two.target, 2},
                                    lookup_turns(table, w.cheap, w.cheap)},
                        2));
                });
            };
            const auto saw = [&](const statistics& c) {
                looked_up += c.looked_up;
                accepted += c.looked_up_accepted;
            };
            CAPTURE(rule.name);
            CHECK(play(made_world{p, models}, beside, rule, watched{one, saw}).deviation() < exact);
        };
        const lossless_rule unthinned{token_rejection{.thinning = {0, 0}}, "token rejection"};
        check(w.two.identity(), unthinned);
        check(w.two.nested(), unthinned); // its laws are made at once
        check(w.two.nested(), by_block);
    }
    CHECK(accepted > 0);
    CHECK(looked_up > accepted);
}

TEST_CASE("wide rows: trees with a looked-up branch have the target's law", "[law]") {
    const seen_words& w = seen_of();
    std::size_t looked_up = 0;
    std::uint64_t seed = 90;
    for (const auto& [p_kind, q_kind] : few_kinds()) {
        row_tree p(spread_over(p_kind, ++seed, w.found)), q(spread_over(q_kind, ++seed, w.found));
        CAPTURE(static_cast<int>(p_kind), static_cast<int>(q_kind));
        const auto check = [&](const auto& rule) {
            const joint_law law = on_every_path([&](interval_coin& coin) {
                auto target = model_behind<target_id, toy_tree_model<target_id>>(p, 4);
                auto model = model_behind<draft_id, toy_tree_model<draft_id>>(q, 4);
                model_drafter drafter(model);
                acceptance_table table;
                auto bridge = w.two.tli_trees()({.max_nodes = 4, .max_depth = 4});
                using lookup_type =
                    lookup_with<prompt_lookup, toy_words::target_words, lookup_length>;
                session text(
                    lookup_branch<decltype(bridge), prompt_lookup, toy_words::target_words,
                                  interval_number>(
                        std::move(bridge), lookup_type{{prompt_lookup(1024), w.two.target, 2},
                                                       lookup_length(table, w.cheap)}),
                    rule, session_settings{.capacity = 16});
                text.start(w.prompt);
                const sequence found =
                    run_trees(text, target, drafter, coin,
                              std::vector<tree_step<fixed_tree>>{{tree_of({1})}}, 1);
                looked_up += text.counts().looked_up;
                return found;
            });
            CHECK(total_variation(law, target_alone(p, 1)) < exact);
        };
        check(recursive);
        check(traversal);
    }
    CHECK(looked_up > 0);
}

} // namespace wide_rows_tests
