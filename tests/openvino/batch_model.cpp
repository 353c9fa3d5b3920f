// SPDX-License-Identifier: MIT
#include <specdec/interop/openvino_batch_model.hpp>

#include <catch2/catch.hpp>

#include <cmath>
#include <cstddef>
#include <vector>

#include "toy_ir.hpp"
#include <specdec/head/features/features.hpp>
#include <specdec/interop/openvino_rows.hpp>
#include <specdec/testing/contract/engine_contract.hpp>

using namespace specdec;
using namespace specdec::toy_ir;
using Catch::Contains;

namespace {

using several = openvino_batch_model<target_id>;
static_assert(BatchModelOf<several, target_id>);
static_assert(FeatureBatchModelOf<several, target_id>);
static_assert(!BatchModelOf<openvino_batch_model<draft_id>, target_id>);

} // namespace

TEST_CASE("several sequences in OpenVINO keep the engine contract") {
    const ov::CompiledModel engine = compiled();
    for (const std::size_t sequences : {1U, 3U}) {
        model_contract_settings<target_id> settings;
        settings.tolerance = 2e-4;
        const contract_report report = check_batch_model<target_id>(
            [&] { return several(engine, sequences, {.capacity = 64}); }, settings);
        CHECK(report.text() == "");
        if (sequences > 1)
            CHECK(report.unchecked.empty());
    }
    CHECK_THROWS_WITH(several(engine, 0), Contains("OpenVINO model: sequences"));
}

TEST_CASE("several sequences in OpenVINO show features, of one part and of several") {
    const auto made = model_builder({}).model;
    openvino_show_features(*made);
    openvino_select_rows(*made);
    const ov::CompiledModel engine = compiled(made);
    several m(engine, 2, {.capacity = 64}), alone(engine, 1, {.capacity = 64});
    const auto ids = text(6);
    const std::span<const target_id> all(ids);
    m.append(1,
             all.first(2)); // the first part's sequence begins with nothing, the second's goes on
    const std::vector<sequence_tokens<target_id>> parts{{0, all.first(3)}, {1, all.subspan(2, 4)}};
    (void)m.score(parts);
    const hidden_states both = m.features();
    REQUIRE(both.size() == 7);
    alone.append(0, all);
    const hidden_states expected = alone.features();
    REQUIRE(expected.size() == 6);
    const std::size_t position[] = {0, 1, 2, 2, 3, 4, 5};
    for (std::size_t i = 0; i < 7; ++i)
        for (std::size_t k = 0; k < both.width(); ++k)
            CHECK(std::abs(both[i].values[k] - expected[position[i]].values[k]) < 2e-4F);
    CHECK(several(compiled(), 1).feature_width() == 0);
}

TEST_CASE("a pass that fails in its second part leaves both sequences as they were") {
    const ov::CompiledModel engine = compiled({.vocabulary = 41, .poisonable = true});
    several m(engine, 2), alone(engine, 1);
    const auto ids = text(12);
    m.append(0, std::span(ids).first(3));
    m.append(1, std::span(ids).first(5));
    const std::vector<target_id> bad{poison};
    std::vector<sequence_tokens<target_id>> parts{{0, std::span(ids).subspan(3, 2)}, {1, bad}};
    CHECK_THROWS_AS((void)m.score(parts), ov::Exception);
    CHECK(m.size(0) == 3);
    CHECK(m.size(1) == 5);
    parts[1].ids = std::span(ids).subspan(5, 3);
    const logits_rows<target_id> rows = m.score(parts);
    REQUIRE(rows.size() == 5);
    const sequence_tokens<target_id> all{0, std::span(ids).first(8)};
    const logits_rows<target_id> expected = alone.score({&all, 1});
    const std::size_t position[] = {3, 4, 5, 6, 7};
    for (std::size_t i = 0; i < 5; ++i)
        for (std::size_t v = 0; v < 41; ++v)
            CHECK(std::abs(rows[i].values[v] - expected[position[i]].values[v]) < 2e-4F);
}
