// SPDX-License-Identifier: MIT
#include <specdec/testing/contract/engine_contract.hpp>

#include <catch2/catch.hpp>

#include "support/faulty_model.hpp"
#include "support/faulty_tokenizer.hpp"

// The tutorial's engine. Its main becomes a function that nobody calls, and that returns nothing.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wreturn-type"
#define main tutorial
#include "../../../examples/plug_in_your_engine.cpp"
#undef main
#pragma GCC diagnostic pop

using namespace specdec::testing;

namespace {

const my_tokenizer<target_id> words{"t", "h", "e", "a", "c", "r", " ", "at", " the", " that"};

tokenizer_contract_settings<target_id> few_letters() {
    tokenizer_contract_settings<target_id> s;
    s.texts = {"the cat that ate", " the heart", "at  t"};
    s.control_names.clear();
    s.invalid_utf8.clear();
    return s;
}

} // namespace

TEST_CASE("the tutorial's engine keeps the contract") {
    const auto make = [] { return my_model(words); };
    const contract_report report = check_engine<target_id>(make, words, {}, few_letters());
    CHECK(report.text() == "");
    CHECK(report.keeps("engine.vocabulary"));
    CHECK(report.keeps("model.row_position"));
    CHECK(report.keeps("tokenizer.round_trip"));
    REQUIRE(report.unchecked.empty());
    CHECK(report.kept.size() == 26);
}

TEST_CASE("a model whose rows are of another length than its tokenizer's vocabulary") {
    const auto make = [] { return faulty_model<target_id>(); };
    const contract_report report = check_engine<target_id>(make, words, {}, few_letters());
    CHECK(report.text() == "engine.vocabulary: expected rows as long as the tokenizer's "
                           "vocabulary; seen: 11 values a row, 10 tokens\n");
}

TEST_CASE("faults of model and tokenizer stand in one report") {
    const contract_report report = check_engine<target_id>(
        [] { return faulty_model<target_id>(model_fault::depends_on_grouping); },
        faulty_tokenizer<target_id>(tokenizer_fault::adds_bos), {.tolerance = 1e-9});
    REQUIRE(report.violations.size() == 4);
    CHECK(report.violations[0].clause == "model.row_position");
    CHECK(report.violations[1].clause == "tokenizer.empty_text");
    CHECK(report.violations[2].clause == "tokenizer.control_added");
    CHECK(report.violations[3].clause == "engine.vocabulary");
    CHECK(report.greatest_difference > 0);
    CHECK(report.kept.size() + report.unchecked.size() + 4 == 26);
}
