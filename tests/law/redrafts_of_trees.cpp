// SPDX-License-Identifier: MIT
// Trees that failed and go on (redrafts.hpp), also with a looked-up branch.

#include <specdec/decode/session.hpp>

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/bridge/tree/slem_tree_bridge.hpp>
#include <specdec/bridge/tree/tree_bridge.hpp>
#include <specdec/source/lookup_branch.hpp>

#include "redrafts.hpp"
#include "tree_law.hpp"

using namespace specdec;
using namespace specdec::testing;
using namespace specdec::testing::redrafts;

namespace redrafts_of_trees_tests {

using words_type = toy_words::target_words;

/// A session of trees as a text on a course.
template <class Session, class Target, class D>
class trees_on_course final : public course_text {
public:
    trees_on_course(Session text, Target& target, D& drafter, coin_of_text<interval_coin> coin,
                    fixed_tree shape)
        : text_(std::move(text)), target_(target), drafter_(drafter), coin_(coin),
          shape_(std::move(shape)), prompt_(text_.tokens().size()) {}

    void draft(const course_step& how) override {
        (void)text_.prepare(target_);
        const fixed_tree shape = how.drafted > 0 ? shape_ : no_tree();
        text_.draft(drafter_, shape, coin_, {8, 8});
    }
    void decide() override { tokens_ = text_.verify(text_.score(target_), coin_).tokens.size(); }
    void commit(std::size_t n) override { text_.commit(n < tokens_ ? n : tokens_, drafter_); }
    void abandon() override { text_.abandon(); }
    [[nodiscard]] std::span<const target_id> tokens() const override {
        return text_.tokens().subspan(prompt_);
    }

private:
    Session text_;
    Target& target_;
    D& drafter_;
    coin_of_text<interval_coin> coin_;
    fixed_tree shape_;
    std::size_t prompt_, tokens_ = 0;
};

/// A node with the second token has no children: whether a level is drafted, and can fail, depends
/// on what was drawn.
template <class MakeBridge, class Rule>
auto trees(const MakeBridge& make_bridge, const Rule& rule, const fixed_tree& shape,
           sibling_draw siblings, std::vector<target_id> prompt = {}) {
    return [=, &make_bridge](auto& world, std::size_t t) {
        session text(
            make_bridge(tree_settings{.max_nodes = 6, .max_depth = 4, .siblings = siblings}), rule,
            session_settings{.capacity = 24, .end_ids = {target_id{1}}},
            course_laws{&world.laws_left[t]});
        text.start(prompt.empty() ? world.prompt_of(t) : prompt);
        using world_type = std::remove_reference_t<decltype(world)>;
        world.texts.push_back(
            std::make_unique<trees_on_course<decltype(text), weighted_model<target_id>,
                                             typename world_type::drafter_type>>(
                std::move(text), world.targets[t], world.drafters[t], world.coin_of(t), shape));
    };
}

TEST_CASE("a tree that failed and goes on behind a change has the target's law", "[law]") {
    const toy_words &same = same_words(), &two = permuted_words();
    const auto identity = [](const tree_settings& settings) {
        return identity_tree_bridge(identity_map(3, 3), shared_context(3, 24), settings);
    };
    const auto slem = [&](const tree_settings& settings) {
        return slem_tree_bridge(two.target, two.draft, two.map, 16, settings);
    };
    const std::vector<course> courses = courses_that_fail(2, 1);
    for (const sibling_draw siblings : sibling_draws)
        for (const fixed_tree& shape : {tree_of({2}), tree_of({1, 1}), tree_of({2, 1})}) {
            CAPTURE(static_cast<int>(siblings), shape.size());
            check_sharing("identity, recursive", same, courses,
                          trees(identity, recursive, shape, siblings));
            check_sharing<changing_rows<path_model>>("identity, traversal, by paths", same, courses,
                                                     trees(identity, traversal, shape, siblings));
        }
    check_sharing("tli", two, courses,
                  trees(two.tli_trees(), traversal, tree_of({1, 2}), sibling_draw::independent));
    check_sharing("slem", two, courses,
                  trees(slem, recursive, tree_of({2, 1}), sibling_draw::independent));
    check_sharing("slem, exact", two, courses,
                  trees(slem, tree_exact_match{}, tree_of({2, 1}), sibling_draw::independent));
}

TEST_CASE("a tree with a looked-up branch that failed and goes on has the target's law", "[law]") {
    using lookup_type = suffix_lookup<byte_index&>;
    static const toy_words two({"a", "b"}, {"a", "b"});
    const auto check = [&](const char* name, const auto& rule, sibling_draw siblings) {
        check_lookups(
            name, two, courses_that_teach(1),
            [&](auto& world, std::size_t t, byte_index& index, acceptance_table& table) {
                const auto branches = [&](const tree_settings& settings) {
                    return lookup_branch<identity_tree_bridge, lookup_type, words_type,
                                         interval_number>(
                        identity_tree_bridge(identity_map(2, 2), shared_context(2, 24), settings),
                        lookup_with<lookup_type, words_type, lookup_length>{
                            {shared_suffixes(index), two.target, 2}, lookup_length(table, cheap)});
                };
                trees(branches, rule, tree_of({1, 1}), siblings,
                      encoded(two.target, prompt_text))(world, t);
            });
    };
    for (const sibling_draw siblings :
         {sibling_draw::independent, sibling_draw::without_replacement}) {
        check("branch, recursive", recursive, siblings);
        check("branch, traversal", traversal, siblings);
    }
}

} // namespace redrafts_of_trees_tests
