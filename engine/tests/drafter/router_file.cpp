// SPDX-License-Identifier: MIT
#include <specdec_engine/drafter/router_file.hpp>

#include <bit>
#include <optional>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "support/toy_checkpoint.hpp"
#include <specdec/head/residual_router.hpp>

namespace router_file_tests {

using namespace specdec;
using namespace specdec::engine;

const toy::weights inner{{2, 2}, {0, 0, 0, 0}}, outer{{3, 2}, {1, 2, 3, 4, 5, 6}};

router_weights read(const toy::weights& w1, const std::string& second, const toy::weights& w2,
                    const std::optional<std::vector<int>>& group_of = {}) {
    toy::checkpoint files;
    files.tensors = {{"router.inner.weight", w1}, {second, w2}};
    if (!group_of) {
        const std::string plain = files.safetensors();
        return parse_router(std::as_bytes(std::span(plain)), "file");
    }
    toy::weights groups{{group_of->size()}, {}};
    for (const int g : *group_of)
        groups.values.push_back(std::bit_cast<float>(g));
    files.tensors["router.group_of"] = groups;
    const std::string bytes = files.safetensors(
        [](nlohmann::json& header) { header["router.group_of"]["dtype"] = "I32"; });
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

TEST_CASE("router file: groups are equal parts of the vocabulary, or those of the file") {
    const std::string name = "router.groups.weight";
    const token_groups<draft_id> equal = groups_of<draft_id>(read(inner, name, outer), 6);
    CHECK(equal.size() == 3);
    CHECK(equal[1].front() == draft_id{2});
    const router_weights w = read(inner, name, outer, std::vector{2, 0, 1, 1, 0, 2});
    const token_groups<draft_id> own = groups_of<draft_id>(w, 6);
    CHECK(std::vector(own[0].begin(), own[0].end()) == std::vector{draft_id{1}, draft_id{4}});
    CHECK(std::vector(own[2].begin(), own[2].end()) == std::vector{draft_id{0}, draft_id{5}});
    CHECK_THROWS_WITH(groups_of<draft_id>(w, 7), Catch::Contains("expected the 7 ids of the head"));
    for (const int none : {-1, 3})
        CHECK_THROWS_WITH(read(inner, name, outer, std::vector{0, 1, none}),
                          Catch::Contains("router.group_of: expected groups from 0 to 2, found " +
                                          std::to_string(none)));
    CHECK_THROWS_WITH(read(inner, name, outer, std::vector<int>{}),
                      Catch::Contains("router.group_of: expected the group of each token"));
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
    for (const float bad : {__builtin_inff(), -__builtin_inff(), __builtin_nanf("")}) {
        CHECK_THROWS_WITH(read(inner, groups, toy::weights{{3, 2}, {1, 2, 3, 4, 5, bad}}),
                          "file: tensor " + groups +
                              ": expected finite numbers, found another in row 2");
        CHECK_THROWS_WITH(read(toy::weights{{2, 2}, {0, bad, 0, 0}}, groups, outer),
                          Catch::Contains("router.inner.weight: expected finite numbers"));
    }
}

} // namespace router_file_tests
