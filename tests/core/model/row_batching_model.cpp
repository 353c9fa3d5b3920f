// SPDX-License-Identifier: MIT
#include <specdec/core/model/row_batching_model.hpp>

#include <vector>

#include <catch2/catch.hpp>

#include <specdec/core/model/one_sequence.hpp>
#include <specdec/core/model/shared_model.hpp>

#include "support/batch_of.hpp"
#include "support/toy_model.hpp"

using namespace specdec;
using namespace specdec::testing;

namespace row_batching_model_tests {

using toy = toy_model<draft_id>;
using several = batch_of<draft_id, toy>;
using gathered = row_batching_model<draft_id, several>;
static_assert(RequestsRows<gathered, draft_id, std::size_t>);
static_assert(RequestsRows<one_sequence<draft_id, gathered>, draft_id>);
static_assert(!RequestsRows<one_sequence<draft_id, several>, draft_id>);

several three() {
    return several(3, toy(4, [](const std::vector<draft_id>& c) {
                       std::vector<float> row(4);
                       for (std::size_t v = 0; v < 4; ++v)
                           row[v] = static_cast<float>(10 * c.size() + v) +
                                    0.1F * static_cast<float>(c.empty() ? 9 : c.back().value);
                       return row;
                   }));
}
const std::vector a{draft_id{0}}, ab{draft_id{0}, draft_id{1}}, c{draft_id{2}};

/// A model whose mark can be changed.
struct marked : several {
    law_version changes = 0;
    explicit marked(several m) : several(std::move(m)) {}
    [[nodiscard]] law_version version(std::size_t) const { return changes; }
};

template <class Rows>
std::vector<float> numbers(const Rows& rows) {
    std::vector<float> all;
    for (std::size_t i = 0; i < rows.size(); ++i)
        all.insert(all.end(), rows[i].values.begin(), rows[i].values.end());
    return all;
}
template <class M>
std::vector<float> scored(M& m, std::size_t s, const std::vector<draft_id>& ids) {
    const sequence_tokens<draft_id> part{s, ids};
    return numbers(m.score(std::span(&part, 1)));
}

TEST_CASE("requested rows are made in one pass, and are those of the model") {
    several plain = three(), m = three();
    row_batching_model<draft_id, several> g(m);
    for (const std::size_t s : {0U, 2U}) {
        m.append(s, a);
        plain.append(s, a);
    }
    CHECK(g.request_row(0, ab) == g.request_row(2, c));
    CHECK(g.size(0) == 1); // as before, until the rows are taken
    g.pass();
    CHECK(m.passes == 1);
    CHECK(g.passes() == 1);
    CHECK(g.size(0) == 1);
    g.pass(); // nothing new was requested
    CHECK(scored(g, 0, ab) == scored(plain, 0, ab));
    CHECK(scored(g, 2, c) == scored(plain, 2, c));
    CHECK(g.size(0) == 3);
    CHECK(m.size(1) == 0);
    CHECK(m.passes == 1);
}

TEST_CASE("rows that nobody takes are as never made") {
    several plain = three(), m = three();
    row_batching_model<draft_id, several> g(m);
    const auto request_and_pass = [&] {
        for (std::size_t s = 0; s < 3; ++s)
            (void)g.request_row(s, ab);
        g.pass();
    };
    request_and_pass();
    CHECK(scored(g, 0, c) == scored(plain, 0, c)); // other ids than requested
    CHECK(m.size(0) == 1);
    CHECK(m.size(1) == 0); // its row would not have outlived the call
    CHECK(scored(g, 1, ab) == scored(plain, 1, ab));
    request_and_pass();
    g.append(0, a);
    plain.append(0, a);
    CHECK(m.size(0) == 2);
    request_and_pass();
    g.truncate(0, 1);
    plain.truncate(0, 1);
    CHECK(m.size(0) == 1);
    CHECK(m.size(1) == 2);
    request_and_pass();
    g.begin_draft_round(2, 0);
    CHECK(m.size(2) == 0);
    request_and_pass();
    g.forget();
    CHECK(m.size(0) == 1);
    CHECK(m.size(1) == 2);
    CHECK(scored(g, 0, ab) == scored(plain, 0, ab));
    (void)g.request_row(0, ab); // and none that was only requested
    g.truncate(0, 0);
    const std::size_t passes = m.passes;
    g.pass();
    CHECK(m.passes == passes);
    (void)g.request_row(0, ab);
    (void)g.request_row(0, c); // the latest counts
    g.pass();
    CHECK(m.size(0) == 1);
    (void)g.request_row(0, ab); // in place of a row that was made
    CHECK(m.size(0) == 0);
    (void)g.request_row(1, c);
    g.pass();
    (void)g.request_row(2, c); // rows of one pass do not outlive the next
    g.pass();
    CHECK(m.size(0) == 0);
    CHECK(m.size(1) == 2);
}

TEST_CASE("a row of before a change is made again") {
    marked m(three());
    row_batching_model<draft_id, marked> g(m);
    (void)g.request_row(0, ab);
    g.pass();
    ++m.changes;
    (void)scored(g, 0, ab);
    CHECK(m.passes == 2);
    CHECK(m.size(0) == 2);
    CHECK(g.version(0) == 1);
}

TEST_CASE("a pass that throws leaves nothing requested") {
    several m = three();
    row_batching_model<draft_id, several> g(m);
    m.append(1, a);
    (void)g.request_row(0, ab);
    (void)g.request_row(1, ab);
    m.fails_at = 0;
    CHECK_THROWS_AS(g.pass(), error);
    CHECK(m.size(0) == 0);
    CHECK(m.size(1) == 1);
    g.pass();
    CHECK(m.passes == 1);
}

TEST_CASE("what a gathered model holds is without rows that nobody has taken") {
    several m = three();
    shared_model<draft_id, several> shared(m);
    row_batching_model<draft_id, shared_model<draft_id, several>> g(shared);
    g.append(0, ab);
    (void)g.request_row(0, c);
    g.pass();
    CHECK(shared.held(0).size() == 3);
    CHECK(g.held(0).size() == 2);
    one_sequence<draft_id, decltype(g)> first(g, 0);
    CHECK(first.size() == 2);
    CHECK(first.held().size() == 2);
    const std::size_t passes = m.passes;
    (void)first.score(c);
    CHECK(m.passes == passes);
    CHECK(first.size() == 3);

    (void)g.request_row(0, ab);
    g.pass();
    m.truncate(0, 1); // the engine drops its context
    CHECK(first.size() == 0);
    first.truncate(0);
    CHECK(m.size(0) == 0);
}

} // namespace row_batching_model_tests
