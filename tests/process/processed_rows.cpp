// SPDX-License-Identifier: MIT
#include <specdec/process/processed_rows.hpp>

#include <vector>

#include <catch2/catch.hpp>

#include <specdec/core/basic/half.hpp>
#include <specdec/process/token_bias.hpp>

using namespace specdec;

namespace {

/// Raises the logit of the last token.
const auto raise_last = [](std::span<const target_id> tokens, std::span<float> row) {
    row[tokens.back().index()] += 1;
};

struct shift {
    static constexpr processor_traits traits{.active = true};
    float by = 0; // of the first token's logit
    [[nodiscard]] bool active() const { return by != 0; }
    void operator()(std::span<const target_id>, std::span<float> row) const { row[0] += by; }
};

} // namespace

TEST_CASE("the laws of a round are those of its processed rows, all at once") {
    processed_rows laws(3, raise_last);
    laws.reserve(2, 10);
    const std::vector tokens{target_id{2}, target_id{1}};
    const float first[] = {0, 1, 2}, second[] = {5, 4, 3};
    const std::span<const target_id> text(tokens);
    const auto p = laws(logits_row<target_id>{first}, 0, text.first(1), {});
    const auto q = laws(logits_row<target_id>{second}, 1, text, {.temperature = 0});
    const float expected[] = {0, 1, 3};
    const auto wanted = make_law(logits_row<target_id>{expected}, {});
    for (int t = 0; t < 3; ++t)
        CHECK(p.probability(target_id{t}) == wanted.probability(target_id{t}));
    CHECK(q.top() == target_id{0}); // 5, 5, 3
    CHECK(first[2] == 2);           // the engine's row is as it was
}

TEST_CASE("halves are widened") {
    processed_rows laws(2);
    laws.reserve(1, 10);
    const float16 row[] = {{0x3C00}, {0x4000}}; // 1, 2
    const float expected[] = {1, 2};
    const auto p = laws(logits_row<target_id, float16>{row}, 0, {}, {});
    CHECK(p.probability(target_id{1}) ==
          make_law(logits_row<target_id>{expected}, {}).probability(target_id{1}));
}

TEST_CASE("rows of another length, and rows of which nothing is left, are refused") {
    const target_id both[] = {target_id{0}, target_id{1}};
    processed_rows laws(2, banned_tokens<target_id>(2, both));
    laws.reserve(1, 10);
    const float row[] = {0, 1, 2};
    CHECK_THROWS_WITH(laws(logits_row<target_id>{row}, 0, {}, {}),
                      "processed rows: row: expected 2 logits, found 3");
    CHECK_THROWS_WITH(
        laws(logits_row<target_id>{std::span(row).first(2)}, 0, {}, {}),
        "processed rows: processors: expected processors that allow at least one token");
}

TEST_CASE("a processor that changes nothing at first may be changed between texts") {
    processed_rows laws(2, shift{});
    laws.reserve(2, 10);
    const float row[] = {1, 2};
    const float16 halves[] = {{0x3C00}, {0x4000}}; // the same
    const auto chance = [](const auto& law) { return law.probability(target_id{1}); };
    const double plain = chance(make_law(logits_row<target_id>{row}, {}));
    CHECK(chance(laws(logits_row<target_id>{row}, 1, {}, {})) == plain);
    CHECK(chance(laws(logits_row<target_id, float16>{halves}, 1, {}, {})) == plain); // a copy

    laws.processor().by = 1;
    const auto first = laws(logits_row<target_id>{row}, 0, {}, {});
    const auto second = laws(logits_row<target_id, float16>{halves}, 1, {}, {});
    CHECK(chance(first) == 0.5);
    CHECK(chance(second) == 0.5);
    laws.processor().by = 0;
    CHECK(chance(laws(logits_row<target_id>{row}, 0, {}, {})) == plain);
}
