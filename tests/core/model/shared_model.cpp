// SPDX-License-Identifier: MIT
#include <specdec/core/model/shared_model.hpp>

#include <vector>

#include <catch2/catch.hpp>

#include <specdec/core/model/context_tracker.hpp>
#include <specdec/core/model/one_sequence.hpp>
#include <specdec/testing/contract/tree_contract.hpp>

#include "support/batch_of.hpp"
#include "support/failing_model.hpp"
#include "support/ids.hpp"
#include "support/toy_model.hpp"
#include "support/toys/weighted_model.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace {

using model = failing_model<toy_model<target_id>, target_id>;
using shared = shared_model<target_id, model>;
static_assert(ModelOf<shared, target_id>);
static_assert(TellsHeld<shared, target_id>);
static_assert(!TellsHeld<model, target_id>);

model toy() {
    return model(toy_model<target_id>(
        3, [](const std::vector<target_id>& c) { return std::vector<float>(3, float(c.size())); }));
}
std::vector<target_id> held(const shared& m) {
    return {m.held().begin(), m.held().end()};
}

const std::vector a{target_id{0}, target_id{1}, target_id{2}};

} // namespace

TEST_CASE("a shared model is its model and knows what it holds") {
    model m = toy();
    m.append(a);
    shared s(m);
    CHECK(s.size() == 0); // what was there is gone
    s.append(a);
    const logits_rows<target_id> rows = s.score(std::span(a).first(2));
    CHECK(rows.size() == 2);
    CHECK(rows[1].values[0] == 5.0F);
    CHECK(held(s) == m.model().held());
    s.truncate(4);
    CHECK(held(s) == m.model().held());
    CHECK(s.size() == 4);
    CHECK(s.capacity() == m.capacity());
    CHECK(s.vocabulary_size() == 3);
}

TEST_CASE("a call that throws is not recorded") {
    model m = toy();
    shared s(m);
    s.append(a);
    m.fails_at = m.calls;
    CHECK_THROWS_AS(s.append(a), model_failure);
    m.fails_at = m.calls;
    CHECK_THROWS_AS(s.score(a), model_failure);
    m.fails_at = m.calls;
    CHECK_THROWS_AS(s.truncate(1), model_failure);
    CHECK(held(s) == m.model().held());
}

TEST_CASE("a record meets what another has left") {
    model m = toy();
    shared s(m);
    context_tracker<target_id> mirror;
    s.append(a);
    CHECK(mirror.meet(s) == 0);
    CHECK(mirror.size() == 3);
    CHECK(mirror.meet(s) == 3);
    s.truncate(1);
    s.append(std::vector{target_id{2}, target_id{2}}); // of the same size
    CHECK(mirror.meet(s) == 1);
    CHECK(mirror.size() == 3);
    const std::vector wanted{target_id{0}, target_id{2}, target_id{0}};
    CHECK(mirror.plan(wanted, 0).truncate_to == 2);
    m.truncate(0); // the engine dropped it
    CHECK(mirror.meet(s) == 0);
    CHECK(mirror.size() == 0);
    CHECK(s.held().empty());
}

TEST_CASE("of a model that tells nothing, the size is all that a record sees") {
    model m = toy();
    context_tracker<target_id> mirror;
    m.append(a);
    CHECK(mirror.meet(m) == 0);
    CHECK(m.size() == 0);
    m.append(a);
    mirror.fed(a);
    CHECK(mirror.meet(m) == 3);
    m.truncate(2);
    CHECK(mirror.meet(m) == 0);
    CHECK(m.size() == 0);
    CHECK(mirror.size() == 0);
}

TEST_CASE("of several sequences, each has users that take turns") {
    batch_of<target_id, model> m(2, toy());
    shared_model<target_id, decltype(m)> s(m);
    static_assert(ScoringBatchModelOf<decltype(s), target_id>);
    static_assert(!ModelOf<decltype(s), target_id>);
    s.append(1, a);
    const std::vector<sequence_tokens<target_id>> parts{{1, a}, {0, std::span(a).first(1)}};
    CHECK(s.score(parts).size() == 4);
    one_sequence<target_id, decltype(s)> last(s, 1);
    context_tracker<target_id> mirror;
    CHECK(mirror.meet(last) == 0);
    CHECK(mirror.size() == 6);
    last.truncate(1);
    CHECK(mirror.meet(last) == 1);
    CHECK(s.held(0).size() == 1);
}

TEST_CASE("a shared model of one that scores trees scores them, and knows what it kept") {
    using toy_type = weighted_model<target_id>;
    struct owned {
        toy_type inner;
    };
    struct sharing : owned, shared_model<target_id, toy_type> {
        explicit sharing(const weighted_rows& rows)
            : owned{toy_type(rows, 3)}, shared_model<target_id, toy_type>(this->inner) {}
        sharing(const sharing&) = delete;
    };
    static_assert(TreeModelOf<sharing, target_id>);
    static_assert(!TreeModelOf<shared, target_id>);
    const weighted_rows rows{{{3, 1, 2}, {0, 5, 5}, {1, 1, 4}}};
    const contract_report report = check_tree_model<target_id>([&] { return sharing(rows); });
    CHECK(report.text() == "");
    CHECK(report.unchecked.empty());

    sharing s(rows);
    s.append(a);
    const std::vector<std::size_t> parents{tree_root, 0, 0}, path{0, 2};
    (void)s.score_tree(a, parents);
    s.keep_path(path);
    CHECK(copy_of(s.held()) == std::vector{a[0], a[1], a[2], a[0], a[2]});
}
