// SPDX-License-Identifier: MIT
#include <specdec_engine/transformer/pack.hpp>

#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "support/quantised_checkpoint.hpp"
#include "support/toy_checkpoint.hpp"

using namespace specdec::engine;
using Catch::Contains;

namespace pack_tests {

std::vector<float> row_of(const auto& matrix, std::size_t row) {
    std::vector<float> values(matrix.columns());
    matrix.read_row(row, values);
    return values;
}

TEST_CASE("quantised weights keep every number of their file, where it is looked for") {
    const toy::quantised_checkpoint c(
        open_checkpoint(SPECDEC_SOURCE_DIR "/models/docs-drafter"), [](const std::string& name) {
            return name.find("mlp") != std::string::npos    ? dtype::q4_1
                   : name.find("self") != std::string::npos ? dtype::q4_0
                                                            : dtype::q8_0;
        });
    for (const bool mixed : {false, true}) {
        checkpoint files = c.files;
        files.config.rotary.interleaved = mixed; // rows of q and k are turned then
        const auto found = pack<quantised>(files, 2);
        const auto expected = pack<float>(files, 2);
        const auto same = [](const quantised_matrix& a, const panel_matrix<float>& b) {
            REQUIRE(a.rows() == b.rows());
            bool all = true;
            for (std::size_t r = 0; r < a.rows(); ++r)
                all = all && row_of(a, r) == row_of(b, r);
            return all;
        };
        for (std::size_t i = 0; i < 2; ++i) {
            CHECK(found->blocks[i].qkv.type() == dtype::q4_0);
            CHECK(found->blocks[i].down.type() == dtype::q4_1);
            CHECK(same(found->blocks[i].qkv, expected->blocks[i].qkv));
            CHECK(same(found->blocks[i].output, expected->blocks[i].output));
            CHECK(same(found->blocks[i].gate_up, expected->blocks[i].gate_up));
            CHECK(same(found->blocks[i].down, expected->blocks[i].down));
        }
        CHECK(same(found->embedding, expected->embedding));
        CHECK(found->embedding.panel(0) == found->head.panel(0)); // tied
        CHECK(found->parameters() == expected->parameters());
        CHECK(found->forward_bytes() < expected->forward_bytes() / 4);
        CHECK(found->forward_bytes() == found->memory().size());
    }
}

TEST_CASE("numbers that Q8_0 cannot hold are refused with their tensor's name") {
    for (const float bad : {1e9F, -3e38F, std::nanf("")}) {
        const toy::temporary_folder folder;
        toy::checkpoint model;
        model.tensors["model.layers.1.mlp.down_proj.weight"].values[77] = bad;
        folder.write("config.json", model.config().dump());
        folder.write("model.safetensors", model.safetensors());
        const checkpoint c = open_checkpoint(folder.path());
        CHECK_THROWS_WITH(
            pack<quantised>(c, 1),
            Contains("model.safetensors: tensor model.layers.1.mlp.down_proj.weight") &&
                Contains("Q8_0"));
    }
}

} // namespace pack_tests
