// SPDX-License-Identifier: MIT
#include <specdec/decode/measure_costs.hpp>

#include <cmath> // HUGE_VALF
#include <span>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/core/error.hpp>
#include <specdec/draft/block_model.hpp>

#include "support/decoding.hpp"
#include "support/toy_block_model.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace {

/// Time that passes only while a model works: 10 and one a position for a target, 2 and half a
/// position for a drafter.
double now = 0;
struct model_clock {
    double operator()() const { return now; }
};

template <class Id, class Model>
struct timed_model {
    Model model;
    double base, position;

    [[nodiscard]] std::size_t size() const { return model.size(); }
    [[nodiscard]] std::size_t capacity() const { return model.capacity(); }
    [[nodiscard]] std::size_t vocabulary_size() const { return model.vocabulary_size(); }
    void append(std::span<const Id> ids) {
        now += base + position * static_cast<double>(ids.size());
        model.append(ids);
    }
    [[nodiscard]] logits_rows<Id> score(std::span<const Id> ids) {
        now += base + position * static_cast<double>(ids.size());
        return model.score(ids);
    }
    void truncate(std::size_t n) { model.truncate(n); }
};

/// A drafter none of whose exits is ever sure: its rows allow nothing.
struct unsure_drafter {
    draft_text_model model;
    std::vector<float> row = std::vector<float>(model.vocabulary_size(), -HUGE_VALF);

    [[nodiscard]] std::size_t size() const { return model.size(); }
    [[nodiscard]] std::size_t capacity() const { return model.capacity(); }
    [[nodiscard]] std::size_t vocabulary_size() const { return model.vocabulary_size(); }
    void append(std::span<const draft_id> ids) { model.append(ids); }
    [[nodiscard]] logits_rows<draft_id> score(std::span<const draft_id> ids) {
        now += 2;
        append(ids);
        return {row.data(), 1, row.size(), row.size()};
    }
    void truncate(std::size_t n) { model.truncate(n); }
};

} // namespace

TEST_CASE("costs are measured in passes over one position, and leave the contexts empty") {
    const toy_world world;
    timed_model<target_id, target_text_model> target{world.target_model(), 9, 1};
    timed_model<draft_id, draft_text_model> drafter{world.draft_model(), 1.5, 0.5};
    const cost_table costs = measure_costs(target, drafter, model_clock{});
    CHECK_NOTHROW(validate(costs));
    REQUIRE(costs.pass.size() == 9);
    for (std::size_t n = 1; n <= 12; ++n)
        CHECK(costs.pass_over(static_cast<double>(n)) ==
              Approx(0.9 + 0.1 * static_cast<double>(n)).margin(0.006));
    CHECK(costs.draft == Approx(0.2));
    CHECK(costs.catch_up == Approx(0.05));
    CHECK(target.size() == 0);
    CHECK(drafter.size() == 0);
}

TEST_CASE("passes that several texts share are measured, not drawn on from those of one text") {
    const toy_world world;
    struct wide_model : timed_model<target_id, target_text_model> {
        [[nodiscard]] logits_rows<target_id> score(std::span<const target_id> ids) {
            if (ids.size() > 16) // as many cost nothing more
                now += 2 * static_cast<double>(ids.size() - 16);
            return timed_model::score(ids);
        }
    } target{{world.target_model(), 10, 0}};
    timed_model<draft_id, draft_text_model> drafter{world.draft_model(), 1.5, 0.5};
    const cost_table costs = measure_costs(target, drafter, model_clock{}, 8 * 9);
    CHECK_NOTHROW(validate(costs));
    REQUIRE(costs.pass.size() == 64);
    for (const std::size_t n : {1U, 9U, 16U, 24U, 32U, 64U, 80U})
        CHECK(costs.pass_over(static_cast<double>(n)) ==
              Approx(n > 16 ? 1 + 0.2 * static_cast<double>(n - 16) : 1).margin(0.02));
    CHECK(costs.draft == Approx(0.2));
    CHECK(target.size() == 0);
    CHECK(measure_costs(target, drafter, model_clock{}, 9).pass.size() == 9);
    CHECK(measure_costs(target, model_clock{}, 40).pass.size() == 32);
}

TEST_CASE("contexts with little room are measured as far as they go") {
    toy_world world{.capacity = 5};
    timed_model<target_id, target_text_model> target{world.target_model(), 9, 1};
    timed_model<draft_id, draft_text_model> drafter{world.draft_model(), 1.5, 0.5};
    CHECK(measure_costs(target, drafter, model_clock{}).pass.size() == 5);
}

TEST_CASE("a drafter whose context has room for one token only costs nothing to catch up") {
    toy_world world;
    timed_model<target_id, target_text_model> target{world.target_model(), 9, 1};
    world.capacity = 1;
    using timed_drafter = timed_model<draft_id, draft_text_model>;
    struct slow_to_append : timed_drafter {
        void append(std::span<const draft_id> ids) {
            now += 1;
            timed_drafter::append(ids);
        }
    } drafter{{world.draft_model(), 1.5, 0.5}};
    const cost_table costs = measure_costs(target, drafter, model_clock{});
    CHECK_NOTHROW(validate(costs));
    CHECK(costs.pass.size() == 1);
    CHECK(costs.draft == Approx(0.2));
    CHECK(costs.catch_up == 0);
}

TEST_CASE("a target without a drafter has passes that cost, and nothing else") {
    const toy_world world;
    timed_model<target_id, target_text_model> target{world.target_model(), 9, 1};
    timed_model<draft_id, draft_text_model> drafter{world.draft_model(), 1.5, 0.5};
    const cost_table alone = measure_costs(target, model_clock{});
    CHECK_NOTHROW(validate(alone));
    CHECK(alone.pass == measure_costs(target, drafter, model_clock{}).pass);
    CHECK(alone.draft == 0);
    CHECK(alone.catch_up == 0);
    CHECK(target.size() == 0);
}

TEST_CASE("a clock that stands still measures nothing", "[computes]") {
    const toy_world world;
    auto target = world.target_model();
    auto drafter = world.draft_model();
    CHECK_THROWS_AS(measure_costs(target, drafter, no_clock{}), error);
}

TEST_CASE("a token of a block drafter costs its share of the passes of a draft") {
    const toy_world world;
    timed_model<target_id, target_text_model> target{world.target_model(), 9, 1};
    struct timed_blocks : distilled_model<draft_text_model> {
        using distilled_model::distilled_model;
        [[nodiscard]] logits_rows<draft_id> score_block(std::span<const draft_id> ids) {
            now += 1.5 + 0.5 * static_cast<double>(ids.size());
            return distilled_model::score_block(ids);
        }
    } engine(world.draft_model(), 4);
    block_model drafter(engine);
    const cost_table costs = measure_costs(target, drafter, model_clock{});
    // Drafts of 1, 2, 3, 4, 5 and 8 tokens. The second block of the last two is fed four more.
    const double passes = 4 * 2 + 2 * (2 + 1.5 + 4 * 0.5);
    CHECK(costs.draft == Approx(passes / 23 / 10).margin(0.006));
    CHECK(costs.catch_up == Approx(0.05));
    CHECK(engine.size() == 0);
    CHECK(drafter.size() == 0);
}

TEST_CASE("what a drafter costs whose rows allow nothing is measured, too") {
    const toy_world world;
    timed_model<target_id, target_text_model> target{world.target_model(), 9, 1};
    unsure_drafter drafter{world.draft_model()};
    CHECK(measure_costs(target, drafter, model_clock{}).draft == Approx(0.2));
}
