// SPDX-License-Identifier: MIT
#include <specdec/speculation/any/any_model.hpp>

#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "support/batch_of.hpp"
#include "support/toy_pair.hpp"
#include "support/toys/weighted_model.hpp"
#include <specdec/core/model/one_sequence.hpp>
#include <specdec/testing/contract/tree_contract.hpp>

using namespace specdec;
using namespace specdec::testing;

static_assert(BatchModelOf<any_batch_model<target_id>, target_id>);

TEST_CASE("any model: borrows by name, owns what it is given to keep") {
    const toy_pair words;
    text_model<target_id> one(words.target.table());
    any_batch_model<target_id> view(one), owner(text_model<target_id>(words.target.table()));
    const auto ids = words.encode("abc a");
    CHECK(view.sequences() == 1);
    CHECK(view.capacity() == one.capacity());
    CHECK(view.vocabulary_size() == 9);
    view.append(0, ids);
    owner.append(0, ids);
    CHECK(one.size() == ids.size());
    const std::vector more{ids.front()};
    const sequence_tokens<target_id> part{0, more};
    const float seen = view.score({&part, 1})[0].values[3];
    any_batch_model<target_id> moved = std::move(owner);
    CHECK(moved.score({&part, 1})[0].values[3] == seen);
    view.truncate(0, 1);
    CHECK(one.size() == 1);
    CHECK(moved.size(0) == ids.size() + 1);
}

TEST_CASE("any model: one that does not truncate is found out at once") {
    struct deaf : text_model<target_id> {
        using text_model<target_id>::text_model;
        void truncate(std::size_t) {}
    };
    const toy_pair words;
    any_batch_model<target_id> view(deaf(words.target.table()));
    view.append(0, words.encode("abc a"));
    const std::size_t n = view.size(0);
    CHECK_NOTHROW(view.truncate(0, n));
    CHECK_THROWS_WITH(view.truncate(0, 1),
                      Catch::Contains("truncate: expected at most 1 tokens to be left, found " +
                                      std::to_string(n)));
}

TEST_CASE("any model: it tells what its sequences hold, or nothing where it cannot know") {
    const toy_pair words;
    batch_of<target_id, text_model<target_id>> two(2, text_model<target_id>(words.target.table()));
    any_batch_model<target_id> view(two);
    static_assert(TellsHeldBatch<any_batch_model<target_id>, target_id>);
    const auto held = [&](std::size_t s) {
        return std::vector<target_id>(view.held(s).begin(), view.held(s).end());
    };
    const auto ids = words.encode("ab c a");
    view.append(1, ids);
    const sequence_tokens<target_id> part{0, std::span(ids).first(2)};
    (void)view.score({&part, 1});
    CHECK(held(1) == ids);
    CHECK(held(0) == std::vector(ids.begin(), ids.begin() + 2));
    view.truncate(1, 1);
    CHECK(held(1) == std::vector{ids[0]});
    two.append(1, ids);
    CHECK(held(1).empty()); // not through here
    CHECK(held(0).size() == 2);
    view.append(1, ids);
    view.truncate(1, 1 + ids.size());
    CHECK(held(1).empty());
    view.clear();
    CHECK(two.size(0) + two.size(1) == 0);
    view.append(1, ids);
    CHECK(held(1) == ids);
    any_batch_model<target_id> moved = std::move(view);
    CHECK(moved.held(1).size() == ids.size());

    // When they were fed is told, too, also through what stands in between.
    one_sequence<target_id, any_batch_model<target_id>> between(moved, 1);
    const context_look look = between.held().look();
    CHECK(look.tokens == ids.size());
    moved.append(1, ids);
    CHECK(between.held().unchanged_since(look) == ids.size());
    moved.truncate(1, 2);
    moved.append(1, ids);
    CHECK(between.held().unchanged_since(look) == 2);
    moved.lost();
    moved.truncate(1, 0);
    moved.append(1, ids);
    CHECK(between.held().unchanged_since(look) == 0);

    // A model of one sequence that tells is believed, whoever fed it.
    text_model<target_id> one(words.target.table());
    any_batch_model<target_id> telling(one);
    one.append(ids);
    CHECK(telling.held(0).size() == ids.size());
    CHECK(any_batch_model<target_id>(two).held(1).empty()); // who fed it is not known here
}

TEST_CASE("any model: a context of another key is dropped, one of the same key stays") {
    const toy_pair words;
    batch_of<target_id, text_model<target_id>> two(2, text_model<target_id>(words.target.table()));
    any_batch_model<target_id> view(two);
    const auto ids = words.encode("abc a");
    view.append(0, ids);
    view.append(1, ids);
    CHECK(view.key(0) == 0);
    view.set_key(0, 0);
    CHECK(view.size(0) == ids.size());
    view.set_key(0, 7);
    CHECK(view.size(0) == 0);
    CHECK(view.size(1) == ids.size());
    view.append(0, ids);
    view.set_key(0, 7);
    CHECK(view.size(0) == ids.size());
    CHECK(view.key(0) == 7);
    CHECK(view.key(1) == 0);
}

TEST_CASE("any model: one that learns from texts is told to forget, others do not hear of it") {
    struct learning : text_model<draft_id> {
        using text_model::text_model;
        void forget_learnt() { ++forgot; }
        int forgot = 0;
    };
    const toy_pair words;
    learning model(words.draft.table());
    any_batch_model<draft_id> view(model);
    CHECK(view.learns_from_texts());
    view.forget_learnt();
    CHECK(model.forgot == 1);
    text_model<draft_id> plain(words.draft.table());
    any_batch_model<draft_id> silent(plain);
    CHECK_FALSE(silent.learns_from_texts());
    silent.forget_learnt();
}

TEST_CASE("any model: one that scores trees does so through it, one that does not says so") {
    struct owned {
        any_batch_model<target_id> any;
    };
    struct wrapped : owned, one_sequence<target_id, any_batch_model<target_id>> {
        explicit wrapped(const weighted_rows& rows)
            : owned{weighted_model<target_id>(rows, 3)}, one_sequence(this->any, 0) {}
        wrapped(const wrapped&) = delete;
    };
    const weighted_rows rows{{{3, 1, 2}, {0, 5, 5}, {1, 1, 4}}};
    const contract_report report = check_tree_model<target_id>([&] { return wrapped(rows); });
    CHECK(report.text() == "");
    CHECK(report.unchecked.empty());
    wrapped model(rows);
    CHECK(scores_trees(model));
    const std::vector ids{target_id{2}, target_id{1}};
    const std::vector<std::size_t> fork{tree_root, tree_root}, second{1};
    model.append(ids);
    (void)model.score_tree(ids, fork);
    model.keep_path(second);
    CHECK(model.held().size() == 3);
    CHECK(model.held().back() == ids[1]);

    const toy_pair words;
    any_batch_model<target_id> plain(text_model<target_id>(words.target.table()));
    CHECK_FALSE(scores_trees(plain));
    const sequence_nodes<target_id> part{0, ids, fork};
    CHECK_THROWS_AS(plain.score_tree({&part, 1}), error);
    CHECK_THROWS_AS(plain.keep_path(0, second), error);
}
