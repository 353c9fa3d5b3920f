// SPDX-License-Identifier: MIT
#include <specdec_engine/file/llama2c.hpp>

#include <catch2/catch.hpp>

#include "support/toy_checkpoint.hpp"

using namespace specdec::engine;
using Catch::Contains;

TEST_CASE("a llama2.c file says its configuration, and the head by a sign") {
    for (const bool tied : {true, false}) {
        const std::string text = toy::checkpoint(1, tied).llama2c();
        const checkpoint c = open_llama2c(toy::bytes(text), "m.bin");
        CHECK(c.config.tied == tied);
        CHECK(c.has("lm_head.weight") != tied);
        CHECK(c.config.vocabulary_size == 77);
        CHECK(c.config.head_dimension == 6);
        CHECK(c.config.rotary.interleaved);
        CHECK(c.at("model.layers.1.mlp.down_proj.weight", {36, 50}).bytes.size() == 4 * 36 * 50);
    }
}

TEST_CASE("fields and sizes of llama2.c files are checked") {
    const std::string good = toy::checkpoint().llama2c();
    const auto fails = [&](std::size_t field, std::int32_t value, const char* expected) {
        std::string text = good;
        std::memcpy(text.data() + 4 * field, &value, 4);
        CHECK_THROWS_WITH(open_llama2c(toy::bytes(text), "m.bin"),
                          Contains("m.bin: ") && Contains(expected));
    };
    fails(0, -1, "dim");
    fails(0, 35, "n_heads");
    fails(0, 36 << 20, "hidden size");
    fails(1, 0, "hidden_dim");
    fails(2, 4000, "n_layers");
    fails(3, 5, "n_heads");
    fails(4, 4, "key/value heads");
    fails(5, 0, "vocabulary size");
    fails(5, -80, "tensor");
    fails(5, 80, "bytes more");
    fails(6, 1 << 29, "rotary tables");
    fails(6, 63, "bytes more");
    for (std::size_t n = 0; n < good.size(); n += 61) {
        const std::string cut = good.substr(0, n);
        CHECK_THROWS_AS(open_llama2c(toy::bytes(cut), "m.bin"), specdec::error);
    }
}
