// SPDX-License-Identifier: MIT
#include <specdec/speculation/any/borrowed_span.hpp>

#include <array>
#include <vector>

#include <catch2/catch.hpp>

using specdec::borrowed_span;

namespace borrowed_span_tests {

using numbers = borrowed_span<int>;
static_assert(std::is_convertible_v<std::vector<int>&, numbers>);
static_assert(std::is_convertible_v<const std::vector<int>&, numbers>);
static_assert(std::is_convertible_v<std::span<int>, numbers>);
static_assert(!std::is_convertible_v<std::vector<int>, numbers>); // gone before use
static_assert(!std::is_convertible_v<std::array<int, 2>, numbers>);
static_assert(!std::is_convertible_v<std::vector<long>&, numbers>);

TEST_CASE("borrowed span: a view of what somebody keeps") {
    std::vector<int> kept{1, 2, 3};
    const numbers all = kept, part = std::span(kept).first(2), none{}, two{kept.data(), 2};
    const std::span<const int> plain = all;
    CHECK(plain.data() == kept.data());
    CHECK(all.size() == 3);
    CHECK(part.size() == 2);
    CHECK(none.empty());
    CHECK(two.back() == 2);
    const numbers copy = all;
    CHECK(copy.data() == all.data());
}

} // namespace borrowed_span_tests
