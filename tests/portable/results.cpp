// SPDX-License-Identifier: MIT
//
// Prints what has a branch with compilers' builtins and one without: kernels, generators,
// functions.
#include <bit>
#include <cstdint>
#include <cstdio>
#include <random>
#include <vector>

#include <specdec/core/basic/builtins.hpp>
#include <specdec/sampling/coin/philox.hpp>
#include <specdec/sampling/coin/race_kernels.hpp>
#include <specdec/sampling/law/row_kernels.hpp>

using namespace specdec;

namespace {

void print(const char* what, float x) {
    std::printf("%s %08x\n", what, std::bit_cast<std::uint32_t>(x));
}
void print(const char* what, double x) {
    std::printf("%s %016llx\n", what,
                static_cast<unsigned long long>(std::bit_cast<std::uint64_t>(x)));
}

void print_row(std::mt19937_64& random, std::size_t size, float scale) {
    std::vector<float> row(size), weights(size), maxima(size / 7 + 1);
    for (float& logit : row)
        logit = static_cast<float>(static_cast<std::int64_t>(random())) * 0x1p-58F;
    if (size > 20)
        row[size / 3] = -builtin::infinity;
    const auto& kernels = row_kernels::portable::functions;
    const auto e = row_kernels::make_exponent(kernels.maximum(row.data(), size), scale);
    float maximum = 0;
    print("sum", kernels.sum(row.data(), size, e, maximum));
    print("maximum", maximum);
    kernels.weigh(row.data(), weights.data(), size, e);
    for (const float weight : weights)
        print("weight", weight);
    std::printf("numbers %d\n", kernels.block_maxima(row.data(), size, 7, maxima.data()));
    for (const float block : maxima)
        print("block", block);
}

} // namespace

int main() {
    std::mt19937_64 random(7);
    for (std::uint64_t i = 0; i < 25; ++i)
        for (const std::uint64_t word : philox4x64::block({~i, 7}, {i}))
            std::printf("word %llu\n", static_cast<unsigned long long>(word));
    for (const std::size_t size : {1U, 3U, 4U, 16U, 17U, 100U, 1023U})
        for (const float scale : {0.02F, 1.442695F, 14.4F})
            print_row(random, size, scale);
    for (int i = 0; i < 1000; ++i) {
        std::uint32_t keys[race_kernels::block];
        float weights[race_kernels::block];
        for (std::uint32_t& key : keys)
            key = static_cast<std::uint32_t>(random());
        for (float& weight : weights)
            weight = static_cast<float>(random() >> 40) * 0x1p-24F;
        std::printf("passes %d\n", race_kernels::portable::screen(
                                       keys, weights, {1, 2, static_cast<std::uint32_t>(i)},
                                       static_cast<float>(i) * 100));
    }
    for (double x = 0x1p-20; x < 20; x *= 1.37) {
        print("exp", builtin::exp(-x));
        print("expf", builtin::expf(static_cast<float>(-x)));
        print("exp2", builtin::exp2(x));
        print("expm1", builtin::expm1(-x));
        print("fabs", builtin::fabs(-x));
        print("log", builtin::log(x));
        print("logf", builtin::logf(static_cast<float>(x)));
        print("log1p", builtin::log1p(x));
        print("pow", builtin::pow(x, 1.7));
        print("sqrt", builtin::sqrt(x));
    }
}
