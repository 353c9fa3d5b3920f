// SPDX-License-Identifier: MIT
#include <specdec/testing/contract/engine_contract.hpp>

#include <span>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "support/archetypes.hpp"
#include "support/contract_faults.hpp"
#include "support/failing_model.hpp"
#include "support/faulty_model.hpp"
#include "support/text_model.hpp"
#include "support/toy_model.hpp"
#include "support/toy_pair.hpp"

using namespace specdec;
using namespace specdec::testing;
using Catch::Contains;

namespace model_contract_tests {

using settings = model_contract_settings<target_id>;
using fault = model_fault;

contract_report check(fault f, const settings& s = {}) {
    return check_model<target_id>([f] { return faulty_model<target_id>(f); }, s);
}

const std::vector<std::string> all_clauses{
    "model.starts_empty",      "model.size_grows",    "model.row_count",
    "model.row_values",        "model.row_position",  "model.row_behind_token",
    "model.append_then_score", "model.truncate_size", "model.truncate_then_append",
    "model.rejected_tokens",   "model.capacity",      "model.refusal_state",
    "model.independence"};

TEST_CASE("a model that keeps its contract: every clause is checked, bit for bit") {
    const contract_report report = check(fault::none);
    CHECK(report.text() == "");
    CHECK(report.ok());
    CHECK(report.kept == all_clauses);
    CHECK(report.unchecked.empty());
    CHECK(report.greatest_difference == 0);
}

TEST_CASE("each fault of a model violates the clauses it breaks and no other") {
    const std::vector<found_fault<fault>> faults{
        {fault::starts_with_a_token, "model.starts_empty", "size() 1, capacity() 40"},
        {fault::append_keeps_size, "model.size_grows",
         "size() 3 instead of 5 after the append of 2 tokens after 3"},
        {fault::padded_rows, "model.row_count", "rows of 16 values"},
        {fault::last_row_only, "model.row_count", "1 rows of 11 values from the score of 24"},
        {fault::batch_too_large, "model.row_count",
         "the score of 24 tokens after 0 threw the exception \"n_batch\""},
        {fault::not_a_number, "model.row_values", "nan in the row of position 2"},
        {fault::infinite, "model.row_values", "inf in the row of position 2"},
        {fault::forbids_all, "model.row_values", "only -infinity in the row of position 2"},
        {fault::row_of_next_token, "model.row_position", "the row of position 0, scored alone"},
        {fault::row_before_token, "model.row_behind_token",
         "no row changes with its own token, but row 1 with token 0"},
        {fault::row_before_but_first, "model.row_behind_token",
         "no row changes with its own token, but row 1 with token 0"},
        {fault::vocabulary_as_stride, "model.row_position", "the row of position 1, scored alone"},
        {fault::rows_pile_up, "model.row_position", "the row of position 1, scored alone"},
        {fault::rows_one_call_late, "model.row_position", "the row of position"},
        {fault::sees_whole_call, "model.row_position", "the row of position 0, scored alone"},
        {fault::depends_on_grouping, "model.row_position", "apart)"},
        {fault::append_of_blanks, "model.append_then_score",
         "the row of position 1, after appended tokens"},
        {fault::truncate_leaves_one, "model.truncate_size",
         "size() 24 instead of 23 after the truncate(23) of 24 tokens"},
        {fault::truncate_throws, "model.truncate_size",
         "the truncate(24) of 24 tokens threw the exception \"cannot remove cells\""},
        {fault::stale_keys, "model.truncate_then_append model.rejected_tokens",
         "the row of position 21, after truncate(21)"},
        {fault::positions_count_on, "model.truncate_then_append model.rejected_tokens",
         "the row of position 21, after truncate(21)"},
        {fault::append_counts_on, "model.truncate_then_append",
         "the row of position 23, after truncate(21) and append"},
        {fault::rows_by_position, "model.rejected_tokens", "in round"},
        {fault::unbounded, "model.capacity",
         "no exception from the append of 1 tokens after 40, where capacity() is 40"},
        {fault::score_unbounded, "model.capacity",
         "no exception from the score of 1 tokens after 40"},
        {fault::refuses_when_full, "model.capacity",
         "no exception from the append of 37 tokens after 4"},
        {fault::less_than_promised, "model.capacity",
         "the append of 39 tokens after 0 threw the exception \"no room\""},
        {fault::half_append, "model.refusal_state",
         "size() 40 instead of 4 after the refused append"},
        {fault::half_score, "model.refusal_state",
         "size() 40 instead of 4 after the refused score"},
        {fault::leaks_cells, "model.refusal_state",
         "the append of 32 tokens after 8 threw the exception \"no room\""},
        {fault::shared_rows, "model.independence",
         "the row of position 0, read after another model's score"},
    };
    check_faults(faults, [](fault f) { return check(f); });
}

TEST_CASE("what builds on a violated clause is not checked, and said to be so") {
    const contract_report report = check(fault::truncate_throws);
    REQUIRE(report.unchecked.size() == 2);
    CHECK(report.unchecked[0].clause == "model.truncate_then_append");
    CHECK(report.unchecked[1].clause == "model.rejected_tokens");
    CHECK(report.unchecked[1].reason == "builds on model.truncate_size");
    CHECK(check(fault::starts_with_a_token).kept.empty());
}

TEST_CASE("a tolerance is for rows that depend on the grouping of positions") {
    const double seen = check(fault::depends_on_grouping).greatest_difference;
    CHECK(seen > 1e-5);
    CHECK(seen < 1e-2);
    settings s{.tolerance = 1e-2};
    const contract_report close = check(fault::depends_on_grouping, s);
    CHECK(close.text() == "");
    CHECK(close.kept == all_clauses);
    CHECK(close.greatest_difference >= seen);
    CHECK(close.greatest_difference < 1e-2);
    CHECK_FALSE(check(fault::stale_keys, s).ok());
    CHECK_FALSE(check(fault::row_before_token, s).ok());
    s.tolerance = seen / 2;
    CHECK(check(fault::depends_on_grouping, s).violations.at(0).clause == "model.row_position");
}

/// Tells what it was fed; a stale one tells forgotten tokens in place of those behind them.
struct teller : faulty_model<target_id> {
    bool stale;
    std::vector<target_id> fed{};
    explicit teller(bool is_stale) : stale(is_stale) {}
    std::span<const target_id> held() const { return std::span(fed).first(size()); }
    void append(std::span<const target_id> ids) {
        faulty_model::append(ids);
        fed.insert(fed.end(), ids.begin(), ids.end());
    }
    logits_rows<target_id> score(std::span<const target_id> ids) {
        fed.insert(fed.end(), ids.begin(), ids.end());
        return faulty_model::score(ids);
    }
    void truncate(std::size_t n) {
        faulty_model::truncate(n);
        if (!stale)
            fed.resize(n);
    }
};

TEST_CASE("what a model tells of its context is checked, too") {
    CHECK(check_model<target_id>([] { return teller(false); }).keeps("model.held"));
    const contract_report report = check_model<target_id>([] { return teller(true); });
    CHECK(violated(report) == "model.held");
    CHECK_THAT(report.text(), Contains("others after append, truncate(2)"));
}

TEST_CASE("settings choose the tokens") {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const settings s{.seed = seed};
        CHECK(check(fault::none, s).kept == all_clauses);
        CHECK(check(fault::stale_keys, s).violations.size() == 2);
        CHECK(check(fault::row_before_token, s).violations.size() == 1);
    }
    settings given;
    for (int i = 0; i < 8; ++i)
        given.ids.push_back(target_id{i % 2});
    CHECK(check(fault::none, given).kept == all_clauses);
    CHECK(check(fault::stale_keys, given).violations.size() == 2);
    given.ids.resize(100, target_id{3}); // more than fit
    CHECK(check(fault::none, given).kept == all_clauses);
}

TEST_CASE("settings that check nothing are errors") {
    settings s{.length = 7};
    CHECK_THROWS_WITH(check(fault::none, s),
                      "model contract: ids: expected 8 tokens or more, and room for them");
    s.ids.assign(10, target_id{4});
    CHECK_THROWS_WITH(check(fault::none, s), "model contract: ids: expected two different ids");
    s.ids[3] = target_id{11};
    CHECK_THROWS_WITH(check(fault::none, s), "model contract: ids: expected ids of the vocabulary");
    s.ids[3] = target_id{};
    CHECK_THROWS_WITH(check(fault::none, s), "model contract: ids: expected ids of the vocabulary");
}

TEST_CASE("a drafter may forbid every token") {
    const settings s{.may_forbid_all = true};
    CHECK(check(fault::forbids_all, s).kept == all_clauses);
    CHECK_FALSE(check(fault::not_a_number, s).ok());
}

TEST_CASE("a context too large to fill leaves its limit unchecked") {
    const contract_report report = check(fault::unbounded, {.fill_at_most = 39});
    CHECK(report.ok());
    REQUIRE(report.unchecked.size() == 2);
    CHECK(report.unchecked[0].clause == "model.capacity");
    CHECK(report.unchecked[0].reason == "capacity() is above fill_at_most: 40");
    CHECK(report.unchecked[1].clause == "model.refusal_state");
}

TEST_CASE("one model, emptied again and again, where there can be but one") {
    faulty_model<target_id> only;
    const contract_report report = check_model<target_id>(
        [&]() -> faulty_model<target_id>& {
            only.truncate(0);
            return only;
        },
        {.several_at_once = false});
    CHECK(report.text() == "");
    CHECK(report.kept.size() == all_clauses.size() - 1);
    REQUIRE(report.unchecked.size() == 1);
    CHECK(report.unchecked[0].clause == "model.independence");
    CHECK(report.unchecked[0].reason == "several_at_once is false");
}

TEST_CASE("an engine that fails at any one call: the clause says so, the rest is still checked") {
    const auto calls = [](std::size_t at) {
        std::size_t made = 0;
        return check_model<target_id>([&made, at] {
            using model = faulty_model<target_id>;
            failing_model<model, target_id> m{model()};
            if (made++ == at)
                m.fails_at = 0;
            return m;
        });
    };
    CHECK(calls(1000).ok());
    const contract_report second = calls(1);
    CHECK(violated(second) == "model.size_grows");
    CHECK(second.violations[0].seen ==
          "the score of 3 tokens after 0 threw the exception \"the model failed\"");
    for (std::size_t at = 1; at < 12; ++at)
        CHECK(calls(at).violations.size() <= 1);
    const contract_report thrown =
        check_model<target_id>([]() -> faulty_model<target_id> { throw 7; });
    CHECK(thrown.text() == "model.starts_empty: expected an empty context with room, over a "
                           "vocabulary; seen: an exception that is no std::exception\n");
}

TEST_CASE("the toy models of the tests keep the contract, with what the concept asks for only") {
    CHECK(check_model<draft_id>([] { return model_archetype<draft_id>(7); }).text() == "");
    const toy_pair pair;
    using model = text_model<target_id>;
    const auto texts = [&] { return model(pair.target.table(), {.capacity = 60}); };
    CHECK(check_model<target_id>(texts).text() == "");
    const auto rows = [](const std::vector<target_id>& held) {
        std::vector<float> row(5);
        for (std::size_t i = 0; i < held.size(); ++i)
            row[(i + 2 * held[i].index()) % 5] += 0.25F * static_cast<float>(held[i].value);
        return row;
    };
    const auto make = [&] { return toy_model<target_id>(5, rows, 3, 100); };
    CHECK(check_model<target_id>(make).text() == "");
}

} // namespace model_contract_tests
