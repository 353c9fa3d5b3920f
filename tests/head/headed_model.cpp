// SPDX-License-Identifier: MIT
#include <specdec/head/headed_model.hpp>

#include <vector>

#include <catch2/catch.hpp>

#include <specdec/head/full_head.hpp>
#include <specdec/head/trimmed_head.hpp>
#include <specdec/testing/contract/tree_contract.hpp>

#include "support/ids.hpp"
#include "support/toy_head.hpp"
#include "support/toys/weighted_model.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace headed_tests {

using head_type = toy_head<draft_id>;
constexpr std::size_t tokens = 9, width = 4;

toy_hidden_model<draft_id> make_model() {
    return {tokens, width, toy_rows(row_kind::random, width, 5)};
}

TEST_CASE("a model with its head behind it scores what the head makes of its states") {
    head_type head = head_type::random(tokens, width, 1);
    full_head<draft_id, head_type> full(head);
    auto inner = make_model();
    headed_model model(inner, full, 1);
    static_assert(ModelOf<decltype(model), draft_id>);
    static_assert(BatchModelOf<decltype(model), draft_id>); // of one sequence
    const auto ids = ids_of({0, 3, 8, 1});
    const logits_rows<draft_id> rows = model.score(ids); // more rows than there was room for
    REQUIRE(rows.size() == 4);
    CHECK(rows.vocabulary() == tokens);
    CHECK(model.size() == 4);
    auto again = make_model();
    const hidden_states x = again.hidden(ids);
    std::vector<float> wanted(4 * tokens);
    head.multiply(x, {wanted.data(), tokens});
    for (std::size_t i = 0; i < 4; ++i)
        for (std::size_t v = 0; v < tokens; ++v)
            CHECK(rows[i].values[v] == wanted[i * tokens + v]);
    model.truncate(1);
    model.append(ids_of({2}));
    CHECK(inner.size() == 2);
    CHECK(model.capacity() == inner.capacity());
}

TEST_CASE("several sequences with one head: each as it is alone") {
    head_type head = head_type::random(tokens, width, 1);
    const token_list<draft_id> list(ids_of({1, 2, 7}), tokens);
    trimmed_head part(head, list);
    two_hidden_models inner(make_model());
    headed_model batch(inner, part);
    static_assert(BatchModelOf<decltype(batch), draft_id>);
    const auto first = ids_of({0, 3}), second = ids_of({0, 4, 5});
    batch.append(1, second);
    batch.truncate(1, 0);
    const std::vector<sequence_tokens<draft_id>> parts{{1, second}, {0, first}};
    const logits_rows<draft_id> rows = batch.score(parts);
    REQUIRE(rows.size() == 5);
    CHECK(batch.size(0) == 2);
    CHECK(batch.size(1) == 3);
    CHECK(batch.sequences() == 2);
    for (std::size_t s = 0; s < 2; ++s) {
        auto alone = make_model();
        trimmed_head own(head, list);
        headed_model model(alone, own);
        const auto& ids = s == 0 ? first : second;
        const logits_rows<draft_id> wanted = model.score(ids);
        for (std::size_t i = 0; i < ids.size(); ++i)
            for (std::size_t v = 0; v < tokens; ++v)
                CHECK(rows[(s == 0 ? 3 : 0) + i].values[v] == wanted[i].values[v]);
    }
}

TEST_CASE("a model that gives the states of trees scores them with its head") {
    struct owned {
        head_type head = head_type::random(5, 5, 1);
        token_list<draft_id> list{ids_of({0, 1, 3}), 5};
        trimmed_head<draft_id, head_type> part{head, list};
        weighted_model<draft_id> inner;
    };
    using inner_type = weighted_model<draft_id>;
    using part_type = trimmed_head<draft_id, head_type>;
    struct headed : owned, headed_model<inner_type, part_type> {
        explicit headed(const weighted_rows& rows)
            : owned{.inner = inner_type(rows, 5)},
              headed_model<inner_type, part_type>(this->inner, this->part) {}
        headed(const headed&) = delete;
    };
    static_assert(TreeModelOf<headed, draft_id>);
    const weighted_rows rows{{{3, 1, 2}, {0, 5, 5, 1}, {1, 1, 4}}};
    const contract_report report = check_tree_model<draft_id>([&] { return headed(rows); });
    CHECK(report.text() == "");
    CHECK(report.unchecked.empty());
}

TEST_CASE("a model and a head that do not go together are refused") {
    using Catch::Contains;
    using full = full_head<draft_id, head_type>;
    using headed = headed_model<toy_hidden_model<draft_id>, full>;
    auto inner = make_model();
    head_type longer = head_type::random(tokens + 1, width, 1);
    full of_longer(longer);
    CHECK_THROWS_WITH(headed(inner, of_longer), Contains("vocabulary"));
    head_type wider = head_type::random(tokens, width + 1, 1);
    full of_wider(wider);
    headed model(inner, of_wider);
    CHECK_THROWS_WITH(model.score(ids_of({0})), Contains("width 5, found 1 of width 4"));
}

} // namespace headed_tests
