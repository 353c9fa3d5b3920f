// SPDX-License-Identifier: MIT
#include <specdec/reference/transformer_batch.hpp>

#include <cstddef>
#include <span>
#include <vector>

#include <catch2/catch.hpp>

#include "reference/toy_weights.hpp"
#include <specdec/core/concepts.hpp>
#include <specdec/core/model/context_tracker.hpp>
#include <specdec/core/model/tree_scoring.hpp>
#include <specdec/head/features/features.hpp>
#include <specdec/reference/transformer_model.hpp>
#include <specdec/testing/contract/engine_contract.hpp>

namespace transformer_batch_tests {

using namespace specdec;
using namespace specdec::testing;
using Catch::Contains;
using reference::matrix;
using reference::transformer_model;
using batch = reference::transformer_batch<target_id, double>;

static_assert(BatchTreeModelOf<batch, target_id>);
static_assert(HiddenTreeBatchModelOf<batch, target_id>);
static_assert(FeatureBatchModelOf<batch, target_id>);
static_assert(TellsHeldBatch<batch, target_id>);
static_assert(!BatchModelOf<batch, draft_id>);

std::vector<target_id> some_ids(std::size_t n, std::size_t salt) {
    std::vector<target_id> ids;
    for (std::size_t i = 0; i < n; ++i)
        ids.push_back(id_at<target_id>((i * i + (7 + salt) * i + salt) % 37));
    return ids;
}

TEST_CASE("several sequences of the reference transformer keep the batch contract") {
    const auto weights = toy_weights();
    const contract_report report = check_batch_model<target_id>(
        [&] { return batch(weights, {.sequences = 4, .capacity = 40}); }, {.tolerance = 1e-6});
    CHECK(report.text() == "");
    CHECK(report.unchecked.empty());
}

TEST_CASE("trees and features of a pass over several sequences are those of each alone") {
    const auto weights = toy_weights();
    batch all(weights, {.sequences = 3, .features = {1, 3}});
    constexpr std::size_t root = tree_root;
    const std::vector<std::size_t> bush{root, 0, 0, 1, root, 4, 2, 2, 6}, chain{root, 0, 1};
    std::vector<transformer_model<target_id, double>> alone;
    for (std::size_t s = 0; s < 3; ++s) {
        alone.emplace_back(weights, reference::transformer_settings{.features = {1, 3}});
        all.append(s, some_ids(2 + 5 * s, s));
        alone[s].append(some_ids(2 + 5 * s, s));
    }
    const std::vector<target_id> ids = some_ids(9, 3);
    const std::span<const target_id> given = ids;
    const std::vector<sequence_nodes<target_id>> parts{
        {2, given, bush}, {0, given.first(5), {}}, {1, given.first(3), chain}};
    CHECK(all.score_tree(parts).size() == 17);
    const matrix<double> together = all.logits();
    const hidden_states features = all.features();
    REQUIRE(features.size() == 17);
    REQUIRE(features.width() == 40);
    std::size_t first = 0;
    for (const auto& [s, nodes, parents] : parts) {
        if (parents.empty())
            (void)alone[s].score(nodes);
        else
            (void)alone[s].score_tree(nodes, parents);
        const Eigen::Index n = reference::index(nodes.size());
        CHECK((together.middleRows(reference::index(first), n) - alone[s].logits())
                  .cwiseAbs()
                  .maxCoeff() < 1e-13);
        for (std::size_t i = 0; i < nodes.size(); ++i)
            for (std::size_t k = 0; k < 40; ++k)
                CHECK(features[first + i].values[k] ==
                      Approx(alone[s].features()[i].values[k]).margin(1e-6));
        first += nodes.size();
    }
    // The caches go on with a path, and forget the other nodes.
    const std::vector<std::size_t> path{0, 2, 6, 8};
    all.keep_path(2, path);
    transformer_model<target_id, double> fed(weights);
    std::vector<target_id> tokens = some_ids(12, 2);
    for (const std::size_t node : path)
        tokens.push_back(ids[node]);
    fed.append(tokens);
    REQUIRE(all.size(2) == 16);
    CHECK(std::vector(all.held(2).begin(), all.held(2).end()) == tokens);
    using reference::cache_side;
    for (std::size_t layer = 0; layer < 3; ++layer)
        for (const cache_side side : {cache_side::key, cache_side::value})
            for (std::size_t head = 0; head < 2; ++head)
                CHECK((all.cache(2).head(layer, side, head, 16) -
                       fed.cache().head(layer, side, head, 16))
                          .cwiseAbs()
                          .maxCoeff() < 1e-13);
}

TEST_CASE("a logical vocabulary is a prefix of the head's rows") {
    const auto weights = toy_weights();
    transformer_model<target_id, double> whole(weights), part(weights, {.vocabulary_size = 30});
    const std::vector<target_id> ids = {target_id{3}, target_id{29}};
    (void)whole.score(ids);
    CHECK(part.score(ids).vocabulary() == 30);
    CHECK((part.logits() - whole.logits().leftCols(30)).cwiseAbs().maxCoeff() < 1e-13);
    const std::vector<target_id> beyond = {target_id{30}};
    CHECK_THROWS_WITH(part.append(beyond), Contains("target's ids: expected ids from 0 to 30 - 1"));
}

TEST_CASE("calls that make no sense are refused by name and change nothing") {
    batch all(toy_weights(), {.sequences = 2, .capacity = 6});
    const std::vector<target_id> ids = some_ids(7, 0);
    const std::span<const target_id> given = ids;
    all.append(0, given.first(4));
    const auto refused = [&](const std::vector<sequence_tokens<target_id>>& parts,
                             const std::string& why) {
        CHECK_THROWS_WITH(all.score(parts), Contains(why));
        CHECK(all.size(0) == 4);
        CHECK(all.size(1) == 0);
    };
    refused(
        {{1, given.first(1)}, {0, given.first(3)}},
        "reference transformer: context: expected at most the 2 tokens that have room, found 3");
    refused({{1, given.first(1)}, {1, given.first(1)}}, "parts: expected no sequence twice");
    refused({{1, given.first(1)}, {2, given.first(1)}}, "sequence 2: expected a sequence below 2");
    refused({{1, given.first(0)}}, "ids: expected at least one");
    const std::vector<std::size_t> none;
    reference::transformer_model<target_id, double> one(toy_weights());
    CHECK_THROWS_WITH(one.score_tree(given, none),
                      Contains("parents: expected a parent for each token"));
}

} // namespace transformer_batch_tests
