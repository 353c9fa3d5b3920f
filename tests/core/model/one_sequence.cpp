// SPDX-License-Identifier: MIT
#include <specdec/core/model/one_sequence.hpp>

#include <vector>

#include <catch2/catch.hpp>

#include "support/batch_of.hpp"
#include "support/text_model.hpp"
#include "support/toy_pair.hpp"

using namespace specdec;
using namespace specdec::testing;
using Catch::Matchers::Contains;

using batched = batch_of<target_id, text_model<target_id>>;

static_assert(BatchModelOf<batched, target_id>);
static_assert(!BatchModelOf<batched, draft_id>);
static_assert(!BatchModelOf<text_model<target_id>, target_id>);
static_assert(ModelOf<one_sequence<target_id, batched>, target_id>);
static_assert(!ModelOf<batched, target_id>);

TEST_CASE("one sequence of several is a model, and leaves the others alone") {
    const toy_pair two;
    const text_model<target_id> model(two.target.table(), {.seed = 1});
    batched all(3, model);
    one_sequence<target_id, batched> middle(all, 1);
    const std::vector<target_id> ids = two.encode("ab c a");

    text_model<target_id> alone = model;
    alone.append(std::span(ids).first(1));
    const auto expected = alone.score(std::span(ids).subspan(1));
    middle.append(std::span(ids).first(1));
    const auto rows = middle.score(std::span(ids).subspan(1));
    REQUIRE(rows.size() == expected.size());
    for (std::size_t i = 0; i < rows.size(); ++i)
        for (std::size_t t = 0; t < rows.vocabulary(); ++t)
            CHECK(rows[i].values[t] == expected[i].values[t]);
    CHECK(middle.size() == ids.size());
    CHECK(middle.capacity() == alone.capacity());
    CHECK(middle.vocabulary_size() == alone.vocabulary_size());
    middle.truncate(1);
    CHECK(all.size(0) == 0);
    CHECK(all.size(1) == 1);
    CHECK(all.size(2) == 0);
    CHECK_THROWS_WITH((one_sequence<target_id, batched>(all, 3)),
                      Contains("one sequence: sequence 3: expected a sequence below 3"));
}

TEST_CASE("one sequence of several tells what it holds where they do") {
    struct telling : batched {
        using batched::batched;
        [[nodiscard]] std::span<const target_id> held(std::size_t s) const {
            return models[s].held();
        }
    };
    const toy_pair two;
    telling all(2, text_model<target_id>(two.target.table()));
    const one_sequence<target_id, telling> last(all, 1);
    static_assert(TellsHeld<decltype(last), target_id>);
    static_assert(!TellsHeld<one_sequence<target_id, batched>, target_id>);
    const std::vector<target_id> ids = two.encode("ab c");
    all.append(1, ids);
    CHECK(last.held().size() == ids.size());
    CHECK(last.held().front() == ids.front());
}
