// SPDX-License-Identifier: MIT
#include <specdec/interop/xtensor.hpp>

#include <cstddef>

#include <catch2/catch.hpp>
#if __has_include(<xtensor/containers/xarray.hpp>) // since 0.26
#include <xtensor/containers/xarray.hpp>
#include <xtensor/generators/xbuilder.hpp>
#include <xtensor/views/xview.hpp>
#else
#include <xtensor/xarray.hpp>
#include <xtensor/xbuilder.hpp>
#include <xtensor/xview.hpp>
#endif

#include <specdec/core/token_id.hpp>

using namespace specdec;

namespace xtensor_tests {

template <class T>
concept HasRows =
    requires(T&& t) { logits_rows_of<target_id>(static_cast<T&&>(t), std::size_t{1}); };

using matrix = xt::xtensor<float, 2>;
static_assert(HasRows<matrix&> && HasRows<const matrix&> && HasRows<xt::xarray<float>&>);
static_assert(!HasRows<matrix>, "a temporary would be gone");
static_assert(!HasRows<xt::xtensor<double, 2>&>, "not floats");
static_assert(!HasRows<decltype(std::declval<matrix&>() + std::declval<matrix&>())&>,
              "not in memory");

TEST_CASE("rows of a tensor leave its padding out") {
    const matrix t = xt::reshape_view(xt::arange<float>(24), {3, 8});
    const logits_rows<target_id> rows = logits_rows_of<target_id>(t, 5);
    REQUIRE(rows.size() == 3);
    REQUIRE(rows.vocabulary() == 5);
    for (std::size_t i = 0; i < 3; ++i)
        REQUIRE(rows[i].values.data() == t.data() + 8 * i);
    REQUIRE(logits_rows_of<target_id>(t)[2].values[7] == 23.0F);
}

TEST_CASE("rows of views of tensors of more axes") {
    xt::xtensor<float, 3> t = xt::reshape_view(xt::arange<float>(2 * 3 * 4), {2, 3, 4});
    const auto second = logits_rows_of<target_id>(xt::view(t, 1, xt::all(), xt::all()), 3);
    REQUIRE(second.size() == 3);
    REQUIRE(second[0].values[0] == 12.0F);
    REQUIRE(second[2].values[2] == 22.0F);

    const auto inner = logits_rows_of<target_id>(xt::view(t, xt::all(), 1, xt::range(1, 4)));
    REQUIRE(inner.size() == 2);
    REQUIRE(inner.vocabulary() == 3);
    REQUIRE(inner[0].values[0] == 5.0F);
    REQUIRE(inner[1].values[0] == 17.0F);

    const auto single = logits_rows_of<target_id>(xt::view(t, 0, xt::range(2, 3), xt::all()));
    REQUIRE(single.size() == 1);
    REQUIRE(single[0].values[3] == 11.0F);
}

TEST_CASE("tensor layouts without rows in memory are refused by name") {
    matrix t = xt::reshape_view(xt::arange<float>(12), {3, 4});
    REQUIRE_THROWS_WITH(logits_rows_of<target_id>(t, 5), Catch::Contains("logits: vocabulary"));
    xt::xtensor<float, 2, xt::layout_type::column_major> columns = t;
    REQUIRE_THROWS_WITH(logits_rows_of<target_id>(columns),
                        Catch::Contains("logits: stride of columns"));
    REQUIRE_THROWS_WITH(logits_rows_of<target_id>(xt::view(t, xt::all(), xt::range(0, 4, 2))),
                        Catch::Contains("logits: stride of columns: expected 1, found 2"));
    xt::xarray<float> cube = xt::zeros<float>({2, 2, 2});
    REQUIRE_THROWS_WITH(logits_rows_of<target_id>(cube), Catch::Contains("logits: axes"));
}

} // namespace xtensor_tests
