// SPDX-License-Identifier: MIT
#include <specdec/draft/processed_drafter.hpp>

#include <vector>

#include <catch2/catch.hpp>

#include <specdec/draft/model_drafter.hpp>
#include <specdec/process/penalties.hpp>

#include "support/archetypes.hpp"
#include "support/toy_model.hpp"
#include "support/toy_tree_model.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace processed_drafter_tests {

using ids = std::vector<draft_id>;

/// Writes down what it was given, and how many tokens there were in logit 0.
struct recorder {
    std::vector<ids>* seen;
    void operator()(std::span<const draft_id> tokens, std::span<float> row) const {
        seen->emplace_back(tokens.begin(), tokens.end());
        row[0] = static_cast<float>(tokens.size());
    }
};

using plain_drafter = model_drafter<toy_model<draft_id>>;
static_assert(ManyRowsDrafter<processed_drafter<plain_drafter, recorder>>);
static_assert(Drafter<processed_drafter<drafter_archetype, recorder>>);
static_assert(!ManyRowsDrafter<processed_drafter<drafter_archetype, recorder>>);

const ids context{draft_id{1}, draft_id{2}, draft_id{3}};

TEST_CASE("processors see the context and what was pushed") {
    toy_model<draft_id> model(4, [](const ids& held) {
        return std::vector<float>{9, 0, 0, static_cast<float>(held.back().value)};
    });
    plain_drafter plain(model);
    std::vector<ids> seen;
    processed_drafter drafter(plain, recorder{&seen});
    CHECK(drafter.capacity() == plain.capacity());
    drafter.sync(context, 0);
    const logits_row<draft_id> row = drafter.row();
    REQUIRE(row.size() == 4);
    CHECK((row.values[0] == 3 && row.values[3] == 3));
    drafter.push(draft_id{0});
    CHECK(drafter.row().values[0] == 4);
    CHECK(seen.back() == ids{draft_id{1}, draft_id{2}, draft_id{3}, draft_id{0}});

    const ids next{draft_id{1}, draft_id{2}, draft_id{0}, draft_id{0}}; // not what was pushed
    drafter.sync(next, 2);
    const logits_rows<draft_id> rows = drafter.rows(2);
    REQUIRE(rows.size() == 2);
    CHECK((rows[0].values[0] == 3 && rows[1].values[0] == 4));
    CHECK(seen[2] == ids{draft_id{1}, draft_id{2}, draft_id{0}});
    CHECK(seen[3] == next);
}

TEST_CASE("any drafter can be processed, by any chain") {
    drafter_archetype plain;
    processed_drafter drafter(plain, chain(repetition_penalty<draft_id>(4, 2)));
    drafter.sync(context, 0);
    CHECK(drafter.row().values[0] == 3); // 3 tokens: 3 * 5 + 1 mod 4, and it does not occur
    drafter.push(draft_id{0});
    CHECK(drafter.row().values[1] == 1.5F); // halved, as 1 stands in the context
}

TEST_CASE("processors see the path of a node, in each tree anew") {
    toy_tree_model<draft_id> model(4, [](const ids&) { return std::vector<float>(4, 1.0F); });
    model_drafter plain(model);
    std::vector<ids> seen;
    processed_drafter drafter(plain, recorder{&seen});
    for (const int first : {0, 3}) {
        drafter.sync(context, 0);
        CHECK(drafter.row().values[0] == 3);
        const std::size_t parents[]{tree_root, tree_root, 0};
        const auto rows = drafter.grow(ids{draft_id{first}, draft_id{1}, draft_id{2}}, parents);
        CHECK((rows[1].values[0] == 4 && rows[2].values[0] == 5));
        CHECK(seen.back() ==
              ids{draft_id{1}, draft_id{2}, draft_id{3}, draft_id{first}, draft_id{2}});
    }
}

} // namespace processed_drafter_tests
