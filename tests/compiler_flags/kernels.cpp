// SPDX-License-Identifier: MIT
// Prints what the CPU engine's kernels compute with each instruction set of this machine, bit for
// bit: builds with other optimisation print the same.
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <vector>

#include <specdec_engine/attention/q8_cache.hpp>
#include <specdec_engine/kernel/elementwise.hpp>
#include <specdec_engine/kernel/panel_kernel.hpp>
#include <specdec_engine/kernel/quantised_column.hpp>
#include <specdec_engine/kernel/quantised_kernel.hpp>

using namespace specdec::engine;

namespace {

std::uint64_t state = 1;
/// From -2 to 2, the same in each run.
float number() {
    state = state * 6364136223846793005U + 1442695040888963407U;
    return static_cast<float>(static_cast<std::int32_t>(state >> 32)) * 0x1p-30F;
}
template <class Value>
std::vector<Value> numbers(std::size_t n) {
    std::vector<Value> out(n);
    for (Value& x : out)
        if constexpr (std::same_as<Value, float>)
            x = number();
        else
            x = round_to_bf16(number());
    return out;
}

void print(const char* what, isa set, const void* data, std::size_t bytes) {
    std::uint64_t hash = 14695981039346656037U; // FNV-1a
    for (std::size_t i = 0; i < bytes; ++i)
        hash = (hash ^ static_cast<const unsigned char*>(data)[i]) * 1099511628211U;
    std::printf("%s %d %016llx\n", what, static_cast<int>(set),
                static_cast<unsigned long long>(hash));
}
template <class T>
void print(const char* what, isa set, const std::vector<T>& x) {
    print(what, set, x.data(), x.size() * sizeof(T));
}

constexpr std::size_t length = 384;

template <class Value>
void check(isa set) {
    const column_functions<Value>& columns = column_functions_for<Value>(set);
    const std::vector<float> x = numbers<float>(length), w = numbers<float>(length);
    std::vector<Value> out(length);
    columns.rms_norm(x.data(), w.data(), length, 1e-5F, out.data());
    print("rms_norm", set, out);
    columns.swiglu(x.data(), length / 32, out.data(), 16);
    print("swiglu", set, out);
    columns.geglu(x.data(), length / 32, out.data(), 16);
    print("geglu", set, out);
    std::vector<float> scores = x;
    const float scale = columns.softmax(scores.data(), length - 5, length, out.data());
    print("softmax", set, out);
    print("softmax's sum", set, &scale, sizeof scale);
    const std::vector<Value> panel = numbers<Value>(length * panel_rows),
                             in = numbers<Value>(length * tile_columns);
    for (const auto kernel : panel_kernels_for<Value>(set).by_columns) {
        std::vector<float> y(tile_columns * panel_rows);
        kernel(panel.data(), length, in.data(), length, y.data(), fetch_ahead{}, false);
        print("products", set, y);
    }
}

void check_quantised(isa set) {
    const std::vector<float> x = numbers<float>(length);
    std::vector<q8_block> blocks(blocks_of(length));
    column_quantiser_for(set)(x.data(), length, blocks.data());
    for (const q8_block& b : blocks)
        print("block", set, &b, sizeof b);
    std::vector<float> y = numbers<float>(panel_rows * 4), scale = numbers<float>(panel_rows),
                       out = numbers<float>(4 * panel_rows);
    detail::widening_functions_for(set).scale_rows(y.data(), scale.data(), 4, true, out.data(),
                                                   panel_rows);
    print("scaled rows", set, out);
}

} // namespace

int main() {
    for (const isa set : {isa::portable, isa::avx2, isa::avx512, isa::avx512_bf16})
        if (usable(set) == set) {
            check<float>(set);
            check<bf16_bits>(set);
            check_quantised(set);
        }
}
