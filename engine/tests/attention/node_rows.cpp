// SPDX-License-Identifier: MIT
#include <specdec_engine/attention/node_rows.hpp>

#include <cstddef>
#include <vector>

#include <catch2/catch.hpp>

using namespace specdec::engine;

namespace {

constexpr std::size_t d = 40, context = 5;

/// A head of a cache as numbers, key before value.
template <class Value>
std::vector<float> read(const kv_cache<Value>& cache, std::size_t layer, std::size_t head,
                        std::size_t position) {
    std::vector<float> out;
    for (std::size_t i = 0; i < d; ++i)
        out.push_back(widen(cache.keys(
            layer, head, position / panel_rows)[panel_index<Value>(position % panel_rows, i)]));
    for (std::size_t i = 0; i < d; ++i)
        out.push_back(widen(cache.values(
            layer, head, i / panel_rows)[panel_index<Value>(i % panel_rows, position)]));
    return out;
}

std::vector<float> numbers(std::size_t seed) {
    std::vector<float> out(2 * d);
    for (std::size_t i = 0; i < out.size(); ++i)
        out[i] = static_cast<float>((seed * 31 + i * 7) % 64) / 8.0F - 4.0F; // exact in BF16
    return out;
}

} // namespace

TEMPLATE_TEST_CASE("paths of a tree are laid behind the context, and one of them stays", "", float,
                   bf16_bits) {
    kv_cache<TestType> cache(2, 2, d, 40);
    node_rows<kv_cache<TestType>> nodes(2, 2, d);
    const auto none = std::size_t(-1);
    const std::vector<std::size_t> parents = {none, 0, 0, 1, 2, none};
    for (std::size_t n = 0; n < parents.size(); ++n) {
        nodes.reserve(n + 1);
        for (std::size_t layer = 0; layer < 2; ++layer)
            for (std::size_t head = 0; head < 2; ++head) {
                const std::vector<float> x = numbers(n * 4 + layer * 2 + head);
                nodes.write(layer, head, n, x.data(), x.data() + d);
            }
    }
    path_layer paths;
    paths.begin();
    const std::vector<float> zero(2 * d);
    for (const std::vector<std::size_t>& path : std::vector<std::vector<std::size_t>>{
             {0, 1, 3}, {0, 2}, {0, 2, 4}, {5}, {0, 1, 3}, {5}, {0}}) {
        paths.lay(nodes, parents, path.back(), context + path.size() - 1, context, 1, 0, cache);
        for (std::size_t i = 0; i < path.size(); ++i)
            CHECK(read(cache, 1, 0, context + i) == numbers(path[i] * 4 + 2));
        CHECK(read(cache, 1, 1, context) == zero);
    }
    nodes.lay(4, cache, context);
    for (std::size_t layer = 0; layer < 2; ++layer)
        for (std::size_t head = 0; head < 2; ++head)
            CHECK(read(cache, layer, head, context) == numbers(16 + layer * 2 + head));
}

TEST_CASE("what is not finite behind a path is cleared") {
    kv_cache<float> cache(1, 1, d, 40);
    node_rows<kv_cache<float>> nodes(1, 1, d);
    nodes.reserve(1);
    std::vector<float> x(2 * d, 1.0F);
    nodes.write(0, 0, 0, x.data(), x.data() + d);
    x.assign(2 * d, 1.0F / 0.0F);
    for (std::size_t p = context; p < 12; ++p)
        cache.write(0, 0, p, x.data(), x.data() + d);
    path_layer paths;
    paths.begin();
    paths.lay(nodes, {std::size_t(-1)}, 0, context, context, 0, 0, cache);
    for (std::size_t p = context + 1; p < kv_cache<float>::value_length(context + 1); ++p)
        CHECK(read(cache, 0, 0, p)[d] == 0);
}
