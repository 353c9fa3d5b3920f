// SPDX-License-Identifier: MIT
#include <specdec/interop/eigen.hpp>

#include <cstddef>

#include <catch2/catch.hpp>

#include <specdec/core/token_id.hpp>

using namespace specdec;

namespace eigen_tests {

using row_major = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

template <class M>
concept HasRows =
    requires(M&& m) { logits_rows_of<target_id>(static_cast<M&&>(m), std::size_t{1}); };

static_assert(HasRows<row_major&> && HasRows<const row_major&>);
static_assert(HasRows<Eigen::Map<const row_major>> && HasRows<Eigen::Block<row_major>>);
static_assert(!HasRows<row_major>, "a temporary would be gone");
static_assert(!HasRows<Eigen::MatrixXf&>, "columns are not rows");
static_assert(!HasRows<Eigen::Matrix<double, 2, 2, Eigen::RowMajor>&>, "not floats");
static_assert(!HasRows<decltype(std::declval<row_major&>() + std::declval<row_major&>())&>,
              "not in memory");

/// Entry (i, j) is 10 i + j.
row_major numbers(Eigen::Index rows, Eigen::Index columns) {
    row_major m(rows, columns);
    for (Eigen::Index i = 0; i < rows; ++i)
        for (Eigen::Index j = 0; j < columns; ++j)
            m(i, j) = static_cast<float>(10 * i + j);
    return m;
}

TEST_CASE("rows of an Eigen matrix leave its padding out") {
    const row_major m = numbers(3, 8);
    const logits_rows<target_id> rows = logits_rows_of<target_id>(m, 5);
    REQUIRE(rows.size() == 3);
    REQUIRE(rows.vocabulary() == 5);
    for (std::size_t i = 0; i < 3; ++i) {
        REQUIRE(rows[i].size() == 5);
        REQUIRE(rows[i].values.data() == m.data() + 8 * i);
    }
    REQUIRE(logits_rows_of<draft_id>(m).vocabulary() == 8);
}

TEST_CASE("rows of Eigen blocks and maps keep their outer stride") {
    row_major m = numbers(4, 8);
    const auto block = logits_rows_of<target_id>(m.block(1, 2, 2, 4), 3);
    REQUIRE(block.size() == 2);
    REQUIRE(block[0].values[0] == 12.0F);
    REQUIRE(block[1].values[2] == 24.0F);

    using strided = Eigen::Map<const row_major, 0, Eigen::OuterStride<>>;
    const auto mapped =
        logits_rows_of<target_id>(strided(m.data(), 2, 4, Eigen::OuterStride<>(16)));
    REQUIRE(mapped[1].values[0] == 20.0F);
    REQUIRE(mapped[1].size() == 4);
    REQUIRE(logits_rows_of<target_id>(m.topRows(1), 8)[0].values[7] == 7.0F);
}

TEST_CASE("Eigen layouts without rows in memory are refused by name") {
    row_major m = numbers(3, 4);
    REQUIRE_THROWS_WITH(logits_rows_of<target_id>(m, 5), Catch::Contains("logits: vocabulary"));
    using every_second =
        Eigen::Map<const row_major, 0, Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>>;
    const Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic> stride(4, 2);
    REQUIRE_THROWS_WITH(logits_rows_of<target_id>(every_second(m.data(), 3, 2, stride)),
                        Catch::Contains("logits: inner stride: expected 1, found 2"));
    const Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic> overlapping(1, 1);
    REQUIRE_THROWS_WITH(logits_rows_of<target_id>(every_second(m.data(), 3, 2, overlapping)),
                        Catch::Contains("logits: outer stride"));
}

} // namespace eigen_tests
