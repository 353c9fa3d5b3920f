// SPDX-License-Identifier: MIT
#include <specdec/core/law_mark.hpp>

#include <set>

#include <catch2/catch.hpp>

using namespace specdec;

namespace law_mark_tests {

struct of_one {
    [[nodiscard]] law_mark mark() const { return 7; }
};
struct of_several {
    [[nodiscard]] law_mark mark(std::size_t s) const { return 10 + s; }
};
struct never_changes {};

TEST_CASE("parts without a mark never change; parts of several sequences are asked for one") {
    CHECK(mark_of(of_one{}) == 7);
    CHECK(mark_of(never_changes{}) == 0);
    CHECK(mark_of(of_several{}, std::size_t{2}) == 12);
    CHECK(mark_of(of_one{}, std::size_t{2}) == 7);
    CHECK(mark_of(never_changes{}, std::size_t{2}) == 0);
}

TEST_CASE("other numbers have another mark, in whatever order") {
    std::set<law_mark> marks;
    std::size_t n = 0;
    for (const double threshold : {-0.0, 0.0, 0.1, 0.4, 0.5, 1.0, 1e-300})
        for (const std::size_t length : {0U, 1U, 2U, 8U, 9U}) {
            marks.insert(mark_of_values(threshold, length));
            ++n;
        }
    CHECK(marks.size() == n);
    CHECK(mark_of_values(1, 2) != mark_of_values(2, 1));
    CHECK(mark_of_values(0.4, 8) == mark_of_values(0.4, 8));
}

} // namespace law_mark_tests
