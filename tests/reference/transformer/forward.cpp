// SPDX-License-Identifier: MIT
#include <specdec/reference/transformer/forward.hpp>

#include <vector>

#include <catch2/catch.hpp>

#include "support/count_allocations.hpp"
#include "support/toy_checkpoint.hpp"
#include <specdec/reference/load.hpp>

using namespace specdec::reference;
using specdec::testing::allocations;

TEST_CASE("a pass allocates nothing, neither for rows nor for a long prompt") {
    const toy::temporary_folder folder;
    const auto path = folder.write("m.gguf", toy::checkpoint().gguf());
    for (const precision p : {precision::f32, precision::bf16, precision::q8})
        for (const std::size_t threads : {1U, 2U}) {
            load_options options;
            options.number_format = p;
            options.context.threads = threads;
            options.context.rows = 8;
            transformer t = load_transformer(path, options);
            const std::vector<std::int32_t> ids(50, 3);
            const long before = allocations;
            t.append(ids);
            t.score({ids.data(), 8});
            t.truncate(51);
            t.score({ids.data(), 1});
            CHECK(allocations == before);
        }
}

TEST_CASE("a chunk is whole tiles, and a longer prompt is cut into chunks") {
    STATIC_REQUIRE(forward_pass<float>::chunk % tile_columns == 0);
    const toy::temporary_folder folder;
    const auto path = folder.write("m.gguf", toy::checkpoint().gguf());
    transformer t = load_transformer(path);
    std::vector<std::int32_t> ids(60);
    for (std::size_t i = 0; i < ids.size(); ++i)
        ids[i] = static_cast<std::int32_t>(i);
    t.append({ids.data(), 59});
    t.score({ids.data() + 59, 1});
    const std::vector<float> last(&t.logits()(0, 0), &t.logits()(0, 0) + 77);
    t.truncate(0);
    t.score(ids);
    CHECK(std::equal(last.begin(), last.end(), &t.logits()(59, 0)));
}
