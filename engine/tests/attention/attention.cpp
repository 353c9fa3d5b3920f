// SPDX-License-Identifier: MIT
#include <specdec_engine/attention/attention.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include <Eigen/Dense>
#include <catch2/catch.hpp>

#include <specdec_engine/attention/cache_type.hpp>
#include <specdec_engine/attention/kv_cache.hpp>
#include <specdec_engine/attention/q8_cache.hpp>

using namespace specdec::engine;

namespace {

constexpr std::size_t head_dimension = 40; // neither a whole panel nor a whole line
constexpr std::size_t stride = 64;
constexpr std::size_t positions = 300; // several pieces of values
constexpr std::size_t queries_held = 13;

template <class Cache>
struct fixture {
    using Value = typename Cache::number;

    Cache cache{2, 2, head_dimension, positions, best_isa()};
    Eigen::MatrixXf keys{head_dimension, positions};
    Eigen::MatrixXf values{head_dimension, positions};
    std::vector<Value> queries;
    attention_scratch<Cache> scratch{queries_held, positions, head_dimension};
    attention_kernels<Cache> kernels{best_isa()};
    std::size_t window = ~std::size_t{0};

    fixture() : queries(queries_held * stride) {
        std::minstd_rand bits(3);
        const auto random = [&] { return (static_cast<float>(bits() % 2001) - 1000.0F) * 1e-3F; };
        for (Eigen::Index i = 0; i < keys.size(); ++i) {
            keys.data()[i] = random();
            values.data()[i] = random();
        }
        for (std::size_t c = 0; c < queries_held; ++c)
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
        attend(kernels,
               {cache, 1, 1, &queries[first * stride], stride, at.size(), at.data(), 0, window},
               scratch, [&](std::size_t i, std::size_t d, float scale, const float* y) {
                   for (std::size_t r = 0; r < panel_rows; ++r)
                       out[i * 64 + d + r] = y[r] * scale;
               });
        return out;
    }
};

/// The outputs by Eigen, of the keys and values as they were written.
template <class Cache>
std::vector<float> expected(const fixture<Cache>& f, const std::vector<std::size_t>& at) {
    std::vector<float> out(at.size() * 64);
    for (std::size_t i = 0; i < at.size(); ++i) {
        const auto n = static_cast<Eigen::Index>(std::min(at[i] + 1, f.window));
        const Eigen::Index begin = static_cast<Eigen::Index>(at[i] + 1) - n;
        Eigen::VectorXf q(head_dimension);
        for (std::size_t d = 0; d < head_dimension; ++d)
            q(static_cast<Eigen::Index>(d)) = widen(f.queries[i * stride + d]);
        Eigen::ArrayXf weights = (f.keys.middleCols(begin, n).transpose() * q).array();
        weights = (weights - weights.maxCoeff()).exp();
        const Eigen::VectorXf y =
            f.values.middleCols(begin, n) * (weights / weights.sum()).matrix();
        std::copy_n(y.data(), head_dimension, &out[i * 64]);
    }
    return out;
}

template <class Cache>
float greatest_error(fixture<Cache>& f, const std::vector<std::size_t>& at) {
    const std::vector<float> y = f.run(0, at), wanted = expected(f, at);
    float worst = 0.0F;
    for (std::size_t i = 0; i < at.size(); ++i)
        for (std::size_t d = 0; d < head_dimension; ++d)
            worst = std::max(worst, std::abs(y[i * 64 + d] - wanted[i * 64 + d]));
    return worst;
}

const std::vector<std::size_t> some_positions = {270, 3,   0,   31,  32,  299, 127,
                                                 128, 131, 255, 256, 260, 290};

} // namespace

TEST_CASE("attention agrees with softmax(q K) V in Eigen") {
    fixture<kv_cache<float>> f;
    CHECK(greatest_error(f, some_positions) < 2e-6F);
}

TEST_CASE("attention with a window agrees with softmax(q K) V of its positions in Eigen") {
    for (const std::size_t window : {1U, 7U, 16U, 32U, 100U, 128U, 129U, 299U, 300U, 1000U}) {
        CAPTURE(window);
        fixture<kv_cache<float>> f;
        f.window = window;
        CHECK(greatest_error(f, some_positions) < 2e-6F);
        CHECK(greatest_error(f, {270, 250, 280}) < 2e-6F);        // nothing from before is read
        for (std::size_t i = 0; i < some_positions.size(); ++i) { // alone: the same bits
            const std::vector<float> all = f.run(0, some_positions);
            const std::vector<float> alone = f.run(i, {some_positions[i]});
            CHECK(std::equal(alone.begin(), alone.end(), all.begin() + static_cast<long>(64 * i)));
        }
        fixture<q8_cache> q8;
        q8.window = window; // of few positions, whose rounding does not average out
        CHECK(greatest_error(q8, some_positions) < 3e-2F);
    }
}

TEST_CASE("attention over a cache of fewer bits stays near that") { // numbers go up to 1
    fixture<kv_cache<bf16_bits>> bf16;
    CHECK(greatest_error(bf16, some_positions) < 6e-3F);
    fixture<q8_cache> q8;
    CHECK(greatest_error(q8, some_positions) < 9e-3F);
    CHECK(greatest_error(q8, some_positions) > 1e-4F); // it is one of 8 bits
}

TEMPLATE_TEST_CASE("a query alone gets the bits it gets in a group", "", kv_cache<float>,
                   kv_cache<bf16_bits>, q8_cache) {
    fixture<TestType> f;
    const std::vector<float> all = f.run(0, some_positions);
    for (std::size_t i = 0; i < some_positions.size(); ++i)
        for (std::size_t n = 1; i + n <= some_positions.size(); n += 3) {
            const std::vector<float> some =
                f.run(i, {some_positions.begin() + static_cast<std::ptrdiff_t>(i),
                          some_positions.begin() + static_cast<std::ptrdiff_t>(i + n)});
            CHECK(std::memcmp(some.data(), &all[i * 64], n * 64 * sizeof(float)) == 0);
        }
}

TEMPLATE_TEST_CASE("what stands behind a query's position changes no bit of it", "",
                   kv_cache<float>, kv_cache<bf16_bits>, q8_cache) {
    fixture<TestType> f;
    const std::vector<std::size_t> at = {128, 60};
    const std::vector<float> before = f.run(0, at);
    const std::vector<float> large(head_dimension, 1e30F);
    const std::vector<float> none(head_dimension, 1.0F / 0.0F); // of a text that was truncated
    for (std::size_t p = 129; p < positions; ++p)
        f.cache.write(1, 1, p, large.data(), p % 2 == 0 ? large.data() : none.data());
    f.cache.clear_behind(1, 1, 129);
    CHECK(std::memcmp(f.run(0, at).data(), before.data(), before.size() * sizeof(float)) == 0);
}

TEST_CASE("a block of 8 bits has a scale of its own, whatever is beside it") {
    q8_cache cache(1, 1, head_dimension, 64);
    std::vector<float> key(head_dimension, 1e-3F), value(head_dimension);
    key[0] = 1000.0F; // of the first block
    for (std::size_t d = 0; d < head_dimension; ++d)
        value[d] = static_cast<float>(d);
    cache.write(0, 0, 0, key.data(), value.data());
    cache.clear_behind(0, 0, 1);
    std::vector<bf16_bits> query(stride);
    query[head_dimension - 1] = round_to_bf16(1.0F); // of the second
    attention_scratch<q8_cache> scratch(1, 64, head_dimension);
    const attention_kernels<q8_cache> kernels(isa::portable);
    const std::size_t position = 0;
    score_panel(kernels, {cache, 0, 0, query.data(), stride, 1, &position}, 0, scratch);
    CHECK(scratch.scores[0] == Approx(1e-3F).epsilon(1e-6));
}

TEST_CASE("cache types have names") {
    for (const cache_type type :
         {cache_type::own, cache_type::f32, cache_type::bf16, cache_type::q8})
        CHECK(cache_type_named(name(type)) == type);
    CHECK_THROWS_WITH(cache_type_named("f16"), Catch::Contains("cache type: f16: expected f32"));
    CHECK(cache_bytes(cache_type::own, 64, true) == 256.0);
    CHECK(cache_bytes(cache_type::own, 64, false) == 128.0);
    CHECK(cache_bytes(cache_type::q8, 64, true) == 72.0);
}
