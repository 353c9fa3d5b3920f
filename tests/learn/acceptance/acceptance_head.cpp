// SPDX-License-Identifier: MIT
#include <specdec/learn/acceptance/acceptance_head.hpp>

#include <cmath>
#include <vector>

#include <catch2/catch.hpp>

#include <specdec/draft/predicted_end.hpp>
#include <specdec/draft/profitable_length.hpp>

using namespace specdec;

namespace acceptance_head_tests {

struct two_tokens {
    [[nodiscard]] std::span<const float> operator()(draft_id d) const {
        static constexpr float rows[] = {1, 1, 1, -1};
        return std::span(rows).subspan(2 * d.index(), 2);
    }
};
using head_type = acceptance_head<two_tokens>;
static_assert(AcceptancePredictor<head_type>);
static_assert(LearnsLengths<predicted_end<head_type>>);
static_assert(LearnsLengths<profitable_length<head_type>>);

/// Without hidden units: f_0 = e_1 + log(1 + n), f_1 = -e_1 and 0.5.
constexpr acceptance_shape shape{.embedding = 2, .width = 0};
const std::vector<float> parameters{0, 1, 0, 0, 1, 0, 0, -1, 0, 0, 0, 0.5F};

TEST_CASE("a head predicts by the token, where it stands and how sure it was") {
    const head_type head({}, shape, parameters);
    const auto at = [](int token, std::size_t n) {
        return draft_progress{.drafted = n, .token = draft_id{token}};
    };
    CHECK(head.accept(at(0, 1)) == Approx(sigmoid(1 + std::log(2.0))));
    CHECK(head.accept(at(1, 1)) == Approx(sigmoid(-1 + std::log(2.0))));
    CHECK(head.accept(at(1, 5)) == Approx(sigmoid(-1 + std::log(6.0))));
    CHECK(head.next(at(0, 1)) == Approx(sigmoid(-0.5)));
    CHECK(head.next({}) == Approx(sigmoid(0.5)));                         // nothing is drafted
    CHECK(head.accept({.drafted = 1}) == Approx(sigmoid(std::log(2.0)))); // left the vocabulary
}

TEST_CASE("a stop rule asks it, and reads what it reads") {
    head_type head({}, shape, parameters);
    predicted_end stop(head, 0.5, 9);
    CHECK(reading_of(stop) == row_reading::entropy);
    acceptance_table table;
    CHECK(reading_of(predicted_end(table, 0.5, 9)) == row_reading::sureness);
    const draft_progress likely = extend_progress({}, stop, draft_id{0}, 1, 1, 0);
    CHECK(likely.kept == Approx(sigmoid(1 + std::log(2.0))));
    CHECK(likely.token == draft_id{0});
    CHECK(stop.more(likely));
    CHECK_FALSE(stop.more(extend_progress({}, stop, draft_id{1}, 1, 1, 0)));
}

TEST_CASE("other parameters are used from the next round on") {
    head_type head({}, shape, parameters);
    predicted_end stop(head, 0.5, 9);
    const double before = head.next({});
    head.take(std::vector<float>(shape.parameters()));
    CHECK(head.next({}) == before);
    stop.learn({});
    CHECK(head.next({}) == 0.5);
    struct learning : two_tokens {
        const law_version* now = nullptr;
        [[nodiscard]] law_version version() const { return *now; }
    } embedding;
    law_version now = 0; // of what it embeds by
    embedding.now = &now;
    const acceptance_head<learning> other(embedding, shape, parameters);
    const law_version first = other.version();
    ++now;
    CHECK(other.version() != first);
    CHECK_THROWS_AS(head.take(std::vector<float>(3)), error);
    CHECK_THROWS_AS(head_type({}, shape, std::vector<float>(3)), error);
}

} // namespace acceptance_head_tests
