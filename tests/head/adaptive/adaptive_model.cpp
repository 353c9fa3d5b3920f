// SPDX-License-Identifier: MIT
#include <specdec/head/adaptive/adaptive_model.hpp>

#include <vector>

#include <catch2/catch.hpp>

#include <specdec/core/model/one_sequence.hpp>
#include <specdec/draft/model_drafter.hpp>
#include <specdec/head/headed_model.hpp>
#include <specdec/head/trimmed_head.hpp>

#include "support/batch_of.hpp"
#include "support/ids.hpp"
#include "support/toy_head.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace adaptive_tests {

constexpr std::size_t tokens = 8, width = 4;
using head_type = toy_head<draft_id>;

struct drafting {
    token_list<draft_id> list{ids_of({1, 2, 3}), tokens};
    head_type head = head_type::random(tokens, width, 1);
    toy_hidden_model<draft_id> model{tokens, width, toy_rows(row_kind::random, width, 5)};
    trimmed_head<draft_id, head_type> few{head, list, head_rows::copied};
    headed_model<toy_hidden_model<draft_id>, trimmed_head<draft_id, head_type>> draft{model, few};
    adaptive_token_list<draft_id> hot{list};
    adaptive_model<decltype(draft), decltype(few)> adaptive{draft, few, hot};
    model_drafter<decltype(adaptive)> drafter{adaptive};

    /// The tokens that the next row gives a logit.
    std::vector<int> kept() {
        std::vector<int> ids;
        const logits_row<draft_id> row = drafter.row();
        for (std::size_t v = 0; v < tokens; ++v)
            if (row.values[v] > -__builtin_inff())
                ids.push_back(static_cast<int>(v));
        return ids;
    }
};

static_assert(RoundAware<decltype(drafting::adaptive)>);
static_assert(RoundAware<decltype(drafting::drafter)>);
static_assert(ManyRowsDrafter<decltype(drafting::drafter)>);

TEST_CASE("the list follows the prompt and what was committed") {
    drafting d;
    const auto prompt = ids_of({1, 5, 1, 5, 1, 5, 1, 5, 1, 3}); // fed in two parts
    d.drafter.begin_draft_round(prompt.size());
    d.drafter.sync(prompt, 0);
    CHECK(d.kept() == std::vector{1, 3, 5}); // 2 was the rarest
    const auto longer = ids_of({1, 5, 1, 5, 1, 5, 1, 5, 1, 3, 6});
    d.drafter.begin_draft_round(longer.size());
    d.drafter.sync(longer, prompt.size());
    CHECK(d.kept().size() == 3);
    CHECK(d.hot.contains(draft_id{6}));
}

TEST_CASE("nothing changes inside a round, whatever contexts are asked for") {
    drafting d;
    const auto text = ids_of({1, 2, 3});
    d.drafter.begin_draft_round(text.size());
    d.drafter.sync(text, 0);
    const auto before = d.kept();
    d.drafter.push(draft_id{7});
    CHECK(d.kept() == before);
    const auto looked_at = ids_of({1, 2, 3, 7, 6, 5});
    d.drafter.sync(looked_at, 3);
    CHECK(d.kept() == before);
    d.drafter.begin_draft_round(text.size()); // the round again: nothing was committed
    d.drafter.sync(text, 3);
    CHECK(d.kept() == before);
}

TEST_CASE("a text goes through the hot set once, another text from its beginning") {
    drafting d;
    const auto text = ids_of({1, 3});
    for (int round = 0; round < 5; ++round) {
        d.drafter.begin_draft_round(text.size());
        d.drafter.sync(text, round == 0 ? 0 : text.size());
        CHECK(d.kept() == std::vector{1, 2, 3});
    }
    const auto other = ids_of({2, 2, 4});
    d.drafter.begin_draft_round(other.size());
    d.drafter.sync(other, 0);
    CHECK(d.kept() == std::vector{2, 3, 4}); // 1 and 3 occurred once, 1 before
}

TEST_CASE("what the target finds likely is there before it occurs, from the next round on") {
    drafting d;
    target_topk likely(2);
    adaptive_token_list<draft_id> hot(d.list, {}, {.likely = 0.4}); // one of three
    adaptive_model adaptive(d.draft, d.few, hot, &likely);
    model_drafter drafter(adaptive);
    const auto text = ids_of({1, 3});
    drafter.begin_draft_round(text.size());
    drafter.sync(text, 0);
    (void)drafter.row();
    std::vector<float> row(tokens);
    row[6] = 1;
    likely.add(0, 0, logits_row<target_id>{row});
    drafter.push(draft_id{1});
    (void)drafter.row();
    CHECK_FALSE(hot.contains(draft_id{6})); // a round is under way
    const auto longer = ids_of({1, 3, 1});
    drafter.begin_draft_round(longer.size());
    drafter.sync(longer, 2);
    CHECK(drafter.row().values[6] > -__builtin_inff());
    CHECK(hot.contains(draft_id{6}));
}

TEST_CASE("what a list has learnt is forgotten: places, weights, likely tokens, the text") {
    drafting d;
    target_topk likely(2);
    adaptive_model adaptive(d.draft, d.few, d.hot, &likely);
    static_assert(LearnsFromTexts<decltype(adaptive)>);
    model_drafter drafter(adaptive);
    // The list, and the tokens that the head's row has.
    const auto write = [&](const std::vector<draft_id>& text) {
        drafter.begin_draft_round(text.size());
        drafter.sync(text, 0);
        const logits_row<draft_id> row = drafter.row();
        std::vector<int> ids = values_of(d.hot.ids());
        for (std::size_t v = 0; v < tokens; ++v)
            if (row.values[v] > -__builtin_inff())
                ids.push_back(static_cast<int>(v));
        return ids;
    };
    const auto first = write(ids_of({5, 1, 6}));
    // The list's tokens wait for each other's places, too.
    for (const auto& text :
         {ids_of({7, 4, 0}), ids_of({3, 1, 2}), ids_of({2, 3, 1}), ids_of({5, 1, 6})}) {
        (void)write(text);
        std::vector<float> row(tokens);
        row[6] = 1;
        likely.add(0, 0, logits_row<target_id>{row});
        adaptive.forget_learnt();
        for (std::size_t k = 0; k < d.list.size(); ++k) {
            CHECK(d.hot.ids()[k] == d.list.ids()[k]);
            CHECK(d.few.ids()[k] == d.list.ids()[k]);
        }
        int taken = 0;
        likely.take([&](draft_id) { ++taken; });
        CHECK(taken == 0);
        CHECK(write(ids_of({5, 1, 6})) == first);
    }
}

TEST_CASE("a head and a hot set of other lists are refused") {
    drafting d;
    (void)d.hot.see(draft_id{7});
    CHECK_THROWS_WITH((adaptive_model<decltype(d.draft), decltype(d.few)>(d.draft, d.few, d.hot)),
                      Catch::Contains("same tokens"));
}

TEST_CASE("of several sequences, the list follows each of them once") {
    drafting d;
    batch_of<draft_id, decltype(d.draft)> rows(2, d.draft);
    adaptive_model adaptive(rows, d.few, d.hot);
    static_assert(BatchModelOf<decltype(adaptive), draft_id>);
    static_assert(!ModelOf<decltype(adaptive), draft_id>);
    one_sequence<draft_id, decltype(adaptive)> one(adaptive, 0), other(adaptive, 1);
    model_drafter drafter(one), beside(other);
    const auto text = ids_of({1, 1, 3}), second = ids_of({4});
    drafter.begin_draft_round(text.size());
    drafter.sync(text, 0);
    (void)drafter.row();
    const law_version before = drafter.version();
    beside.begin_draft_round(1);
    beside.sync(second, 0);
    CHECK(beside.row().values[4] > -__builtin_inff()); // in place of 2, the rarest
    CHECK(drafter.version() != before);
    const auto seen = d.hot.ids();
    const std::vector<draft_id> list(seen.begin(), seen.end());
    drafter.begin_draft_round(text.size()); // nothing was committed, nothing is new
    drafter.sync(text, text.size());
    (void)drafter.row();
    CHECK(std::vector<draft_id>(d.hot.ids().begin(), d.hot.ids().end()) == list);
}

} // namespace adaptive_tests
