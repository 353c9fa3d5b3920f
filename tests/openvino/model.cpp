// SPDX-License-Identifier: MIT
#include <specdec/interop/openvino_model.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "rows.hpp"
#include "toy_ir.hpp"
#include <specdec/core/concepts.hpp>
#include <specdec/core/token_id.hpp>
#include <specdec/interop/openvino_rows.hpp>
#include <specdec/testing/contract/engine_contract.hpp>
#include <specdec/testing/contract/feature_contract.hpp>

using namespace specdec;
using namespace specdec::toy_ir;
using Catch::Contains;

namespace {

using model = openvino_model<target_id>;
static_assert(ModelOf<model, target_id>);
static_assert(!ModelOf<openvino_model<draft_id>, target_id>);

constexpr double tolerance = 2e-4; // of logits between -40 and 40

} // namespace

TEST_CASE("an OpenVINO model keeps the engine contract") {
    const ov::CompiledModel engine = compiled();
    for (const std::size_t compaction : {0U, 8U, 1U << 20U}) {
        CAPTURE(compaction);
        model_contract_settings<target_id> settings;
        settings.tolerance = tolerance;
        const contract_report report = check_model<target_id>(
            [&] { return model(engine, {.capacity = 64, .compaction = compaction}); }, settings);
        CHECK(report.text() == "");
        CHECK(report.unchecked.empty());
        CHECK(report.greatest_difference < tolerance);
    }
}

TEST_CASE("row i is the law behind token i") {
    const ov::CompiledModel engine = compiled();
    const auto ids = text(12);
    const auto expected = rows_alone(engine, ids);
    model m(engine, {.capacity = 256});
    CHECK(m.size() == 0);
    CHECK(m.capacity() == 256);
    CHECK(m.vocabulary_size() == 40);
    m.append(std::span(ids).first(7));
    const auto rows = rows_of(m.score(std::span(ids).subspan(7)));
    REQUIRE(rows.size() == 5);
    for (std::size_t i = 0; i < 5; ++i)
        CHECK(distance(rows[i], expected[7 + i]) < tolerance);
    CHECK(distance(expected[7], expected[8]) > 0.1); // it would be seen
    CHECK(std::equal(ids.begin(), ids.end(), m.held().begin(), m.held().end()));
}

TEST_CASE("truncated tokens leave no trace, masked or cut out of the states") {
    const ov::CompiledModel engine = compiled();
    const auto ids = text(20), wrong = text(9, 100);
    const auto expected = rows_alone(engine, ids);
    for (const std::size_t compaction : {0U, 1U << 20U}) {
        model m(engine, {.compaction = compaction});
        for (std::size_t n = 0; n < 20; ++n) {
            CHECK(distance(rows_of(m.score(std::span(ids).subspan(n, 1)))[0], expected[n]) <
                  tolerance);
            (void)m.score(std::span(wrong).first(1 + n % 9));
            m.truncate(n + 1);
            m.truncate(n + 1);
        }
        CHECK(m.size() == 20);
        CHECK((m.masked() > 80) == (compaction > 0));
        CHECK((m.compactions() >= 19) == (compaction == 0));
        m.truncate(7);
        m.append(std::span(ids).subspan(7, 5));
        CHECK(distance(rows_of(m.score(std::span(ids).subspan(12, 1)))[0], expected[12]) <
              tolerance);
        m.truncate(0);
        CHECK(m.masked() == 0);
        CHECK(distance(rows_of(m.score(std::span(ids).first(1)))[0], expected[0]) < tolerance);
    }
}

TEST_CASE("masked tokens take no room from others") {
    const ov::CompiledModel engine = compiled();
    const auto ids = text(60);
    const auto expected = rows_alone(engine, ids);
    model m(engine, {.capacity = 60, .compaction = 1 << 20});
    for (std::size_t n = 0; n + 6 <= 60; n += 2) {
        const auto rows = rows_of(m.score(std::span(ids).subspan(n, 6)));
        CHECK(distance(rows[1], expected[n + 1]) < tolerance);
        m.truncate(n + 2);
        CHECK(m.size() + m.masked() <= 60);
    }
    m.append(std::span(ids).subspan(m.size()));
    CHECK(m.size() == 60);
    CHECK(m.compactions() > 0);
    CHECK_THROWS_WITH(m.append(text(1)), "OpenVINO model: capacity: expected room for 1 tokens, 60 "
                                         "of 60 are held");
    CHECK(m.size() == 60);
}

TEST_CASE("padding of the head belongs to no row") {
    const ov::CompiledModel engine = compiled({.vocabulary = 48});
    const auto expected = rows_alone(engine, text(5));
    model m(engine, {.vocabulary = 40});
    CHECK(m.vocabulary_size() == 40);
    const auto rows = rows_of(m.score(text(5)));
    for (std::size_t i = 0; i < 5; ++i)
        CHECK(distance(rows[i], row(expected[i].begin(), expected[i].begin() + 40)) < tolerance);
    CHECK_THROWS_WITH(m.append(std::vector{target_id{40}}), Contains("0 to 40 - 1"));
    CHECK_THROWS_WITH(model(engine, {.vocabulary = 49}),
                      "OpenVINO model: logits: expected rows of 49 tokens, found 48");
}

TEST_CASE("a window of attention sees no masked tokens") {
    const ov::CompiledModel engine = compiled({.window = 8});
    const auto ids = text(40), wrong = text(40, 100);
    const auto expected = rows_alone(engine, ids);
    for (const std::size_t window : {0U, 8U}) { // as long as nobody says it, rows are wrong
        model m(engine, {.compaction = 1U << 20U, .window = window});
        double most = 0;
        for (std::size_t n = 0; n < 40; ++n) {
            most = std::max(
                most, distance(rows_of(m.score(std::span(ids).subspan(n, 1)))[0], expected[n]));
            (void)m.score(std::span(wrong).first(1));
            m.truncate(n + 1);
        }
        CHECK((most < tolerance) == (window == 8));
        CHECK((m.compactions() > 30) == (window == 8));
    }
}

TEST_CASE("four thousand tokens with rollbacks: no drift, and few masked tokens") {
    const ov::CompiledModel engine = compiled();
    const auto ids = text(4000);
    model m(engine, {.capacity = 4020}), whole(engine, {.capacity = 4020});
    double share = 0, most = 0;
    for (std::size_t round = 0, n = 0; n < ids.size(); ++round) {
        const std::size_t kept = std::min(1 + round * 7 % 16, ids.size() - n); // of sixteen
        std::vector<target_id> draft = text(16, 1000 + round);
        std::copy_n(ids.begin() + static_cast<std::ptrdiff_t>(n), kept, draft.begin());
        const row last = rows_of(m.score(draft))[kept - 1];
        m.truncate(n += kept);
        share = std::max(share, static_cast<double>(m.masked()) /
                                    static_cast<double>(m.masked() + m.size() + 100));
        if (round % 100 != 0 && n < ids.size())
            continue;
        whole.truncate(0);
        whole.append(std::span(ids).first(n - 1));
        most = std::max(most,
                        distance(last, rows_of(whole.score(std::span(ids).subspan(n - 1, 1)))[0]));
    }
    CHECK(m.size() == 4000);
    CHECK(most < tolerance);
    CHECK(m.compactions() > 5);
    CHECK(share < 0.4);
}

TEST_CASE("a failed inference leaves size and tokens, and the next call feeds them again") {
    const ov::CompiledModel engine = compiled({.vocabulary = 41, .poisonable = true});
    const auto ids = text(30);
    const auto expected = rows_alone(engine, ids);
    model m(engine, {.capacity = 64, .piece = 4});
    for (std::size_t n = 0; n < 25; n += 5) {
        for (const std::size_t good : {0U, 2U, 6U}) { // of a prompt in pieces, the second fails
            std::vector<target_id> bad(ids.begin() + static_cast<std::ptrdiff_t>(n),
                                       ids.begin() + static_cast<std::ptrdiff_t>(n + good));
            bad.push_back(poison);
            CHECK_THROWS_AS(m.append(bad), ov::Exception);
            CHECK_THROWS_AS((void)m.score(bad), ov::Exception);
            CHECK(m.size() == n);
            CHECK(std::equal(m.held().begin(), m.held().end(), ids.begin()));
        }
        if (n == 10) { // truncated before it is fed again
            m.truncate(7);
            m.append(std::span(ids).subspan(7, 3));
        }
        const auto rows = rows_of(m.score(std::span(ids).subspan(n, 5)));
        for (std::size_t i = 0; i < 5; ++i)
            CHECK(distance(rows[i], expected[n + i]) < tolerance);
    }
}

TEST_CASE("an id outside the vocabulary is refused") {
    const ov::CompiledModel engine = compiled();
    model m(engine);
    m.append(text(3));
    CHECK_THROWS_WITH(m.append(std::vector{target_id{40}}),
                      Contains("OpenVINO model: target's tokens: expected ids from 0 to 40 - 1"));
    CHECK_THROWS_WITH((void)m.score(std::vector{target_id{-1}}), Contains("found -1"));
    CHECK(m.size() == 3);
}

TEST_CASE("models of one compiled model do not see each other") {
    const ov::CompiledModel engine = compiled();
    const auto ids = text(12), others = text(12, 50);
    const auto expected = rows_alone(engine, ids), expected_others = rows_alone(engine, others);
    model a(engine), b(engine);
    for (std::size_t i = 0; i < 12; ++i) {
        const auto of_a = a.score(std::span(ids).subspan(i, 1));
        const auto of_b = b.score(std::span(others).subspan(i, 1));
        CHECK(distance(rows_of(of_a)[0], expected[i]) < tolerance); // still there
        CHECK(distance(rows_of(of_b)[0], expected_others[i]) < tolerance);
    }
}

TEST_CASE("models that do not fit are refused by name") {
    for (const std::string missing : {"input_ids", "attention_mask", "position_ids"})
        CHECK_THROWS_WITH(
            model(compiled({.without = missing})),
            Contains("OpenVINO model: " + missing + ": expected an input of this name"));
    CHECK(model(compiled({.without = "beam_idx"})).score(text(2)).size() == 2);
    CHECK_THROWS_WITH(model(compiled({.positions = ov::element::i32})),
                      "OpenVINO model: position_ids: expected numbers of type i64, found i32");
    CHECK_THROWS_WITH(model(compiled({.recurrent = true})),
                      Contains("OpenVINO model: sum: expected a key-value cache, which grows"));
    {
        const auto made = model_builder({}).model;
        made->output("logits").set_names({"scores"});
        CHECK_THROWS_WITH(model(compiled(made)),
                          Contains("OpenVINO model: logits: expected an output of this name"));
    }
    {
        const auto made = model_builder({}).model;
        made->input("beam_idx").set_names({"token_type_ids"});
        CHECK_THROWS_WITH(model(compiled(made)),
                          Contains("OpenVINO model: token_type_ids: expected no other input"));
    }
    CHECK_THROWS_WITH(model(compiled(), {.capacity = 2}), Contains("OpenVINO settings: capacity"));
    CHECK_THROWS_WITH(model(compiled(), {.piece = 0}), Contains("OpenVINO settings: piece"));
}

TEST_CASE("selected rows: a prompt has one, a score all, and they are the same") {
    const ov::CompiledModel plain = compiled();
    const auto made = model_builder({}).model;
    openvino_select_rows(*made);
    openvino_select_rows(*made); // it has the input
    const ov::CompiledModel engine = compiled(made);
    CHECK(engine.inputs().size() == plain.inputs().size() + 1);
    const auto ids = text(20);
    const auto expected = rows_alone(plain, ids);
    model m(engine, {.piece = 6});
    m.append(std::span(ids).first(15));
    const auto rows = rows_of(m.score(std::span(ids).subspan(15)));
    REQUIRE(rows.size() == 5);
    for (std::size_t i = 0; i < 5; ++i)
        CHECK(distance(rows[i], expected[15 + i]) < tolerance);
}

TEST_CASE("features are the hidden states before the head, of the latest tokens") {
    const auto made = model_builder({}).model;
    openvino_show_features(*made);
    openvino_select_rows(*made);
    CHECK_THROWS_WITH(openvino_show_features(*made), Contains("sampled_tokens_indices"));
    const ov::CompiledModel engine = compiled(made);
    CHECK(
        check_features<target_id>([&] { return model(engine); }, {.tolerance = tolerance}).text() ==
        "");
    model m(engine, {.piece = 3}), plain(compiled());
    CHECK(plain.feature_width() == 0);
    CHECK(plain.features().size() == 0);
    REQUIRE(m.feature_width() == 16);
    const auto ids = text(10);
    m.append(std::span(ids).first(8));
    REQUIRE(m.features().size() == 8);
    const row prompt(m.features()[6].values.begin(), m.features()[6].values.end());
    m.truncate(6);
    (void)m.score(std::span(ids).subspan(6, 2));
    REQUIRE(m.features().size() == 2);
    CHECK(distance(prompt, row(m.features()[0].values.begin(), m.features()[0].values.end())) <
          tolerance);
}
