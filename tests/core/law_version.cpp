// SPDX-License-Identifier: MIT
#include <specdec/core/law_version.hpp>

#include <set>

#include <catch2/catch.hpp>

using namespace specdec;

namespace law_version_tests {

struct of_one {
    [[nodiscard]] law_version version() const { return 7; }
};
struct of_several {
    [[nodiscard]] law_version version(std::size_t s) const { return 10 + s; }
};
struct never_changes {};

TEST_CASE("parts without a mark never change; parts of several sequences are asked for one") {
    CHECK(version_of(of_one{}) == 7);
    CHECK(version_of(never_changes{}) == 0);
    CHECK(version_of(of_several{}, std::size_t{2}) == 12);
    CHECK(version_of(of_one{}, std::size_t{2}) == 7);
    CHECK(version_of(never_changes{}, std::size_t{2}) == 0);
}

TEST_CASE("other numbers have another mark, in whatever order") {
    std::set<law_version> marks;
    std::size_t n = 0;
    for (const double threshold : {-0.0, 0.0, 0.1, 0.4, 0.5, 1.0, 1e-300})
        for (const std::size_t length : {0U, 1U, 2U, 8U, 9U}) {
            marks.insert(version_of_values(threshold, length));
            ++n;
        }
    CHECK(marks.size() == n);
    CHECK(version_of_values(1, 2) != version_of_values(2, 1));
    CHECK(version_of_values(0.4, 8) == version_of_values(0.4, 8));
}

} // namespace law_version_tests
