// SPDX-License-Identifier: MIT
#include <specdec/reference/attention/attention.hpp>

#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include <Eigen/Dense>
#include <catch2/catch.hpp>

using namespace specdec::reference;

namespace {

constexpr std::size_t head_dimension = 40; // neither a whole panel nor a whole line
constexpr std::size_t stride = 48;
constexpr std::size_t positions = 75;

template <class Value>
struct fixture {
    kv_cache<Value> cache{2, 2, head_dimension, positions};
    Eigen::MatrixXf keys{head_dimension, positions};
    Eigen::MatrixXf values{head_dimension, positions};
    std::vector<Value> queries;
    attention_scratch<Value> scratch{positions};
    panel_kernels<Value> kernels = panel_kernels_for<Value>(best_isa());

    fixture() : queries(6 * stride) {
        std::minstd_rand bits(3);
        const auto random = [&] { return (static_cast<float>(bits() % 2001) - 1000.0F) * 1e-3F; };
        for (Eigen::Index i = 0; i < keys.size(); ++i) {
            keys.data()[i] = random();
            values.data()[i] = random();
        }
        for (std::size_t c = 0; c < 6; ++c)
            for (std::size_t d = 0; d < head_dimension; ++d)
                queries[c * stride + d] = round_to<Value>(random());
        for (std::size_t p = 0; p < positions; ++p)
            cache.write(1, 1, p, keys.col(static_cast<Eigen::Index>(p)).data(),
                        values.col(static_cast<Eigen::Index>(p)).data());
        cache.clear_behind(1, 1, positions);
    }

    /// [query][head dimension]
    std::vector<float> run(std::size_t first, std::vector<std::size_t> at) {
        std::vector<float> out(at.size() * 64);
        attend(kernels, column_functions_for<Value>(best_isa()), cache, 1, 1,
               &queries[first * stride], stride, at.size(), at.data(), scratch,
               [&](std::size_t i, std::size_t d, float scale, const float* y) {
                   for (std::size_t r = 0; r < panel_rows; ++r)
                       out[i * 64 + d + r] = y[r] * scale;
               });
        return out;
    }
};

} // namespace

TEST_CASE("attention agrees with softmax(q K) V in Eigen") {
    fixture<float> f;
    const std::vector<std::size_t> at = {70, 3, 0, 31, 32, 74};
    const std::vector<float> y = f.run(0, at);
    for (std::size_t i = 0; i < 6; ++i) {
        const auto n = static_cast<Eigen::Index>(at[i] + 1);
        const Eigen::Map<const Eigen::VectorXf> q(&f.queries[i * stride], head_dimension);
        Eigen::ArrayXf weights = (f.keys.leftCols(n).transpose() * q).array();
        weights = (weights - weights.maxCoeff()).exp();
        const Eigen::VectorXf expected = f.values.leftCols(n) * (weights / weights.sum()).matrix();
        for (std::size_t d = 0; d < head_dimension; ++d)
            CHECK(y[i * 64 + d] == Approx(expected(static_cast<Eigen::Index>(d))).margin(2e-6));
    }
}

TEMPLATE_TEST_CASE("a query alone gets the bits it gets in a group", "", float, bf16_bits) {
    fixture<TestType> f;
    const std::vector<std::size_t> at = {70, 71, 72, 73, 74, 2};
    const std::vector<float> all = f.run(0, at);
    for (std::size_t i = 0; i < 6; ++i) {
        const std::vector<float> alone = f.run(i, {at[i]});
        CHECK(std::memcmp(alone.data(), &all[i * 64], 64 * sizeof(float)) == 0);
    }
}
