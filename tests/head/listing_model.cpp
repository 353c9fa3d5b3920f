// SPDX-License-Identifier: MIT
#include <specdec/head/listing_model.hpp>

#include <algorithm>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/core/model/one_sequence.hpp>
#include <specdec/draft/model_drafter.hpp>
#include <specdec/draft/windowed_drafter.hpp>
#include <specdec/head/adaptive/adaptive_model.hpp>
#include <specdec/head/full_head.hpp>
#include <specdec/head/headed_model.hpp>
#include <specdec/head/reduced_vocabulary_head.hpp>
#include <specdec/head/trimmed_head.hpp>
#include <specdec/sampling/law/softmax_law.hpp>

#include "support/ids.hpp"
#include "support/toy_head.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace listing_model_tests {

using head_type = toy_head<draft_id>;
using model_type = toy_hidden_model<draft_id>;
using trimmed = trimmed_head<draft_id, head_type>;
constexpr std::size_t tokens = 9, width = 4;

static_assert(ListingModelOf<listing_model<model_type, trimmed>, draft_id>);
static_assert(!ModelOf<listing_model<model_type, trimmed>, draft_id>);
static_assert(ListingDrafter<model_drafter<listing_model<model_type, trimmed>>>);
static_assert(!Drafter<model_drafter<listing_model<model_type, trimmed>>>);
static_assert(!ListingDrafter<model_drafter<headed_model<model_type, trimmed>>>);
static_assert(ListingHeadOf<reduced_vocabulary_head<draft_id, head_type>, draft_id>);
static_assert(!ListingHeadOf<full_head<draft_id, head_type>, draft_id>);

model_type make_model() {
    return {tokens, width, toy_rows(row_kind::random, width, 5)};
}

token_list<draft_id> some_tokens() {
    return {ids_of({1, 2, 4, 7}), tokens};
}

/// A list is the law of a row.
void check_law(const listed_row<draft_id>& list, logits_row<draft_id> row,
               const sampling_parameters& sampling) {
    CHECK(list.vocabulary == tokens);
    const sparse_law<draft_id> law(list.entries, list.vocabulary);
    CHECK(law.total() == Approx(1).epsilon(1e-6));
    const softmax_law<draft_id> wanted(row, sampling);
    for (std::size_t v = 0; v < tokens; ++v)
        CHECK(law.probability(id_at<draft_id>(v)) ==
              Approx(wanted.probability(id_at<draft_id>(v))).epsilon(1e-6));
}

const std::vector<sampling_parameters> several{
    {}, {.temperature = 0}, {.temperature = 0.7F, .top_k = 2}, {.top_p = 0.6F}};

TEST_CASE("a model lists the law of what its head computes") {
    head_type head = head_type::random(tokens, width, 1);
    head_type small = head_type::random(4, width, 2);
    const auto ids = ids_of({0, 3, 8, 1});
    const auto check = [&](auto& part) {
        for (const sampling_parameters& sampling : several) {
            auto inner = make_model(), other = make_model();
            headed_model rows(other, part);
            listing_model lists(inner, part, sampling, 1); // room for one list
            const logits_rows<draft_id> wanted = rows.score(ids);
            const listed_rows<draft_id> found = lists.score(ids);
            REQUIRE(found.size() == 4);
            CHECK(found.vocabulary() == tokens);
            for (std::size_t i = 0; i < 4; ++i)
                check_law(found[i], wanted[i], sampling);
            CHECK(lists.size() == 4);
            lists.truncate(2);
            lists.append(ids_of({5}));
            CHECK(inner.size() == 3);
        }
    };
    trimmed few(head, some_tokens());
    check(few);
    reduced_vocabulary_head kept(small, some_tokens());
    check(kept);
}

TEST_CASE("a drafter lists, in a window or not, with a list that follows the text or not") {
    head_type head = head_type::random(tokens, width, 1);
    auto inner = make_model(), other = make_model();
    trimmed few(head, some_tokens()), same(head, some_tokens());
    listing_model lists(inner, few);
    headed_model rows(other, same);
    adaptive_token_list<draft_id> hot(some_tokens()), also(some_tokens());
    adaptive_model following(lists, few, hot);
    adaptive_model followed(rows, same, also);
    model_drafter drafter(following);
    model_drafter wanted(followed);
    windowed_drafter window(drafter);
    windowed_drafter wanted_window(wanted);
    static_assert(ListingDrafter<decltype(window)> && !Drafter<decltype(window)>);
    std::vector<draft_id> text = ids_of({0, 8, 3});
    for (int round = 0; round < 40; ++round) { // beyond the model's context
        window.begin_draft_round(text.size());
        wanted_window.begin_draft_round(text.size());
        window.sync(text, 0);
        wanted_window.sync(text, 0);
        for (int i = 0; i < 3; ++i) {
            check_law(window.list(), wanted_window.row(), {});
            window.push(draft_id{4});
            wanted_window.push(draft_id{4});
        }
        text.push_back(draft_id{(round * 5 + 2) % 9});
        text.push_back(draft_id{(round * 7 + 6) % 9});
    }
    CHECK(window.dropped() > 0);
    CHECK(!std::equal(hot.ids().begin(), hot.ids().end(), some_tokens().ids().begin()));
}

TEST_CASE("sampling parameters are the model's, and may change between rounds") {
    head_type head = head_type::random(tokens, width, 1);
    auto inner = make_model();
    trimmed few(head, some_tokens());
    listing_model lists(inner, few, {.temperature = 0});
    CHECK(lists.score(ids_of({0}))[0].entries.size() == 1);
    const law_version before = lists.version();
    lists.set_sampling({.top_k = 3});
    CHECK(lists.version() != before);
    CHECK(lists.score(ids_of({0}))[0].entries.size() == 3);
    CHECK_THROWS_AS(lists.set_sampling({.temperature = -1}), error);
    CHECK(lists.sampling().top_k == 3);
    using listing = listing_model<model_type, trimmed>;
    CHECK_THROWS_AS(listing(inner, few, {.top_p = 0}), error);
}

TEST_CASE("several sequences list as each does alone, and are told where rounds begin") {
    head_type head = head_type::random(tokens, width, 1);
    trimmed few(head, some_tokens());
    two_hidden_models inner(make_model());
    listing_model batch(inner, few);
    static_assert(ScoringBatchModelOf<decltype(batch), draft_id>);
    CHECK(batch.sequences() == 2);
    const auto first = ids_of({0, 3}), second = ids_of({0, 4, 5});
    const std::vector<sequence_tokens<draft_id>> parts{{1, second}, {0, first}};
    const listed_rows<draft_id> found = batch.score(parts);
    REQUIRE(found.size() == 5);
    for (const bool of_first : {true, false}) {
        auto alone = make_model();
        headed_model rows(alone, few);
        const auto& ids = of_first ? first : second;
        const logits_rows<draft_id> wanted = rows.score(ids);
        for (std::size_t i = 0; i < ids.size(); ++i)
            check_law(found[(of_first ? 3 : 0) + i], wanted[i], {});
    }
    one_sequence<draft_id, decltype(batch)> one(batch, 1);
    model_drafter drafter(one);
    CHECK(reads_features(one));
    drafter.begin_draft_round(3);
    CHECK(inner.begun == std::vector<std::size_t>{0, 3});
    drafter.sync(second, 0);
    CHECK(drafter.list().entries.size() == 4);
    CHECK(inner.size(1) == 3);
}

TEST_CASE("a model and a head that do not go together make no lists") {
    using Catch::Contains;
    auto inner = make_model();
    head_type longer = head_type::random(tokens + 1, width, 1);
    trimmed of_longer(longer, token_list<draft_id>(ids_of({1}), tokens + 1));
    using listing = listing_model<model_type, trimmed>;
    CHECK_THROWS_WITH(listing(inner, of_longer), Contains("listing model"));
    head_type wider = head_type::random(tokens, width + 1, 1);
    trimmed of_wider(wider, some_tokens());
    listing lists(inner, of_wider);
    CHECK_THROWS_WITH(lists.score(ids_of({0})), Contains("width 5, found 1 of width 4"));
}

} // namespace listing_model_tests
