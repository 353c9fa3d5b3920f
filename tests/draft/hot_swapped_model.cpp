// SPDX-License-Identifier: MIT
#include <specdec/draft/hot_swapped_model.hpp>

#include <vector>

#include <catch2/catch.hpp>

#include <specdec/core/error.hpp>
#include <specdec/core/model/one_sequence.hpp>
#include <specdec/draft/model_drafter.hpp>

#include "support/batch_of.hpp"
#include "support/ids.hpp"
#include "support/toy_model.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace hot_swapped_model_tests {

using model_type = toy_model<draft_id>;

model_type model_named(float name, std::size_t vocabulary = 2, std::size_t capacity = 64) {
    return {vocabulary,
            [=](const std::vector<draft_id>& context) {
                return std::vector<float>(vocabulary,
                                          100 * name + static_cast<float>(context.size()));
            },
            3, capacity};
}

struct changing {
    model_type first = model_named(1), second = model_named(2);
    model_type* next = nullptr;
    std::size_t asked = 0;
    struct from {
        changing* all;
        model_type* operator()() const {
            ++all->asked;
            return all->next;
        }
    };
    hot_swapped_model<model_type, from> model{first, from{this}};
    model_drafter<decltype(model)> drafter{model};

    float row(const std::vector<draft_id>& context) {
        drafter.sync(context, 0);
        return drafter.row().values[0];
    }
};
static_assert(RoundAware<decltype(changing::model)>);
static_assert(RoundAware<decltype(changing::drafter)>);

TEST_CASE("weights change where a round begins, and the context is fed again") {
    changing c;
    const auto text = ids_of({0, 1, 0}), longer = ids_of({0, 1, 0, 1});
    c.drafter.begin_draft_round(3);
    CHECK(c.row(text) == 103);
    c.next = &c.second;
    CHECK(c.row(longer) == 104); // not inside of a round
    c.drafter.push(draft_id{0});
    CHECK(c.drafter.row().values[0] == 105);
    c.drafter.begin_draft_round(3); // drafted again
    CHECK(c.row(text) == 103);
    c.drafter.begin_draft_round(4);
    CHECK(c.model.size() == 0);
    CHECK(c.row(longer) == 204);
    CHECK(c.second.fed == 4);
    CHECK(c.first.size() == 0);
    CHECK(c.model.changes() == 1);
    c.next = nullptr;
    c.drafter.begin_draft_round(5);
    CHECK(c.row(ids_of({0, 1, 0, 1, 1})) == 205);
    CHECK(c.second.fed == 5); // nothing again
    CHECK(c.asked == 3);
}

TEST_CASE("weights that were written in place") {
    changing c;
    c.drafter.begin_draft_round(2);
    CHECK(c.row(ids_of({0, 1})) == 102);
    c.next = &c.first;
    c.drafter.begin_draft_round(3);
    CHECK(c.model.size() == 0);
    CHECK(c.row(ids_of({0, 1, 1})) == 103);
    CHECK(c.model.changes() == 1);
}

TEST_CASE("a model that does not fit is refused, and the old one stays") {
    changing c;
    for (auto other : {model_named(3, 3), model_named(3, 2, 63)}) {
        c.next = &other;
        CHECK_THROWS_AS(c.drafter.begin_draft_round(2), error);
        CHECK(c.row(ids_of({0, 1})) == 102);
    }
}

TEST_CASE("of several sequences, each begins rounds of its own with the weights of all") {
    using batched = batch_of<draft_id, model_type>;
    batched first(2, model_named(1)), second(2, model_named(2)), fewer(1, model_named(3));
    batched* next = nullptr;
    hot_swapped_model all(first, [&] { return next; });
    static_assert(BatchModelOf<decltype(all), draft_id>);
    static_assert(!ModelOf<decltype(all), draft_id>);
    one_sequence<draft_id, decltype(all)> one(all, 0), other(all, 1);
    model_drafter drafter(one), beside(other);
    const auto text = ids_of({0, 1, 0});
    const auto row = [&](auto& from) {
        from.sync(text, 0);
        return from.row().values[0];
    };
    drafter.begin_draft_round(3);
    beside.begin_draft_round(3);
    CHECK(row(drafter) == 103);
    CHECK(row(beside) == 103);
    const law_version before = beside.version();
    next = &second;
    drafter.begin_draft_round(3); // drafted again
    CHECK(row(drafter) == 103);
    drafter.begin_draft_round(2);
    next = nullptr;
    CHECK(row(drafter) == 203);
    CHECK(beside.version() != before); // its round is refused
    CHECK(row(beside) == 203);
    next = &fewer;
    CHECK_THROWS_WITH(drafter.begin_draft_round(3), Catch::Contains("sequences"));
    CHECK(row(drafter) == 203);
}

} // namespace hot_swapped_model_tests
