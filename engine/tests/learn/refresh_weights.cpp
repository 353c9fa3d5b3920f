// SPDX-License-Identifier: MIT
#include <specdec_engine/learn/refresh_weights.hpp>

#include <cmath>
#include <memory>

#include <catch2/catch.hpp>

#include "toys.hpp"
#include <specdec_engine/load.hpp>

namespace refresh_tests {

using namespace learning_toys;
using Catch::Contains;

TEST_CASE("packed weights that were never refreshed are those of the loader") {
    for (const form f : {form::untied, form::tied, form::biased}) {
        const open_toy toy(f);
        const checkpoint c = toy.open();
        const auto expected = pack<bf16_bits>(c, 1);
        model_weights<bf16_bits> found(c.config);
        refresh_weights(found, read_parameters(c), 1);
        CHECK(std::ranges::equal(found.memory(), expected->memory()));
        CHECK(found.blocks[1].qkv_bias == expected->blocks[1].qkv_bias);
        CHECK(found.final_norm == expected->final_norm);
    }
    const open_toy toy(form::untied);
    const checkpoint c = open_checkpoint(toy.folder.write("m.gguf", toy.model.gguf()));
    model_weights<float> found(c.config);
    refresh_weights(found, read_parameters(c), 1);
    CHECK(std::ranges::equal(found.memory(), pack<float>(c, 1)->memory()));
}

TEST_CASE("a transformer decodes with what was learnt") {
    for (const form f : {form::untied, form::biased}) {
        const open_toy toy(f);
        auto m = read_parameters(toy.open());
        const auto packed = std::make_shared<model_weights<float>>(m.config());
        refresh_weights(*packed, m);
        transformer engine(std::shared_ptr<const model_weights<float>>(packed), {.threads = 1});
        const texts of({20});
        engine.score(of.ids[0]);
        const float before = engine.logits()(3, 3);

        for (std::size_t i = 0; i < m.values().size(); ++i)
            m.values()[i] += 0.05F * std::sin(static_cast<float>(i));
        training_pass<float> pass(m.config(), {1, 20, 20});
        const auto expected = pass.forward(m, of.view());
        refresh_weights(*packed, m);
        engine.truncate(0);
        engine.score(of.ids[0]);
        CHECK(std::abs(engine.logits()(3, 3) - before) > 0.01F);
        float worst = 0;
        for (std::size_t r = 0; r < 20; ++r)
            for (std::size_t t = 0; t < 77; ++t)
                worst = std::max(
                    worst, std::abs(engine.logits()(r, t) - expected(index_of(t), index_of(r))));
        CHECK(worst < 1e-4F);
    }
}

TEST_CASE("weights of another model are refused") {
    const auto tied = read_parameters(open_toy(form::tied).open());
    model_weights<float> other(read_parameters(open_toy(form::untied).open()).config());
    CHECK_THROWS_WITH(refresh_weights(other, tied), Contains("learnt weights: shapes: "));
}

} // namespace refresh_tests
