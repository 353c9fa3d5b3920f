// SPDX-License-Identifier: MIT
#include <specdec_engine/learn/features/serving_features.hpp>

#include <catch2/catch.hpp>

#include "drafter/drafter_forms.hpp"

namespace serving_features_tests {

using namespace specdec;
using namespace specdec::engine;
using namespace drafter_forms;

TEST_CASE("weights learn where tokens are read by the target's embedding, or a copy of it") {
    const transformer target = make_target(feature_kind::head_input, precision::bf16);
    for (const bool copied : {true, false}) {
        drafter_files files(feature_kind::head_input);
        files.add_embedding(copied);
        const toy::temporary_folder folder;
        files.write(folder);
        const feature_body body = load_feature_body(folder.path(), target);
        if (copied)
            CHECK_NOTHROW(serving_features(body));
        else
            CHECK_THROWS_WITH(serving_features(body),
                              Catch::Contains("tensor embed_tokens.weight: expected the target's"));
    }
}

} // namespace serving_features_tests
