// SPDX-License-Identifier: MIT
// A GGUF file as OpenVINO's frontend reads it, with our rows and attention mask: all tokens of a
// pass have logits, and truncated tokens leave no trace.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <span>
#include <vector>

#include "rows.hpp"
#include "support/temporary_folder.hpp"
#include "support/toy_checkpoint.hpp"
#include "toy_ir.hpp"
#include <specdec/core/token_id.hpp>
#include <specdec/interop/openvino_gguf.hpp>
#include <specdec/interop/openvino_model.hpp>
#include <specdec/interop/openvino_rows.hpp>

using namespace specdec;

TEST_CASE("truncated tokens of a GGUF file leave no trace, masked or cut out of the states") {
    const testing::temporary_folder folder;
    const toy::checkpoint file(3);
    const auto path = folder.write("model.gguf", file.gguf());
    for (const bool rows : {false, true}) {
        const std::shared_ptr<ov::Model> network = openvino_read_gguf(path.string());
        if (rows)
            openvino_select_rows(*network);
        const ov::CompiledModel engine = toy_ir::compiled(network);
        std::minstd_rand bits(5);
        const auto any = [&] { return target_id{static_cast<std::int32_t>(bits() % 77)}; };
        std::vector<target_id> text;
        for (int i = 0; i < 40; ++i)
            text.push_back(any());
        const std::vector<toy_ir::row> expected = toy_ir::rows_alone(engine, text);
        for (const std::size_t compaction : {0U, 8U, 1U << 20U}) {
            CAPTURE(rows, compaction);
            openvino_model<target_id> model(engine, {.compaction = compaction});
            model.append(std::span(text).first(3));
            for (std::size_t at = 3; at + 4 < text.size();) {
                std::vector<target_id> pass(text.begin() + static_cast<std::ptrdiff_t>(at),
                                            text.begin() + static_cast<std::ptrdiff_t>(at) + 4);
                const std::size_t kept = 1 + bits() % 4;
                for (std::size_t i = kept; i < pass.size(); ++i)
                    pass[i] = any();
                const std::vector<toy_ir::row> found = toy_ir::rows_of(model.score(pass));
                REQUIRE(found.size() == 4);
                double most = 0;
                for (std::size_t i = 0; i < kept; ++i)
                    most = std::max(most, toy_ir::distance(found[i], expected[at + i]));
                // States that are cut are read and written in the file's precision, f16.
                CHECK(most < (model.compactions() > 0 ? 1e-2 : 1e-5));
                at += kept;
                model.truncate(at);
            }
            CHECK((model.compactions() > 0) == (compaction < 1U << 20U));
        }
    }
}
