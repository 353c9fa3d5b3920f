// SPDX-License-Identifier: MIT
#include <specdec_engine/transformer/own_types.hpp>

#include <string>

#include <catch2/catch.hpp>

#include "support/quantised_checkpoint.hpp"

using namespace specdec::engine;

namespace own_types_tests {

checkpoint docs() {
    return open_checkpoint(SPECDEC_SOURCE_DIR "/models/docs-drafter");
}
bool ends(const std::string& name, const std::string& with) {
    return name.size() >= with.size() &&
           name.compare(name.size() - with.size(), with.size(), with) == 0;
}

TEST_CASE("types of a checkpoint's matrices: their own, Q8_0 where these are none or several") {
    const toy::quantised_checkpoint c(docs(), [](const std::string& name) {
        if (ends(name, "embed_tokens.weight"))
            return dtype::q4_0;
        if (ends(name, "o_proj.weight"))
            return dtype::other;
        return ends(name, "1.mlp.up_proj.weight") ? dtype::q8_0 : dtype::q4_1;
    });
    const model_types types = own_types(c.files);
    REQUIRE(types.blocks.size() == 2);
    CHECK(types.blocks[0].qkv == dtype::q4_1);
    CHECK(types.blocks[0].output == dtype::q8_0); // BF16 in the file
    CHECK(types.blocks[0].gate_up == dtype::q4_1);
    CHECK(types.blocks[0].down == dtype::q4_1);
    CHECK(types.blocks[1].gate_up == dtype::q8_0); // of two types
    CHECK(types.embedding == dtype::q4_0);
    CHECK(types.head == dtype::q4_0); // tied
}

TEST_CASE("what a file is computed in: as asked, as it is, or what is fastest") {
    using enum precision;
    const checkpoint rounded = docs();
    const auto none = [](const std::string&) { return dtype::other; };
    for (const precision p : {f32, bf16})
        CHECK(precision_of(rounded, p) == p);
    CHECK(precision_of(rounded, native) == bf16);
    CHECK(precision_of(rounded, automatic) == bf16);
    CHECK(precision_of(rounded, q8) == native);

    toy::quantised_checkpoint half(docs(), none);
    half.files.tensors.at("model.layers.0.mlp.up_proj.weight").type = dtype::f16;
    CHECK(precision_of(half.files, native) == f32); // F16 has bits that BF16 has not
    CHECK(precision_of(half.files, automatic) == bf16);

    const toy::quantised_checkpoint one(docs(), [](const std::string& name) {
        return ends(name, "1.mlp.up_proj.weight") ? dtype::q4_0 : dtype::other;
    });
    for (const precision p : {native, q8}) {
        CHECK(precision_of(one.files, p) == native);
        CHECK(precision_of(one.files, p, isa::portable) == native);
    }
    CHECK(precision_of(one.files, automatic) == (best_isa() == isa::portable ? bf16 : native));
    CHECK(precision_of(one.files, automatic, isa::portable) == bf16);
    CHECK(precision_of(one.files, bf16) == bf16);
}

TEST_CASE("every precision has a name, and is found by it") {
    using enum precision;
    for (const precision p : {f32, bf16, native, q8, automatic})
        CHECK(precision_named(name(p)) == p);
    CHECK_THROWS_WITH(precision_named("f64"),
                      Catch::Contains("precision: f64: expected f32, bf16"));
    CHECK(name(f32) == "f32");
    CHECK(name(bf16) == "bf16");
    CHECK(name(native) == "native");
    CHECK(name(q8) == "q8");
    CHECK(name(automatic) == "auto");
}

} // namespace own_types_tests
