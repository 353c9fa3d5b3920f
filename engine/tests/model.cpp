// SPDX-License-Identifier: MIT
#include <specdec_engine/model.hpp>

#include <vector>

#include <catch2/catch.hpp>

#include "support/toy_checkpoint.hpp"
#include <specdec/core/concepts.hpp>
#include <specdec/core/model/context_tracker.hpp>
#include <specdec_engine/load.hpp>

using namespace specdec::engine;

static_assert(specdec::ModelOf<model<specdec::target_id>, specdec::target_id>);
static_assert(specdec::ModelOf<model<specdec::draft_id>, specdec::draft_id>);
static_assert(!specdec::ModelOf<model<specdec::draft_id>, specdec::target_id>);
static_assert(specdec::TreeModelOf<model<specdec::target_id>, specdec::target_id>);
static_assert(specdec::TellsHeld<model<specdec::target_id>, specdec::target_id>);

TEST_CASE("a model is its transformer with ids of one vocabulary") {
    const toy::temporary_folder folder;
    const std::string text = toy::checkpoint().gguf();
    const auto path = folder.write("m.gguf", text);
    const load_options options{.context = {.vocabulary_size = 70}};
    model<specdec::draft_id> m(load_transformer(path, options));
    transformer plain = load_transformer(path, options);

    const std::vector<specdec::draft_id> ids = {specdec::draft_id{4}, specdec::draft_id{9}};
    const auto rows = m.score(ids);
    const std::vector<std::int32_t> numbers = {4, 9};
    plain.score(numbers);
    REQUIRE(rows.size() == 2);
    CHECK(rows.vocabulary() == 70);
    for (std::size_t i = 0; i < 2; ++i)
        for (std::size_t j = 0; j < 70; ++j)
            CHECK(rows[i].values[j] == plain.logits()(i, j));
    CHECK(m.size() == 2);
    m.truncate(1);
    m.append(std::span(ids).subspan(1));
    CHECK(m.size() == 2);
    CHECK(std::vector(m.held().begin(), m.held().end()) == ids);
    CHECK(m.vocabulary_size() == 70);
    CHECK(m.capacity() == 64);

    const std::vector<std::size_t> fork = {specdec::tree_root, specdec::tree_root}, second = {1};
    CHECK(m.score_tree(ids, fork).size() == 2);
    CHECK(m.held().size() == 2);
    m.keep_path(second);
    CHECK(m.size() == 3);
    CHECK(m.held().back() == ids[1]);
    CHECK_THROWS_AS(m.keep_path(second), specdec::error);
    CHECK(m.held().size() == 3);
}
