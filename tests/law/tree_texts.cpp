// SPDX-License-Identifier: MIT
// Two texts whose drafts are trees have together the target's law where each finds in a model what
// it or the other has left: paths that were kept, at once or when the target is prepared for the
// text again, as speculation does it, with shapes that learn.
#include <specdec/speculation/running_sequence.hpp>

#include <cstddef>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/bridge/tree/tree_bridge.hpp>
#include <specdec/core/model/one_sequence.hpp>
#include <specdec/core/model/shared_model.hpp>
#include <specdec/speculation/any/any_model.hpp>
#include <specdec/speculation/tree/any_tree_source.hpp>

#include "support/batch_of.hpp"
#include "support/course/course_text.hpp"
#include "tree_law.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace tree_texts_tests {

constexpr std::size_t vocabulary = 2, length = 3;

using target_type = toy_tree_model<target_id>;
using any_type = any_batch_model<target_id>;

/// What a text has beside its session.
struct toys_of_a_text {
    toy_tree_model<draft_id> model;
    model_drafter<toy_tree_model<draft_id>> drafter{model};
    coin_of_text<interval_coin> coin;

    toys_of_a_text(row_tree& q, interval_coin& random, std::size_t number)
        : model(model_of<draft_id, toy_tree_model<draft_id>>(q)), coin{&random, number} {}
};

/// A session of trees that makes its rounds itself.
template <class Rule>
struct by_rounds : toys_of_a_text {
    specdec::session<identity_tree_bridge, Rule> session;
    fixed_tree shape = tree_of({2});

    by_rounds(row_tree& q, const Rule& rule, interval_coin& random, std::size_t number)
        : toys_of_a_text(q, random, number),
          session(identity_trees(vocabulary, {}), rule, {.capacity = 24}) {
        session.start(std::vector{target_id{0}});
    }
    template <class Target>
    void round(Target& target, std::size_t room) {
        const auto r = session.round(target, drafter, shape, coin, room);
        session.commit(r.tokens.size(), drafter);
    }
};

/// One whose steps are called apart, with a source and a shape that speculation makes.
template <class Rule>
struct by_steps : toys_of_a_text {
    any_tree_shape shape{{.nodes = 3, .costs = cost_table{}}, 1};
    any_tree_source<decltype(coin)> source{identity_trees(vocabulary, shape.settings()), drafter};
    specdec::session<decltype(source), Rule> session;

    by_steps(row_tree& q, const Rule& rule, interval_coin& random, std::size_t number)
        : toys_of_a_text(q, random, number), session(std::move(source), rule, {.capacity = 24}) {
        session.start(std::vector{target_id{0}});
    }
    template <class Target>
    void round(Target& target, std::size_t room) {
        (void)session.prepare(target);
        session.draft(drafter, shape, coin, {room, 24});
        const context_edit<target_id> edit = session.prepare(target);
        const auto rows = target.score_tree(edit.nodes, edit.parents);
        session.target_fed(edit);
        const round_result r = session.verify(rows, coin);
        shape.learn(r.kept.tree, r.kept.path, r.nodes);
        session.commit(r.tokens.size(), drafter);
    }
};

/// with_targets(p, use): use(one text's, the other's), anew for each path.
template <template <class> class Text, class Rule, class WithTargets>
void check_two(const Rule& rule, std::uint64_t seed, const WithTargets& with_targets) {
    row_tree p(toy_rows(row_kind::random, vocabulary, seed)),
        q(toy_rows(row_kind::random, vocabulary, seed + 1));
    const pair_law law = on_every_path([&](interval_coin& coin) {
        Text<Rule> one(q, rule, coin, 0), other(q, rule, coin, 1);
        const auto left = [](const auto& x) { return length + 1 - x.session.tokens().size(); };
        with_targets(p, [&](auto& target, auto& beside) {
            while (left(one) + left(other) > 0) {
                if (left(one) > 0)
                    one.round(target, left(one));
                if (left(other) > 0)
                    other.round(beside, left(other));
            }
        });
        return std::pair{values_of(one.session.tokens().subspan(1)),
                         values_of(other.session.tokens().subspan(1))};
    });
    CHECK(total_variation(law, both_alone(p, length)) < exact);
}

TEST_CASE("trees of texts that take turns with one model have together the target's law", "[law]") {
    const auto shared = [](row_tree& p, const auto& use) {
        auto toy = model_of<target_id, target_type>(p);
        shared_model<target_id, target_type> target(toy);
        use(target, target);
    };
    const auto any = [](row_tree& p, const auto& use) { // whose models tell nothing
        batch_of<target_id, target_type> toys(1, model_of<target_id, target_type>(p));
        any_type models(toys);
        one_sequence<target_id, any_type> target(models, 0);
        use(target, target);
    };
    check_two<by_rounds>(recursive, 20, shared);
    check_two<by_rounds>(tree_exact_match{}, 22, shared);
    check_two<by_rounds>(recursive, 24, any);
    check_two<by_rounds>(tree_exact_match{}, 26, any);
}

TEST_CASE("trees of texts of speculation, each with a sequence, have together the target's law",
          "[law]") {
    const auto any = [](row_tree& p, const auto& use) {
        batch_of<target_id, target_type> toys(2, model_of<target_id, target_type>(p));
        any_type models(toys);
        one_sequence<target_id, any_type> target(models, 0), beside(models, 1);
        use(target, beside);
    };
    check_two<by_steps>(recursive, 30, any);
    check_two<by_steps>(traversal, 32, any);
    check_two<by_steps>(tree_exact_match{}, 34, any);
}

} // namespace tree_texts_tests
