// SPDX-License-Identifier: MIT
#include <specdec/draft/block_model.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/core/error.hpp>
#include <specdec/core/model/one_sequence.hpp>
#include <specdec/core/model/row_batching_model.hpp>
#include <specdec/core/tree/tree_drafting.hpp>
#include <specdec/draft/model_drafter.hpp>
#include <specdec/testing/contract/engine_contract.hpp>
#include <specdec/testing/contract/tree_contract.hpp>

#include "support/ids.hpp"
#include "support/toy_block_model.hpp"
#include "support/toy_rows.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace block_model_tests {

using ids = std::vector<draft_id>;
using row = std::vector<float>;

constexpr std::size_t vocabulary = 4, untold = ~std::size_t{0};

row toy_row(const ids& context) {
    row numbers(vocabulary);
    for (std::size_t v = 0; v < vocabulary; ++v)
        numbers[v] = static_cast<float>(scramble(5, values_of(context), v) % 100'000);
    return numbers;
}
toy_block_model toy(std::size_t places, std::size_t capacity = 40) {
    return {vocabulary, toy_row, places, capacity};
}

/// The row after a context in a round that began with n tokens, from scratch.
row expected(ids context, std::size_t n, std::size_t places) {
    if (context.size() < n)
        return toy_row(context);
    const std::size_t place = (context.size() - n) % places;
    for (std::size_t i = 0; i < place; ++i)
        context[context.size() - 1 - i] = toy_block_model::mask();
    return toy_row(context);
}

template <class Row>
row numbers_of(const Row& given) {
    return row(given.values.begin(), given.values.end());
}

/// Of one sequence, behind a drafter.
struct drafting {
    toy_block_model engine;
    block_model<toy_block_model> model{engine};
    model_drafter<block_model<toy_block_model>> drafter{model};

    explicit drafting(std::size_t places) : engine(toy(places)) {}

    row after(const ids& context, std::size_t unchanged = 0) {
        drafter.sync(context, unchanged);
        return numbers_of(drafter.row());
    }
    row push(int token) {
        drafter.push(draft_id{token});
        return numbers_of(drafter.row());
    }
};
static_assert(RoundAware<decltype(drafting::drafter)>);
static_assert(TreeDrafter<decltype(drafting::drafter)>);
static_assert(ManyRowsDrafter<decltype(drafting::drafter)>);
static_assert(BlockModel<toy_block_model> && BlockModel<toy_block_models>);
static_assert(!ModelOf<toy_block_model, draft_id>); // which has no other rows
static_assert(!BlockModel<toy_model<draft_id>>);

TEST_CASE("a draft of a block's length takes one pass, a longer one another") {
    drafting x(3);
    const ids text = ids_of({0, 1, 2, 0, 1});
    x.drafter.begin_draft_round(5);
    CHECK(x.after(text) == expected(text, 5, 3));
    ids drafted = text;
    for (std::size_t i = 1; i < 8; ++i) {
        drafted.push_back(draft_id{static_cast<int>(i % 4)});
        CHECK(x.push(drafted.back().value) == expected(drafted, 5, 3));
        CHECK(x.engine.passes == 1 + i / 3);
    }
    CHECK(x.engine.fed == 5 + 6);

    ids committed = ids_of({0, 1, 2, 0, 1, 1, 3}); // one of the draft, and another
    x.drafter.begin_draft_round(7);
    CHECK(x.after(committed, 5) == expected(committed, 7, 3));
    CHECK(x.engine.passes == 4);
    CHECK(x.engine.fed == 5 + 6 + 1);
    CHECK(x.model.size() == 7);
}

TEST_CASE("rows of a round do not depend on what else is asked for in it") {
    drafting x(2);
    const ids text = ids_of({3, 1, 2});
    const std::vector<ids> drafts = {ids_of({0, 1, 2}), ids_of({0, 1}), ids_of({0}),
                                     ids_of({1, 1, 2}), ids_of({}),     ids_of({0, 1, 2, 3, 0}),
                                     ids_of({0, 2, 2}), ids_of({0, 1})};
    x.drafter.begin_draft_round(3);
    for (int twice = 0; twice < 2; ++twice)
        for (const ids& draft : drafts) {
            ids context = text;
            context.insert(context.end(), draft.begin(), draft.end());
            CHECK(x.after(context, 3) == expected(context, 3, 2));
        }
    ids context = text;
    context.insert(context.end(), drafts[5].begin(), drafts[5].end());
    x.drafter.sync(context, 3);
    const logits_rows<draft_id> rows = x.drafter.rows(5);
    for (std::size_t i = 0; i < 5; ++i)
        CHECK(
            numbers_of(rows[i]) ==
            expected({context.begin(), context.end() - 4 + static_cast<std::ptrdiff_t>(i)}, 3, 2));
}

TEST_CASE("other drafts of a block take no pass") {
    drafting x(3);
    const ids text = ids_of({3, 1, 2});
    x.drafter.begin_draft_round(3);
    CHECK(x.after(text) == expected(text, 3, 3));
    for (int a = 0; a < 4; ++a)
        for (int b = 0; b < 4; ++b) {
            const ids one = ids_of({3, 1, 2, a}), two = ids_of({3, 1, 2, a, b});
            CHECK(x.after(one, 3) == expected(one, 3, 3));
            CHECK(x.after(two, 3) == expected(two, 3, 3));
        }
    CHECK(x.engine.passes == 1);
    CHECK(x.engine.fed == 3);
}

TEST_CASE("the mark is another one where a round begins elsewhere, and where the model changes") {
    struct changing : toy_block_model {
        law_version changes = 0;
        explicit changing(toy_block_model m) : toy_block_model(std::move(m)) {}
        [[nodiscard]] law_version version() const { return changes; }
    } engine(toy(3));
    block_model model(engine);
    const ids text = ids_of({3, 1, 2}), draft = ids_of({0});
    model.append(std::span(text).first(2));
    model.begin_draft_round(3);
    const law_version first = model.version();
    (void)model.score(std::span(text).last(1));
    (void)model.score(draft);
    CHECK(model.version() == first);
    model.begin_draft_round(3); // drafted again
    CHECK(model.version() == first);
    CHECK(engine.passes == 1);
    engine.changes = 7;
    CHECK(model.version() != first);
    (void)model.score(draft);
    CHECK(engine.passes == 2); // not the block that was made before
    model.begin_draft_round(5);
    model.begin_draft_round(3);
    CHECK(model.version() == first + 7 + 2);
}

TEST_CASE("what is left of a text is used, and what the engine has dropped is fed again") {
    toy_block_model engine = toy(2);
    block_model model(engine);
    const ids text = ids_of({0, 1, 2, 3, 0}), other = ids_of({0, 1, 2, 1, 1, 1});
    {
        model_drafter drafter(model);
        drafter.begin_draft_round(5);
        drafter.sync(text, 0);
        CHECK(numbers_of(drafter.row()) == expected(text, 5, 2));
        CHECK(engine.fed == 5);
    }
    CHECK(copy_of(model.held()) == text);
    model_drafter drafter(model, left_context::reused);
    drafter.begin_draft_round(6);
    drafter.sync(other, 0);
    CHECK(numbers_of(drafter.row()) == expected(other, 6, 2));
    CHECK(engine.fed == 5 + 3);
    engine.truncate(0);
    ids more = ids_of({0, 1, 2, 1, 1, 1, 3});
    drafter.begin_draft_round(7);
    drafter.sync(more, 6);
    CHECK(numbers_of(drafter.row()) == expected(more, 7, 2));
    CHECK(engine.fed == 8 + 7);
    CHECK(copy_of(engine.held()) == more);
}

TEST_CASE("forgotten tokens are forgotten by the engine, too: it may hold them otherwise then") {
    toy_block_model engine = toy(2);
    block_model model(engine);
    const ids text = ids_of({0, 1, 2});
    (void)model.score(text);
    model.truncate(0);
    CHECK(engine.size() == 0);
    (void)model.score(text);
    CHECK(engine.fed == 6);
}

TEST_CASE("a round of nothing measures: its blocks begin at the first row after a truncation") {
    toy_block_model engine = toy(3);
    block_model model(engine);
    model.begin_draft_round(0);
    const ids text = ids_of({0, 1, 2, 3});
    model.append(text);
    for (int i = 1; i <= 3; ++i) {
        for (const int token : {0, 1, 2, 3}) // as measure_costs scores
            (void)model.score(ids_of({token}));
        model.truncate(4);
        CHECK(engine.passes == static_cast<std::size_t>(2 * i));
    }
    const std::size_t before = engine.fed;
    model.append(ids_of({1, 2}));
    (void)model.score(ids_of({0}));
    CHECK(engine.fed == before + 3);
}

/// What a sequence should hold, beside it.
struct reference {
    ids held{}, nodes{};
    std::vector<std::size_t> parents{};
    std::size_t round = untold;

    [[nodiscard]] ids path_to(std::size_t node) const {
        ids path;
        for (; node != tree_root; node = parents[node])
            path.insert(path.begin(), nodes[node]);
        path.insert(path.begin(), held.begin(), held.end());
        return path;
    }
};

TEST_CASE("any course of calls: rows are those from scratch, and what throws changes nothing") {
    std::uint64_t state = 1;
    const auto below = [&](std::size_t n) {
        state = state * 6364136223846793005U + 1442695040888963407U;
        return static_cast<std::size_t>(state >> 33) % n;
    };
    const auto some = [&](std::size_t n) {
        ids all;
        for (std::size_t i = 0; i < n; ++i)
            all.emplace_back(static_cast<int>(below(vocabulary)));
        return all;
    };
    std::size_t thrown = 0, rows_seen = 0;
    for (const std::size_t places : {1U, 2U, 3U, 5U}) {
        toy_block_models engine(2, toy(places));
        block_model model(engine);
        std::vector<reference> texts(2);
        const auto same_state = [&] {
            for (std::size_t s = 0; s < 2; ++s) {
                REQUIRE(model.size(s) == texts[s].held.size());
                REQUIRE(copy_of(model.held(s)) == texts[s].held);
            }
        };
        for (int i = 0; i < 3000; ++i) {
            const std::size_t s = below(2);
            reference& t = texts[s];
            engine.fails_at = below(8) == 0 ? engine.passes + below(2) : untold;
            switch (below(8)) {
            case 0:
                if (t.held.size() < 20) {
                    const ids more = some(1 + below(4));
                    model.append(s, more);
                    t.held.insert(t.held.end(), more.begin(), more.end());
                    t.nodes.clear(), t.parents.clear();
                }
                break;
            case 1: {
                const std::size_t n =
                    t.held.size() - below(t.held.size() < 6 ? t.held.size() + 1 : 6);
                model.truncate(s, n);
                t.held.resize(n);
                t.nodes.clear(), t.parents.clear();
                break;
            }
            case 2:
                t.round = 1 + below(t.held.size() + 3);
                model.begin_draft_round(s, t.round);
                break;
            case 3: {
                std::vector<std::size_t> path;
                std::size_t at = tree_root;
                for (std::size_t node = 0; node < t.nodes.size(); ++node)
                    if (t.parents[node] == at && below(2) == 0)
                        path.push_back(at = node);
                if (t.held.size() + path.size() > 24)
                    break;
                t.held = t.path_to(at);
                model.keep_path(s, path);
                t.nodes.clear(), t.parents.clear();
                break;
            }
            case 4:
                engine.models[s].truncate(below(2) == 0 ? 0 : engine.models[s].size()); // drops
                break;
            default: { // one call for one sequence or both, of tokens or nodes
                const bool tree = below(2) == 0;
                std::vector<sequence_nodes<draft_id>> parts;
                std::vector<ids> fed(2);
                std::vector<std::vector<std::size_t>> parents(2);
                for (std::size_t q = 0; q < 2; ++q) {
                    if (q != s && below(2) == 0)
                        continue;
                    const reference& of = texts[q];
                    fed[q] = some(1 + below(5));
                    const bool nodes = tree && below(4) > 0;
                    if (of.held.size() + fed[q].size() > 24 || (nodes && of.nodes.size() > 8))
                        continue;
                    for (std::size_t k = 0; nodes && k < fed[q].size(); ++k) {
                        const std::size_t earlier = of.nodes.size() + k, up = below(earlier + 1);
                        parents[q].push_back(up == earlier ? tree_root : up);
                    }
                    parts.push_back({q, fed[q], parents[q]});
                }
                if (parts.empty())
                    break;
                std::vector<sequence_tokens<draft_id>> plain;
                for (const auto& part : parts)
                    plain.push_back({part.sequence, part.ids});
                logits_rows<draft_id> rows;
                try {
                    rows = tree ? model.score_tree(parts) : model.score(plain);
                } catch (const model_failure&) {
                    ++thrown;
                    break;
                }
                std::size_t n = 0;
                for (const auto& part : parts) {
                    reference& of = texts[part.sequence];
                    if (part.parents.empty())
                        of.nodes.clear(), of.parents.clear();
                    for (std::size_t k = 0; k < part.ids.size(); ++k, ++n) {
                        ids context;
                        if (part.parents.empty()) {
                            of.held.push_back(part.ids[k]);
                            context = of.held;
                        } else {
                            of.nodes.push_back(part.ids[k]);
                            of.parents.push_back(part.parents[k]);
                            context = of.path_to(of.nodes.size() - 1);
                        }
                        REQUIRE(numbers_of(rows[n]) == expected(context, of.round, places));
                        ++rows_seen;
                    }
                }
                REQUIRE(rows.size() == n);
            }
            }
            same_state();
        }
    }
    CHECK(thrown > 100);
    CHECK(rows_seen > 5000);
}

TEST_CASE("texts that draft together: a pass for the blocks of all, none for a row of them") {
    toy_block_models engine(3, toy(3));
    block_model model(engine);
    row_batching_model<draft_id, decltype(model)> rows(model);
    std::vector<ids> texts{ids_of({0, 1}), ids_of({2, 3, 1}), ids_of({1})};
    std::vector<std::size_t> rounds;
    for (std::size_t s = 0; s < 3; ++s) {
        rounds.push_back(texts[s].size());
        rows.begin_draft_round(s, rounds[s]);
        if (rounds[s] > 1)
            rows.append(s, std::span(texts[s]).first(rounds[s] - 1));
    }
    for (std::size_t step = 0; step < 7; ++step) {
        for (std::size_t s = 0; s < 3; ++s)
            (void)rows.request_row(s, std::span(texts[s]).last(1));
        rows.pass();
        for (std::size_t s = 0; s < 3; ++s) {
            const sequence_tokens<draft_id> part{s, std::span(texts[s]).last(1)};
            CHECK(numbers_of(rows.score(std::span(&part, 1))[0]) ==
                  expected(texts[s], rounds[s], 3));
        }
        for (std::size_t s = 0; s < 3; ++s)
            texts[s].emplace_back(static_cast<int>((s + step) % vocabulary));
        CHECK(engine.passes == 1 + step / 3);
    }
}

TEST_CASE("a tree within a block takes one pass, whatever its nodes") {
    drafting x(3);
    const ids text = ids_of({0, 1});
    x.drafter.begin_draft_round(2);
    CHECK(x.after(text) == expected(text, 2, 3));
    const ids level = ids_of({0, 1, 3}), below = ids_of({2, 2, 0, 1});
    const std::vector<std::size_t> roots(3, tree_root), parents{0, 1, 1, 2};
    const logits_rows<draft_id> one = x.drafter.grow(level, roots);
    for (std::size_t i = 0; i < 3; ++i) // the same for all
        CHECK(numbers_of(one[i]) == expected(ids_of({0, 1, 0}), 2, 3));
    const logits_rows<draft_id> two = x.drafter.grow(below, parents);
    for (std::size_t i = 0; i < 4; ++i)
        CHECK(numbers_of(two[i]) == expected(ids_of({0, 1, 0, 0}), 2, 3));
    CHECK(x.engine.passes == 1);
    x.drafter.keep(std::vector<std::size_t>{1, 4}, ids_of({1, 2}));
    CHECK(copy_of(x.model.held()) == ids_of({0, 1, 1, 2}));
    x.drafter.begin_draft_round(5);
    const ids committed = ids_of({0, 1, 1, 2, 3});
    CHECK(x.after(committed, 2) == expected(committed, 5, 3));
    CHECK(x.engine.fed == 5);
}

/// A block_model with its engine.
struct engine_of_one {
    toy_block_model engine;
};
struct owned : engine_of_one, block_model<toy_block_model> {
    explicit owned(std::size_t places) : engine_of_one{toy(places)}, block_model(engine) {}
    owned(const owned&) = delete;
};
struct engine_of_many {
    toy_block_models engine;
};
struct owned_batch : engine_of_many, block_model<toy_block_models> {
    explicit owned_batch(std::size_t places)
        : engine_of_many{{3, toy(places)}}, block_model(engine) {}
    owned_batch(const owned_batch&) = delete;
};

TEST_CASE("the contract of models is kept, of one sequence, of several, and of trees") {
    for (const std::size_t places : {1U, 3U}) {
        const contract_report one =
            check_model<draft_id>([=] { return owned(places); }, {.tolerance = 0});
        CHECK(one.text() == "");
        CHECK(one.ok());
        const contract_report many =
            check_batch_model<draft_id>([=] { return owned_batch(places); }, {.tolerance = 0});
        CHECK(many.text() == "");
        CHECK(many.ok());
        const contract_report trees =
            check_tree_model<draft_id>([=] { return owned(places); }, {.tolerance = 0});
        CHECK(trees.text() == "");
        CHECK(trees.ok());
    }
}

TEST_CASE("what does not fit is refused") {
    toy_block_model nothing = toy(0);
    CHECK_THROWS_WITH(block_model(nothing), Catch::Contains("block_size"));

    struct short_of_rows : toy_block_model {
        bool narrow = false;
        explicit short_of_rows(toy_block_model m) : toy_block_model(std::move(m)) {}
        [[nodiscard]] logits_rows<draft_id> score_block(std::span<const draft_id> tokens) {
            const logits_rows<draft_id> rows = toy_block_model::score_block(tokens);
            return narrow ? logits_rows<draft_id>(rows[0].values.data(), 2, 3, 3)
                          : rows.middle(0, 1);
        }
    } engine(toy(2));
    block_model model(engine);
    CHECK_THROWS_WITH(model.score(ids_of({1, 2})),
                      Catch::Contains("expected 2 rows of 4 logits, found 1 of 4"));
    CHECK(model.size() == 0);
    engine.narrow = true;
    CHECK_THROWS_WITH(model.score(ids_of({1, 2})), Catch::Contains("found 2 of 3"));
    CHECK_THROWS_WITH(model.append(ids_of({1, 4})), Catch::Contains("0 to 4 - 1, found 4"));
    CHECK_THROWS_WITH(model.append(ids(41, draft_id{0})),
                      Catch::Contains("expected at most 40 tokens, found 41"));
    CHECK(model.size() == 0);
    CHECK(engine.size() == 0);
}

} // namespace block_model_tests
