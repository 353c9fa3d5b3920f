// SPDX-License-Identifier: MIT
#include <specdec/head/trimmed_head.hpp>

#include <algorithm>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/head/full_head.hpp>

#include "support/ids.hpp"
#include "support/toy_head.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace trimmed_tests {

constexpr std::size_t tokens = 7, width = 5;
using head_type = toy_head<draft_id>;

token_list<draft_id> list_of(const std::vector<int>& numbers) {
    return {ids_of(numbers), tokens};
}

std::vector<float> two_states() {
    std::vector<float> states;
    for (std::size_t i = 0; i < 2 * width; ++i)
        states.push_back(static_cast<float>(i % 3) - 0.7F * static_cast<float>(i));
    return states;
}

/// The rows of two hidden states, with room for padding that must stay as it is.
template <class Head>
std::vector<std::vector<float>> rows_of(Head& head) {
    std::vector<float> out(2 * (tokens + 1), 5.0F);
    head.rows(states_of(two_states(), width), {out.data(), tokens + 1});
    CHECK(out[tokens] == 5.0F);
    return {{out.begin(), out.begin() + tokens}, {out.begin() + tokens + 1, out.end() - 1}};
}

/// The same of its lists, which ascend.
template <class Head>
std::vector<std::vector<float>> lists_of(Head& head) {
    static_assert(ListingHeadOf<Head, draft_id>);
    std::vector<std::vector<float>> rows;
    head.list(states_of(two_states(), width),
              [&](std::size_t i, std::span<const draft_id> ids, std::span<const float> logits) {
                  CHECK(i == rows.size());
                  CHECK(ids.size() <= head.most_listed());
                  CHECK(ids.size() == logits.size());
                  CHECK(std::is_sorted(ids.begin(), ids.end()));
                  rows.emplace_back(tokens);
                  scatter(logits, ids, rows.back());
              });
    return rows;
}

/// Kept tokens have the whole head's logits, others none.
template <class Head>
void check_rows(Head& part, head_type& whole, std::span<const draft_id> kept) {
    full_head<draft_id, head_type> full(whole);
    const auto all = rows_of(full), some = rows_of(part);
    for (std::size_t i = 0; i < 2; ++i)
        for (std::size_t v = 0; v < tokens; ++v) {
            bool inside = false;
            for (const draft_id d : kept)
                inside = inside || d.index() == v;
            CHECK(some[i][v] == (inside ? all[i][v] : -__builtin_inff()));
        }
    CHECK(lists_of(part) == some);
}

TEST_CASE("a trimmed head's rows are the whole head's, of the kept tokens") {
    head_type head = head_type::random(tokens, width, 1);
    for (const head_rows from : {head_rows::gathered, head_rows::copied}) {
        for (const auto& list : {list_of({0, 2, 3, 6}), list_of({4}), list_of({2, 3, 4})}) {
            trimmed_head part(head, list, from, 1); // room for one row
            CHECK(part.size() == list.size());
            check_rows(part, head, list.ids());
        }
    }
}

TEST_CASE("a trimmed head makes no product of a token that was cut") {
    head_type head = head_type::random(tokens, width, 1);
    trimmed_head part(head, list_of({0, 2, 6}));
    head.products = 0;
    (void)rows_of(part);
    CHECK(head.products == 6);
}

TEST_CASE("a kept token may be replaced, out of the order of ids") {
    head_type head = head_type::random(tokens, width, 2);
    for (const head_rows from : {head_rows::gathered, head_rows::copied}) {
        trimmed_head part(head, list_of({1, 2, 3}), from);
        part.replace(0, draft_id{6});
        part.replace(2, draft_id{0});
        CHECK(part.ids()[0] == draft_id{6});
        check_rows(part, head, part.ids());
        part.replace(0, draft_id{1});
        part.replace(1, draft_id{3}); // 1, 3, 0: neighbours in no order
        check_rows(part, head, part.ids());
        for (const auto& [k, id] : {std::pair{2, 5}, {0, 0}, {1, 6}, {2, 4}, {0, 2}, {1, 3}}) {
            part.replace(static_cast<std::size_t>(k), draft_id{id});
            check_rows(part, head, part.ids());
        }
    }
}

TEST_CASE("what a trimmed head cannot be made of is refused") {
    head_type head = head_type::random(tokens, width, 1);
    const token_list<draft_id> other({id_at<draft_id>(tokens + 2)}, tokens + 3);
    CHECK_THROWS_WITH((trimmed_head<draft_id, head_type>(head, other)),
                      Catch::Contains("trimmed head"));
    CHECK_THROWS_WITH((trimmed_head<draft_id, head_type>(head, other, head_rows::copied)),
                      Catch::Contains("trimmed head: drafter's list: expected ids from 0 to 7"));
    fixed_head<draft_id> fixed{head};
    CHECK_THROWS_WITH(
        (trimmed_head<draft_id, fixed_head<draft_id>>(fixed, list_of({1}), head_rows::copied)),
        Catch::Contains("gathered"));
    trimmed_head<draft_id, fixed_head<draft_id>> part(fixed, list_of({1, 5}));
    check_rows(part, head, part.ids());
}

} // namespace trimmed_tests
