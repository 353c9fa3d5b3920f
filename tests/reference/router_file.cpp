// SPDX-License-Identifier: MIT
#include <specdec/reference/router_file.hpp>

#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "support/toy_checkpoint.hpp"
#include <specdec/head/residual_router.hpp>

namespace router_file_tests {

using namespace specdec;
using namespace specdec::reference;

const toy::weights inner{{2, 2}, {0, 0, 0, 0}}, outer{{3, 2}, {1, 2, 3, 4, 5, 6}};

router_weights read(const toy::weights& w1, const std::string& second, const toy::weights& w2) {
    toy::checkpoint files;
    files.tensors = {{"router.inner.weight", w1}, {second, w2}};
    const std::string bytes = files.safetensors();
    return parse_router(std::as_bytes(std::span(bytes)), "file");
}

TEST_CASE("router file: the router that it holds") {
    const router_weights w = read(inner, "router.groups.weight", outer);
    CHECK(w.groups() == 3);
    CHECK(w.bytes() == 40);
    residual_router route(w.inner, w.outer, w.width);
    const std::vector<float> h{1, -1};
    std::vector<float> logits(3);
    route.route({h}, logits); // SiLU(0) + h
    CHECK(logits == std::vector<float>{-1, -1, -1});
}

TEST_CASE("router file: what is no router is named") {
    const std::string groups = "router.groups.weight";
    CHECK_THROWS_WITH(read(inner, "other", outer),
                      "file: tensor " + groups + ": expected a matrix of F32, F16 or BF16");
    CHECK_THROWS_WITH(read(outer, groups, outer), Catch::Contains("router.inner.weight") &&
                                                      Catch::Contains("expected shape [2, 2]"));
    CHECK_THROWS_WITH(read(inner, groups, toy::weights{{2, 3}, {1, 2, 3, 4, 5, 6}}),
                      Catch::Contains(groups) && Catch::Contains("expected shape [2, 2]"));
    CHECK_THROWS_WITH(read_router("/nowhere"), Catch::Contains("/nowhere"));
}

} // namespace router_file_tests
