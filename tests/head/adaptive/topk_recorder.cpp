// SPDX-License-Identifier: MIT
#include <specdec/head/adaptive/topk_recorder.hpp>

#include <vector>

#include <catch2/catch.hpp>

#include "support/batch_of.hpp"
#include "support/ids.hpp"
#include "support/toy_model.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace topk_recorder_tests {

using words = std::vector<target_id>;
using toy = toy_model<target_id>;

/// Behind a token t its successors t + 1, t + 2, ... of six are likely, in this order.
toy counting() {
    return {6, [](const words& context) {
                std::vector<float> row(6);
                for (int v = 0; v < 6; ++v)
                    row[static_cast<std::size_t>(v)] =
                        -static_cast<float>((v - context.back().value + 11) % 6);
                return row;
            }};
}
std::vector<int> taken(target_topk& likely) {
    std::vector<int> found;
    likely.take([&](draft_id d) { found.push_back(d.value); });
    return found;
}
constexpr auto ids = ids_of<target_id>;

static_assert(ModelOf<topk_recorder<toy>, target_id>);
static_assert(BatchModelOf<topk_recorder<batch_of<target_id, toy>>, target_id>);

TEST_CASE("what a target finds likeliest is kept until it is taken, row by row, likeliest last") {
    toy model = counting();
    target_topk likely(2);
    topk_recorder target(model, likely);
    target.append(ids({4}));
    CHECK(taken(likely).empty()); // nobody has seen a row
    const auto rows = target.score(ids({0, 3}));
    CHECK(rows.size() == 2);
    CHECK(target.size() == 3);
    CHECK(target.held().size() == 3); // as the toy tells
    CHECK(taken(likely) == std::vector{2, 1, 5, 4});
    CHECK(taken(likely).empty());
}

TEST_CASE("rows behind tokens that a target forgets are forgotten") {
    toy model = counting();
    target_topk likely(1);
    topk_recorder target(model, likely);
    (void)target.score(ids({0, 3, 1}));
    target.truncate(1); // 3 and 1 were rejected
    CHECK(target.size() == 1);
    CHECK(taken(likely) == std::vector{1});
}

TEST_CASE("of a target of several sequences, each by itself") {
    batch_of<target_id, toy> model(2, counting());
    target_topk likely(1);
    topk_recorder target(model, likely);
    const words first = ids({0, 1}), second = ids({4, 2});
    const std::vector<sequence_tokens<target_id>> parts{{1, first}, {0, second}};
    CHECK(target.score(parts).size() == 4);
    target.truncate(1, 1);
    CHECK(target.size(0) == 2);
    CHECK(target.size(1) == 1);
    CHECK(taken(likely) == std::vector{1, 5, 3});
}

TEST_CASE("likely tokens as the drafter's, where it has them") {
    struct {
        [[nodiscard]] draft_id to_draft(target_id t) const {
            return t.value == 2 ? draft_id{} : draft_id{10 + t.value};
        }
    } map;
    toy model = counting();
    target_topk likely(3);
    likely.translate(map, 6);
    topk_recorder target(model, likely);
    (void)target.score(ids({0}));
    CHECK(taken(likely) == std::vector{13, 11});
    (void)target.score(ids({5}));
    CHECK(taken(likely) == std::vector{11, 10});
    likely.translate(map, 3); // rows have more ids, of padding
    (void)target.score(ids({0}));
    CHECK(taken(likely) == std::vector{11});
}

TEST_CASE("where nobody takes them the latest rows stay") {
    toy model = counting();
    target_topk likely(1, 2);
    topk_recorder target(model, likely);
    for (const int t : {0, 1, 2, 3})
        (void)target.score(ids({t}));
    CHECK(taken(likely) == std::vector{3, 4});
}

} // namespace topk_recorder_tests
