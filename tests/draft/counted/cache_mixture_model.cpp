// SPDX-License-Identifier: MIT
#include <specdec/draft/counted/cache_mixture_model.hpp>

#include <cmath>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/core/error.hpp>
#include <specdec/core/model/one_sequence.hpp>
#include <specdec/draft/model_drafter.hpp>

#include "support/batch_of.hpp"
#include "support/ids.hpp"
#include "support/toy_tree_model.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace cache_mixture_model_tests {

constexpr std::size_t tokens = 12;

/// Even laws, whatever the context.
toy_tree_model<draft_id> even(std::size_t capacity = 64) {
    return {tokens, [](const std::vector<draft_id>&) { return std::vector<float>(tokens); },
            capacity};
}

struct drafting {
    toy_tree_model<draft_id> model = even();
    cache_mixture_model<toy_tree_model<draft_id>> counted;
    model_drafter<decltype(counted)> drafter{counted};

    explicit drafting(counted_sources sources = {}) : counted(model, sources) {}

    /// A round begins; its first row.
    std::vector<float> row(const std::vector<draft_id>& context) {
        text_ = context;
        drafter.begin_draft_round(text_.size());
        drafter.sync(text_, 0);
        return copy_of(drafter.row().values);
    }
    /// The chance of a token in that row.
    double chance(const std::vector<draft_id>& context, std::size_t id) {
        return chance_in(row(context), id);
    }
    static double chance_in(const std::vector<float>& row, std::size_t id) {
        double sum = 0;
        for (const float x : row)
            sum += std::exp(static_cast<double>(x));
        return std::exp(static_cast<double>(row[id])) / sum;
    }

private:
    std::vector<draft_id> text_;
};
using model_type = decltype(drafting::counted);
static_assert(RoundAware<model_type> && LearnsFromTexts<model_type>);
static_assert(ModelOf<model_type, draft_id> && BatchModelOf<model_type, draft_id>);
static_assert(TreeModelOf<model_type, draft_id>);
static_assert(ManyRowsDrafter<decltype(drafting::drafter)>);

constexpr double alone = 1.0 / tokens;
constexpr double believed = 0.2; // behind two tokens, before anything is learnt

TEST_CASE("what followed the text's end before is likelier, as the mixture says") {
    drafting d;
    CHECK(d.chance(ids_of({1, 2, 3, 4}), 3) == Approx(alone)); // nothing followed a 4
    CHECK(d.chance(ids_of({1, 2, 3, 4, 1, 2}), 3) == Approx((1 - believed) * alone + believed));
    CHECK(d.chance(ids_of({1, 2, 3, 4, 1, 2, 5}), 3) == Approx(alone));
}

TEST_CASE("nothing is counted inside a round, and a round that is drafted again counts nothing") {
    drafting d;
    const auto text = ids_of({1, 2, 3, 1});
    const auto first = d.row(text);
    const law_version mark = d.counted.version(0);
    for (const int drafted : {2, 7, 1}) {
        d.drafter.push(draft_id{drafted});
        (void)d.drafter.row();
    }
    const auto other = ids_of({1, 2, 3, 1, 9, 1});
    d.drafter.sync(other, 4);
    (void)d.drafter.row();
    CHECK(d.counted.version(0) == mark);
    CHECK(d.row(text) == first);
    CHECK(d.counted.version(0) != mark); // another round
    CHECK(d.chance(ids_of({1, 2, 3, 1, 7}), 9) == Approx(alone));
}

TEST_CASE("rows of several places, and of a tree, are those of each place alone") {
    drafting d;
    const auto text = ids_of({3, 1, 5, 4, 1, 6, 2, 3, 2, 4, 2});
    (void)d.row(text);
    std::vector<std::vector<float>> alone_rows;
    for (const auto& drafted : {ids_of({3}), ids_of({4}), ids_of({3, 1}), ids_of({4, 1})}) {
        std::vector<draft_id> context = text;
        context.insert(context.end(), drafted.begin(), drafted.end());
        d.drafter.sync(context, text.size());
        alone_rows.push_back(copy_of(d.drafter.row().values));
    }
    CHECK(alone_rows[2] != alone_rows[3]);
    std::vector<draft_id> chain = text;
    chain.insert(chain.end(), {draft_id{3}, draft_id{1}});
    d.drafter.sync(chain, text.size());
    const logits_rows<draft_id> two = d.drafter.rows(2);
    CHECK(copy_of(two[0].values) == alone_rows[0]);
    CHECK(copy_of(two[1].values) == alone_rows[2]);

    d.drafter.sync(text, text.size());
    (void)d.drafter.row();
    const std::vector<std::size_t> roots{tree_root, tree_root}, parents{0, 1};
    const auto level = ids_of({3, 4}), next = ids_of({1, 1});
    const logits_rows<draft_id> siblings = d.drafter.grow(level, roots);
    CHECK(copy_of(siblings[0].values) == alone_rows[0]);
    CHECK(copy_of(siblings[1].values) == alone_rows[1]);
    const logits_rows<draft_id> children = d.drafter.grow(next, parents);
    CHECK(copy_of(children[0].values) == alone_rows[2]);
    CHECK(copy_of(children[1].values) == alone_rows[3]);
    // The second path is kept, and counted with the next round.
    d.drafter.keep(std::vector<std::size_t>{1, 3}, ids_of({4, 1}));
    CHECK(d.counted.size() == text.size() + 2);
    std::vector<draft_id> longer = text;
    longer.insert(longer.end(), {draft_id{4}, draft_id{1}, draft_id{2}, draft_id{4}});
    CHECK(d.chance(longer, 1) == Approx((1 - believed) * alone + believed / 1.8)); // 2, then 1
}

TEST_CASE("another text's own counts begin anew, those of all texts stay") {
    for (const bool with_others : {false, true}) {
        successor_counts others;
        drafting d({.shared = with_others ? &others : nullptr});
        (void)d.row(ids_of({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}));
        const double known = d.chance(ids_of({0, 1, 2}), 3);
        CHECK(known == Approx(with_others ? (1 - believed) * alone + believed : alone));
    }
    drafting again; // a text that begins as the last one did
    (void)again.row(ids_of({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 4, 5}));
    CHECK(again.chance(ids_of({1, 2, 3, 4}), 5) == Approx(alone));
    drafting d; // a text of which little is another one is the same
    (void)d.row(ids_of({1, 2, 3, 4, 5, 6}));
    CHECK(d.chance(ids_of({0, 1, 2}), 3) > 2 * alone);
}

TEST_CASE("counts that were right are believed more, and those that were wrong less") {
    const auto behind = [](int came) {
        drafting d;
        (void)d.row(ids_of({1, 2, 3, 4, 1, 2})); // 3, say the counts
        return d.row(ids_of({1, 2, 3, 4, 1, 2, came, 5, 6, 7, 5, 6}))[7];
    };
    drafting untaught;
    const float usual = untaught.row(ids_of({1, 2, 3, 4, 1, 2, 3, 5, 6, 7, 5, 6}))[7];
    CHECK(behind(3) > usual);
    CHECK(behind(8) < usual);
    // What was not decided teaches nothing: another token was drafted, and the round drafted again.
    drafting d;
    (void)d.row(ids_of({1, 2, 3, 4, 1, 2}));
    d.drafter.push(draft_id{3});
    (void)d.drafter.row();
    (void)d.row(ids_of({1, 2, 3, 4, 1, 2}));
    CHECK(d.chance(ids_of({1, 2, 3, 4, 1, 2}), 3) == Approx((1 - believed) * alone + believed));
}

TEST_CASE("sequences have counts of their own, and share those of all texts") {
    successor_counts others;
    batch_of<draft_id, toy_tree_model<draft_id>> models(2, even());
    cache_mixture_model counted(models, {.shared = &others});
    static_assert(BatchTreeModelOf<decltype(counted), draft_id>);
    const auto text = ids_of({1, 2, 3}), end = ids_of({1, 2});
    counted.begin_draft_round(0, 3);
    const law_version before = counted.version(1);
    const sequence_tokens<draft_id> first{0, text};
    (void)counted.score({&first, 1});
    CHECK(counted.version(1) != before); // texts that teach are decided one behind the other
    const sequence_tokens<draft_id> both[] = {{1, end}, {0, end}};
    const logits_rows<draft_id> rows = counted.score(both);
    const auto chance = [](const logits_row<draft_id>& row) {
        return drafting::chance_in(copy_of(row.values), 3);
    };
    const double of_all = (1 - believed) * alone + believed;
    CHECK(chance(rows[1]) == Approx(of_all));
    CHECK(chance(rows[3]) == Approx((1 - believed) * of_all + believed));
    counted.use({.own = false, .shared = &others, .teaches = false});
    const law_version reads = counted.version(1);
    CHECK(reads != before);
    counted.begin_draft_round(0, 7);
    const auto more = ids_of({9, 9});
    const sequence_tokens<draft_id> later{0, more};
    CHECK(chance(counted.score({&later, 1})[1]) == Approx(alone));
    CHECK(counted.version(1) == reads);
    counted.use({});
    CHECK(counted.version(1) > reads); // though what it reads no longer counts
}

TEST_CASE("what was counted is forgotten: the text's, and what it taught") {
    successor_counts others;
    drafting d({.shared = &others});
    (void)d.row(ids_of({1, 2, 3}));
    const law_version mark = d.counted.version(0);
    d.counted.forget_learnt();
    CHECK(d.counted.version(0) != mark);
    CHECK(others.find(ids_of({1, 2})).order == 0);
    CHECK(d.chance(ids_of({5, 1, 2}), 3) == Approx(alone));
    d.counted.use({.shared = &others, .teaches = false});
    (void)d.row(ids_of({5, 1, 2, 4}));
    d.counted.forget_learnt();
    CHECK(others.find(ids_of({5, 1})).order == 2); // it was only read
}

} // namespace cache_mixture_model_tests
