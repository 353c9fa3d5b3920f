// SPDX-License-Identifier: MIT
#include <specdec_engine/learn/serving_weights.hpp>

#include <algorithm>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

#include "toys.hpp"
#include <specdec/core/law_version.hpp>
#include <specdec_engine/batch_model.hpp>
#include <specdec_engine/load.hpp>
#include <specdec_engine/transformer/transformer.hpp>

namespace serving_weights_tests {

using namespace specdec;
using namespace learning_toys;
using Catch::Contains;

/// All of them the same number, so that a set that was half written shows.
void fill(model_parameters<float>& m, float value) {
    std::fill(m.values().begin(), m.values().end(), value);
}
bool is_whole(std::span<const float> packed) {
    const float most = *std::max_element(packed.begin(), packed.end()); // padding is 0
    return std::all_of(packed.begin(), packed.end(),
                       [most](float x) { return x == 0 || x == most; });
}

TEST_CASE("what was published decodes from the next take on") {
    const open_toy toy(form::tied);
    auto m = read_parameters(toy.open());
    serving_weights<float> serving(m);
    transformer engine(serving.current(), {.threads = 1});
    const texts of({12});
    engine.score(of.ids[0]);
    const float before = engine.logits()(3, 3);
    CHECK(serving.take() == nullptr);

    for (float& w : m.values())
        w *= 1.5F;
    serving.publish(m);
    engine.truncate(0);
    engine.score(of.ids[0]);
    CHECK(engine.logits()(3, 3) == before);
    const auto next = serving.take();
    REQUIRE(next != nullptr);
    CHECK(serving.take() == nullptr);
    CHECK(serving.current() == next);
    engine.use(next);
    CHECK(engine.size() == 0);
    engine.score(of.ids[0]);
    CHECK(engine.logits()(3, 3) != before);

    const auto packed = pack<float>(view_checkpoint(m), 1);
    transformer fresh(packed, {.threads = 1});
    fresh.score(of.ids[0]);
    CHECK(engine.logits()(3, 3) == fresh.logits()(3, 3));
}

TEST_CASE("of several publications the latest is taken") {
    const open_toy toy(form::tied);
    auto m = read_parameters(toy.open());
    serving_weights<float> serving(m);
    for (const float value : {1.0F, 2.0F, 3.0F}) {
        fill(m, value);
        serving.publish(m);
    }
    CHECK(serving.take()->memory()[0] == 3);
    CHECK(serving.take() == nullptr);
}

TEST_CASE("weights of other shapes are refused") {
    const open_toy toy(form::tied), other(form::untied);
    serving_weights<float> serving(read_parameters(toy.open()));
    const auto before = serving.current();
    CHECK_THROWS_WITH(serving.publish(read_parameters(other.open())), Contains("shapes"));
    CHECK(serving.take() == nullptr);
    transformer engine(before, {.threads = 1});
    CHECK_THROWS_WITH(engine.use(pack<float>(other.open(), 1)), Contains("shapes"));
    CHECK_THROWS_WITH(engine.use(pack<bf16_bits>(toy.open(), 1)), Contains("number format"));
    batch_model<draft_id> several(transformer(before, {.threads = 1, .sequences = 2}));
    several.append(1, std::vector{draft_id{1}});
    const law_version mark = version_of(several, std::size_t{0});
    several.use(before);
    CHECK(several.size(1) == 0);
    CHECK(version_of(several, std::size_t{0}) !=
          mark); // a round that was drafted before is refused
}

TEST_CASE("weights that ask for other arithmetic are refused by what differs") {
    const open_toy toy(form::tied);
    const auto m = read_parameters(toy.open());
    transformer engine(pack<float>(toy.open(), 1), {.threads = 1});
    serving_weights<float> serving(m);
    const auto refused = [&](const auto& edit, const std::string& field) {
        checkpoint other = toy.open();
        edit(other.config);
        CHECK_THROWS_WITH(engine.use(pack<float>(other, 1)), Contains("weights: " + field + ": "));
        CHECK_THROWS_WITH(serving.publish(read_parameters(other)),
                          Contains("learnt weights: " + field + ": "));
    };
    refused([](model_config& c) { c.rms_epsilon = 1e-6F; }, "RMS norm epsilon");
    refused([](model_config& c) { c.rotary.theta = 500000; }, "rotary settings");
    refused([](model_config& c) { c.rotary.scaled = true; }, "rotary settings");
    refused([](model_config& c) { c.rotary.factors = {1, 2, 4}; }, "rotary settings");
    checkpoint scaled = toy.open();
    scaled.config.rotary.scaled = true;
    transformer stretched(pack<float>(scaled, 1), {.threads = 1});
    scaled.config.rotary.llama3.original_context = 4096;
    CHECK_THROWS_WITH(stretched.use(pack<float>(scaled, 1)), Contains("rotary settings"));
    // Where rows lie in files, contexts and ends of text change no number.
    checkpoint same = toy.open();
    same.config.rotary.llama3.factor = 7; // does not apply
    same.config.context = 5;
    same.config.eos = {7};
    CHECK_NOTHROW(engine.use(pack<float>(same, 1)));
    const auto gguf = open_checkpoint(toy.folder.write("m.gguf", toy.model.gguf()));
    CHECK_NOTHROW(engine.use(pack<float>(gguf, 1)));
    CHECK(serving.take() == nullptr);
}

// Under -fsanitize=thread, too: g++-12 -std=c++20 -O1 -fsanitize=thread ...
TEST_CASE("a set is whole whenever it is taken, while another thread publishes") {
    const open_toy toy(form::tied);
    auto m = read_parameters(toy.open());
    fill(m, 0.5F);
    serving_weights<float> serving(m);
    std::jthread learner([&](const std::stop_token& stop) {
        auto own = m;
        for (float value = 1; value <= 200 && !stop.stop_requested(); ++value) {
            fill(own, value);
            serving.publish(own);
        }
    });
    float latest = 0.5F;
    for (int i = 0; i < 2000 && latest < 200; ++i) {
        const auto next = serving.take();
        const auto used = serving.current();
        CHECK((next == nullptr || next == used));
        REQUIRE(is_whole(used->memory()));
        const float now = used->memory()[0];
        CHECK(now >= latest);
        latest = now;
    }
}

} // namespace serving_weights_tests
